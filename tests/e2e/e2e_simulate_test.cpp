// SPDX-License-Identifier: Apache-2.0
// A simulated cluster behind the real wire: the command line cannot tell it from a real one, except
// where bytes are wanted.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("small");
QStringList Words(const char* text) { return QString::fromLatin1(text).split(u' '); }
}  // namespace

class E2eSimulateTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.simulate = QStringLiteral("4x4");
    options.more = Words("--hardware demo --speed 4 --racks 2");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void theStatusSaysThatItIsSimulated() {
    const Json status = m_cluster->Status();
    QCOMPARE(status["nodes"].size(), std::size_t{4});
    QCOMPARE(status["simulation"]["hardware"].get<std::string>(), std::string("demo"));
    QCOMPARE(status["simulation"]["speed"].get<double>(), 4.0);
    const Outcome shown = m_cluster->Run({QStringLiteral("status")});
    QVERIFY2(shown.output.contains(QStringLiteral("simulated: demo, 4 s per second")),
             shown.Text());
    QVERIFY2(shown.output.contains(QStringLiteral("rack")), shown.Text());
    QStringList racks;
    for (const Json& node : status["nodes"])
      racks << QString::fromStdString(node["rack"].get<std::string>());
    QCOMPARE(racks.join(u' '), QStringLiteral("r0 r0 r1 r1"));
  }

  // Its files would have no bytes.
  void itIsNotMounted() {
    if (tessera::app::findCommand("mount") == nullptr) return;  // built without libfuse3
    const QTemporaryDir folder;
    const Outcome refused = m_cluster->Run({QStringLiteral("mount"), folder.path()});
    QVERIFY2(refused.code == 1 && refused.errors.contains(QStringLiteral("is simulated")),
             refused.Text());
  }

  void aJobTrainsAndGrows() {
    const Outcome started =
        m_cluster->Run(Words("job start gpt-10m --name small --mesh dp=2,tp=2 --devices 1x4 "
                             "--on-failure shrink"));
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    const Json moved = m_cluster->Apply(kJob, "dp=8,tp=2", "4x4");
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    const Json history = m_cluster->Ask({QStringLiteral("history")});
    QVERIFY(history.is_object() && history["transactions"].size() == 1);
    const Json& change = history["transactions"][0];
    VERIFY_DIGESTS(change["digest_before"], change["digest_after"]);
    QCOMPARE(change["moved_bytes"].get<std::int64_t>(),
             change["volume_bound_bytes"].get<std::int64_t>());
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json digest = m_cluster->Ask({QStringLiteral("digest"), kJob});
    QVERIFY2(IsDigest(digest["digest"].get<std::string>()), digest.dump().c_str());
  }

  void aLostNodeIsReplacedByPolicyAndComesBack() {
    QVERIFY(m_cluster->Run(Words("node kill n3 --yes")).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "running" && job["devices"].size() == 12;
    }));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Outcome started = m_cluster->Run(Words("node start n3"));
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(
        m_cluster->WaitFor([&] { return m_cluster->Status()["nodes"][3]["state"] == "alive"; }));
    QVERIFY2(m_cluster->Run(Words("node start n3")).code == 1, "it runs already");
  }

  void theSimulationIsSteered() {
    const auto run = [&](const char* words) { return m_cluster->Run(Words(words)); };
    QVERIFY(run("simulate speed 20").code == 0);
    QCOMPARE(m_cluster->Status()["simulation"]["speed"].get<double>(), 20.0);
    QVERIFY(run("simulate slow n0g1 3").code == 0);
    QVERIFY(run("simulate slow n0g1 1").code == 0);
    QVERIFY(run("simulate port n1 0.5").code == 0);
    QVERIFY(run("simulate restart n1").code == 0);
    QVERIFY(run("simulate cut n2 2").code == 0);
    QVERIFY(run("simulate add 2").code == 0);
    QVERIFY(m_cluster->WaitFor([&] {
      const Json status = m_cluster->Status();
      return status["nodes"].size() == 6 && status["nodes"][5]["state"] == "alive";
    }));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void whatCannotBeIsRefusedWithASentence_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* words, int code, const char* said) {
      QTest::newRow(words) << QString(words) << code << QString(said);
    };
    row("simulate speed fast", 2, "'fast' is not a number from 0 to 10000");
    row("simulate slow n0g1 0", 2, "factor '0' is not a number from 0.1 to 1000");
    row("simulate slow n0g9 2", 1, "device n0g9 does not exist");
    row("simulate cut n77 2", 1, "node n77 does not exist: the cluster has 6 nodes");
    row("simulate add 5000", 2, "number '5000' is not a number from 1 to 4096");
    row("node kill n0 --yes", 1, "holds the registrar");
    row("checkpoint save small /tmp/nowhere", 1,
        "is simulated: the state of its jobs has no bytes");
    row("topology --measure", 1, "speed of its hardware");
  }
  void whatCannotBeIsRefusedWithASentence() {
    QFETCH(QString, words);
    QFETCH(int, code);
    QFETCH(QString, said);
    const Outcome outcome = m_cluster->Run(words.split(u' '));
    QVERIFY2(outcome.code == code, outcome.Text());
    QVERIFY2(outcome.SaysInOneLine(QStringLiteral("tesseractl"), said), outcome.Text());
  }

  void optionsThatExcludeEachOther_data() {
    QTest::addColumn<QString>("words");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* words, const char* said) {
      QTest::newRow(words) << QString(words) << QString(said);
    };
    row("up --cluster u --simulate 4", "'4' is not nodes x GPUs, such as 16x8");
    row("up --cluster u --simulate 600x8", "is 4800 GPUs, at most 4096 are simulated");
    row("up --cluster u --simulate 4x80", "a node has 80 GPUs, at most 64");
    row("up --cluster u --simulate 4x4 --nodes 2", "--simulate and --nodes exclude each other");
    row("up --cluster u --simulate 4x4 --racks 5", "from 1 to 4");
    row("up --cluster u --speed 2", "--speed is of use only with --simulate");
    row("up --cluster u --simulate 4x4 --hardware h999", "no hardware 'h999'");
  }
  void optionsThatExcludeEachOther() {
    QFETCH(QString, words);
    QFETCH(QString, said);
    const Outcome outcome = m_cluster->Run(words.split(u' '));
    QVERIFY2(outcome.code == 2, outcome.Text());
    QVERIFY2(outcome.SaysInOneLine(QStringLiteral("tesseractl"), said), outcome.Text());
  }

  void aPastIsSavedAndPlayedAgain() {
    const QString file = m_cluster->home() + QStringLiteral("/past.json");
    const Outcome saved = m_cluster->Run({"scenario", "save", kJob, file});
    QVERIFY2(saved.code == 0, saved.Text());
    const Outcome played = m_cluster->Run({"scenario", "run", file, "--quiet"});
    QVERIFY2(played.code == 0, played.Text());
  }

  void aScenarioIsPlayedLive() {
    const QString file = m_cluster->home() + QStringLiteral("/live.json");
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write(R"({"cluster": {"nodes": 2, "devices": 2},
      "acts": [{"at": 0, "start": {"model": "gpt-mini", "job": "live", "mesh": "dp=2"}}],
      "end": 10})");
    out.close();
    const Outcome up = m_cluster->Run(
        {"up", "--cluster", "live", "--simulate", "2x2", "--scenario", file, "--speed", "10"});
    QVERIFY2(up.code == 0, up.Text());
    QVERIFY(m_cluster->WaitFor([&] {
      const Json status = m_cluster->Ask({"--cluster", "live", "status"});
      return status.is_object() && !status["jobs"].empty() && status["jobs"][0]["step"] > 3;
    }));
    QVERIFY(m_cluster->Run({"down", "--cluster", "live", "--yes"}).code == 0);
  }

  void downEndsIt() {
    const auto keeper = m_cluster->Keeper(0);
    const Outcome down = m_cluster->Run(Words("down --cluster t --yes"));
    QVERIFY2(down.code == 0, down.Text());
    QVERIFY(!tessera::app::isAlive(keeper));
  }

 private:
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eSimulateTest)
#include "e2e_simulate_test.moc"
