// SPDX-License-Identifier: Apache-2.0
// Flips a bit in one replica of a real job. The next change reports the replica.
#include <QRegularExpression>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/store/piece_table.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("nano");
const QString kBadDevice = QStringLiteral("n1g0");
const QRegularExpression kNamed(
    QStringLiteral("tensor '[^']+' [^\\n]*: n0g0 holds digest [0-9a-f]{16}, n1g0 holds "));

}  // namespace

class E2eWrongByteTest : public QObject {
  Q_OBJECT

 private slots:
  // The job is paused, so no step changes the bit or what follows from it.
  void initTestCase() {
    LocalCluster::Options options;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = m_cluster->StartJob(kJob, "dp=2,tp=1", "n0g0,n1g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Job(kJob)["state"] == "paused"; }, 20));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void nothingIsWrongBefore() {
    const Json there = m_cluster->Apply(kJob, "dp=3,tp=1", "n0g0,n1g0,n0g1");
    QVERIFY2(there["result"] == "committed", there.dump().c_str());
    VERIFY_DIGESTS(there["digest_before"], there["digest_after"]);
    QVERIFY(!Events().contains(QStringLiteral("replicas differ")));
    const Json back = m_cluster->Apply(kJob, "dp=2,tp=1", "n0g0,n1g0");
    QVERIFY2(back["result"] == "committed", back.dump().c_str());
  }

  // All state is read in the pause, so the change does not happen.
  void fullVerificationRollsBack() {
    QVERIFY(FlipBit());
    const Json there = m_cluster->Apply(kJob, "dp=3,tp=1", "n0g0,n1g0,n0g1", {"--verify", "full"});
    QVERIFY2(there["result"] == "rolled_back", there.dump().c_str());
    QVERIFY2(there.dump().find("replicas differ: n0g0, n1g0") != std::string::npos,
             there.dump().c_str());
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{2});
    QVERIFY(LocalCluster::WaitFor([&] { return Events().count(kNamed) == 1; }, 20));
    QVERIFY(FlipBit());  // back
  }

  // Only what moves is read in the pause. What stays is compared after the commit.
  void aUsualChangeSaysItAfterwards() {
    const auto before = Events().count(kNamed);
    QVERIFY(FlipBit());
    const Json there = m_cluster->Apply(kJob, "dp=3,tp=1", "n0g0,n1g0,n0g1");
    QVERIFY2(there["result"] == "committed", there.dump().c_str());
    QVERIFY2(LocalCluster::WaitFor([&] { return Events().count(kNamed) == before + 1; }, 20),
             (qWarning("%s", qPrintable(Events())), "no such event"));
  }

  // While the ranks compute, all replicas are read, also those that the change drops.
  void anOverlappedChangeRollsBack() {
    const auto before = Events().count(kNamed);
    QVERIFY(FlipBit(2));  // a difference that updates do not round away
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->WaitStep(kJob, m_cluster->Step(kJob) + 2));
    const Json there = m_cluster->Apply(kJob, "dp=1,tp=1", "n0g0", {"--overlap", "on"});
    QVERIFY2(there["result"] == "rolled_back", there.dump().c_str());
    QVERIFY2(there.dump().find("replicas differ: n0g0") != std::string::npos, there.dump().c_str());
    QVERIFY(LocalCluster::WaitFor([&] { return Events().count(kNamed) > before; }, 20));
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{3});
    QVERIFY(m_cluster->GoesOn(kJob, 2));
  }

  // Without a copy in advance they are read in the pause. The replica on n1g0 is neither moved nor
  // kept.
  void aChangeThatDropsItRollsBack_data() {
    QTest::addColumn<QStringList>("how");
    QTest::newRow("chosen by Tessera") << QStringList();
    QTest::newRow("all in the pause") << QStringList{"--overlap", "off"};
  }
  void aChangeThatDropsItRollsBack() {
    QFETCH(QStringList, how);
    const auto before = Events().count(kNamed);
    const Json there = m_cluster->Apply(kJob, "dp=1,tp=1", "n0g0", how);
    QVERIFY2(there["result"] == "rolled_back", there.dump().c_str());
    QVERIFY2(there.dump().find("replicas differ: n0g0") != std::string::npos, there.dump().c_str());
    QVERIFY(LocalCluster::WaitFor([&] { return Events().count(kNamed) > before; }, 20));
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{3});
    QVERIFY(m_cluster->GoesOn(kJob, 2));
  }

  // Another state takes the place of all replicas.
  void aCheckpointMakesThemEqual() {
    const Json saved =
        m_cluster->Ask({"checkpoint", "save", kJob, m_cluster->home() + QStringLiteral("/saved")});
    QVERIFY(saved.is_object());
    const QString path = QString::fromStdString(saved["path"]);
    const Outcome loaded = m_cluster->Run({"checkpoint", "load", kJob, path, "--yes"});
    QVERIFY2(loaded.code == 0, loaded.Text());
    const Json there = m_cluster->Apply(kJob, "dp=1,tp=1", "n0g0");
    QVERIFY2(there["result"] == "committed", there.dump().c_str());
  }

 private:
  QString Events() const { return m_cluster->Run({"events", "--limit", "50"}).output; }

  /// Changes one bit of the first shard of the bad device, in its first bytes.
  bool FlipBit(std::int64_t byte = 0) {
    auto arena = m_cluster->ArenaOf(kBadDevice);
    if (!arena) return false;
    const auto table = engine::PieceTable::ReadCurrent(*arena);
    if (!table) return false;
    const auto piece =
        std::ranges::find(table->entries(), engine::PieceEntry::kState, &engine::PieceEntry::kind);
    if (piece == table->entries().end()) return false;
    *arena->AddressOf(piece->offset_bytes + byte) ^= std::byte{1};
    return true;
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eWrongByteTest)
#include "e2e_wrong_byte_test.moc"
