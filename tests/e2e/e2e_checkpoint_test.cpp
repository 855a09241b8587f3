// SPDX-License-Identifier: Apache-2.0
// Checkpoints of jobs on disk: saved while the job trains, loaded into other layouts, offered when
// nothing else is left. Losses are those of one undisturbed process, state is exact.
#include <QDir>
#include <QDirIterator>
#include <QTest>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/agents/data/http_server.h"
#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("saved");
constexpr std::int64_t kBatch = 16;

/// Changes one byte in the last file of a checkpoint that has tensors of optimizer state.
bool FlipAByte(const QString& checkpoint) {
  QDirIterator files(checkpoint, {QStringLiteral("*.safetensors")}, QDir::Files);
  QString largest;
  qint64 size = 0;
  while (files.hasNext()) {
    files.next();
    if (files.fileInfo().size() > size) {
      size = files.fileInfo().size();
      largest = files.filePath();
    }
  }
  std::fstream file(largest.toStdString(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(size / 2);
  const char byte = static_cast<char>(file.get());
  file.seekp(size / 2);
  file.put(static_cast<char>(byte ^ 0x40));
  return file.good();
}

}  // namespace

class E2eCheckpointTest : public QObject {
  Q_OBJECT

 private slots:
  // One cluster for all tests, unless one has failed.
  void init() {
    m_folder = TemporaryFolder();
    if (m_cluster) return;
    LocalCluster::Options options;
    options.nodes = 2;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 3}, {"decision_seconds", 2}}));
  }
  void cleanup() {
    if (QTest::currentTestFailed()) return m_cluster.reset();
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    if (!m_cluster->Status().is_object()) return m_cluster.reset();
    const QString wrong = m_cluster->StartDeadNodes();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  // Saved on one mesh while it trains, continued on others as if nothing had been.
  void aJobContinuesOnAnotherMesh() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1");
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    const Json saved = save();
    QVERIFY(saved.is_object());
    const std::int64_t step = saved["step"];
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString path = QString::fromStdString(saved["path"]);
    QCOMPARE(path, m_folder->filePath(QStringLiteral("saved-step-%1").arg(step)));
    // The same digest, read from the files by another program.
    const Json listed = m_cluster->Ask({"inspect", path, "--verify"});
    QVERIFY2(listed.is_object(), listed.dump().c_str());
    QCOMPARE(listed["stated_digests_compared"].dump(),
             std::to_string(listed["tensors"].size()));
    VERIFY_DIGESTS(listed["digest"], saved["digest"]);
    for (const char* mesh : {"tp=2", "pp=2"}) {
      QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
      const Outcome begun = m_cluster->Run({"job", "start", "--from-checkpoint", path, "--mesh",
                                            mesh, "--steps", QString::number(step + 3)});
      QVERIFY2(begun.code == 0, begun.Text());
      QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
        return job["state"] == "paused" && job["step"] == step + 3;
      }));
      const Json entry = m_cluster->Ask({"history"})["transactions"][0];
      VERIFY_DIGESTS(entry["digest_after"], saved["digest"]);
      VERIFY_DIGESTS(entry["digest_before"], saved["digest"]);
      QVERIFY(entry["step"] == step);
      continuesAsOneProcess(step);
    }
  }

  void aRunningJobGoesBackToIt() {
    start("dp=2,pp=2", "n0g0,n0g1,n1g0,n1g1");
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Json saved = save();
    QVERIFY(saved.is_object());
    const QString path = QString::fromStdString(saved["path"]);
    QVERIFY(m_cluster->GoesOn(kJob));
    // Without a terminal, an act that cannot be undone needs --yes.
    QCOMPARE(m_cluster->Run({"checkpoint", "load", kJob, path}).code, 2);
    const Json loaded = m_cluster->Ask({"checkpoint", "load", kJob, path, "--yes"});
    QVERIFY2(loaded.is_object() && loaded["result"] == "committed", loaded.dump().c_str());
    QVERIFY(loaded["step"] == saved["step"]);
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QCOMPARE(entry["change_kind"].get<std::string>(), "load");
    VERIFY_DIGESTS(loaded["digest_after"], saved["digest"]);
    QCOMPARE(m_cluster->Job(kJob)["timeline"].get<int>(), 1);
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString wrong = CompareWithOneProcess(*m_cluster, kJob, kBatch);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void aScheduleKeepsTheNewest() {
    startExact("tp=2", "n0g0,n1g0");
    const Outcome set = m_cluster->Run(
        {"checkpoint", "save", kJob, m_folder->path(), "--every", "5", "--keep", "2"});
    QVERIFY2(set.code == 0 && set.output.contains("every 5 steps"), set.Text());
    const auto folders = [&] {
      return QDir(m_folder->path()).entryList({"saved-step-*"}, QDir::Dirs, QDir::Name);
    };
    std::int64_t first = 0;
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
      const Json& step = job["checkpoints"]["step"];
      if (first == 0 && step.is_number()) first = step;
      return first > 0 && step.get<std::int64_t>() >= first + 15;
    }));
    QVERIFY(m_cluster->Run({"checkpoint", "save", kJob, "--every", "off"}).code == 0);
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return !job["checkpoints"]["saving"].get<bool>(); }));
    QVERIFY(Cluster::WaitFor([&] { return folders().size() == 2; }));
    QVERIFY(!folders().contains(QStringLiteral("saved-step-%1").arg(first)));
    int num_listed = 0;  // those of earlier tests are listed too, as missing
    const Json list = m_cluster->Ask({"checkpoint", "list", "--job", kJob});
    for (const Json& row : list["checkpoints"]) {
      const bool is_here =
          row["path"].get<std::string>().starts_with(m_folder->path().toStdString());
      QVERIFY(row["complete"].get<bool>() == is_here);
      QVERIFY(!is_here || row["scheduled"].get<bool>());
      num_listed += is_here ? 1 : 0;
    }
    QCOMPARE(num_listed, 2);
  }

  // The folder is gone, a file is damaged, an agent dies while it writes: nothing false is offered.
  void whatIsNotWholeIsNotLoaded() {
    start("tp=2", "n0g0,n1g0");
    const Json saved = save();
    QVERIFY(saved.is_object());
    const QString path = QString::fromStdString(saved["path"]);
    QVERIFY(FlipAByte(path));
    const Outcome damaged = m_cluster->Run({"checkpoint", "load", kJob, path, "--yes"});
    QCOMPARE(damaged.code, 1);
    QVERIFY2(damaged.errors.contains("was rolled back, nothing changed: tensor '") &&
                 damaged.errors.contains("is damaged"),
             damaged.Text());
    // Those of manifest and file are not digests of the job.
    const Json rolled = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(rolled["digest_before"] == "" && rolled["digest_after"] == "", rolled.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    QFile::remove(path + "/tessera.json");
    const Outcome cut = m_cluster->Run({"checkpoint", "load", kJob, path, "--yes"});
    QVERIFY2(cut.code == 1 && cut.errors.contains("it has no tessera.json"), cut.Text());
    const Json list = m_cluster->Ask({"checkpoint", "list"});
    for (const Json& row : list["checkpoints"]) QVERIFY(!row["complete"].get<bool>());
    QVERIFY(m_cluster->Run({"checkpoint", "delete", path, "--yes"}).code == 1);  // no manifest
    const QString wrong = CompareWithOneProcess(*m_cluster, kJob, kBatch);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void anAgentThatDiesLeavesNoCheckpoint() {
    startExact("tp=2", "n0g0,n1g0");
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    for (int round = 0; round < 4; ++round) {
      auto saving = m_cluster->Start({"checkpoint", "save", kJob, m_folder->path()});
      QTest::qWait(20 + 40 * round);
      const int node = round % 2;
      const auto agent = m_cluster->Agent(node);
      QVERIFY(agent && SendSignal(agent->pid, SIGKILL));
      const Outcome ended = Cluster::Finish(*saving);
      QVERIFY(m_cluster->WaitAllAlive());
      // Whatever became of it: what is there under its name is whole.
      const Json list = m_cluster->Ask({"checkpoint", "list", m_folder->path()})["checkpoints"];
      for (const Json& row : list) {
        const bool is_partial = row["path"].get<std::string>().ends_with(".partial");
        QVERIFY2(is_partial || row["complete"].get<bool>(), row.dump().c_str());
      }
      QVERIFY2(ended.code == 0 || !ended.errors.isEmpty(), ended.Text());
    }
    // What was cut off is removed.
    QVERIFY(Cluster::WaitFor(
        [&] { return QDir(m_folder->path()).entryList({"*.partial"}, QDir::Dirs).isEmpty(); }));
    // The registrar may not know yet that the last agent has died.
    QVERIFY(Cluster::WaitFor([&] { return save().is_object(); }));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // n1 had the only copy of a stage. The checkpoint is offered with what it costs.
  void aLostJobIsOfferedTheNewest() {
    startExact("pp=2", "n0g0,n1g0");
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    const Json saved = save();
    QVERIFY(saved.is_object());
    const std::int64_t step = saved["step"];
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json gone = save();  // it is newer, but somebody removes it
    QVERIFY(gone.is_object());
    QVERIFY(QDir(QString::fromStdString(gone["path"])).removeRecursively());
    const Outcome killed = m_cluster->Run({"node", "kill", "n1", "--yes"});
    QVERIFY2(killed.code == 0, killed.Text());
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["state"] == "waiting_decision" && job["decision"]["checkpoint"] == saved["path"];
    }));
    QTest::qWait(3000);  // longer than the countdown, which does not run
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["state"].get<std::string>(), "waiting_decision");
    const Json decision = job["decision"];
    QCOMPARE(decision["case"].get<std::string>(), "checkpoint_only");
    QVERIFY(decision["checkpoint"] == saved["path"] && decision["checkpoint_step"] == step);
    QVERIFY(!decision["missing"].empty());
    QCOMPARE(decision["continue"]["lost_steps"].get<std::int64_t>(), m_cluster->Step(kJob) - step);
    const Outcome status = m_cluster->Run({"status"});
    QVERIFY2(status.output.contains("from the checkpoint '"), status.Text());
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "continue"}).code == 0);
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& now) { return now["state"] == "running" && now["timeline"] == 1; }));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    VERIFY_DIGESTS(entry["digest_after"], saved["digest"]);
    QVERIFY2(entry["reason"].get<std::string>().starts_with("back to the checkpoint of step "),
             entry.dump().c_str());
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  // The newest one is damaged, which shows while it is loaded.
  void aLostJobLoadsTheOneThatIsNamed() {
    startExact("pp=2", "n0g0,n1g0");
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Json older = save();
    QVERIFY(older.is_object() && m_cluster->GoesOn(kJob));
    const Json newer = save();
    QVERIFY(newer.is_object() && FlipAByte(QString::fromStdString(newer["path"])));
    QVERIFY(m_cluster->Run({"node", "kill", "n1", "--yes"}).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["decision"].is_object() && job["decision"]["checkpoint"] == newer["path"];
    }));
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "continue"}).code == 0);
    // The older one costs more steps, so the job asks again.
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["state"] == "waiting_decision" && job["decision"]["checkpoint"] == older["path"];
    }));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(entry["result"] == "rolled_back" &&
                 entry["reason"].get<std::string>().find("is damaged") != std::string::npos,
             entry.dump().c_str());
    const QString path = QString::fromStdString(older["path"]);
    const Outcome named = m_cluster->Run({"checkpoint", "load", kJob, path, "--yes"});
    QVERIFY2(named.code == 0 && named.output.contains("loads checkpoint"), named.Text());
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& now) { return now["state"] == "running" && now["timeline"] == 1; }));
    VERIFY_DIGESTS(m_cluster->Ask({"history"})["transactions"][0]["digest_after"], older["digest"]);
  }

  // From a server that knows nothing but files and ranges.
  void aJobBeginsFromAUrl() {
    start("tp=2", "n0g0,n1g0");
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Json saved = save();
    QVERIFY(saved.is_object());
    HttpServer server;
    const QDir folder(QString::fromStdString(saved["path"]));
    for (const QString& name : folder.entryList(QDir::Files)) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QIODevice::ReadOnly));
      server.Put("store/" + name.toStdString(), file.readAll().toStdString());
    }
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    const QString url = QString::fromStdString(server.url("store"));
    const Outcome begun =
        m_cluster->Run({"job", "start", "--from-checkpoint", url, "--mesh", "pp=2"});
    QVERIFY2(begun.code == 0, begun.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    VERIFY_DIGESTS(m_cluster->Ask({"history"})["transactions"][0]["digest_after"], saved["digest"]);
    const Outcome wrong = m_cluster->Run({"checkpoint", "save", kJob, url});
    QVERIFY2(wrong.code == 1 && wrong.errors.contains("is a URL"), wrong.Text());
  }

  // A manifest from somewhere else could name a command.
  void aCheckpointBringsNoProgram() {
    start("tp=2", "n0g0,n1g0");
    const Json saved = save();
    QVERIFY(saved.is_object());
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    const QString path = QString::fromStdString(saved["path"]);
    Json manifest;
    std::ifstream((path + "/tessera.json").toStdString()) >> manifest;
    Json settings = Json::parse(manifest["settings"].get<std::string>());
    const QString mark = m_folder->filePath("mark");
    const Json file = {{"name", "t"}, {"text", "{}"}};
    settings.erase("model");
    settings["program"] = {
        {"command", "touch " + mark.toStdString()}, {"tensors", file}, {"rules", file}};
    manifest["settings"] = settings.dump();
    std::ofstream((path + "/tessera.json").toStdString()) << manifest.dump();
    for (const QStringList& model : {QStringList(), QStringList{"gpt-nano"}}) {
      const Outcome begun =
          m_cluster->Run(QStringList{"job", "start"} + model +
                         QStringList{"--name", kJob, "--from-checkpoint", path, "--mesh", "tp=2"});
      QVERIFY2(begun.code == 1 && begun.errors.contains("brings a program, which is not run"),
               begun.Text());
    }
    QVERIFY(!QFile::exists(mark));
  }

  void onlyParametersAreTakenOver() {
    start("tp=2", "n0g0,n1g0");
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    const Json saved = save();
    QVERIFY(saved.is_object());
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    const QString path = QString::fromStdString(saved["path"]);
    const Outcome other_seed = m_cluster->Run(
        {"job", "start", "gpt-nano", "--name", kJob, "--from-checkpoint", path, "--seed", "5"});
    QVERIFY2(other_seed.code == 1 && other_seed.errors.contains("its job had seed"),
             other_seed.Text());
    const Outcome begun =
        m_cluster->Run({"job", "start", "gpt-nano", "--name", kJob, "--from-checkpoint", path,
                        "--parameters-only", "--seed", "5", "--mesh", "pp=2", "--steps", "2"});
    QVERIFY2(begun.code == 0, begun.Text());
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "paused" && job["step"] == 2; }));
    // It has learned: a new job of this model begins at about 5.5.
    const Run run = RunOf(*m_cluster, kJob);
    QVERIFY(run.contains(1) && run.at(1).loss < 5.4);
    const Outcome wrong_model =
        m_cluster->Run({"job", "start", "gpt-mini", "--from-checkpoint", path});
    QVERIFY2(wrong_model.code == 1 && wrong_model.errors.contains("does not fit"),
             wrong_model.Text());
  }

 private:
  void start(const char* mesh, const char* devices) {
    const Outcome started =
        m_cluster->StartJob(kJob, mesh, devices, {"--global-batch", QString::number(kBatch)});
    QVERIFY2(started.code == 0, started.Text());
  }
  /// Where nothing is learned. Its ranks count their steps, so it cannot go back while it runs.
  void startExact(const char* mesh, const char* devices) {
    const Outcome started = StartExactJob(*m_cluster, kJob, mesh, devices);
    QVERIFY2(started.code == 0, started.Text());
  }
  Json save() { return m_cluster->Ask({"checkpoint", "save", kJob, m_folder->path()}); }
  /// The steps after `step`, which are all that this job has made, have the losses of one process.
  void continuesAsOneProcess(std::int64_t step) {
    const Run run = RunOf(*m_cluster, kJob);
    const Run solo = SoloRun("gpt-nano", step + 3, kBatch);
    for (std::int64_t s = step + 1; s <= step + 3; ++s) {
      QVERIFY2(run.contains(s) && solo.contains(s), std::to_string(s).c_str());
      QVERIFY(RelativeDifference(run.at(s).loss, solo.at(s).loss) < 1e-5);
      QVERIFY(RelativeDifference(run.at(s).grad_norm, solo.at(s).grad_norm) < 1e-4);
    }
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eCheckpointTest)
#include "e2e_checkpoint_test.moc"
