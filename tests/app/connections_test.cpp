// SPDX-License-Identifier: Apache-2.0
#include "app/connections.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <optional>

#include "agents/sim/scenario_run.h"
#include "agents/net/socket.h"
#include "agents/node/config.h"
#include "app/bridge.h"
#include "app/cluster_test.h"
#include "app/commands/local_cluster.h"
#include "app/history_file.h"
#include "app/simulation.h"
#include "engine/history/history.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using app::AppConnections;
using engine::Check;
using Verdict = ui::AgentTest::Verdict;

namespace {

constexpr double kNow = 1'750'000'000;
const char* const kProfile =
    "{\"name\": \"lab-a\", \"registrar\": \"tcp://10.0.0.5:40001\", "
    "\"events\": \"tcp://10.0.0.5:40002\", "
    "\"server_key\": \"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\", "
    "\"key_file\": \"/home/op/me.key\"}";

/// What a history file is answered with; nothing if no answer came.
std::optional<Status> opened(AppConnections& connections, const QString& file) {
  std::optional<Status> answer;
  connections.openHistory(file, [&](const Status& status) { answer = status; });
  static_cast<void>(QTest::qWaitFor([&] { return answer.has_value(); }, 30'000));
  return answer;
}

/// Writes an empty history.
Status makeHistory(const QString& path) {
  const auto made = engine::History::Open(path.toStdString());
  return made ? OkStatus() : Status(made.error());
}

}  // namespace

class ConnectionsTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
    qputenv("TESSERA_HOME", m_home->path().toUtf8());
  }

  void refusalsAreTold_data() {
    QTest::addColumn<int>("state");
    QTest::addColumn<QString>("detail");
    QTest::addColumn<int>("verdict");
    const auto row = [](agents::LinkState state, const char* detail, Verdict verdict) {
      QTest::newRow(detail) << static_cast<int>(state) << QString::fromLatin1(detail)
                            << static_cast<int>(verdict);
    };
    using enum agents::LinkState;
    row(kRefused, "key refused by tcp://h:1: this client's key is not in the cluster's allow-list",
        Verdict::KeyRefused);
    row(kRefused, "protocol 2.0 of tcp://h:1 is not 1.0 of this program", Verdict::VersionMismatch);
    row(kLost, "handshake with tcp://h:1 failed: it is not an agent with the server key",
        Verdict::KeyRefused);
    row(kLost, "nobody listens at tcp://h:1", Verdict::Unreachable);
  }
  void refusalsAreTold() {
    QFETCH(int, state);
    QFETCH(QString, detail);
    const auto row = app::refusal({}, static_cast<agents::LinkState>(state), detail.toStdString());
    QTEST(static_cast<int>(row.verdict), "verdict");
    QCOMPARE(row.found, detail);
    QVERIFY(!row.fix.isEmpty());
  }

  void findings_data() {
    QTest::addColumn<int>("change");
    QTest::addColumn<int>("verdict");
    QTest::newRow("well") << 0 << static_cast<int>(Verdict::Reached);
    QTest::newRow("dead") << 1 << static_cast<int>(Verdict::Unreachable);
    QTest::newRow("other version") << 2 << static_cast<int>(Verdict::VersionMismatch);
    QTest::newRow("clock ahead") << 3 << static_cast<int>(Verdict::ClockSkew);
    QTest::newRow("clock behind") << 4 << static_cast<int>(Verdict::ClockSkew);
    QTest::newRow("late answer is no skew") << 5 << static_cast<int>(Verdict::Reached);
    QTest::newRow("bad key file") << 6 << static_cast<int>(Verdict::KeyRefused);
    QTest::newRow("a warning") << 7 << static_cast<int>(Verdict::Warning);
    QTest::newRow("another node's trouble") << 8 << static_cast<int>(Verdict::Reached);
  }
  void findings() {
    QFETCH(int, change);
    engine::NodeStatus node;
    node.node = 1;
    node.state = change == 1 ? engine::NodeState::kDead : engine::NodeState::kAlive;
    node.devices.resize(4);
    node.version = change == 2 ? "0.0.9" : "0.1.0";
    double clock = kNow, latency = 0.01;
    if (change == 3) clock += 4;
    if (change == 4) clock -= 4;
    if (change == 5) clock -= 1.5, latency = 3;
    std::vector<Check> checks{{1, "clock", Check::Verdict::kOk, std::to_string(clock), ""}};
    if (change == 6)
      checks.push_back({1, "key file", Check::Verdict::kFailed, "readable by others", "chmod 600"});
    if (change == 7)
      checks.push_back({1, "memory", Check::Verdict::kWarning, "little is left", "free some"});
    if (change == 8)
      checks.push_back({2, "memory", Check::Verdict::kWarning, "little is left", "free some"});
    const auto row = app::findingsOf(node, checks, kNow, latency);
    QCOMPARE(row.agent, QStringLiteral("n1"));
    QTEST(static_cast<int>(row.verdict), "verdict");
    QCOMPARE(row.fix.isEmpty(), row.verdict == Verdict::Reached);
  }

  void keysAreMadeListedAndRevoked() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    app::AppConnections connections(model, bridge);
    auto keys = connections.keys();
    QVERIFY(keys && keys->isEmpty());  // the folder does not exist yet
    const auto made = connections.makeKey(QStringLiteral("lecture"), QStringLiteral("viewer"));
    QVERIFY(made.has_value());
    QVERIFY(made->file.endsWith(QStringLiteral("/keys/lecture.pub")));
    keys = connections.keys();
    QVERIFY(keys.has_value());
    QCOMPARE(keys->size(), 2);  // the pair and its public half
    QCOMPARE(keys->at(0).publicKey, made->publicKey);
    QCOMPARE(keys->at(1).role, QStringLiteral("viewer"));
    const auto again = connections.makeKey(QStringLiteral("lecture"), QStringLiteral("viewer"));
    QVERIFY(!again);
    QCOMPARE(again.error().code, ErrorCode::kAlreadyExists);
    QVERIFY(!connections.makeKey(QStringLiteral("a/b"), QStringLiteral("viewer")));
    QVERIFY(!connections.makeKey(QStringLiteral("other"), QStringLiteral("king")));

    // A node's folder of accepted keys.
    const QString allowed = m_home->filePath(QStringLiteral("allowed"));
    QVERIFY(QDir().mkpath(allowed));
    QVERIFY(QFile::copy(made->file, allowed + QStringLiteral("/lecture.pub")));
    const auto removed = connections.revokeKey(QStringLiteral("lecture"), allowed);
    QVERIFY(removed.has_value());
    QCOMPARE(*removed, QStringList{allowed + QStringLiteral("/lecture.pub")});
    QVERIFY(!QFile::exists(allowed + QStringLiteral("/lecture.pub")));
    QVERIFY(QFile::exists(made->file));  // the user's own pair stays
    QVERIFY(!connections.revokeKey(QStringLiteral("lecture"), allowed));
  }

  void anUnknownClusterCannotBeStopped() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    app::AppConnections connections(model, bridge);
    std::optional<ErrorCode> code;
    connections.stopLocal(QStringLiteral("nowhere"), [&](Result<void> result) {
      if (!result) code = result.error().code;
    });
    QVERIFY(!code);  // later
    QTRY_COMPARE(code, std::optional(ErrorCode::kNotFound));
  }

  void aMountThatIsNotThereIsSaidOnce() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    app::AppConnections connections(model, bridge);
    int answers = 0;
    Status last;
    connections.unmount(QStringLiteral("/no/such/folder"), [&](const Status& status) {
      ++answers;
      last = status;
    });
    QTRY_COMPARE_WITH_TIMEOUT(answers, 1, 20'000);
    QVERIFY(!last);
    QVERIFY(!last.error().message.empty());
    QTest::qWait(50);
    QCOMPARE(answers, 1);
  }

  void profilesComeAndGo() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    QVERIFY(connections.profiles().isEmpty());
    const auto parsed = connections.parse(QString::fromLatin1(kProfile));
    QVERIFY(parsed);
    QCOMPARE(parsed->registrar, QStringLiteral("tcp://10.0.0.5:40001"));
    QVERIFY(connections.add(*parsed));
    QCOMPARE(connections.add(*parsed).error().code, ErrorCode::kAlreadyExists);
    QCOMPARE(connections.profiles(), QList<ui::ProfileInfo>{*parsed});
    QVERIFY(connections.forget(QStringLiteral("lab-a")));
    QVERIFY(connections.profiles().isEmpty());
    QVERIFY(connections.restore());
    QCOMPARE(connections.profiles(), QList<ui::ProfileInfo>{*parsed});
  }

  void wrongTextsAreSaid() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    for (const char* text : {"", "hello", "{\"name\": 3}", "{\"nam\": \"x\"}", "{}"}) {
      const auto parsed = connections.parse(QString::fromLatin1(text));
      QVERIFY2(!parsed, text);
      QVERIFY2(parsed.error().message.starts_with("the text"), parsed.error().message.c_str());
    }
  }

  void halfWrittenProfilesAreShown() {
    QVERIFY(QDir(m_home->path()).mkpath(QStringLiteral("profiles")));
    QFile file(m_home->filePath(QStringLiteral("profiles/half.json")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"name\": \"ha");
    file.close();
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    const auto profiles = connections.profiles();
    QCOMPARE(profiles.size(), 1);
    QCOMPARE(profiles[0].name, QStringLiteral("half"));
    QVERIFY(!profiles[0].problem.isEmpty());
    QVERIFY(connections.forget(QStringLiteral("half")));
  }

  void aHistoryFileIsShown() {
    const QString path = m_home->filePath(QStringLiteral("past.sqlite"));
    {
      auto history = engine::History::Open(path.toStdString());
      QVERIFY(history);
      engine::Event event{0, kNow, engine::Severity::kInfo, "n0", "joined"};
      QVERIFY((*history)->AddEvent(event));
      std::vector<engine::Sample> samples(3);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i].job = "gpt-mini";
        samples[i].step = static_cast<std::int64_t>(i);
        samples[i].time = kNow + static_cast<double>(i);
        samples[i].loss = 3;
      }
      QVERIFY((*history)->AddSamples(samples));
    }
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    QSignalSpy events(&model, &ui::ClusterModel::eventsAdded);
    // The thread of the window does not read it.
    std::optional<Status> answer;
    connections.openHistory(path, [&](const Status& status) { answer = status; });
    QVERIFY(!model.isFile() && !answer);
    QTRY_VERIFY(answer.has_value());
    QVERIFY(answer->has_value());
    model.flush();
    QVERIFY(model.isFile());
    QCOMPARE(events.count(), 1);
    QVERIFY(model.job() != nullptr);
    QCOMPARE(model.job()->step, std::int64_t{2});
    std::size_t read = 0;
    connections.samples(QStringLiteral("gpt-mini"), 0,
                        [&](Result<std::vector<engine::Sample>> got) { read = got->size(); });
    QTRY_COMPARE(read, std::size_t{2});
    bool refused = false;
    connections.apply({}, {}, ui::Unrecorded::Refuse,
                      [&](Result<std::int64_t> got) { refused = !got; });
    QTRY_VERIFY(refused);
    connections.closeHistory();
    QVERIFY(!model.isFile());
    QVERIFY(!model.hasSnapshot());
  }

  // Its profile is gone, so that the panel cannot connect to it again.
  void theHistoryOfAStoppedClusterLeadsBackToIt() {
    const QString folder = m_home->filePath(QStringLiteral("clusters/lab/n0"));
    QVERIFY(QDir().mkpath(folder));
    const QString path = folder + QStringLiteral("/history.db");
    QVERIFY(engine::History::Open(path.toStdString()));
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    QCOMPARE(connections.stoppedCluster(QStringLiteral("lab")),
             (ui::StoppedCluster{QStringLiteral("lab"), false, path}));
    const ui::ClusterStop stop{kNow, QStringLiteral("lena")};
    model.setStopped(stop);
    VERIFY_OK(opened(connections, path).value_or(Unavailable("no answer")));
    QVERIFY(model.isFile() && !model.stopped());
    connections.closeHistory();
    QVERIFY(!model.isFile());
    // Without a cluster that was shown there is none to go back to.
    QVERIFY(!model.stopped());
  }

  // What a cluster was started with is in its folder.
  void aStoppedClusterIsStartedAsItWas() {
    agents::AgentConfig config;
    config.cluster = "lab";
    config.device_bytes = 64LL << 20;
    config.devices = 3;
    config.link_bytes_per_second = 100'000'000;
    config.lane_security = agents::kPlainLanes;
    config.registrar_endpoint = config.endpoint = "tcp://127.0.0.1:40001";
    config.events = "tcp://127.0.0.1:40002";
    config.lanes = {"tcp://127.0.0.1:40003"};
    config.agent_keys = "agent.key";
    config.allowed_folder = "allowed";
    for (int node = 0; node < 2; ++node) {
      const QString folder = m_home->filePath(QStringLiteral("clusters/lab/n%1").arg(node));
      QVERIFY(QDir().mkpath(folder));
      config.node = node;
      config.host = "lab-n" + std::to_string(node);
      config.directory = folder.toStdString();
      config.rack = "r" + std::to_string(node);
      VERIFY_OK(agents::SaveAgentConfig(config, config.directory + "/agent.json"));
    }
    const auto options = app::stoppedClusterOptions("lab");
    VERIFY_OK(options);
    QCOMPARE(options->name, std::string("lab"));
    QCOMPARE(options->nodes, 2);
    QCOMPARE(options->devices, 3);
    QCOMPARE(options->deviceBytes, std::int64_t{64} << 20);
    QCOMPARE(options->linkBytesPerSecond, std::int64_t{100'000'000});
    QCOMPARE(options->racks, 2);
    QVERIFY(options->plainLanes && !options->oneHost && !options->simulation);
    QVERIFY(!app::stoppedClusterOptions("other"));
    // Those of `up --hosts` are not of this machine.
    QFile hosts(m_home->filePath(QStringLiteral("clusters/lab/hosts.last.json")));
    QVERIFY(hosts.open(QIODevice::WriteOnly));
    QVERIFY(!app::stoppedClusterOptions("lab"));
  }

  // Of two jobs that had one name, the file shows the latest, with its samples and its change only.
  void aHistoryFileShowsTheLatestJobOfAName() {
    const QString path = m_home->filePath(QStringLiteral("twice.sqlite"));
    {
      auto history = engine::History::Open(path.toStdString());
      QVERIFY(history);
      std::vector<engine::Sample> samples;
      for (const auto& [origin, steps] : {std::pair(1000, 5), std::pair(2000, 2)}) {
        for (int step = 1; step <= steps; ++step) {
          engine::Sample& sample = samples.emplace_back();
          sample.job = "gpt-mini";
          sample.step = step;
          sample.time = kNow + origin + step;
          sample.origin = origin;
        }
      }
      QVERIFY((*history)->AddSamples(samples));
      engine::HistoryEntry entry;
      entry.id = 7;
      entry.job = "gpt-mini";
      entry.from = entry.to = "dp=2,tp=1,pp=1 on n0g0,n0g1";
      entry.result = "committed";
      entry.epoch = 9;
      entry.origin = 1000;
      QVERIFY((*history)->PutTransaction(entry));
    }
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    VERIFY_OK(opened(connections, path).value_or(Unavailable("no answer")));
    QCOMPARE(model.job()->origin, std::int64_t{2000});
    QCOMPARE(model.job()->step, std::int64_t{2});
    QCOMPARE(model.job()->epoch, std::int64_t{0});  // that of the change is the earlier job's
    std::vector<std::int64_t> origins;
    connections.samples(QStringLiteral("gpt-mini"), 0, [&](auto got) {
      for (const engine::Sample& sample : *got) origins.push_back(sample.origin);
    });
    QTRY_COMPARE(origins, (std::vector<std::int64_t>{2000, 2000}));
  }

  void filesThatAreNoneAreSaid() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    for (const char* file : {"/no/such.sqlite", "/proc/self/status"}) {
      const auto answer = opened(connections, QString::fromLatin1(file));
      QVERIFY2(answer && !*answer, file);
    }
    QVERIFY(!model.isFile());
  }

  void theFileChosenLastIsShown() {
    const QString first = m_home->filePath(QStringLiteral("first.sqlite")),
                  second = m_home->filePath(QStringLiteral("second.sqlite"));
    QVERIFY(makeHistory(first).has_value() && makeHistory(second).has_value());
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    std::optional<Status> early;
    connections.openHistory(first, [&](const Status& status) { early = status; });
    const auto late = opened(connections, second);
    QVERIFY(late && *late);
    QVERIFY(early && !*early);  // answered in the order of the questions
    QCOMPARE(early->error().code, ErrorCode::kCancelled);
    QCOMPARE(model.file(), second);
    // Nothing is shown that was closed before it was read.
    connections.openHistory(first, [&](const Status& status) { early = status; });
    early.reset();
    connections.closeHistory();
    QTRY_VERIFY(early.has_value());
    QVERIFY(!*early);
    QVERIFY(!model.isFile());
  }

  // The file of a profile may be anywhere, and have another name than the cluster in it.
  void aClosedFileGivesWayToTheProfileThatWasOpened() {
    const QString history = m_home->filePath(QStringLiteral("past.sqlite"));
    QVERIFY(makeHistory(history).has_value());
    const QString keys = m_home->filePath(QStringLiteral("me.key"));
    const agents::CurveKeys own = agents::NewCurveKeys();
    QVERIFY(agents::SaveKeys(own, keys.toStdString()).has_value());
    const QString path = m_home->filePath(QStringLiteral("mine.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(kProfile).replace("/home/op/me.key", keys.toUtf8()));
    file.close();
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    QVERIFY(connections.open(path.toStdString()).has_value());
    const auto answer = opened(connections, history);
    QVERIFY(answer && *answer);
    connections.closeHistory();
    QVERIFY(!model.isFile());
    QCOMPARE(model.link(), ui::LinkState::Connecting);
    QCOMPARE(model.linkDetail(), QStringLiteral("tcp://10.0.0.5:40001"));
    QCOMPARE(connections.current(), QStringLiteral("lab-a"));

    // A profile that is gone is said in an empty window, not over the closed file.
    QVERIFY(*opened(connections, history));
    QVERIFY(QFile::remove(path));
    connections.closeHistory();
    QVERIFY(!model.isFile() && !model.hasSnapshot());
    QCOMPARE(model.link(), ui::LinkState::Lost);
  }

  void aFileStaysShownWhenItsClusterIsLeft() {
    const QString history = m_home->filePath(QStringLiteral("past.sqlite"));
    QVERIFY(makeHistory(history).has_value());
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    QVERIFY(*opened(connections, history));
    connections.closeConnection();
    QCOMPARE(model.file(), history);
    connections.closeHistory();
    QVERIFY(!model.isFile());
    QCOMPARE(model.link(), ui::LinkState::None);
  }

  // A file of a later version is not guessed at.
  void aNewerHistoryIsRefused() {
    const QString path = m_home->filePath(QStringLiteral("newer.sqlite"));
    QVERIFY(engine::History::Open(path.toStdString()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(60));  // the user version of SQLite
    QCOMPARE(file.write(QByteArray("\0\0\0\x63", 4)), qint64{4});
    file.close();
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    const auto answer = opened(connections, path);
    QVERIFY(answer && !*answer);
    const std::string& message = answer->error().message;
    QVERIFY2(message.find("version 99") != std::string::npos, message.c_str());
    QVERIFY(message.find(path.toStdString()) != std::string::npos);
    QVERIFY(!model.isFile());
  }

  // Everything that a demo shows happens: the job grows and shrinks, and growing takes seconds.
  void aDemoPlaysToItsEnd() {
    const auto scenario = agents::sim::ParseScenario({"demo", ToJson(app::demoScenario())});
    QVERIFY2(scenario.has_value(), scenario ? "" : scenario.error().ToString().c_str());
    const auto history = engine::History::InMemory();
    QVERIFY(history.has_value());
    const auto result = RunScenario(*scenario, **history, **history, {});
    QVERIFY2(result.has_value(), result ? "" : result.error().ToString().c_str());
    QVERIFY2(result->failures.empty(),
             result->failures.empty() ? "" : result->failures.front().c_str());
    QCOMPARE(result->changes.size(), scenario->acts.size() - 1);  // all but the start
    for (std::size_t i = 0; i < result->changes.size(); ++i) {
      const engine::HistoryEntry& change = result->changes[i];
      QCOMPARE(change.result, std::string("committed"));
      if (i % 2 != 0) continue;
      double seconds = 0;
      for (const auto& [phase, each] : change.phases) seconds += each;
      QVERIFY2(seconds > 2, qPrintable(QString::number(seconds)));
    }
  }

  void aTestOfNobodyEnds() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    bool done = false;
    connections.test(
        QStringLiteral("unknown"), [](const ui::AgentTest&) {},
        [&](Result<void> result) {
          QVERIFY(!result);
          done = true;
        });
    QVERIFY(!done);
    QTRY_VERIFY(done);
  }

  // A test is kept until its client is closed, and no new one waits for that.
  void testsThatHaveEndedAreGone() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    AppConnections connections(model, bridge);
    auto profile = connections.parse(QString::fromLatin1(kProfile));
    QVERIFY(profile);
    profile->keyFile = m_home->filePath(QStringLiteral("me.key"));
    QVERIFY(agents::SaveKeys(agents::NewCurveKeys(), profile->keyFile.toStdString()).has_value());
    QVERIFY(connections.add(*profile));
    int ended = 0;
    for (int i = 0; i < 3; ++i)
      connections.test(
          QStringLiteral("lab-a"), [](const ui::AgentTest&) {}, [&](Result<void>) { ++ended; });
    QCOMPARE(ended, 2);  // each new one cancels the one before
    connections.cancelTest();
    QCOMPARE(ended, 3);
    QTRY_VERIFY(connections.findChildren<app::ClusterTest*>().isEmpty());
    connections.cancelTest();
    QCOMPARE(ended, 3);
  }

 private:
  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(ConnectionsTest)
#include "connections_test.moc"
