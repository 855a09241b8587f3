// SPDX-License-Identifier: Apache-2.0
// Jobs whose state is in the memory of CUDA devices and whose programs know each value of it. They
// run on the emulated driver; with TESSERA_TEST_GPUS=real on a GPU of this machine.
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/bench/held_job.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("held");
const QString kProgram = QStringLiteral(TESSERA_BIN_DIR "/../tests/bench-hold-state");
constexpr int kRows = 96;  // 20 MiB of state

LocalCluster::Options OnGpus() {
  LocalCluster::Options options;
  options.memory = QStringLiteral("64M");
  options.plain_lanes = true;  // NCCL is not used otherwise
  if (!OnRealGpus()) options.cuda = QStringLiteral("");
  return options;
}

}  // namespace

class E2eGpuTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(OnGpus());
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_folder.isValid() && WriteHeldJob(m_folder.path(), kRows));
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void init() { start("tp=2", FirstDevices(2)); }
  void cleanup() { m_cluster->Run({"job", "stop", kJob, "--yes"}); }

  void theStateIsTheSameOnEachMesh() {
    Moves({{"dp=2,tp=2", "n0g0,n0g1,n0g2,n0g3"},       // inside the node
           {"tp=4,dp=1", "n0g0,n0g1,n1g0,n1g1"},       // over lanes, too
           {"pp=2,tp=2,dp=2", FirstDevices(8)},        // to all
           {"pp=4,tp=1,dp=1", "n1g0,n1g1,n1g2,n1g3"},  // from one node
           {"pp=1,tp=1,dp=1", "n0g2"}});
    // One device is no group of NCCL.
    const bool has_nccl = !OnRealGpus();
    QCOMPARE(m_cluster->Run({"events"}).output.contains("from GPU to GPU, by NCCL"), has_nccl);
  }
  void withFullVerification() { Moves({{"tp=4", FirstDevices(4)}}, {"--verify", "full"}); }
  void inRounds() {
    Moves({{"pp=2,tp=1", "n0g0,n1g0"}, {"tp=2,pp=1", "n1g0,n1g1"}},
          {"--move-memory", "8M", "--confirm", kJob});
  }

  // The memory belongs to the keeper.
  void agentsAndRanksComeAndGo() {
    for (int round = 0; round < 2; ++round) {
      const auto agent = m_cluster->Agent(0);
      QVERIFY(agent && LocalCluster::Kill(*agent));
      QVERIFY(m_cluster->WaitAllAlive());
      QVERIFY(m_cluster->GoesOn(kJob));
      const auto ranks = m_cluster->Children(0, kProgram.toStdString());
      QCOMPARE(ranks.size(), 2U);
      QVERIFY(KillBetweenUpdates(ranks.front()));
      QVERIFY(m_cluster->GoesOn(kJob));
    }
    Moves({{"tp=4", "n0g1,n0g0,n1g0,n1g1"}});
  }

  // An agent dies in the pause: the change ends in one of the two layouts.
  void anAgentDiesInAChange() {
    const auto apply =
        m_cluster->Start({"apply", kJob, "--mesh", "tp=4", "--devices", FirstDevices(4), "--yes"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }));
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    LocalCluster::Finish(*apply);
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->GoesOn(kJob));
    Moves({{"dp=2,tp=1", "n0g0,n1g0"}});
  }

  // The digest that devices have computed is that of the files.
  void comesBackFromACheckpoint() {
    const Json saved = m_cluster->Ask({"checkpoint", "save", kJob, m_folder.path()});
    QVERIFY(saved.is_object());
    const QString path = QString::fromStdString(saved["path"]);
    const Json listed = m_cluster->Ask({"inspect", path, "--digests"});
    QVERIFY2(listed.is_object(), listed.dump().c_str());
    VERIFY_DIGESTS(listed["digest"], saved["digest"]);
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    start("dp=2,tp=4", FirstDevices(8), {"--from-checkpoint", path});
    Moves({{"dp=1,tp=2", "n1g0,n0g0"}});
  }

 private:
  /// A rank that dies in its update leaves a state that no other device of the mesh has.
  bool KillBetweenUpdates(std::int64_t rank) const {
    return LocalCluster::WaitFor([&] {
      if (!SendSignal(rank, SIGSTOP)) return false;
      const auto is_between = [&](const QString& device) {
        const auto arena = m_cluster->ArenaOf(device);
        return arena && arena->header().begin.load() == arena->header().end.load();
      };
      if (is_between("n0g0") && is_between("n0g1")) return SendSignal(rank, SIGKILL);
      SendSignal(rank, SIGCONT);
      return false;
    });
  }

  using Layout = std::pair<const char*, QString>;
  void start(const QString& mesh, const QString& devices, const QStringList& more = {}) {
    const Outcome started = m_cluster->Run(
        QStringList{"job", "start", "--exec", "exec " + kProgram + " check", "--tensors",
                    m_folder.filePath("tensors.json"), "--rules", m_folder.filePath("rules.json"),
                    "--name", kJob, "--mesh", mesh, "--devices", devices, "--finishes-updates"} +
            more,
        60);
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }
  /// The program compares each element whenever it has come to a layout, and would end.
  void Moves(const std::vector<Layout>& layouts, const QStringList& more = {}) {
    for (const auto& [mesh, devices] : layouts) {
      const Json moved = m_cluster->Apply(kJob, mesh, devices, more);
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QVERIFY2(m_cluster->GoesOn(kJob), mesh);
    }
  }

  std::unique_ptr<LocalCluster> m_cluster;
  QTemporaryDir m_folder;
};

TESSERA_TEST(E2eGpuTest)
#include "e2e_gpu_test.moc"
