// SPDX-License-Identifier: Apache-2.0
// State that is handed in to a job that trains: the job continues from it as it did the first time,
// or nothing has changed.
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QProcess>
#include <QTest>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "agents/client/cluster_sink.h"
#include "agents/client/cluster_state.h"
#include "engine/vfs/tree.h"
#include "tests/e2e/losses.h"
#include "tests/engine/vfs/tree_walk.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::test;
using engine::vfs::Ino;
using engine::vfs::Tree;

namespace {

const QString kJob = QStringLiteral("nano");
const QString kFour = QStringLiteral("n0g0,n0g1,n1g0,n1g1");
const QStringList kBatch = {QStringLiteral("--global-batch"), QStringLiteral("16")};

/// The files of a job, read and written as in a mount.
class Files {
 public:
  static Result<std::unique_ptr<Files>> Open(const QString& profile, const QString& job) {
    TESSERA_TRY(const agents::Profile loaded, agents::LoadProfile(profile.toStdString()));
    TESSERA_TRY(auto source, agents::OpenClusterState(loaded));
    TESSERA_TRY(auto sink, agents::OpenClusterSink(loaded));
    return std::unique_ptr<Files>(new Files(std::move(source), std::move(sink), job));
  }

  Result<Ino> Find(const std::string& path) {
    TESSERA_TRY(const auto found, FindPath(tree_, Below(path), Now()));
    return found.ino;
  }
  Result<Tree::Handle> OpenFile(const std::string& path) {
    TESSERA_TRY(const Ino ino, Find(path));
    return tree_.Open(ino, Now());
  }
  Result<std::string> Read(const std::string& path) {
    return ReadPath(tree_, Below(path), Now(), 1 << 20);
  }
  /// The files of these ranks at one step, by path.
  Result<std::map<std::string, std::string>> ReadRanks(const std::vector<int>& ranks) {
    TESSERA_TRY(const Tree::Handle held, OpenFile("full/model.safetensors"));  // one view for all
    std::map<std::string, std::string> files;
    for (const int rank : ranks) {
      for (const char* part : {"model", "optimizer"}) {
        const std::string path = "ranks/" + std::to_string(rank) + "/" + part + ".safetensors";
        TESSERA_TRY(files[path], Read(path));
      }
    }
    TESSERA_TRY(const std::string step, Read("step"));
    step_ = std::stoll(step);
    tree_.Release(held);
    return files;
  }
  std::int64_t step() const { return step_; }

  Status Write(const std::string& path, std::string_view bytes) {
    const auto slash = path.rfind('/');
    TESSERA_TRY(const Ino folder, Find(path.substr(0, slash)));
    TESSERA_TRY(const auto created, tree_.Create(folder, path.substr(slash + 1) + ".new", Now()));
    Status status = tree_.Write(created.handle, 0, std::as_bytes(std::span(bytes)));
    if (status) status = tree_.Flush(created.handle, Now());
    tree_.Release(created.handle);
    return status;
  }
  /// Writes one file after another until one fails.
  Status WriteAll(const std::map<std::string, std::string>& files) {
    for (const auto& [path, bytes] : files) TESSERA_RETURN_IF_ERROR(Write(path, bytes));
    return OkStatus();
  }

 private:
  Files(std::unique_ptr<engine::vfs::StateSource> source,
        std::shared_ptr<engine::vfs::StateSink> sink, const QString& job)
      : job_(job.toStdString()), tree_(std::move(source), Now(), {}, std::move(sink)) {}
  std::string Below(const std::string& path) const { return "jobs/" + job_ + "/" + path; }
  static engine::vfs::Time Now() { return std::chrono::steady_clock::now(); }

  const std::string job_;
  std::int64_t step_ = 0;
  Tree tree_;
};

/// The client that a test kills: reads the state, prints a line, and hands the state in after a
/// line of input.
int HandInWhenTold(const QString& profile, const QString& job) {
  const auto files = Files::Open(profile, job);
  if (!files) return 1;
  const auto state = (*files)->ReadRanks({0, 1, 2, 3});
  if (!state) return 2;
  std::printf("read\n");
  std::fflush(stdout);
  std::getchar();
  const Status done = (*files)->WriteAll(*state);
  std::printf("%s\n", done ? "taken" : done.error().ToString().c_str());
  return 0;
}

}  // namespace

class E2eHandInTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() { m_cluster->Run({"job", "stop", kJob, "--yes"}); }

  /// Every rank's files, of which the first replica is taken; the samples, steps and losses are
  /// those of the first time.
  void theJobGoesOnFromIt() {
    QVERIFY(started("dp=2,tp=2"));
    const auto files = open();
    const auto state = files->ReadRanks({0, 1, 2, 3});
    VERIFY_OK(state);
    const std::int64_t step = files->step();
    QVERIFY(m_cluster->WaitStep(kJob, step + 15));
    const Run first = RunOf(*m_cluster, kJob);
    VERIFY_OK(files->WriteAll(*state));
    Json job = m_cluster->Job(kJob);
    QCOMPARE(job["timeline"].get<std::int64_t>(), std::int64_t{1});
    QCOMPARE(job["epoch"].get<std::int64_t>(), std::int64_t{2});
    QVERIFY(m_cluster->WaitStep(kJob, step + 15));
    // A restarted agent receives the steps of its ranks again, but none that are undone.
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    const Outcome pause = m_cluster->Run({"job", "pause", kJob});
    QVERIFY2(pause.code == 0, pause.Text());
    const Run second = RunOf(*m_cluster, kJob);
    for (std::int64_t s = 1; s <= step + 15; ++s) {
      QVERIFY2(second.contains(s) && second.at(s).loss == first.at(s).loss &&
                   second.at(s).grad_norm == first.at(s).grad_norm,
               qPrintable(QString::number(s)));
    }
    QCOMPARE(second.rbegin()->first, std::ssize(second));
    const Json record = m_cluster->Ask({"history", "--limit", "1"})["transactions"];
    QVERIFY2(record.dump().find("\"committed\"") != std::string::npos, record.dump().c_str());
    QVERIFY(record[0]["volume_bound_bytes"] > 0);
    QCOMPARE(record[0]["moved_bytes"].dump(), record[0]["volume_bound_bytes"].dump());

    // State of an earlier step is handed in to a paused job, which can then be reconfigured like
    // any other.
    VERIFY_OK(files->WriteAll(*state));
    job = m_cluster->Job(kJob);
    QCOMPARE(job["step"].get<std::int64_t>(), step);
    QCOMPARE(job["state"].get<std::string>(), std::string("paused"));
    const Json moved = m_cluster->Apply(kJob, "dp=4,tp=1", "n0g0,n0g1,n0g2,n0g3");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->WaitStep(kJob, step + 15));
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const double loss =
        LargestDifference(UpTo(step + 15, RunOf(*m_cluster, kJob)), UpTo(step + 15, first));
    QVERIFY2(loss <= 1e-5, qPrintable(QString::number(loss)));
  }

  void whatIsWrongIsAnErrorAndAnEvent() {
    QVERIFY(started("dp=2,tp=1", "n0g0,n0g1"));
    const auto files = open();
    const auto state = files->ReadRanks({0});
    VERIFY_OK(state);
    const std::string path = "ranks/0/model.safetensors";
    const std::string& good = state->at(path);
    VERIFY_ERROR(files->Write(path, good.substr(0, good.size() / 2)), ErrorCode::kInvalidArgument,
                 path + ".new");
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          return m_cluster->Run({"events", "--text", "hand-in refused"})
              .output.contains("ranks/0/model.safetensors.new");
        },
        10));
    // Half of it is not taken, whatever the job does meanwhile.
    VERIFY_OK(files->Write(path, good));
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Job(kJob)["timeline"].get<std::int64_t>(), std::int64_t{0});
    // The rest comes after the job has another layout.
    QCOMPARE(m_cluster->Apply(kJob, "dp=1,tp=2", "n0g0,n0g1")["result"].get<std::string>(),
             std::string("committed"));
    const auto late =
        files->Write("ranks/0/optimizer.safetensors", state->at("ranks/0/optimizer.safetensors"));
    QVERIFY(!late);
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Job(kJob)["timeline"].get<std::int64_t>(), std::int64_t{0});
  }

  void anOwnProgramIsPausedFirst() {
    const QString source = QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.");
    const Outcome start = m_cluster->Run(
        {"job", "start", "--exec", "exec " TESSERA_BIN_DIR "/tessera-job-example 200000",
         "--tensors", source + "tensors.json", "--rules", source + "rules.json", "--name", kJob,
         "--mesh", "tp=2", "--devices", "n0g0,n0g1"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 20));
    const auto files = open();
    const auto running = files->ReadRanks({0, 1});
    VERIFY_OK(running);
    VERIFY_ERROR(files->WriteAll(*running), ErrorCode::kFailedPrecondition,
                 "runs a program that counts its steps itself");
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json before = m_cluster->Ask({"digest", kJob})["digest"];
    const auto paused = open();
    const auto state = paused->ReadRanks({0, 1});
    VERIFY_OK(state);
    VERIFY_OK(paused->WriteAll(*state));
    VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], before);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob, 20));
  }

  /// The client dies while the nodes fetch, over a slow link. The job has lost nothing and
  /// continues.
  void aClientThatDiesRollsBack() {
    QVERIFY(m_cluster->Configure({{"link_bytes_per_second", 500'000}}));
    QVERIFY(started("dp=2,tp=2"));
    QProcess client;
    client.start(QCoreApplication::applicationFilePath(), {"--hand-in", profilePath(), kJob});
    QVERIFY(client.waitForReadyRead(60000));
    QCOMPARE(client.readAllStandardOutput(), QByteArray("read\n"));
    QVERIFY(m_cluster->GoesOn(kJob));
    client.write("now\n");
    QVERIFY(client.waitForBytesWritten());
    const bool transfers =
        LocalCluster::WaitFor([&] { return m_cluster->Phase() == "transferring"; }, 60);
    QVERIFY2(transfers, client.readAllStandardOutput());
    client.kill();
    QVERIFY(client.waitForFinished());
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase().empty(); }, 60));
    const Json job = m_cluster->Job(kJob);
    QVERIFY2(job["epoch"].get<std::int64_t>() == 1,
             qPrintable(m_cluster->Run({"events"}).output.right(900)));
    QCOMPARE(job["timeline"].get<std::int64_t>(), std::int64_t{0});
    QVERIFY(m_cluster->GoesOn(kJob));
    const std::string record = m_cluster->Ask({"history", "--limit", "1"})["transactions"].dump();
    QVERIFY2(record.find("rolled_back") != std::string::npos, record.c_str());
    QVERIFY2(record.find("silent") != std::string::npos, record.c_str());
  }

 private:
  QString profilePath() const { return m_cluster->home() + "/profiles/t.json"; }
  std::unique_ptr<Files> open() const {
    auto files = Files::Open(profilePath(), kJob);
    if (!files) qFatal("%s", files.error().ToString().c_str());
    return std::move(*files);
  }
  bool started(const QString& mesh, const QString& devices = kFour) const {
    const Outcome start = m_cluster->StartJob(kJob, mesh, devices, kBatch);
    if (start.code != 0) qWarning("%s", start.Text().constData());
    return start.code == 0 && m_cluster->WaitStep(kJob, 3);
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST_MAIN(argc, argv) {
  QCoreApplication application(argc, argv);
  const QStringList words = QCoreApplication::arguments();
  if (words.size() == 4 && words[1] == "--hand-in") return HandInWhenTold(words[2], words[3]);
  E2eHandInTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "e2e_hand_in_test.moc"
