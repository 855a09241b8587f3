// SPDX-License-Identifier: Apache-2.0
// Programs in PyTorch whose ranks and nodes die: they make the same steps with the same losses.
#include <QTest>
#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/store/arena.h"
#include "tests/e2e/losses.h"
#include "tests/e2e/torch_jobs.h"
#include "tests/python/python.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("dies");
}

class E2eTorchFailureTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    const Python python =
        FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    m_jobs = std::make_unique<TorchJobs>(
        python.program, LocalCluster::Options{
                            .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}});
    QVERIFY2(cluster().up().code == 0, cluster().up().Text());
    QVERIFY(cluster().Configure({{"node_lost_seconds", 3}, {"decision_seconds", 2}}));
  }
  void cleanup() { m_jobs.reset(); }

  void aKilledRankComesBack() {
    QVERIFY(m_jobs->Start(kJob, "plain.py", {"dp=3", "n0g0,n0g1,n1g0"}, {"--delay", "0.1"}));
    QVERIFY(cluster().WaitStep(kJob, 3));
    const std::vector<std::int64_t> ranks = m_jobs->Ranks("plain.py");
    QCOMPARE(ranks.size(), std::size_t{3});
    QVERIFY(SendSignal(ranks.back(), SIGKILL));
    QVERIFY(m_jobs->EndsPaused(kJob));
    QCOMPARE(RunOf(cluster(), kJob).size(), static_cast<std::size_t>(TorchSteps()));
    const Outcome logs = cluster().Run({"job", "logs", kJob, "--rank", "1", "--json"});
    QVERIFY2(logs.code == 0 && logs.output.contains("step 20: loss"), logs.Text());
    QVERIFY2(!logs.output.contains(R"("rank":0)"), logs.Text());
    const Outcome none = cluster().Run({"job", "logs", kJob, "--rank", "9"});
    QVERIFY2(none.code == 1 && none.errors.contains("has no rank 9: it has 3"), none.Text());
  }

  // One rank is held between the decision of a step and its update, while the other makes its own,
  // and is killed there. Nobody else has its parts, so it makes up for that when it is started
  // again.
  void aRankThatDiesBeforeItsUpdateMakesItLater() {
    const Run still = Undisturbed("fsdp.py", {"dp=2", "n0g0,n1g0"});
    QVERIFY(m_jobs->Start(kJob, "fsdp.py", {"dp=2", "n0g0,n1g0"}, {"--delay", "0.1"}));
    HoldAndKill("n1g0", "n0g0", "fsdp.py", 1);
    QVERIFY(m_jobs->EndsPaused(kJob));
    const QString difference = DifferenceOf(RunOf(cluster(), kJob), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  // The same while a node is lost: the device makes up for it before others copy from it.
  void aDeviceOneStepBehindFollowsFirst() {
    const Run still = Undisturbed("plain.py", {"dp=3", "n0g0,n0g1,n1g0"});
    QVERIFY(m_jobs->Start(kJob, "plain.py", {"dp=3", "n0g0,n0g1,n1g0"}, {"--delay", "0.1"},
                          {"--on-failure", "shrink"}));
    HoldAndKill("n0g1", "n0g0", "plain.py", 0, [this] {
      QVERIFY(cluster().Run({"node", "kill", "n1", "--yes"}).code == 0);
    });
    QVERIFY(m_jobs->EndsPaused(kJob));
    QVERIFY(cluster().Run({"events"}).output.contains("is made on 1 GPU first"));
    const QString difference = DifferenceOf(RunOf(cluster(), kJob), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  // Each rank has all of the state, so one node can go on alone.
  void aKilledNodeIsLeftOut() {
    const Run still = Undisturbed("plain.py", {"dp=2", "n0g0,n1g0"});
    QVERIFY(m_jobs->Start(kJob, "plain.py", {"dp=2", "n0g0,n1g0"}, {"--delay", "0.1"},
                          {"--on-failure", "shrink"}));
    QVERIFY(cluster().WaitStep(kJob, 5));
    QVERIFY(cluster().Run({"node", "kill", "n1", "--yes"}).code == 0);
    QVERIFY(m_jobs->EndsPaused(kJob));
    QVERIFY(cluster().Job(kJob)["epoch"].get<std::int64_t>() > 1);
    for (const Json& device : cluster().Job(kJob)["devices"])
      QVERIFY(device.get<std::string>().starts_with("n0"));
    const QString difference = DifferenceOf(RunOf(cluster(), kJob), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  // The parts of the node are gone: the job returns to its newest snapshot and makes the steps
  // after it again.
  void aKilledNodeWithTheOnlyCopyCostsTheStepsSinceTheSnapshot() {
    const Run still = Undisturbed("fsdp.py", {"dp=2", "n0g0,n1g0"});
    QVERIFY(m_jobs->Start(kJob, "fsdp.py", {"dp=2", "n0g0,n1g0"}, {"--delay", "0.2"},
                          {"--on-failure", "shrink", "--snapshot-every", "5"}));
    QVERIFY(cluster().WaitStep(kJob, 13));
    QVERIFY(cluster().Run({"node", "kill", "n1", "--yes"}).code == 0);
    QVERIFY(m_jobs->EndsPaused(kJob));
    QVERIFY(cluster().Job(kJob)["timeline"].get<std::int64_t>() > 0);
    const QString difference = DifferenceOf(RunOf(cluster(), kJob), still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

 private:
  LocalCluster& cluster() { return m_jobs->cluster(); }
  /// Empty if it has failed.
  Run Undisturbed(const QString& script, const Layout& layout) {
    const QString job = QStringLiteral("still");
    if (!m_jobs->Start(job, script, layout) || !m_jobs->EndsPaused(job)) return {};
    Run run = RunOf(cluster(), job);
    cluster().Run({"job", "stop", job, "--yes"});
    return run;
  }
  /// Kills the ranks of a node when that of `held` has not made the update of a step that that of
  /// `ahead` has made. Calls `first` before.
  void HoldAndKill(const char* held, const char* ahead, const QString& script, int node,
                   const std::function<void()>& first = {}) {
    auto behind = cluster().ArenaOf(held);
    auto other = cluster().ArenaOf(ahead);
    QVERIFY(behind.has_value() && other.has_value());
    const std::uint64_t step = behind->header().end.load() + 5;
    behind->header().hold.store(step);
    QVERIFY(LocalCluster::WaitFor([&] { return other->header().end.load() == step; }));
    QCOMPARE(behind->header().end.load(), step - 1);
    if (first) first();
    for (const std::int64_t rank : m_jobs->Ranks(script, node)) QVERIFY(SendSignal(rank, SIGKILL));
  }

  std::unique_ptr<TorchJobs> m_jobs;
};
TESSERA_TEST(E2eTorchFailureTest)
#include "e2e_torch_failure_test.moc"
