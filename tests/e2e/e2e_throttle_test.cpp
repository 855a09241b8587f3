// SPDX-License-Identifier: Apache-2.0
// An operator limits what the nodes send and receive for a transaction, and lifts the limit while
// state moves.
#include <QElapsedTimer>
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("mini");
constexpr std::int64_t kLimit = 1'000'000;  // bytes per second, of about 39 MB: the lowest one
constexpr std::int64_t kBursts = 4 << 20;   // more than ports and frames let pass at once

}  // namespace

class E2eThrottleTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.devices = 1;
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = StartExactJob(*m_cluster, kJob, "dp=1", "n0g0", {}, kLargeExactJob);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void onlyATransactionCanBeLimited() {
    const Outcome none = m_cluster->Run({"txn", "throttle", "10MB/s"});
    QCOMPARE(none.code, 1);
    QVERIFY2(none.errors.contains(QStringLiteral("no transaction is running")), none.Text());
    const Outcome low = m_cluster->Run({"txn", "throttle", "999KB/s"});
    QCOMPARE(low.code, 2);
    QVERIFY2(low.errors.contains(QStringLiteral("'999KB/s' is below the lowest limit, 1 MB/s")),
             low.Text());
    const Outcome word = m_cluster->Run({"txn", "throttle", "slow"});
    QCOMPARE(word.code, 2);
    QVERIFY2(word.errors.contains(QStringLiteral("neither a rate such as 100MB/s nor off")),
             word.Text());
  }

  // Does not depend on the speed of the machine: a slow one moves less than the limit, never more,
  // and any machine moves more than 1 MB/s once the limit is lifted.
  void aLimitHoldsUntilItIsLifted() {
    // The rank does not get to the end of its step, so nothing moves before the limit is set.
    auto arena = m_cluster->ArenaOf("n0g0");
    QVERIFY(arena.has_value());
    arena->header().hold.store(1);
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", "n1g0", "--mesh", "dp=1",
                                         "--overlap", "off", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "pausing"; }, 60));
    QElapsedTimer since;
    since.start();
    const Json limited = m_cluster->Ask({"txn", "throttle", "1MB/s"});
    QVERIFY(limited.is_object());
    QCOMPARE(limited["throttle_bytes_per_second"].get<std::int64_t>(), kLimit);
    QCOMPARE(m_cluster->Phase(), std::string("pausing"));
    arena->header().hold.store(0);

    Json txn;
    const auto has_moved = [&](std::int64_t bytes) {
      txn = m_cluster->Status()["transaction"];
      return txn.is_object() && txn["done_bytes"] > bytes;
    };
    QVERIFY(LocalCluster::WaitFor([&] { return has_moved(kBursts + 3 * kLimit); }));
    const auto most = static_cast<double>(kBursts) + static_cast<double>(kLimit) * secondsOf(since);
    QVERIFY2(txn["done_bytes"].get<double>() <= most, txn.dump().c_str());
    QVERIFY2(txn["phase"] == "transferring", txn.dump().c_str());
    QCOMPARE(txn["throttle_bytes_per_second"].get<std::int64_t>(), kLimit);
    const Outcome shown = m_cluster->Run({"txn", "show"});
    QVERIFY2(shown.output.contains(QStringLiteral("limit  1 MB/s per node")), shown.Text());

    const double left = txn["total_bytes"].get<double>() - txn["done_bytes"].get<double>();
    QCOMPARE(m_cluster->Run({"txn", "throttle", "off"}).code, 0);
    since.restart();
    const Json end = LocalCluster::Finish(*apply).LastJson();
    QVERIFY2(end.is_object() && end["result"] == "committed", end.dump().c_str());
    VERIFY_DIGESTS(end["digest_before"], end["digest_after"]);
    // What was left has moved faster than the limit allows, and so does the next change.
    const double rate = left / secondsOf(since);
    qInfo("%.1f MB/s without a limit", rate / 1e6);
    QVERIFY(rate > static_cast<double>(kLimit));

    const Json back = m_cluster->Apply(kJob, "dp=1", "n0g0");
    QVERIFY2(back.is_object() && back["result"] == "committed", back.dump().c_str());
    const double seconds = back["pause_seconds"].get<double>();
    QVERIFY2(back["moved_bytes"].get<double>() > static_cast<double>(kLimit) * seconds,
             back.dump().c_str());
    const Outcome events = m_cluster->Run({"events", "--text", "transfers limited"});
    QVERIFY2(events.output.contains(QStringLiteral("transfers limited to 1 MB/s per node")),
             events.Text());
  }

 private:
  static double secondsOf(const QElapsedTimer& timer) {
    return static_cast<double>(timer.nsecsElapsed()) * 1e-9;
  }

  std::unique_ptr<LocalCluster> m_cluster;
};
TESSERA_TEST(E2eThrottleTest)
#include "e2e_throttle_test.moc"
