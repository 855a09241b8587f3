// SPDX-License-Identifier: Apache-2.0
// The first steps of a user, without a window: up, a job, its numbers, pause, digest, changes of
// the mesh, history, mistakes, down. Each function starts with a cluster whose only job, kJob, runs
// with dp=2,tp=2 on the first four devices.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QScopeGuard>
#include <QStandardPaths>
#include <QTest>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using tessera::test::FirstDevices;
using tessera::test::Json;
using tessera::test::LocalCluster;
using tessera::test::Outcome;
using tessera::test::SendSignal;

namespace {
const QString kJob = QStringLiteral("nano");
}  // namespace

class E2eBasicTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    if (!m_cluster || m_cluster->Run({"status"}).code != 0) {
      m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{});
      QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    }
    Json job = m_cluster->Job(kJob);
    if (!job.is_object()) {
      const Outcome start = m_cluster->StartJob(kJob, "dp=2,tp=2", FirstDevices(4));
      QVERIFY2(start.code == 0, start.Text());
      job = m_cluster->Job(kJob);
    }
    if (job["state"] == "paused") QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    if (job["devices"].size() != 4) {
      const Json back = m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4));
      QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    }
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("running"));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void upMadeAPrivateFolderAndAProfile() {
    const QDir folder(m_cluster->home() + "/clusters/t");
    QCOMPARE(QFile::permissions(folder.path()) &
                 (QFile::ReadGroup | QFile::ReadOther | QFile::ExeGroup | QFile::ExeOther),
             QFile::Permissions());
    QVERIFY(folder.exists("operator.key"));
    QVERIFY(QFile::exists(m_cluster->home() + "/profiles/t.json"));
    const Json profiles = m_cluster->Ask({"profile", "list"})["profiles"];
    QCOMPARE(profiles.size(), std::size_t{1});
    QCOMPARE(profiles[0]["state"].get<std::string>(), std::string("running"));
  }

  void statusShowsNodesAndJob() {
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    // Heartbeats, one a second, carry the memory in use; three steps may take less.
    Json status;
    const bool counted = LocalCluster::WaitFor(
        [&] {
          status = m_cluster->Status();
          return status.is_object() &&
                 status["nodes"][0]["devices"][0]["used_bytes"].get<std::int64_t>() > 0;
        },
        10);
    QVERIFY(counted);
    QCOMPARE(status["nodes"].size(), std::size_t{2});
    for (const Json& node : status["nodes"]) {
      QCOMPARE(node["state"].get<std::string>(), std::string("alive"));
      QCOMPARE(node["devices"].size(), std::size_t{4});
    }
    const Json& first = status["nodes"][0]["devices"][0];
    QCOMPARE(first["job"].get<std::string>(), kJob.toStdString());
    QCOMPARE(first["rank"].get<int>(), 0);
    QCOMPARE(first["total_bytes"].get<std::int64_t>(), std::int64_t{256} << 20);
    QVERIFY(status["nodes"][1]["devices"][0]["job"].is_null());
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["state"].get<std::string>(), std::string("running"));
    QCOMPARE(job["mesh"]["dp"].get<int>(), 2);
    QCOMPARE(job["mesh"]["tp"].get<int>(), 2);
    QCOMPARE(job["devices"].size(), std::size_t{4});
    QVERIFY(job["loss"].get<double>() > 0);
    QVERIFY(job["tokens_per_second"].get<double>() > 0);
    // All of it is on n0.
    const Json survives = {
        {"any_node", false}, {"worst_node", "n0"}, {"lost_bytes", job["state_bytes"]}};
    QCOMPARE(job["survives"].dump(), survives.dump());
    const QString question = kJob + ": survives the loss of any one node: ";
    for (const QStringList& words : {QStringList{"status"}, QStringList{"job", "list"}}) {
      const Outcome shown = m_cluster->Run(words);
      QVERIFY2(shown.output.contains(question + "no (n0 would lose "), shown.Text());
    }
    const Outcome plan =
        m_cluster->Run({"plan", kJob, "--mesh", "dp=2,tp=2", "--devices", "n0g0,n0g1,n1g0,n1g1"});
    QVERIFY2(plan.output.contains("survives the loss of any one node: yes"), plan.Text());
  }

  void metricsAreOneLineAStep() {
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    const Outcome outcome = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QCOMPARE(outcome.code, 0);
    const QStringList lines = outcome.output.trimmed().split(u'\n');
    QVERIFY(lines.size() >= 3);
    std::int64_t last = 0;
    for (const QString& line : lines) {
      const Json sample = Json::parse(line.toStdString(), nullptr, false);
      QVERIFY2(sample.is_object(), qPrintable(line));
      QCOMPARE(sample["step"].get<std::int64_t>(), last + 1);
      QVERIFY(sample["grad_norm"].get<double>() > 0);
      last = sample["step"].get<std::int64_t>();
    }
  }

  void pausedJobKeepsItsDigest() {
    const Outcome paused = m_cluster->Run({"job", "pause", kJob});
    QVERIFY2(paused.code == 0, paused.Text());
    const Json once = m_cluster->Ask({"digest", kJob});
    const Json again = m_cluster->Ask({"digest", kJob});
    QVERIFY(once.is_object());
    QVERIFY(once["tensors"].size() > 10);
    QCOMPARE(once.dump(), again.dump());
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("paused"));

    // A paused job can be moved. Its state is equal there and back, and it stays paused.
    for (const QString& devices : {QString("n1g0,n1g1"), FirstDevices(4)}) {
      const QString mesh = devices.count(u',') == 1 ? "dp=1,tp=2" : "dp=2,tp=2";
      const Json moved = m_cluster->Apply(kJob, mesh, devices);
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      const Json there = m_cluster->Ask({"digest", kJob});
      VERIFY_DIGESTS(there["digest"], once["digest"]);
      QCOMPARE(there["tensors"].dump(), once["tensors"].dump());
      QCOMPARE(there["step"].dump(), once["step"].dump());
    }
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), std::string("paused"));
    const Outcome resumed = m_cluster->Run({"job", "resume", kJob});
    QVERIFY2(resumed.code == 0, resumed.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void digestOfARunningJobLetsItGoOn() {
    const Json digest = m_cluster->Ask({"digest", kJob});
    QVERIFY(digest.is_object());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void runningJobMovesAndTheHistoryKnows() {
    const std::size_t earlier = m_cluster->Ask({"history"})["transactions"].size();
    const Json plan =
        m_cluster->Ask({"plan", kJob, "--devices", FirstDevices(8), "--mesh", "dp=4,tp=2"});
    QVERIFY(plan.is_object());
    const std::int64_t moved =
        plan["bytes"]["host"].get<std::int64_t>() + plan["bytes"]["network"].get<std::int64_t>();
    QVERIFY(moved > 0);
    QCOMPARE(plan["volume_bound_bytes"].get<std::int64_t>(), moved);

    const Outcome apply = m_cluster->Run(
        {"apply", kJob, "--devices", FirstDevices(8), "--mesh", "dp=4,tp=2", "--yes", "--json"},
        150);
    QVERIFY2(apply.code == 0, apply.Text());
    for (const QString& line :
         apply.output.trimmed().split(u'\n').sliced(0, apply.output.count(u'\n') - 1)) {
      const Json progress = Json::parse(line.toStdString(), nullptr, false);
      QVERIFY2(progress.contains("phase") && progress.contains("done_bytes") &&
                   progress.contains("total_bytes"),
               qPrintable(line));
    }
    const Json result = apply.LastJson();
    QCOMPARE(result["result"].get<std::string>(), std::string("committed"));
    QCOMPARE(result["moved_bytes"].get<std::int64_t>(), moved);
    QVERIFY(result["pause_seconds"].get<double>() > 0);
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{8});

    const Json back = m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4));
    QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->GoesOn(kJob));

    const Json history = m_cluster->Ask({"history"})["transactions"];
    QCOMPARE(history.size(), earlier + 2);
    // The agents moved the planned bytes between each pair of devices, and nothing else.
    QCOMPARE(pairsOf(history[1]["flows"]), pairsOf(plan["flows"]));
    for (const Json& row : history) {
      QCOMPARE(row["result"].get<std::string>(), std::string("committed"));
      VERIFY_DIGESTS(row["digest_before"], row["digest_after"]);
      QCOMPARE(row["moved_bytes"].dump(), row["volume_bound_bytes"].dump());
      QVERIFY(row["phase_seconds"].contains("transferring"));
    }
    const Outcome table = m_cluster->Run({"history"});
    QVERIFY(table.output.contains("committed"));
    // A user who was a moment too late.
    const Outcome late =
        m_cluster->Run({"txn", "cancel", QString::fromStdString(history[0]["id"].dump())});
    QVERIFY2(late.code == 1 && late.errors.contains("is already committed"), late.Text());
    const Outcome unknown = m_cluster->Run({"history", "--job", "other"});
    QVERIFY2(unknown.code == 1 && unknown.errors.contains("no job 'other'; known are"),
             unknown.Text());
  }

  // A terminal is what `script` gives its command.
  void aTerminalSeesThePlanAndIsAsked() {
    if (QStandardPaths::findExecutable("script").isEmpty()) QSKIP("script is not installed");
    for (const char* answer : {"n", "y"}) {
      QProcess script;
      script.setEnvironment(m_cluster->Environment());
      script.start("script", {"-qec",
                              QStringLiteral(TESSERA_BIN_DIR "/tesseractl apply ") + kJob +
                                  QStringLiteral(" --mesh dp=4 --devices ") + FirstDevices(4),
                              "/dev/null"});
      QVERIFY(script.waitForStarted());
      QByteArray output;
      QVERIFY(LocalCluster::WaitFor(
          [&] {
            script.waitForReadyRead(50);
            output += script.readAll();
            return output.contains("[y/N]");
          },
          20));
      QVERIFY2(output.contains("moved in all") && output.contains("Move "), output.constData());
      script.write(QByteArray(answer) + '\n');
      QVERIFY(script.waitForFinished(60'000));
      output += script.readAll();
      const bool moves = *answer == 'y';
      QVERIFY2(script.exitCode() == (moves ? 0 : 1), output.constData());
      QVERIFY2(output.contains(moves ? "committed" : "Nothing changed"), output.constData());
      QCOMPARE(m_cluster->Job(kJob)["mesh"]["dp"].get<int>(), moves ? 4 : 2);
    }
    const Json back = m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4));
    QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
  }

  void cancelRollsBack() {
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", FirstDevices(8), "--mesh",
                                         "dp=4,tp=2", "--at-step", "1000000", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }, 20));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome cancel = m_cluster->Run({"txn", "cancel", "--json"});
    QVERIFY2(cancel.code == 0, cancel.Text());
    const Outcome outcome = LocalCluster::Finish(*apply);
    QVERIFY2(outcome.code == 1, outcome.Text());
    QCOMPARE(outcome.LastJson()["result"].get<std::string>(), std::string("rolled_back"));
    QCOMPARE(cancel.LastJson()["cancelled"].dump(), outcome.LastJson()["transaction"].dump());
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{4});
    QVERIFY2(m_cluster->Run({"txn", "cancel"}).code == 1, "there is nothing to cancel");
  }

  // It is suspect, and not lost, with the usual patience (membership_test has the times). The job
  // goes on.
  void aSilentNodeIsSoonSuspect() {
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent);
    const auto is = [&](const char* state) {
      const Json status = m_cluster->Status();
      return status.is_object() && status["nodes"][1]["state"] == state;
    };
    QVERIFY(is("alive"));
    QVERIFY(SendSignal(agent->pid, SIGSTOP));
    const auto goes_on = qScopeGuard([&] { SendSignal(agent->pid, SIGCONT); });
    QVERIFY(LocalCluster::WaitFor([&] { return is("suspect"); }, 20));
    QVERIFY(SendSignal(agent->pid, SIGCONT));
    QVERIFY(LocalCluster::WaitFor([&] { return is("alive"); }, 20));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void usesAllDevicesOnlyWhenAsked() {
    const QStringList words = {"plan", kJob, "--devices", FirstDevices(7)};
    const Json smallest = m_cluster->Ask(words);
    QVERIFY2(
        smallest["to"]["mesh"] == Json({{"dp", 3}, {"tp", 2}, {"pp", 1}, {"ep", 1}, {"cp", 1}}) &&
            smallest["idle"] == Json::array({"n1g2"}),
        smallest.dump().c_str());
    const Outcome shown = m_cluster->Run(words);
    QVERIFY2(shown.output.contains("  idle     n1g2\n"), shown.Text());
    const Json all = m_cluster->Ask(words + QStringList{"--use-all"});
    QVERIFY2(all["to"]["devices"].size() == 7 && all["idle"].empty(), all.dump().c_str());
  }

  void interruptInApplyRollsBack() {
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", FirstDevices(8), "--mesh",
                                         "dp=4,tp=2", "--at-step", "1000000", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }, 20));
    apply->terminate();  // as Ctrl-C does
    const Outcome outcome = LocalCluster::Finish(*apply);
    QVERIFY2(outcome.code == 1, outcome.Text());
    QCOMPARE(outcome.LastJson()["result"].get<std::string>(), std::string("rolled_back"));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void mistakesChangeNothing_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& words, int code, const char* says) {
      QTest::newRow(name) << words << code << QString::fromLatin1(says);
    };
    row("mesh and devices differ",
        {"apply", kJob, "--devices", "n0g0,n0g1", "--mesh", "dp=2,tp=2", "--yes"}, 2, "4 ranks");
    row("unknown node", {"apply", kJob, "--devices", "n7g0", "--mesh", "dp=1", "--yes"}, 1, "n7");
    row("unknown device", {"apply", kJob, "--devices", "n0g9", "--mesh", "dp=1", "--yes"}, 1,
        "n0g9");
    row("unknown job", {"apply", "other", "--devices", "n0g0", "--yes"}, 1, "other");
    row("tp that does not divide the heads",
        {"apply", kJob, "--devices", "n0g0,n0g1,n0g2", "--mesh", "tp=3", "--yes"}, 1, "tp = 3");
    row("more stages than layers",
        {"apply", kJob, "--devices", "n0g0,n0g1,n0g2,n0g3", "--mesh", "pp=4", "--yes"}, 1,
        "pp = 4");
    row("a micro-batch larger than the share",
        {"plan", kJob, "--devices", "n0g0", "--mesh", "dp=1", "--micro-batch", "500"}, 1,
        "micro-batch 500 is larger than");
    row("what runs already", {"plan", kJob, "--devices", FirstDevices(4), "--mesh", "dp=2,tp=2"}, 1,
        "already runs dp=2,tp=2");
    row("data that is missing",
        {"job", "start", "gpt-nano", "--name", "b", "--devices", "n1g0", "--data", "/no/such/text"},
        1, "/no/such/text");
    row("a job of that name", {"job", "start", "gpt-nano", "--name", kJob, "--devices", "n1g0"}, 1,
        "nano");
    row("devices that are taken", {"job", "start", "gpt-nano", "--name", "b", "--devices", "n0g0"},
        1, "n0g0");
    row("a step that is past",
        {"apply", kJob, "--devices", "n0g0,n0g1", "--mesh", "tp=2", "--at-step", "1", "--yes"}, 1,
        "1");
    row("resume of what runs", {"job", "resume", kJob}, 1, "running");
    row("nothing to cancel", {"txn", "cancel"}, 1, "no transaction");
    row("unknown transaction", {"txn", "show", "999999999"}, 1, "999999999");
    row("unknown node to kill", {"node", "kill", "n9", "--yes"}, 1, "n9");
    row("unknown device to fail", {"device", "fail", "n0g9"}, 1, "n0g9");
    row("up under the same name", {"up", "--cluster", "t"}, 1, "is running");
  }
  void mistakesChangeNothing() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QString, says);
    const Json before = m_cluster->Job(kJob);
    const Outcome outcome = m_cluster->Run(words);
    QVERIFY2(outcome.code == code, outcome.Text());
    QVERIFY2(outcome.errors.startsWith("tesseractl: ") && outcome.errors.count(u'\n') == 1,
             outcome.Text());
    QVERIFY2(outcome.errors.contains(says), outcome.Text());
    const Json after = m_cluster->Job(kJob);
    for (const char* key : {"state", "mesh", "devices", "epoch", "layout_hash"})
      QCOMPARE(after[key].dump(), before[key].dump());
    QCOMPARE(m_cluster->Status()["jobs"].size(), std::size_t{1});
  }

  void moreMemoryThanThereIsIsRefused() {
    LocalCluster small({.nodes = 1, .devices = 1, .memory = "4M", .link = {}, .one_host = false});
    QVERIFY2(small.up().code == 0, small.up().Text());
    const Outcome outcome = small.Run({"job", "start", "gpt-mini", "--devices", "n0g0"});
    QVERIFY2(outcome.code == 1, outcome.Text());
    QVERIFY2(
        outcome.errors.count(u'\n') == 1 && outcome.errors.contains("the smallest set that fits"),
        outcome.Text());
  }

  void aWrongKeyIsRefused() {
    const QString profile = m_cluster->home() + "/profiles/t.json";
    QFile file(profile);
    QVERIFY(file.open(QIODevice::ReadOnly));
    Json json = Json::parse(file.readAll().toStdString());
    // The keys of another cluster are valid keys, but are not admitted here.
    LocalCluster other({.nodes = 1, .devices = 1, .memory = "64M", .link = {}, .one_host = false});
    QVERIFY2(other.up().code == 0, other.up().Text());
    json["key_file"] = (other.home() + "/clusters/t/operator.key").toStdString();
    QFile forged(m_cluster->home() + "/forged.json");
    QVERIFY(forged.open(QIODevice::WriteOnly));
    forged.write(QByteArray::fromStdString(json.dump()));
    forged.close();
    const Outcome outcome = m_cluster->Run({"--cluster", forged.fileName(), "status"});
    QVERIFY2(outcome.code == 1, outcome.Text());
    QVERIFY2(outcome.errors.count(u'\n') == 1 && outcome.errors.contains("127.0.0.1"),
             outcome.Text());
  }

  void stopFreesTheState() {
    const Outcome stopped = m_cluster->Run({"job", "stop", kJob, "--yes"});
    QVERIFY2(stopped.code == 0, stopped.Text());
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json status = m_cluster->Status();
          if (!status["jobs"].empty()) return false;
          for (const Json& device : status["nodes"][0]["devices"])
            if (!device["job"].is_null() || device["used_bytes"].get<std::int64_t>() != 0)
              return false;
          return true;
        },
        20));
  }

  /// The joining devices were part of an earlier job, in an epoch of the same number, and the
  /// decision register holds decisions of an earlier job with this name. Neither must affect the
  /// new job.
  void theNextJobIsReconfiguredOnTheSameDevices() {
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    for (const char* name : {"first", "second", "second"}) {
      const QString job = QLatin1String(name);
      const Outcome start = m_cluster->StartJob(job, "dp=2", "n0g0,n1g0");
      QVERIFY2(start.code == 0, start.Text());
      QVERIFY(m_cluster->WaitStep(job, 3));
      const std::int64_t step = m_cluster->Step(job);
      const Json moved = m_cluster->Apply(job, "dp=4", "n0g0,n0g1,n1g0,n1g1");
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      QVERIFY(moved["step"].get<std::int64_t>() >= step);
      QCOMPARE(moved["epoch"].get<std::int64_t>(), std::int64_t{2});
      QVERIFY(m_cluster->GoesOn(job));
      QVERIFY(m_cluster->Run({"job", "stop", job, "--yes"}).code == 0);
    }
  }

  void downLeavesNothingRunning() {
    std::vector<tessera::app::ProcessId> family;
    for (int node = 0; node < 2; ++node) {
      family.push_back(m_cluster->Keeper(node));
      for (const auto& process : tessera::app::descendantsOf(m_cluster->Keeper(node)))
        family.push_back(process);
    }
    QVERIFY(family.size() >= 4);
    const Outcome refused = m_cluster->Run({"down"});
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.errors.contains("lose the state of job") && refused.errors.contains("--yes"),
             refused.Text());
    for (const auto& process : family) QVERIFY(tessera::app::isAlive(process));
    // A terminal is what `script` gives its command.
    if (!QStandardPaths::findExecutable("script").isEmpty()) {
      QProcess script;
      script.setEnvironment(m_cluster->Environment());
      script.start("script", {"-qec", TESSERA_BIN_DIR "/tesseractl down", "/dev/null"});
      script.write("n\n");
      QVERIFY(script.waitForFinished(60'000));
      const QByteArray shown = script.readAll();
      QVERIFY2(script.exitCode() != 0 && shown.contains("lose the state of job") &&
                   shown.contains("[y/N]"),
               shown.constData());
      for (const auto& process : family) QVERIFY(tessera::app::isAlive(process));
    }
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", FirstDevices(8), "--mesh",
                                         "dp=4,tp=2", "--at-step", "1000000", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_cluster->Phase().empty(); }, 20));
    const Outcome down = m_cluster->Run({"down", "--yes"});
    QVERIFY2(down.code == 0, down.Text());
    // The registrar has said goodbye: the command knows why nobody answers.
    const Outcome left = LocalCluster::Finish(*apply);
    QVERIFY2(left.code == 3 && left.errors.contains("was stopped on request"), left.Text());
    QCOMPARE(left.LastJson()["result"].get<std::string>(), std::string("in_doubt"));
    for (const auto& process : family) QVERIFY(!tessera::app::isAlive(process));
    const Outcome status = m_cluster->Run({"status"});
    QCOMPARE(status.code, 1);
    QVERIFY(m_cluster->Run({"logs"}).code == 0);  // the log files stay
  }

 private:
  /// Bytes by "source destination", of a plan or of a record.
  static std::map<std::string, std::int64_t> pairsOf(const Json& flows) {
    std::map<std::string, std::int64_t> bytes;
    for (const Json& flow : flows) {
      bytes[flow["source"].get<std::string>() + ' ' + flow["destination"].get<std::string>()] =
          flow["bytes"].get<std::int64_t>();
    }
    return bytes;
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eBasicTest)
#include "e2e_basic_test.moc"
