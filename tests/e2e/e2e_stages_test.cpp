// SPDX-License-Identifier: Apache-2.0
// Jobs with an own program. Its rules may not distribute the layers uniformly over the pipeline
// stages: which rank holds which layer, and moves between numbers of stages. Its ranks may fail on
// a mesh: the job returns to the one before.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("staged");
const QString kProgram = QStringLiteral(TESSERA_BIN_DIR "/tessera-counting-job");

constexpr char kTensors[] = R"({"layers": 4, "tensors": [
  {"name": "embed", "dtype": "f32", "shape": [4096]},
  {"name": "h.{layer}.w", "dtype": "f32", "shape": [300, 7]},
  {"name": "head", "dtype": "f32", "shape": [64]}]})";

QByteArray RulesWith(const QByteArray& stages) {
  return R"({"stages": ")" + stages + R"(", "rules": [
    {"match": "embed", "cut": "replicate", "stage": "first"},
    {"match": "h.{layer}.w", "cut": "replicate"},
    {"match": "head", "cut": "replicate", "stage": "last"}]})";
}

}  // namespace

class E2eStagesTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.nodes = 1;  // the job's ranks meet in shared memory
    options.devices = 4;
    options.memory = QStringLiteral("16M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_files.isValid());
    write("tensors", kTensors);
  }
  void cleanupTestCase() { m_cluster.reset(); }
  void cleanup() {
    for (const QString& job : {kJob, QStringLiteral("other")})
      m_cluster->Run({"job", "stop", job, "--yes"});
    write("fails", "");
  }

  void movesBetweenNumbersOfStages_data() {
    QTest::addColumn<QByteArray>("stages");
    QTest::addColumn<QString>("first");  // what the rank of stage 0 holds, pp = 2
    QTest::addColumn<QString>("second");
    QTest::newRow("a list, uneven") << QByteArray("0,0,0,1") << "embed h.0.w h.1.w h.2.w"
                                    << "h.3.w head";
    QTest::newRow("interleaved") << QByteArray("uniform*2") << "embed h.0.w h.2.w"
                                 << "h.1.w h.3.w head";
    QTest::newRow("balanced by bytes") << QByteArray("balanced") << "embed h.0.w"
                                       << "h.1.w h.2.w h.3.w head";
  }
  void movesBetweenNumbersOfStages() {
    QFETCH(QByteArray, stages);
    QFETCH(QString, first);
    QFETCH(QString, second);
    const QString all = "embed h.0.w h.1.w h.2.w h.3.w head";
    start(stages, "pp=2", "n0g0,n0g1");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    QCOMPARE(heldIn(1, 0), first);
    QCOMPARE(heldIn(1, 1), second);

    // Paused, so that every digest is of the same step.
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json digest = m_cluster->Ask({"digest", kJob})["digest"];
    move("dp=1,tp=1", "n0g2", digest);
    restartRegistrar();
    move("pp=2", "n0g3,n0g0", digest);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    QCOMPARE(heldIn(3, 0), first);
    QCOMPARE(heldIn(3, 1), second);

    // And while it runs.
    const Json moved = m_cluster->Apply(kJob, "dp=2,pp=2", "n0g0,n0g1,n0g2,n0g3");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    const QStringList halves = {first, second, first, second};
    QStringList held;
    for (int rank = 0; rank < 4; ++rank) held.append(heldIn(4, rank));
    held.sort();
    QStringList expected = halves;
    expected.sort();
    QCOMPARE(held, expected);
    const Json back = m_cluster->Apply(kJob, "dp=1,tp=1", "n0g1");
    QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    QCOMPARE(heldIn(5, 0), all);
  }

  void thePlanAsksTheProgram() {
    start("balanced", "dp=2", "n0g0,n0g1");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    write("fails", "3");
    const QStringList three = {"plan", kJob, "--mesh", "dp=3", "--devices", "n0g0,n0g1,n0g2"};
    const QStringList one = {"plan", kJob, "--mesh", "dp=1", "--devices", "n0g2", "--json"};
    for (const bool pauses : {false, true}) {
      if (pauses) QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
      const Outcome refused = m_cluster->Run(three);
      QVERIFY2(
          refused.code == 1 && refused.SaysInOneLine("tesseractl", "3 ranks have no equal parts"),
          refused.Text());
      const Json plan = m_cluster->Ask(one);
      QVERIFY(plan.is_object());
      QVERIFY2(plan["program_not_asked"].is_null(), plan.dump().c_str());
    }
    write("fails", "2");
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "suspended" &&
             job["reason"].get<std::string>().ends_with("not started again");
    }));
    const QString why = "job 'staged' is suspended";
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Run(one).code == 0; }));
    QCOMPARE(QString::fromStdString(m_cluster->Ask(one)["program_not_asked"]), why);
    const Outcome shown = m_cluster->Run(one.first(one.size() - 1));
    QVERIFY2(shown.output.contains("was not asked whether it can run there: " + why), shown.Text());
  }

  // A terminal is what `script` gives its command.
  void applyAsksTheProgramBeforeTheUser() {
    if (QStandardPaths::findExecutable("script").isEmpty()) QSKIP("script is not installed");
    start("balanced", "dp=2", "n0g0,n0g1");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    write("fails", "3");
    QProcess script;
    script.setEnvironment(m_cluster->Environment());
    script.start("script", {"-qec",
                            QStringLiteral(TESSERA_BIN_DIR "/tesseractl apply ") + kJob +
                                " --mesh dp=3 --devices n0g0,n0g1,n0g2",
                            "/dev/null"});
    QVERIFY(script.waitForFinished(60'000));
    const QByteArray output = script.readAll();
    QVERIFY2(script.exitCode() == 1, output.constData());
    QVERIFY2(output.contains("moved in all"), output.constData());
    QVERIFY2(output.contains("3 ranks have no equal parts"), output.constData());
    QVERIFY2(!output.contains("[y/N]"), output.constData());
  }

  // Its ranks are started again in vain, and its state is whole.
  void itReturnsFromAMeshOnWhichItsRanksFail() {
    start("balanced", "dp=2", "n0g0,n0g1");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    write("fails", "3");
    m_cluster->Apply(kJob, "dp=3", "n0g1,n0g2,n0g3");
    QVERIFY(runsIn(3, 2));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(
        events.output.contains("returns to 2 GPUs as dp=2: its ranks have made no step as dp=3"),
        qPrintable(events.output));
    QCOMPARE(epoch(), std::int64_t{3});
    // It can leave again, and return again.
    m_cluster->Apply(kJob, "dp=3", "n0g1,n0g2,n0g3");
    QVERIFY(runsIn(5, 2));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    QCOMPARE(epoch(), std::int64_t{5});
  }

  // There it fails as well: it does not go to and fro.
  void itReturnsOnce_data() {
    QTest::addColumn<bool>("applies");  // else its program is repaired
    QTest::newRow("then it is started again") << false;
    QTest::newRow("then it is changed") << true;
  }
  void itReturnsOnce() {
    QFETCH(bool, applies);
    start("balanced", "dp=2", "n0g0,n0g1");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    write("fails", "2 3");
    m_cluster->Apply(kJob, "dp=3", "n0g1,n0g2,n0g3");
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["epoch"] == 3 && job["state"] == "suspended" &&
             job["reason"].get<std::string>().ends_with("not started again");
    }));
    restartRegistrar("suspended");
    if (applies) {  // to a mesh on which its ranks do not fail
      const QStringList plan = {"plan", kJob, "--mesh", "dp=1", "--devices", "n0g3"};
      QVERIFY(m_cluster->WaitFor([&] { return m_cluster->Run(plan).code == 0; }));
      const Json moved = m_cluster->Apply(kJob, "dp=1", "n0g3");
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      QVERIFY(runsIn(4, 1));
      QVERIFY(m_cluster->GoesOn(kJob, 5));
      return;
    }
    write("fails", "");
    QVERIFY(m_cluster->WaitFor([&] { return m_cluster->Run({"job", "resume", kJob}).code == 0; }));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
    QCOMPARE(epoch(), std::int64_t{3});
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{2});
  }

  // Another job has taken its GPU. A registrar that has restarted knows the earlier mesh as well.
  void itStaysIfTheEarlierMeshIsTaken() {
    start("balanced", "dp=1", "n0g0");
    QVERIFY(m_cluster->WaitStep(kJob, 5));
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const Json moved = m_cluster->Apply(kJob, "dp=3", "n0g1,n0g2,n0g3");
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    const Outcome other =
        m_cluster->Run({"job", "start", "--exec", "exec " + kProgram + " 1000000 5", "--tensors",
                        m_files.filePath("tensors"), "--rules", m_files.filePath("rules"), "--name",
                        "other", "--mesh", "dp=1", "--devices", "n0g0"},
                       60);
    QVERIFY2(other.code == 0, other.Text());
    write("fails", "3");
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "suspended" &&
             job["reason"].get<std::string>().ends_with(
                 "it does not return to 1 GPU as dp=1: device n0g0 is in job 'other'");
    }));
    QVERIFY(m_cluster->Run({"job", "stop", "other", "--yes"}).code == 0);
    restartRegistrar("suspended", "running");
    QVERIFY(runsIn(3, 1));
    QVERIFY(m_cluster->GoesOn(kJob, 5));
  }

  void aListIsForItsNumberOfStages() {
    start("0,0,0,1", "pp=2", "n0g0,n0g1");
    const Outcome refused =
        m_cluster->Run({"plan", kJob, "--mesh", "pp=4", "--devices", "n0g0,n0g1,n0g2,n0g3"});
    QVERIFY2(refused.code == 1 && refused.SaysInOneLine("tesseractl", "pp can be 1 or 2"),
             refused.Text());
    // Where the mesh is left open, one that the list permits is found.
    const Json plan = m_cluster->Ask({"plan", kJob, "--devices", "n0g0,n0g1,n0g2,n0g3"});
    QVERIFY(plan.is_object());
    QVERIFY2(plan["to"]["mesh"]["pp"].get<int>() <= 2, plan.dump().c_str());
    // The start is on record with its stages.
    const Outcome events = m_cluster->Run({"events", "--json"});
    QVERIFY2(events.output.contains("stages 0,0,0,1"), qPrintable(events.output));
  }

 private:
  void write(const QString& name, const QByteArray& text) {
    QFile file(m_files.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  QString notes() const { return m_files.filePath("notes"); }

  void start(const QByteArray& stages, const QString& mesh, const QString& devices) {
    QDir(notes()).removeRecursively();
    QVERIFY(QDir().mkpath(notes()));
    write("rules", RulesWith(stages));
    const Outcome started = m_cluster->Run(
        {"job", "start", "--exec",
         "COUNTING_JOB_NOTES=" + notes() + " COUNTING_JOB_FAILS=" + m_files.filePath("fails") +
             " exec " + kProgram + " 1000000 5",
         "--tensors", m_files.filePath("tensors"), "--rules", m_files.filePath("rules"), "--name",
         kJob, "--mesh", mesh, "--devices", devices},
        60);
    QVERIFY2(started.code == 0, started.Text());
  }
  /// The tensors that the rank itself finds, in the order of names.
  QString heldIn(int epoch, int rank) const {
    const QString path = QStringLiteral("%1/%2-%3").arg(notes()).arg(epoch).arg(rank);
    if (!LocalCluster::WaitFor([&] { return QFile::exists(path); }, 10)) return "no " + path;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return "cannot read " + path;
    return QString::fromUtf8(file.readAll()).trimmed().replace('\n', ' ');
  }
  void move(const QString& mesh, const QString& devices, const Json& digest) {
    const Json moved = m_cluster->Apply(kJob, mesh, devices);
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    VERIFY_DIGESTS(moved["digest_before"], digest);
    VERIFY_DIGESTS(moved["digest_after"], digest);
    VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], digest);
  }
  /// Waits until the job runs on `count` GPUs in `epoch`.
  bool runsIn(std::int64_t epoch, std::size_t count) const {
    return m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["epoch"] == epoch && job["state"] == "running" && job["devices"].size() == count;
    });
  }
  std::int64_t epoch() const { return m_cluster->Job(kJob)["epoch"].get<std::int64_t>(); }
  /// Kills the agent that is also the registrar; its keeper starts another.
  void restartRegistrar(const std::string& state = "paused", const std::string& later = {}) {
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json status = m_cluster->Status();
          return status.is_object() && status["nodes"].size() == 1 &&
                 status["nodes"][0]["state"] == "alive" && status["jobs"].size() == 1 &&
                 (status["jobs"][0]["state"] == state || status["jobs"][0]["state"] == later);
        },
        30));
  }

  QTemporaryDir m_files;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eStagesTest)
#include "e2e_stages_test.moc"
