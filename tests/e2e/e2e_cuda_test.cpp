// SPDX-License-Identifier: Apache-2.0
// Errors of a driver, on the emulated one: one sentence, and the old layout trains on. What works
// on GPUs is shown by the tests that also run with TESSERA_TEST_GPUS=cuda.
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("exact");

LocalCluster::Options WithDriver(const QString& settings) {
  LocalCluster::Options options;
  options.devices = 2;
  options.memory = QStringLiteral("64M");
  options.cuda = settings;
  options.plain_lanes = true;  // NCCL is not used otherwise
  return options;
}

/// The job makes steps on n0. Returns what is wrong, or nothing.
QString Begins(const LocalCluster& cluster) {
  if (cluster.up().code != 0) return cluster.up().Text();
  const Outcome start = StartExactJob(cluster, kJob, "dp=1,tp=2", FirstDevices(2, 2));
  if (start.code != 0) return start.Text();
  return cluster.WaitStep(kJob, 3) ? QString() : QStringLiteral("it makes no steps");
}

/// Ends a node and starts it again, with other settings of its driver.
/// \return what is wrong, or nothing
QString StartAgain(LocalCluster& cluster, int node, const QByteArray& settings) {
  if (!LocalCluster::Kill(cluster.Keeper(node))) return QStringLiteral("it does not end");
  if (!LocalCluster::WaitFor([&] { return !cluster.AllAlive(); }))
    return QStringLiteral("nobody misses it");
  const QByteArray before = qgetenv("TESSERA_CUDA_EMULATION");
  qputenv("TESSERA_CUDA_EMULATION", before + "," + settings);
  QString wrong = cluster.StartNode(node);
  qputenv("TESSERA_CUDA_EMULATION", before);
  return wrong;
}

}  // namespace

class E2eCudaTest : public QObject {
  Q_OBJECT

 private slots:
  void aCallThatFailsRollsBack_data() {
    QTest::addColumn<QString>("failing");
    QTest::addColumn<QString>("call");
    QTest::newRow("a launch") << "cuLaunchKernel#5"
                              << "cuLaunchKernel";
    QTest::newRow("memory of the host") << "cuMemHostAlloc#5"
                                        << "cuMemHostAlloc";
  }
  void aCallThatFailsRollsBack() {
    QFETCH(QString, failing);
    QFETCH(QString, call);
    const LocalCluster cluster(WithDriver(QStringLiteral("fail=") + failing));
    const QString wrong = Begins(cluster);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    // Each agent meets the error once.
    int failures = 0;
    Json moved;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Outcome change =
          cluster.Run({"apply", kJob, "--mesh", "dp=2,tp=2", "--devices", FirstDevices(4, 2),
                       "--overlap", "off", "--yes", "--json"},
                      120);
      moved = change.LastJson();
      const QByteArray error = "(emulated CUDA device): " + call.toLatin1() + ": unknown error";
      if (change.code == 0) {
        // It may also meet what the change does without: the way from GPU to GPU, and the digests
        // that are taken when the job trains again.
        if (cluster.Run({"events"}).output.contains(error)) ++failures;
        if (!moved["digest_after"].get<std::string>().empty()) break;
        const QStringList back = {"apply",     kJob,        "--mesh",
                                  "dp=1,tp=2", "--devices", FirstDevices(2, 2),
                                  "--yes",     "--json"};
        QVERIFY(LocalCluster::WaitFor([&] { return cluster.Run(back, 120).code == 0; }));
        continue;
      }
      ++failures;
      QVERIFY2(change.Text().contains(error), change.Text());
      const Json job = cluster.Job(kJob);
      QCOMPARE(job["mesh"]["dp"].dump(), std::string("1"));
      QVERIFY(cluster.GoesOn(kJob));
    }
    QVERIFY2(failures >= 1, "no call has failed");
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(cluster.GoesOn(kJob));
  }

  // The rank of the group is that of n0g0, which has connected its flows with the first calls.
  void anNcclPeerThatStopsRollsBack() {
    const LocalCluster cluster(WithDriver(QStringLiteral("nccl-stop=0@2")));
    const QString wrong = Begins(cluster);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const QStringList change = {
        "apply", kJob, "--mesh", "dp=2,tp=2", "--devices", FirstDevices(4, 2), "--yes", "--json"};
    const Outcome stopped = cluster.Run(change + QStringList{"--overlap", "off"}, 120);
    QVERIFY2(stopped.code == 1, stopped.Text());
    QVERIFY2(stopped.Text().contains("NCCL: "), stopped.Text());
    QCOMPARE(cluster.Job(kJob)["mesh"]["dp"].dump(), std::string("1"));
    QVERIFY(cluster.GoesOn(kJob));
  }

  // Found while the job trains, so cells go over lanes.
  void anNcclPathThatDoesNotWorkIsNotTaken() {
    const LocalCluster cluster(WithDriver(QStringLiteral("nccl-stop=0@1")));
    const QString wrong = Begins(cluster);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const Json moved = cluster.Apply(kJob, "dp=2,tp=2", FirstDevices(4, 2), {"--overlap", "off"});
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY2(moved["pause_seconds"] < 5, moved.dump().c_str());
    const Outcome events = cluster.Run({"events"});
    QVERIFY2(events.output.contains("cells between nodes go over lanes, because the devices cannot "
                                    "reach each other: NCCL: a device has sent nothing for 15 s"),
             events.Text());
    QVERIFY(cluster.GoesOn(kJob));
  }

  // State moves all the same, over lanes.
  void unequalVersionsAreNamed() {
    LocalCluster cluster(WithDriver(QStringLiteral("nccl=22803")));
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const QString wrong = StartAgain(cluster, 1, "driver=12040,nccl=22703");
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY(cluster.WaitAllAlive());
    const Outcome events = cluster.Run({"events"});
    QVERIFY2(
        events.output.contains("its GPUs have CUDA 12.4 (emulated), those of n0 have CUDA 13.0 "
                               "(emulated): programs whose ranks are on both may not connect"),
        events.Text());
    QCOMPARE(cluster.Status()["nodes"][1]["gpu_driver"].get<std::string>(),
             std::string("CUDA 12.4 (emulated)"));
    QVERIFY(StartExactJob(cluster, kJob, "dp=1,tp=2", FirstDevices(2, 2)).code == 0);
    QVERIFY(cluster.WaitStep(kJob, 3));
    const Json moved = cluster.Apply(kJob, "dp=2,tp=2", FirstDevices(4, 2), {"--overlap", "off"});
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(!cluster.Run({"events"}).output.contains("by NCCL"));
  }

  // The memory belongs to the keeper: agent and ranks come and go.
  void theStateOutlivesAgentAndRank() {
    const LocalCluster cluster(WithDriver(QStringLiteral("peers=none")));
    const QString wrong = Begins(cluster);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const auto agent = cluster.Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(cluster.WaitAllAlive());
    QVERIFY(cluster.GoesOn(kJob));
    const auto ranks = cluster.Children(0, kExactProgram);
    QCOMPARE(ranks.size(), 2U);
    QVERIFY(SendSignal(ranks.front(), SIGKILL));
    QVERIFY(cluster.GoesOn(kJob));
    // Its devices do not reach each other: their cells go through the host.
    const Json moved = cluster.Apply(kJob, "dp=2,tp=1", FirstDevices(2, 2), {"--verify", "full"});
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
  }

  // What a node has, and what of it is emulated.
  void doctorListsDriverDevicesAndNccl() {
    const LocalCluster cluster(WithDriver(QStringLiteral("peers=0-1")));
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    std::map<std::string, std::string> found;
    const Json doctor = cluster.Run({"doctor", "--json"}).LastJson();
    for (const Json& check : doctor["checks"]) {
      if (check["node"] == "n0") found[check["name"].get<std::string>()] = check.value("value", "");
    }
    QCOMPARE(found["CUDA driver"], std::string("13.0 (emulated), 4 devices"));
    QVERIFY2(found["CUDA device 0"].ends_with("reaches 1"), found["CUDA device 0"].c_str());
    QVERIFY2(found["CUDA device 2"].ends_with("reaches no other device"),
             found["CUDA device 2"].c_str());
    QCOMPARE(found["NCCL"], std::string("2.28.3 (emulated)"));
  }

  // Programs start without driver and NCCL.
  void programsDoNotLinkThem() {
    const QString readelf = QStandardPaths::findExecutable(QStringLiteral("readelf"));
    QVERIFY(!readelf.isEmpty());
    for (const char* const name : {"bin/tesseractl", "bin/tessera-agent", "bin/tessera-train",
                                   "agents/job/libtessera_job.so.2"}) {
      const QString path = QStringLiteral(TESSERA_BIN_DIR "/../") + QString::fromLatin1(name);
      QVERIFY2(QFile::exists(path), name);
      QProcess read;
      read.start(readelf, {QStringLiteral("-d"), path});
      QVERIFY(read.waitForFinished());
      const QByteArray text = read.readAllStandardOutput();
      QVERIFY2(text.contains("NEEDED"), name);
      QVERIFY2(!text.contains("libcuda") && !text.contains("libnccl"), text.constData());
    }
  }

  // A device of n1 is gone once its agent has begun to use it.
  void aDeviceThatVanishesRollsBack() {
    LocalCluster cluster(WithDriver(QStringLiteral("peers=all")));
    const QString wrong = Begins(cluster);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY2(StartAgain(cluster, 1, "vanish=3@400").isEmpty(), "n1 does not start again");
    QVERIFY(cluster.WaitAllAlive());
    const QStringList change = {
        "apply", kJob, "--mesh", "dp=2,tp=2", "--devices", FirstDevices(4, 2), "--yes", "--json"};
    const Outcome vanished = cluster.Run(change, 120);
    QVERIFY2(vanished.code == 1, vanished.Text());
    QVERIFY2(vanished.LastJson()["result"] == "rolled_back", vanished.Text());
    QVERIFY2(vanished.Text().contains("CUDA: device 3 (emulated CUDA device): ") &&
                 vanished.Text().contains("unavailable (46)"),
             vanished.Text());
    QCOMPARE(cluster.Job(kJob)["mesh"]["dp"].dump(), std::string("1"));
    QVERIFY(cluster.GoesOn(kJob));
  }

  void aDeviceWithLessMemoryIsNamed() {
    LocalCluster::Options options = WithDriver(QStringLiteral("memory=32M"));
    options.nodes = 1;
    const LocalCluster cluster(options);
    QCOMPARE(cluster.up().code, 1);
    QVERIFY2(cluster.up().Text().contains("times; it wrote last: "
                                          "tessera-agent: memory of n0g0: 64 MiB: CUDA: device 0 "
                                          "(emulated CUDA device): cuMemCreate: "
                                          "out of memory (2)"),
             cluster.up().Text());
  }
};

TESSERA_TEST(E2eCudaTest)
#include "e2e_cuda_test.moc"
