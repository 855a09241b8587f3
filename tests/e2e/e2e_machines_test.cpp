// SPDX-License-Identifier: Apache-2.0
/// \file
/// A cluster of three machines, set up by hand with the steps of the README: keys, configurations,
/// public keys, agents, a profile. The machines are network namespaces. `initTestCase` sets the
/// cluster up; each function leaves it as it found it.

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/e2e/losses.h"
#include "tests/e2e/network_nodes.h"
#include "tests/support/local_cluster.h"
#include "tests/support/proc_stat.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

constexpr int kNodes = 3;

}  // namespace

class E2eMachinesTest : public QObject {
  Q_OBJECT

  QTemporaryDir folder{QStringLiteral("/tmp/tsm.XXXXXX")};
  QTemporaryDir faults;
  std::unique_ptr<NetworkNodes> machines;
  std::vector<std::unique_ptr<QProcess>> agents;

  QString Path(const QString& name) const { return folder.path() + u'/' + name; }

  QProcess* Begin(QProcess& process, int node, QStringList command, const QString& home) const {
    command[0] = QStringLiteral(TESSERA_BIN_DIR) + u'/' + command[0];
    const QStringList whole = machines->On(node, command);
    process.setEnvironment(EnvironmentWithHome(home));
    process.setStandardInputFile(QProcess::nullDevice());
    process.start(whole.first(), whole.mid(1));
    return &process;
  }

  /// Runs tesseractl on the machine of `node`; -1: the machine of the operator.
  Outcome Run(int node, const QStringList& words, int seconds = 60) const {
    QProcess process;
    const QString home =
        Path(node < 0 ? QStringLiteral("operator") : QStringLiteral("m%1").arg(node));
    return LocalCluster::Finish(
        *Begin(process, node, QStringList{QStringLiteral("tesseractl")} + words, home), seconds);
  }
  Json Ask(const QStringList& words, int seconds = 60) const {
    const Outcome outcome = Run(-1, words + QStringList{QStringLiteral("--json")}, seconds);
    if (outcome.code != 0) qWarning("%s", outcome.Text().constData());
    return outcome.code == 0 ? outcome.LastJson() : Json();
  }
  QString Config(int node) const { return Path(QStringLiteral("n%1/agent.json").arg(node)); }

  /// 0 if there is none within a few seconds.
  static std::int64_t StoppedChildOf(std::int64_t keeper) {
    std::int64_t found = 0;
    LocalCluster::WaitFor(
        [&] {
          std::ifstream list("/proc/" + std::to_string(keeper) + "/task/" + std::to_string(keeper) +
                             "/children");
          for (std::int64_t pid = 0; list >> pid;) found = IsStopped(pid) ? pid : found;
          return found != 0;
        },
        10);
    return found;
  }

  bool WaitAlive(int count) const {
    return LocalCluster::WaitFor(
        [&] {
          const Json status = Ask({QStringLiteral("status")});
          if (!status.is_object()) return false;
          int alive = 0;
          for (const Json& node : status["nodes"]) alive += node["state"] == "alive" ? 1 : 0;
          return alive == count;
        },
        40);
  }

 private slots:
  void initTestCase() {
    QVERIFY(faults.isValid());
    qputenv("TESSERA_FAULT_FOLDER", faults.path().toUtf8());  // agents inherit it
    machines = std::make_unique<NetworkNodes>(kNodes);
    if (!machines->problem().isEmpty()) {
      const QByteArray why = machines->problem().toUtf8();
      machines.reset();
      QSKIP(why.constData());
    }
    // Keys: each node keeps its own secret key, the operator the operator's.
    const Outcome own = Run(-1, {"keys", "new", "lena"});
    QVERIFY2(own.code == 0, own.Text());
    for (int node = 0; node < kNodes; ++node) {
      QStringList words = {"node",         "setup",
                           "--cluster",    "lab",
                           "--node",       QString::number(node),
                           "--address",    NetworkNodes::Address(node),
                           "--gpus",       "2",
                           "--gpu-memory", "64M",
                           "--host",       QStringLiteral("machine%1").arg(node),
                           "--output",     Config(node),
                           "--directory",  Path(QStringLiteral("n%1/state").arg(node))};
      if (node > 0) {
        words << "--registrar" << NetworkNodes::Address(0) << "--registrar-key"
              << Path("n0/allowed/n0.pub");
      }
      const Outcome setup = Run(node, words);
      QVERIFY2(setup.code == 0, setup.Text());
      // A second setup is refused, so that no configuration is overwritten.
      const Outcome again = Run(node, words);
      QCOMPARE(again.code, 1);
      QVERIFY(again.errors.contains("exists; --force replaces it"));
    }
    // Public keys go to every node.
    for (int to = 0; to < kNodes; ++to) {
      for (int from = 0; from < kNodes; ++from) {
        const QString file = QStringLiteral("allowed/n%1.pub").arg(from);
        if (from != to) {
          QVERIFY(QFile::copy(Path(QStringLiteral("n%1/").arg(from) + file),
                              Path(QStringLiteral("n%1/").arg(to) + file)));
        }
      }
      QVERIFY(QFile::copy(Path("operator/keys/lena.pub"),
                          Path(QStringLiteral("n%1/allowed/lena.pub").arg(to))));
    }
    for (int node = 0; node < kNodes; ++node) {
      agents.push_back(std::make_unique<QProcess>());
      agents.back()->setProcessChannelMode(QProcess::ForwardedChannels);
      Begin(*agents.back(), node, {"tessera-agent", "--config", Config(node)},
            Path(QStringLiteral("m%1").arg(node)));
      QVERIFY(agents.back()->waitForStarted());
    }
    const Outcome profile =
        Run(-1, {"profile", "add", "lab", "--registrar", NetworkNodes::Address(0), "--server-key",
                 Path("n0/allowed/n0.pub"), "--key", Path("operator/keys/lena.key")});
    QVERIFY2(profile.code == 0, profile.Text());
    QVERIFY(WaitAlive(kNodes));
  }

  void doctorFindsNothingBroken() {
    const Outcome doctor = Run(-1, {"doctor", "--json"});
    QVERIFY2(doctor.code == 0, doctor.Text());
    const Json checks = doctor.LastJson();
    std::set<std::string> nodes;
    for (const Json& check : checks["checks"]) {
      QVERIFY2(check["verdict"] != "failed", check.dump().c_str());
      if (check["node"].is_string()) nodes.insert(check["node"].get<std::string>());
    }
    QCOMPARE(nodes, (std::set<std::string>{"n0", "n1", "n2"}));
  }

  void logsComeOverTheWire() {
    for (const char* node : {"n0", "n2"}) {
      const Outcome logs = Run(-1, {"logs", node});
      QVERIFY2(logs.code == 0, logs.Text());
    }
  }

  void jobMovesBetweenMachines() {
    const Outcome start = Run(-1,
                              {"job", "start", "gpt-nano", "--mesh", "dp=2,tp=1", "--devices",
                               "n0g0,n1g0", "--steps", "100000"},
                              90);
    QVERIFY2(start.code == 0, start.Text());
    for (const auto& [mesh, devices] : {std::pair{"dp=2,tp=2,pp=1", "n0g0,n0g1,n2g0,n2g1"},
                                        {"dp=1,tp=1,pp=2", "n1g1,n2g0"},
                                        {"dp=2,tp=1,pp=1", "n0g0,n1g0"}}) {
      const Json result =
          Ask({"apply", "gpt-nano", "--mesh", mesh, "--devices", devices, "--yes"}, 90);
      QVERIFY(result.is_object());
      QCOMPARE(QString::fromStdString(result.value("result", "")), QStringLiteral("committed"));
    }
    const Json history = Ask({"history", "--limit", "3"})["transactions"];
    QCOMPARE(history.size(), std::size_t{3});
    for (const Json& entry : history) {
      QVERIFY(entry["digest_before"] == entry["digest_after"] && entry["digest_after"] != "");
      QVERIFY(entry["moved_bytes"] == entry["volume_bound_bytes"]);
      std::int64_t moved = 0;
      for (const Json& flow : entry["flows"]) moved += flow["bytes"].get<std::int64_t>();
      QCOMPARE(moved, entry["moved_bytes"].get<std::int64_t>());
    }
    QCOMPARE(Run(-1, {"job", "stop", "gpt-nano", "--yes"}).code, 0);
  }

  void machineThatIsCutOffIsSuspectAndComesBack() {
    QVERIFY(machines->SetLink(2, false));
    const bool noticed = LocalCluster::WaitFor(
        [&] {
          const Json status = Ask({QStringLiteral("status")});
          return status.is_object() && status["nodes"][2]["state"] != "alive";
        },
        20);
    QVERIFY(machines->SetLink(2, true));
    QVERIFY(noticed);
    QVERIFY(WaitAlive(kNodes));
  }

  // The ranks reach each other without the registrar, so the job needs nothing.
  void aJobTrainsOnWhileTheRegistrarIsCutOff() {
    const Outcome start = Run(-1,
                              {"job", "start", "gpt-nano", "--mesh", "dp=2,tp=1", "--devices",
                               "n1g0,n2g0", "--steps", "100000"},
                              90);
    QVERIFY2(start.code == 0, start.Text());
    const auto job = [&] {
      const Json status = Ask({"status"});
      return status.is_object() && !status["jobs"].empty() ? status["jobs"][0] : Json();
    };
    QVERIFY(LocalCluster::WaitFor([&] { return job().value("step", 0) > 3; }, 30));
    const auto before = job()["step"].get<std::int64_t>();
    QVERIFY(machines->SetLink(0, false));
    QTest::qWait(14'000);  // longer than a node may be silent
    QVERIFY(machines->SetLink(0, true));
    QVERIFY(WaitAlive(kNodes));
    QVERIFY(LocalCluster::WaitFor([&] { return job().value("step", 0) > before + 5; }, 30));
    QCOMPARE(job()["state"].get<std::string>(), std::string("running"));
    const Outcome metrics = Run(-1, {"job", "metrics", "gpt-nano", "--json"});
    QVERIFY2(NumStepsWithoutGap(metrics.output) >= before, metrics.Text());
    QCOMPARE(Run(-1, {"job", "stop", "gpt-nano", "--yes"}).code, 0);
  }

  // The machine that joins is cut off while it transfers, and comes back after the transaction.
  void theLinkIsCutWithinATransaction() {
    const Outcome start = Run(-1,
                              {"job", "start", "gpt-nano", "--name", "cut", "--mesh", "dp=1,tp=1",
                               "--devices", "n1g0", "--steps", "100000"},
                              90);
    QVERIFY2(start.code == 0, start.Text());
    const auto job = [&] {
      const Json status = Ask({"status"});
      return status.is_object() && !status["jobs"].empty() ? status["jobs"][0] : Json();
    };
    QVERIFY(LocalCluster::WaitFor([&] { return job().value("step", 0) > 3; }, 30));
    QFile fault(faults.filePath("n2.participant.transferring"));
    QVERIFY(fault.open(QIODevice::WriteOnly));
    fault.write("stop");
    fault.close();
    QProcess apply;
    Begin(apply, -1,
          {"tesseractl", "apply", "cut", "--mesh", "dp=2", "--devices", "n1g0,n2g0", "--yes",
           "--json"},
          Path("operator"));
    QVERIFY(LocalCluster::WaitFor([&] { return !fault.exists(); }, 30));
    QVERIFY(machines->SetLink(2, false));
    const std::int64_t stopped = StoppedChildOf(agents[2]->processId());
    QVERIFY(SendSignal(stopped, SIGCONT));  // it transfers into the void
    const Json result = LocalCluster::Finish(apply, 60).LastJson();
    QVERIFY(result.is_object());
    QCOMPARE(result["result"].get<std::string>(), std::string("rolled_back"));
    const auto before = job()["step"].get<std::int64_t>();
    const bool goes_on =
        LocalCluster::WaitFor([&] { return job().value("step", 0) > before + 3; }, 30);
    const Outcome events = Run(-1, {"events"});
    QVERIFY(machines->SetLink(2, true));
    QVERIFY2(goes_on, events.Text());
    QVERIFY(WaitAlive(kNodes));
    // The machine is as good as new.
    const Json again = Ask({"apply", "cut", "--mesh", "dp=2", "--devices", "n1g0,n2g0", "--yes"});
    QVERIFY(again.is_object());
    QCOMPARE(again["result"].get<std::string>(), std::string("committed"));
    const Outcome metrics = Run(-1, {"job", "metrics", "cut", "--json"});
    QVERIFY2(NumStepsWithoutGap(metrics.output) >= before, metrics.Text());
    QCOMPARE(Run(-1, {"job", "stop", "cut", "--yes"}).code, 0);
  }

  void profileOfAnotherClusterIsRefusedByName() {
    const QStringList words = {"profile",
                               "add",
                               "other",
                               "--registrar",
                               NetworkNodes::Address(0),
                               "--server-key",
                               Path("n0/allowed/n0.pub"),
                               "--key",
                               Path("operator/keys/lena.key")};
    QCOMPARE(Run(-1, words).code, 0);
    const Outcome status = Run(-1, {"--cluster", "other", "status"});
    QCOMPARE(status.code, 1);
    QVERIFY2(status.errors.contains("'lab'") && status.errors.contains("'other'"), status.Text());
    QCOMPARE(Run(-1, {"profile", "remove", "other"}).code, 0);
  }

  void revokedKeyIsRefused() {
    const Outcome revoked = Run(-1, {"keys", "revoke", "lena", "--allowed", Path("n0/allowed")});
    QVERIFY2(revoked.code == 0, revoked.Text());
    Outcome status;
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          status = Run(-1, {"status"});
          return status.code == 1;
        },
        20));
    QVERIFY2(status.errors.contains("refuse"), status.Text());
    // Admitted again, for the functions that follow.
    QVERIFY(QFile::copy(Path("operator/keys/lena.pub"), Path("n0/allowed/lena.pub")));
    QVERIFY(WaitAlive(kNodes));
  }

  void cleanupTestCase() {
    for (auto& agent : agents) agent->terminate();
    for (auto& agent : agents) {
      if (!agent->waitForFinished(10'000)) agent->kill();
      agent->waitForFinished(2000);
    }
    agents.clear();
    machines.reset();
  }
};
TESSERA_TEST(E2eMachinesTest)
#include "e2e_machines_test.moc"
