// SPDX-License-Identifier: Apache-2.0
// The disk under the journals of a cluster is full: a change that has begun is decided
// nevertheless, what cannot be written is refused, and the job trains on.
#include <QFile>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/proc_stat.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr std::int64_t kBatch = 16;
const QString kSmall = QStringLiteral("dp=1,tp=2"), kLarge = QStringLiteral("dp=2,tp=2");
}  // namespace

class E2eDiskTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = "64M", .link = {}, .one_host = false, .disk = "24m"});
    if (!m_cluster->has_disk()) QSKIP("no file system can be mounted here");
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = m_cluster->StartJob(kJob, kSmall, FirstDevices(2, 2),
                                              {"--global-batch", QString::number(kBatch)});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  // The registrar stops before it decides, and finds no room for the decision but the reserve.
  void aChangeIsDecided() {
    QVERIFY(m_faults.StopAt(0, QStringLiteral("registrar.committing")));
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(4, 2), "--mesh", kLarge, "--yes", "--json"});
    std::int64_t registrar = 0;
    QVERIFY(LocalCluster::WaitFor([&] {
      const auto agent = m_cluster->Agent(0);
      if (agent && IsStopped(agent->pid)) registrar = agent->pid;
      return registrar != 0;
    }));
    fill();
    QVERIFY(SendSignal(registrar, SIGCONT));
    const Outcome outcome = LocalCluster::Finish(*apply);
    const Json result = outcome.LastJson();
    QVERIFY2(result.is_object() && result.value("result", "") == "committed", outcome.Text());
    VERIFY_DIGESTS(result["digest_before"], result["digest_after"]);
  }

  void whatCannotBeWrittenIsRefused() {
    fill();
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome apply =
        m_cluster->Run({"apply", kJob, "--devices", FirstDevices(2, 2), "--mesh", kSmall, "--yes"});
    QCOMPARE(apply.code, 1);
    QVERIFY2(apply.Text().contains("full"), apply.Text());
    // A change needs its journal, whatever the history has.
    const Outcome unrecorded =
        m_cluster->Run({"apply", kJob, "--devices", FirstDevices(2, 2), "--mesh", kSmall, "--yes",
                        "--unrecorded"});
    QCOMPARE(unrecorded.code, 1);
    QVERIFY2(unrecorded.errors.contains("--unrecorded is about the history only"),
             unrecorded.Text());
    const Outcome doctor = m_cluster->Run({"doctor"});
    QCOMPARE(doctor.code, 1);
    QVERIFY2(doctor.output.contains("no job can be changed or stopped"),
             qPrintable(doctor.output));
    const Outcome stop = m_cluster->Run({"job", "stop", kJob, "--yes"});
    QCOMPARE(stop.code, 1);
    QVERIFY2(stop.Text().contains("full"), stop.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void allIsWellWhenThereIsRoomAgain() {
    QVERIFY(QFile::remove(filler()));
    const Json result = m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2));
    QVERIFY2(result.is_object() && result.value("result", "") == "committed",
             result.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString wrong = CompareWithOneProcess(*m_cluster, kJob, kBatch);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

 private:
  QString filler() const { return m_cluster->home() + QStringLiteral("/filler"); }
  /// Writes until the disk is full.
  void fill() const {
    QFile file(filler());
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered));
    const QByteArray block(4096, 'f');
    while (file.write(block) == block.size()) {
    }
  }

  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eDiskTest)
#include "e2e_disk_test.moc"
