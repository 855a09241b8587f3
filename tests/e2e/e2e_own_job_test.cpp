// SPDX-License-Identifier: Apache-2.0
// A job with an own program: the example of the rank library, started as a user does.
#include <QDir>
#include <QFile>
#include <QTest>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("own");
const QString kProgram = QStringLiteral(TESSERA_BIN_DIR "/tessera-job-example");
const QString kTensors = QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.tensors.json");
const QString kRules = QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.rules.json");

QStringList StartOf(const QString& command, const QString& tensors = kTensors,
                    const QString& rules = kRules) {
  return {"job",   "start",   "--exec", command,  "--tensors",
          tensors, "--rules", rules,    "--name", kJob};
}

}  // namespace

class E2eOwnJobTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.nodes = 2;
    options.devices = 2;
    options.memory = QStringLiteral("16M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_files.isValid());
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() { m_cluster->Run({"job", "stop", kJob, "--yes"}); }

  // 2 → 4 → 1 devices: the state moves, and the job continues from it.
  void isReconfigured() {
    const Outcome start =
        m_cluster->Run(StartOf("exec " + kProgram + " 200000") +
                           QStringList{"--mesh", "tp=2", "--devices", "n0g0,n0g1", "--json"},
                       60);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(start.LastJson()["command"].get<std::string>().ends_with(" 200000"));
    QVERIFY(m_cluster->WaitStep(kJob, 20));
    std::int64_t epoch = 1;
    for (const auto& [mesh, devices] : {std::pair{"dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1"},
                                        {"dp=1,tp=1", "n1g1"},
                                        {"dp=1,tp=2", "n0g1,n1g1"}}) {
      const Json moved = m_cluster->Apply(kJob, mesh, devices);
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(moved["epoch"].get<std::int64_t>(), ++epoch);
      QVERIFY(m_cluster->GoesOn(kJob, 10));
    }
    // Its own account: the weights were found, and no step was made twice or left out.
    const Outcome metrics = m_cluster->Run({"job", "metrics", kJob, "--json"});
    QCOMPARE(metrics.code, 0);
    const QStringList lines = metrics.output.trimmed().split(u'\n');
    const Json first = Json::parse(lines.first().toStdString(), nullptr, false);
    const Json last = Json::parse(lines.last().toStdString(), nullptr, false);
    QCOMPARE(first["step"].get<std::int64_t>(), std::int64_t{1});
    QVERIFY2(last["loss"].get<double>() < 1e-3 * first["loss"].get<double>(),
             qPrintable(lines.last()));
    QCOMPARE(last["step"].get<std::int64_t>(), std::int64_t{lines.size()});
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json digest = m_cluster->Ask({"digest", kJob});
    QVERIFY(digest.is_object());
    QCOMPARE(digest["tensors"].size(), std::size_t{2});
    const Json moved = m_cluster->Apply(kJob, "dp=1,tp=1", "n0g0");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], digest["digest"]);
  }

  void aCrashedRankComesBack() {
    const Outcome start =
        m_cluster->Run(StartOf("exec " + kProgram + " 200000") +
                           QStringList{"--mesh", "tp=2", "--devices", "n0g0,n0g1"},
                       60);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 20));
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json digest = m_cluster->Ask({"digest", kJob});
    QVERIFY(digest.is_object());
    const auto ranks = m_cluster->Children(0, kProgram.toStdString());
    QCOMPARE(ranks.size(), std::size_t{2});
    QVERIFY(SendSignal(ranks.front(), SIGKILL));
    QVERIFY(LocalCluster::WaitFor([&] {
      const auto now = m_cluster->Children(0, kProgram.toStdString());
      return now.size() == 2 && now.front() != ranks.front() && now.back() != ranks.back();
    }));
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) { return job["state"] == "paused"; }));
    VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], digest["digest"]);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob, 10));
  }

  // Its state moves while it computes, and the ranks of the new layout make the update. What a
  // device computes does not depend on tp, so no step was left out or made twice if the state is
  // that of a job which did not move.
  void pausesBeforeAnUpdate() {
    constexpr int kSteps = 20'000;  // of half a millisecond
    const auto start = [&](const QStringList& more) {
      return m_cluster->Run(StartOf("exec " + kProgram + " " + QString::number(kSteps)) +
                                QStringList{"--mesh", "tp=2", "--devices", "n0g0,n0g1"} + more,
                            60);
    };
    const auto digest_at_the_end = [&]() -> Json {
      const bool ended = m_cluster->WaitJob(
          kJob, [](const Json& job) { return job["state"] == "paused" && job["step"] == kSteps; },
          120);
      return ended ? m_cluster->Ask({"digest", kJob})["digest"] : Json();
    };
    const Outcome moving = start({"--pauses-before-updates"});
    QVERIFY2(moving.code == 0, moving.Text());
    for (const auto& [mesh, devices] :
         {std::pair{"tp=4", "n0g0,n0g1,n1g0,n1g1"}, {"tp=1", "n1g1"}, {"tp=2", "n0g1,n1g1"}}) {
      const Json moved = m_cluster->Apply(kJob, mesh, devices, {"--overlap", "on"});
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      QVERIFY(moved["step"] < kSteps);
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QVERIFY(
          m_cluster->Ask({"history"})["transactions"][0]["phase_seconds"].contains("precopying"));
    }
    const Json moved = digest_at_the_end();
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    QVERIFY(start({}).code == 0);
    const Outcome refused =
        m_cluster->Run({"plan", kJob, "--mesh", "tp=1", "--devices", "n0g0", "--overlap", "on"});
    QVERIFY2(refused.code == 1 && refused.errors.contains("does not pause before an update"),
             refused.Text());
    VERIFY_DIGESTS(digest_at_the_end(), moved);
  }

  void findsWhatTorchrunWouldSet() {
    const QString folder = m_files.filePath("env");
    QVERIFY(QDir().mkpath(folder));
    const Outcome start =
        m_cluster->Run(StartOf("env > " + folder + "/$RANK; exec " + kProgram + " 5") +
                           QStringList{"--mesh", "dp=2,tp=2", "--devices", "n1g1,n1g0,n0g1,n0g0"},
                       60);
    QVERIFY2(start.code == 0, start.Text());
    std::map<QString, int> ports;
    for (int rank = 0; rank < 4; ++rank) {
      QFile file(folder + "/" + QString::number(rank));
      QVERIFY(file.open(QIODevice::ReadOnly));
      std::map<QString, QString> environment;
      for (const QByteArray& line : file.readAll().split('\n')) {
        const auto equals = line.indexOf('=');
        if (equals > 0) environment[line.left(equals)] = line.mid(equals + 1);
      }
      QCOMPARE(environment["RANK"], QString::number(rank));
      QCOMPARE(environment["WORLD_SIZE"], QString("4"));
      QCOMPARE(environment["LOCAL_RANK"], QString::number(rank % 2));
      QCOMPARE(environment["LOCAL_WORLD_SIZE"], QString("2"));
      QCOMPARE(environment["MASTER_ADDR"], QString("127.0.0.1"));
      ++ports[environment["MASTER_PORT"]];
      QCOMPARE(environment["TESSERA_JOB"], kJob);
    }
    QCOMPARE(ports.size(), std::size_t{1});
    QVERIFY(ports.begin()->first.toInt() > 0);
    // It ends by itself: the state stays.
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "paused" && job["step"] == 5; }, 20));
  }

  /// The shell that runs the command starts the program as a child.
  void itsShellMayStayItsParent() {
    const Outcome start =
        m_cluster->Run(StartOf(kProgram + " 200000; true") +
                           QStringList{"--mesh", "dp=2", "--devices", "n0g0,n0g1"},
                       60);
    QVERIFY2(start.code == 0, start.Text());
    const Json moved = m_cluster->Apply(kJob, "dp=1", "n1g0");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    const Outcome warnings = m_cluster->Run({"events", "--severity", "warning"});
    QVERIFY2(!warnings.output.contains("not expected"), warnings.Text());
  }

  void aMeshIsChosenWithoutACostModel() {
    const Outcome start = m_cluster->Run(StartOf("exec " + kProgram + " 5"), 60);
    QVERIFY2(start.code == 0, start.Text());
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["devices"].size(), std::size_t{4});
    QVERIFY(job["zero"] == false);
  }

  void mistakesAreNamed_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("tensors");
    QTest::addColumn<QString>("rules");
    QTest::addColumn<QString>("says");
    QTest::newRow("a program that is not there") << "/no/such/program"
                                                 << ""
                                                 << ""
                                                 << "exited with status 127";
    QTest::newRow("a program that ends at once") << "echo out of luck >&2; exit 3"
                                                 << ""
                                                 << ""
                                                 << "exited with status 3: out of luck";
    QTest::newRow("tensors that are no JSON") << "true"
                                              << "{\n\"layers\": 0,\n]"
                                              << ""
                                              << "bad:3:";
    QTest::newRow("a rule for nothing")
        << "true"
        << ""
        << "{\"rules\": [\n{\"match\": \"weights\", \"cut\": \"replicate\", \"stage\": \"all\"},\n"
           "{\"match\": \"bias\", \"cut\": \"replicate\", \"stage\": \"all\"},\n"
           "{\"match\": \"step\", \"cut\": \"replicate\", \"stage\": \"all\"}]}"
        << "bad:3:";
    QTest::newRow("a tensor without a rule")
        << "true"
        << ""
        << "{\"rules\": [{\"match\": \"step\", \"cut\": \"replicate\", \"stage\": \"all\"}]}"
        << "weights";
  }
  void mistakesAreNamed() {
    QFETCH(QString, command);
    QFETCH(QString, tensors);
    QFETCH(QString, rules);
    QFETCH(QString, says);
    const QString bad = m_files.filePath("bad");
    if (!tensors.isEmpty() || !rules.isEmpty()) {
      QFile file(bad);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write((tensors + rules).toUtf8());
    }
    const Outcome outcome = m_cluster->Run(
        StartOf(command, tensors.isEmpty() ? kTensors : bad, rules.isEmpty() ? kRules : bad) +
            QStringList{"--mesh", "dp=1", "--devices", "n0g0"},
        60);
    QVERIFY2(outcome.code == 1, outcome.Text());
    QVERIFY2(outcome.errors.count(u'\n') == 1 && outcome.errors.contains(says), outcome.Text());
    QVERIFY(m_cluster->Status()["jobs"].empty());
  }

 private:
  QTemporaryDir m_files;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eOwnJobTest)
#include "e2e_own_job_test.moc"
