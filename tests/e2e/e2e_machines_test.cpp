// SPDX-License-Identifier: Apache-2.0
/// \file
/// A cluster of three machines that was set up by hand (machine_cluster.h). Each function leaves it
/// as it found it.

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/bench/held_job.h"
#include "tests/e2e/losses.h"
#include "tests/e2e/machine_cluster.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/proc_stat.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eMachinesTest : public QObject {
  Q_OBJECT

  FaultFolder faults;
  std::unique_ptr<MachineCluster> cluster;

  /// 0 if there is none within a few seconds.
  static std::int64_t StoppedChildOf(std::int64_t keeper) {
    std::int64_t found = 0;
    Cluster::WaitFor(
        [&] {
          std::ifstream list("/proc/" + std::to_string(keeper) + "/task/" + std::to_string(keeper) +
                             "/children");
          for (std::int64_t pid = 0; list >> pid;) found = IsStopped(pid) ? pid : found;
          return found != 0;
        },
        10);
    return found;
  }

 private slots:
  void initTestCase() {
    cluster = std::make_unique<MachineCluster>(MachineCluster::Options{});
    const QByteArray problem = cluster->machines().problem().toUtf8();
    if (!problem.isEmpty()) {
      cluster.reset();
      QSKIP(problem.constData());
    }
    QVERIFY2(cluster->up().code == 0, cluster->up().Text());
    QVERIFY(cluster->Configure({{"jobs", {{"exec", true}}}}));
  }

  // So that no configuration is overwritten.
  void secondSetupIsRefused() {
    const Outcome again =
        cluster->Run({"node", "setup", "--cluster", "lab", "--address", NetworkNodes::Address(0),
                      "--output", cluster->ConfigOf(0)});
    QCOMPARE(again.code, 1);
    QVERIFY2(again.errors.contains("exists; --force replaces it"), again.Text());
  }

  void doctorFindsNothingBroken() {
    const Outcome doctor = cluster->Run({"doctor", "--json"});
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
      const Outcome logs = cluster->Run({"logs", node});
      QVERIFY2(logs.code == 0, logs.Text());
    }
  }

  void jobMovesBetweenMachines() {
    const Outcome start = StartExactJob(*cluster, "move", "dp=2,tp=1", "n0g0,n1g0");
    QVERIFY2(start.code == 0, start.Text());
    for (const auto& [mesh, devices] : {std::pair{"dp=2,tp=2,pp=1", "n0g0,n0g1,n2g0,n2g1"},
                                        {"dp=1,tp=1,pp=2", "n1g1,n2g0"},
                                        {"dp=2,tp=1,pp=1", "n0g0,n1g0"}}) {
      const Json result =
          cluster->Ask({"apply", "move", "--mesh", mesh, "--devices", devices, "--yes"}, 90);
      QVERIFY(result.is_object());
      QCOMPARE(QString::fromStdString(result.value("result", "")), QStringLiteral("committed"));
    }
    const Json history = cluster->Ask({"history", "--limit", "3"})["transactions"];
    QCOMPARE(history.size(), std::size_t{3});
    for (const Json& entry : history) {
      VERIFY_DIGESTS(entry["digest_before"], entry["digest_after"]);
      QVERIFY(entry["moved_bytes"] == entry["volume_bound_bytes"]);
      std::int64_t moved = 0;
      for (const Json& flow : entry["flows"]) moved += flow["bytes"].get<std::int64_t>();
      QCOMPARE(moved, entry["moved_bytes"].get<std::int64_t>());
    }
    QCOMPARE(cluster->Run({"job", "stop", "move", "--yes"}).code, 0);
  }

  // The interfaces of the machines carry the bytes of the plan, and of the protocol two percent at
  // most. The state is 35 MB, and no rank sends anything of its own.
  void theWireCarriesThePlan() {
    QTemporaryDir files;
    QVERIFY(WriteHeldJob(files.path(), 160));
    const Outcome start = cluster->Run(
        {"job", "start", "--exec", "exec " TESSERA_TEST_FOLDER "/bench-hold-state check",
         "--tensors", files.filePath("tensors.json"), "--rules", files.filePath("rules.json"),
         "--name", "held", "--mesh", "tp=1", "--devices", "n1g0"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(cluster->WaitStep("held", 2));
    QVERIFY(cluster->Run({"job", "pause", "held"}).code == 0);
    const auto carried = [&] {
      std::vector<NetworkNodes::Carried> all;
      for (int node = 0; node < cluster->num_nodes(); ++node) {
        if (const auto of = cluster->machines().CarriedBy(node)) all.push_back(*of);
      }
      return all;
    };
    for (const auto& [mesh, devices] : {std::pair{"tp=1", "n2g0"},
                                        {"tp=2", "n2g0,n1g1"},
                                        {"dp=2,tp=1", "n2g0,n1g1"}}) {
      const auto before = carried();
      const Json moved = cluster->Apply("held", mesh, devices, {"--overlap", "off"});
      const auto after = carried();
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      QCOMPARE(before.size(), std::size_t{3});
      QCOMPARE(after.size(), std::size_t{3});
      const Json entry = cluster->Ask({"history", "--limit", "1"})["transactions"][0];
      std::vector<double> received(3), sent(3);
      double planned = 0;
      for (const Json& flow : entry["flows"]) {
        const auto node = [&](const char* end) {
          return static_cast<std::size_t>(flow[end].get<std::string>().at(1) - '0');
        };
        if (node("source") == node("destination")) continue;
        const double bytes = flow["bytes"].get<double>();
        sent[node("source")] += bytes;
        received[node("destination")] += bytes;
        planned += bytes;
      }
      QCOMPARE(planned, entry["bytes"]["network"].get<double>());
      QVERIFY2(planned > 15e6, entry.dump().c_str());
      for (std::size_t node = 0; node < 3; ++node) {
        const auto in = static_cast<double>(after[node].received - before[node].received);
        const auto out = static_cast<double>(after[node].sent - before[node].sent);
        qInfo("n%zu: %.0f of %.0f bytes received, %.0f of %.0f sent", node, in, received[node], out,
              sent[node]);
        QVERIFY(in >= received[node] && in < received[node] + 0.02 * planned);
        QVERIFY(out >= sent[node] && out < sent[node] + 0.02 * planned);
      }
    }
    QCOMPARE(cluster->Run({"job", "stop", "held", "--yes"}).code, 0);
  }

  void machineThatIsCutOffIsSuspectAndComesBack() {
    QVERIFY(cluster->machines().SetLink(2, false));
    const bool noticed = Cluster::WaitFor(
        [&] {
          const Json status = cluster->Status();
          return status.is_object() && status["nodes"][2]["state"] != "alive";
        },
        20);
    QVERIFY(cluster->machines().SetLink(2, true));
    QVERIFY(noticed);
    QVERIFY(cluster->WaitAllAlive());
  }

  // The ranks reach each other without the registrar, so the job needs nothing.
  void aJobTrainsOnWhileTheRegistrarIsCutOff() {
    const Outcome start = StartExactJob(*cluster, "apart", "dp=2,tp=1", "n1g0,n2g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(cluster->WaitStep("apart", 4, 30));
    const std::int64_t before = cluster->Step("apart");
    QVERIFY(cluster->machines().SetLink(0, false));
    QTest::qWait(14'000);  // longer than a node may be silent
    QVERIFY(cluster->machines().SetLink(0, true));
    QVERIFY(cluster->WaitAllAlive());
    QVERIFY(cluster->WaitStep("apart", before + 6, 30));
    QVERIFY(cluster->WaitJob("apart", [](const Json& now) { return now["state"] == "running"; }));
    const Outcome past = cluster->Run({"events"});
    QVERIFY2(!past.output.contains("suspended"), past.Text());
    const Outcome metrics = cluster->Run({"job", "metrics", "apart", "--json"});
    QVERIFY2(NumStepsWithoutGap(metrics.output) >= before, metrics.Text());
    QCOMPARE(cluster->Run({"job", "stop", "apart", "--yes"}).code, 0);
  }

  // The machine that joins is cut off while it transfers, and comes back after the transaction.
  void theLinkIsCutWithinATransaction() {
    const Outcome start = StartExactJob(*cluster, "cut", "dp=1,tp=1", "n1g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(cluster->WaitStep("cut", 4, 30));
    QVERIFY(faults.StopAt(2, "participant.transferring"));
    const auto apply = cluster->Start(
        {"apply", "cut", "--mesh", "dp=2", "--devices", "n1g0,n2g0", "--yes", "--json"});
    QVERIFY(Cluster::WaitFor([&] { return !faults.IsPending(2, "participant.transferring"); }, 30));
    QVERIFY(cluster->machines().SetLink(2, false));
    const std::int64_t stopped = StoppedChildOf(cluster->Keeper(2).pid);
    QVERIFY(SendSignal(stopped, SIGCONT));  // it transfers into the void
    const Json result = Cluster::Finish(*apply, 60).LastJson();
    QVERIFY(result.is_object());
    QCOMPARE(result["result"].get<std::string>(), std::string("rolled_back"));
    const std::int64_t before = cluster->Step("cut");
    const bool goes_on = cluster->WaitStep("cut", before + 4, 30);
    const Outcome events = cluster->Run({"events"});
    QVERIFY(cluster->machines().SetLink(2, true));
    QVERIFY2(goes_on, events.Text());
    QVERIFY(cluster->WaitAllAlive());
    // The machine is as good as new, once its agent has ended its part of the transaction.
    Json again;
    QVERIFY(Cluster::WaitFor([&] {
      again = cluster->Apply("cut", "dp=2", "n1g0,n2g0");
      return again.is_object();
    }));
    QVERIFY2(again["result"] == "committed", again.dump().c_str());
    const Outcome metrics = cluster->Run({"job", "metrics", "cut", "--json"});
    QVERIFY2(NumStepsWithoutGap(metrics.output) >= before, metrics.Text());
    QCOMPARE(cluster->Run({"job", "stop", "cut", "--yes"}).code, 0);
  }

  void profileOfAnotherClusterIsRefusedByName() {
    const QStringList words = {"profile",
                               "add",
                               "other",
                               "--registrar",
                               NetworkNodes::Address(0),
                               "--server-key",
                               cluster->Path("n0/allowed/n0.pub"),
                               "--key",
                               cluster->Path("operator/keys/lena.key")};
    QCOMPARE(cluster->Run(words).code, 0);
    const Outcome status = cluster->Run({"--cluster", "other", "status"});
    QCOMPARE(status.code, 1);
    QVERIFY2(status.errors.contains("'lab'") && status.errors.contains("'other'"), status.Text());
    QCOMPARE(cluster->Run({"profile", "remove", "other"}).code, 0);
  }

  void revokedKeyIsRefused() {
    const Outcome revoked =
        cluster->Run({"keys", "revoke", "lena", "--allowed", cluster->Path("n0/allowed")});
    QVERIFY2(revoked.code == 0, revoked.Text());
    // One that has connected before the node looked is told that its key was revoked.
    Outcome status;
    QVERIFY2(Cluster::WaitFor(
                 [&] {
                   status = cluster->Run({"status"});
                   return status.code == 1 && status.errors.contains("refuse");
                 },
                 20),
             status.Text());
    // Admitted again, for the functions that follow.
    QVERIFY(
        QFile::copy(cluster->Path("operator/keys/lena.pub"), cluster->Path("n0/allowed/lena.pub")));
    QVERIFY(cluster->WaitAllAlive());
  }

  void cleanupTestCase() { cluster.reset(); }
};
TESSERA_TEST(E2eMachinesTest)
#include "e2e_machines_test.moc"
