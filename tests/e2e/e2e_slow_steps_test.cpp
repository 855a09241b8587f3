// SPDX-License-Identifier: Apache-2.0
// A step may take longer than any time limit of the cluster. Nothing is taken for lost, and a
// change waits for the step.
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr int kSeconds = 65;
}  // namespace

class E2eSlowStepsTest : public QObject {
  Q_OBJECT

 private slots:
  // All updates of one step are held: no rank waits for another in a collective.
  void aStepOfAMinute() {
    const LocalCluster cluster(
        {.nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}, .one_host = false});
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const Outcome started =
        cluster.StartJob(kJob, "dp=2,tp=2", FirstDevices(4, 2), {"--snapshot-every", "5"});
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(cluster.WaitStep(kJob, 10));
    QVERIFY(cluster.Run({"job", "snapshots", kJob, "off"}).code == 0);  // it holds updates too
    std::vector<tessera::engine::Arena> arenas;
    for (const char* device : {"n0g0", "n0g1", "n1g0", "n1g1"}) {
      auto arena = cluster.ArenaOf(device);
      QVERIFY(arena.has_value());
      arenas.push_back(std::move(*arena));
    }
    const std::uint64_t held = arenas.front().header().end.load() + 10;
    for (auto& arena : arenas) arena.header().hold.store(held);
    QVERIFY(LocalCluster::WaitFor([&] { return arenas[3].header().end.load() == held - 1; }));
    QTest::qWait(kSeconds * 1000);
    const Json job = cluster.Job(kJob);
    QVERIFY(job.is_object());
    QCOMPARE(job["state"].get<std::string>(), std::string("running"));
    QCOMPARE(arenas[0].header().end.load(), held - 1);
    QVERIFY(cluster.AllAlive());
    for (auto& arena : arenas) arena.header().hold.store(0);
    QVERIFY(cluster.GoesOn(kJob));
    QVERIFY(!cluster.Run({"events"}).output.contains("suspended"));
    const Json moved = cluster.Apply(kJob, "dp=2", "n0g0,n1g0");
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
  }
};

TESSERA_TEST(E2eSlowStepsTest)
#include "e2e_slow_steps_test.moc"
