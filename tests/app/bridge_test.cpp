// SPDX-License-Identifier: Apache-2.0
// The bridge with nobody at the other end: the GUI thread never waits, every callback comes once.
#include "app/bridge.h"

#include <unistd.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QTimer>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include "agents/net/socket.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/closing_thread.h"
#include "app/requests.h"
#include "tests/agents/fake_registrar.h"
#include "tests/support/heartbeat.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

/// The memory of this process that is in use.
std::int64_t residentBytes() {
  QFile file(QStringLiteral("/proc/self/statm"));
  if (!file.open(QIODevice::ReadOnly)) return 0;
  return file.readAll().split(' ').value(1).toLongLong() * sysconf(_SC_PAGESIZE);
}

/// A ROUTER that takes the handshake and never answers: an agent that hangs.
struct SilentRegistrar {
  agents::CurveKeys server = agents::NewCurveKeys(), client = agents::NewCurveKeys();
  agents::NetContext context;
  Result<agents::Socket> socket =
      agents::Socket::Server(context, agents::SocketKind::kRouter, server);
  std::string endpoint;

  SilentRegistrar() {
    context.SetAllowed({client.public_key});
    if (socket)
      if (const auto bound = socket->Bind("tcp://127.0.0.1:*"); bound) endpoint = *bound;
  }

  /// Saves a profile named "silent" that leads here.
  Status SaveProfile(const std::string& key_file) const {
    if (endpoint.empty()) return Unavailable("the registrar is not bound");
    TESSERA_RETURN_IF_ERROR(agents::SaveKeys(client, key_file));
    agents::Profile profile;
    profile.name = "silent";
    profile.registrar_endpoint = profile.events_endpoint = endpoint;
    profile.server_key = server.public_key;
    profile.key_file = key_file;
    return agents::SaveProfile(profile);
  }
};

}  // namespace

class BridgeTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>(QStringLiteral("/tmp/tsb.XXXXXX"));
    QVERIFY(m_home->isValid());
    qputenv("TESSERA_HOME", m_home->path().toUtf8());
  }

  void withoutAClusterCommandsAnswerLater() {
    ui::ClusterModel model;
    app::Bridge bridge(model);
    const auto opened = bridge.open("");
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::kNotFound);
    QCOMPARE(model.link(), ui::LinkState::None);
    int answers = 0, requests = 0;
    bridge.plan({}, [&](Result<engine::PlanSummary> result) {
      QVERIFY(!result);
      QCOMPARE(result.error().code, ErrorCode::kUnavailable);
      QVERIFY(QThread::currentThread() == QCoreApplication::instance()->thread());
      ++answers;
    });
    bridge.propose({}, {}, [&](Result<engine::Proposal> result) {
      QVERIFY(!result);
      ++answers;
    });
    bridge.doctor([&](Result<std::vector<engine::Check>> result) {
      QVERIFY(!result);
      ++answers;
    });
    bridge.startJob({}, [&](Result<void> result) {
      QVERIFY(!result);
      QVERIFY(QThread::currentThread() == QCoreApplication::instance()->thread());
      ++answers;
    });
    ui::StartRequest nano;
    nano.program = ui::StartRequest::BuiltIn{QStringLiteral("gpt-nano")};
    nano.name = QStringLiteral("gpt-nano");
    bridge.proposeStart(nano, [&](Result<engine::Proposal> result) {
      QVERIFY(!result);
      QCOMPARE(result.error().code, ErrorCode::kUnavailable);
      ++answers;
    });
    ui::ClusterCommands& commands = bridge;
    const auto refused = [&](const auto& result) {
      QVERIFY(!result);
      QCOMPARE(result.error().code, ErrorCode::kUnavailable);
      QVERIFY(QThread::currentThread() == QCoreApplication::instance()->thread());
      ++requests;
    };
    commands.ask(ui::DigestRequest{"gpt-mini"}, refused);
    commands.ask(ui::TuneRequest{"gpt-mini"}, refused);
    commands.ask(ui::NodeRequest{1, ui::NodeRequest::Act::Start}, refused);
    QCOMPARE(requests, 0);
    QCOMPARE(answers, 0);  // never from within the call
    QTRY_COMPARE(requests, 3);
    QTRY_COMPARE(answers, 5);
    // Answers keep their order, so a second one to an earlier command would come first.
    bool isLater = false;
    bridge.cancel(1, [&](Result<void>) { isLater = true; });
    QTRY_VERIFY(isLater);
    QCOMPARE(answers, 5);
  }

  void aRegistrarThatHangsBlocksNothing() {
    SilentRegistrar registrar;
    QVERIFY(registrar.SaveProfile(m_home->filePath("operator.key").toStdString()).has_value());

    ui::ClusterModel model;
    auto bridge = std::make_unique<app::Bridge>(model);
    QElapsedTimer call;
    qint64 longest = 0;
    const auto timed = [&](const auto& act) {
      call.start();
      act();
      longest = std::max(longest, call.elapsed());
    };
    test::Heartbeat heartbeat;
    timed([&] { QVERIFY(bridge->open("silent").has_value()); });
    QCOMPARE(model.link(), ui::LinkState::Connecting);
    int answers = 0;
    timed([&] { bridge->plan({}, [&](Result<engine::PlanSummary>) { ++answers; }); });
    timed([&] { bridge->cancel(1, [&](Result<void>) { ++answers; }); });
    timed([&] { bridge->history([&](Result<std::vector<engine::HistoryEntry>>) { ++answers; }); });
    timed([&] { bridge->propose({}, {}, [&](Result<engine::Proposal>) { ++answers; }); });
    timed([&] { bridge->doctor([&](Result<std::vector<engine::Check>>) { ++answers; }); });
    ui::ClusterCommands& commands = *bridge;
    timed([&] { commands.ask(ui::LogRequest{0}, [](Result<ui::LogAnswer>) {}); });
    timed([&] { commands.ask(ui::ProbeRequest{true}, [](Result<engine::Calibration>) {}); });
    // Nothing was measured, which the profile tells without the cluster.
    std::optional<ErrorCode> last;
    timed([&] {
      commands.ask(ui::ProbeRequest{false}, [&](Result<engine::Calibration> result) {
        if (!result) last = result.error().code;
      });
    });
    QTRY_COMPARE(last, std::optional(ErrorCode::kNotFound));
    for (int i = 0; i < 5; ++i) {
      QTest::qWait(100);
      timed([&] { bridge->reconnect(); });
    }
    // The registrar never answers: a call that waited for it would last as long as the timeout.
    constexpr qint64 kTimeout = std::chrono::milliseconds(app::kAnswerTimeout).count();
    QVERIFY2(longest < kTimeout / 10, qPrintable(QString::number(longest)));
    TESSERA_VERIFY_ALIVE(heartbeat);
    QVERIFY(!model.hasSnapshot());
    QElapsedTimer end;
    end.start();
    bridge.reset();
    QVERIFY2(end.elapsed() < kTimeout, qPrintable(QString::number(end.elapsed())));
    const int then = answers;
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
    QCOMPARE(answers, then);  // nothing comes after the bridge is gone
    QVERIFY(answers <= 5);
  }

  // "Save as Scenario" and the others of some seconds do not wait for a tuning, which takes hours.
  void aTuningDelaysNoOtherRequest() {
    SilentRegistrar registrar;
    QVERIFY(registrar.SaveProfile(m_home->filePath("operator.key").toStdString()).has_value());
    ui::ClusterModel model;
    app::Bridge bridge(model);
    QVERIFY(bridge.open("silent").has_value());
    QStringList answered;
    ui::ClusterCommands& commands = bridge;
    commands.ask(ui::TuneRequest{"gpt-mini"},
                 [&](Result<ui::TuneAnswer>) { answered << QStringLiteral("tune"); });
    // The profile answers this one, so that it waits for nothing but its thread.
    commands.ask(ui::ProbeRequest{false},
                 [&](Result<engine::Calibration>) { answered << QStringLiteral("probe"); });
    QTRY_VERIFY_WITH_TIMEOUT(!answered.empty(), 60'000);
    QCOMPARE(answered.front(), QStringLiteral("probe"));
    QVERIFY(app::takesLong(ui::TuneRequest{}));
    QVERIFY(!app::takesLong(ui::ScenarioRequest{}));
  }

  // A client's destructor may wait for the network.
  void nobodyWaitsForWhatIsClosed() {
    struct Slow {
      std::atomic<bool>& mayEnd;
      std::atomic<int>& ended;
      Slow(std::atomic<bool>& may, std::atomic<int>& count) : mayEnd(may), ended(count) {}
      ~Slow() {
        mayEnd.wait(false);
        ++ended;
      }
    };
    std::atomic<bool> mayEnd = false;
    std::atomic<int> ended = 0;
    {
      app::ClosingThread closing;
      for (int i = 0; i < 3; ++i) closing.close(std::make_unique<Slow>(mayEnd, ended));
      QCOMPARE(ended.load(), 0);
      mayEnd = true;
      mayEnd.notify_all();
    }
    QCOMPARE(ended.load(), 3);
  }

  // The registrar of an earlier start has ended, and that of the next one gives its events the same
  // numbers.
  void aClusterThatWasStartedAnewIsReadFromItsBeginning() {
    test::FakeRegistrar registrar;
    const agents::CurveKeys keys = agents::NewCurveKeys();
    registrar.Allow({keys.public_key});
    const std::string key_file = m_home->filePath("operator.key").toStdString();
    QVERIFY(agents::SaveKeys(keys, key_file).has_value());
    agents::Profile profile;
    profile.name = "test";
    profile.registrar_endpoint = registrar.commands_endpoint();
    profile.events_endpoint = registrar.events_endpoint();
    profile.server_key = registrar.keys().public_key;
    profile.key_file = key_file;
    QVERIFY(agents::SaveProfile(profile).has_value());
    const auto event = [](std::int64_t sequence) {
      return engine::Event{sequence, 1.5, engine::Severity::kInfo, "n0", "text"};
    };
    registrar.Do([&] {
      for (int i = 1; i <= 3; ++i) registrar.history.push_back(event(i));
    });

    ui::ClusterModel model;
    app::Bridge bridge(model);
    std::vector<std::int64_t> seen;
    int cleared = 0, anew = 0;
    QObject::connect(&model, &ui::ClusterModel::eventsAdded, &model, [&](const auto& events) {
      for (const engine::Event& each : events) seen.push_back(each.sequence);
    });
    QObject::connect(&model, &ui::ClusterModel::cleared, &model, [&] {
      ++cleared;
      seen.clear();
    });
    QObject::connect(&model, &ui::ClusterModel::startedAnew, &model, [&] { ++anew; });
    QVERIFY(bridge.open("test").has_value());
    QTRY_COMPARE(seen.size(), std::size_t{3});
    QTRY_VERIFY(model.hasSnapshot());
    QVERIFY(model.link() == ui::LinkState::Connected);
    QCOMPARE(cleared, 0);

    const auto restart = [&](const std::string& incarnation, int events) {
      registrar.Do([&] {
        registrar.Close();
        registrar.incarnation = incarnation;
        registrar.history.clear();
        for (int i = 1; i <= events; ++i) registrar.history.push_back(event(i));
        registrar.published = 0;
        registrar.Reopen();
      });
    };
    restart("first", 4);  // its registrar was killed
    QTRY_COMPARE_WITH_TIMEOUT(seen.size(), std::size_t{4}, 15000);
    QCOMPARE(cleared, 0);
    restart("second", 2);
    QTRY_COMPARE_WITH_TIMEOUT(anew, 1, 15000);
    QTRY_COMPARE(seen, (std::vector<std::int64_t>{1, 2}));
    QCOMPARE(cleared, 1);
    QTRY_VERIFY(model.hasSnapshot() && model.link() == ui::LinkState::Connected);
    // By hand, with a new connection: still the same cluster.
    registrar.Do([&] { registrar.history.push_back(event(3)); });
    bridge.reconnect();
    QTRY_VERIFY(!seen.empty() && seen.back() == 3);
    QCOMPARE(seen, (std::vector<std::int64_t>{1, 2, 3}));
    QCOMPARE(anew, 1);
  }

  // `up` gives a cluster other ports and keys, which an open panel finds in its profile.
  void aProfileThatLeadsElsewhereIsFollowed() {
    auto first = std::make_unique<test::FakeRegistrar>();
    test::FakeRegistrar second;
    const agents::CurveKeys keys = agents::NewCurveKeys();
    const std::string key_file = m_home->filePath("operator.key").toStdString();
    QVERIFY(agents::SaveKeys(keys, key_file).has_value());
    const auto save = [&](test::FakeRegistrar& registrar) {
      registrar.Allow({keys.public_key});
      agents::Profile profile;
      profile.name = "test";
      profile.registrar_endpoint = registrar.commands_endpoint();
      profile.events_endpoint = registrar.events_endpoint();
      profile.server_key = registrar.keys().public_key;
      profile.key_file = key_file;
      return agents::SaveProfile(profile);
    };
    QVERIFY(save(*first).has_value());
    second.Do([&] { second.incarnation = "second"; });
    ui::ClusterModel model;
    app::Bridge bridge(model);
    int anew = 0;
    QObject::connect(&model, &ui::ClusterModel::startedAnew, &model, [&] { ++anew; });
    QVERIFY(bridge.open("test").has_value());
    QTRY_VERIFY(model.hasSnapshot());
    QVERIFY(save(second).has_value());
    first.reset();
    QTRY_COMPARE_WITH_TIMEOUT(anew, 1, 15000);
    QTRY_VERIFY(model.hasSnapshot() && model.link() == ui::LinkState::Connected);
    QCOMPARE(bridge.profile()->registrar_endpoint, second.commands_endpoint());
  }

  // What the panel sends is what tesseractl sends.
  void requestsBecomeMessages() {
    agents::Profile real;
    real.name = "lab";
    const auto messageOf = [&](const ui::Request& request) {
      auto one = app::messageOf(request, real);
      return one && *one ? (*one)->message : wire::Request();
    };
    QCOMPARE(messageOf(ui::DigestRequest{"gpt-mini"}).digest().job(), std::string("gpt-mini"));
    QVERIFY(messageOf(ui::LinksRequest{true}).topology().measure());
    const wire::Request log = messageOf(ui::LogRequest{2, "gpt-mini", 3, 40, 20});
    QCOMPARE(log.log().node(), 2);
    QCOMPARE(log.log().device(), 3);
    QCOMPARE(static_cast<qint64>(log.log().from()), qint64{40});
    QCOMPARE(static_cast<qint64>(log.log().lines()), qint64{20});
    QCOMPARE(messageOf(ui::DeleteCheckpointRequest{"/srv/a"}).delete_checkpoint().path(),
             std::string("/srv/a"));
    const wire::Request load = messageOf(ui::LoadCheckpointRequest{"gpt-mini", "/srv/a", true});
    QVERIFY(load.load_checkpoint().parameters_only());
    QCOMPARE(static_cast<qint64>(
                 messageOf(ui::ThrottleRequest{5'000'000}).throttle().bytes_per_second()),
             qint64{5'000'000});
    const wire::Request givenUp = messageOf(ui::NodeRequest{1, ui::NodeRequest::Act::GiveUp});
    QVERIFY(givenUp.kill_node().give_up());
    QCOMPARE(givenUp.kill_node().node(), 1);
    QVERIFY(messageOf(ui::RegistrarRequest{}).has_registrar());

    // Faults are for emulated clusters: this profile has no folder on this machine.
    for (const ui::Request& fault : {ui::Request(ui::NodeRequest{1, ui::NodeRequest::Act::Kill}),
                                     ui::Request(ui::NodeRequest{1, ui::NodeRequest::Act::Start}),
                                     ui::Request(ui::FailDeviceRequest{{0, 1}})}) {
      const auto refused = app::messageOf(fault, real);
      QVERIFY(!refused);
      QCOMPARE(refused.error().code, ErrorCode::kFailedPrecondition);
      agents::Profile emulated = real;
      emulated.directory = "/tmp/lab";
      QVERIFY(app::messageOf(fault, emulated).has_value());
    }
  }

  void answersOfTheClusterAreRead() {
    const auto read = [](const ui::Request& request, const wire::Reply& reply) {
      auto one = app::messageOf(request, {});
      return (*one)->read(reply);
    };
    wire::Reply digest;
    digest.mutable_digest()->set_digest("8f31");
    digest.mutable_digest()->set_step(12);
    (*digest.mutable_digest()->mutable_tensors())["wte"] = "00ab";
    const auto answer = std::get<ui::DigestAnswer>(*read(ui::DigestRequest{}, digest));
    QCOMPARE(answer.digest, std::string("8f31"));
    QCOMPARE(answer.tensors.at("wte"), std::string("00ab"));

    wire::Reply broken;
    broken.mutable_topology()->set_cluster("no JSON");
    QVERIFY(!read(ui::LinksRequest{}, broken));
    wire::Reply probe;
    probe.mutable_probe()->set_calibration("{}");
    QVERIFY(!read(ui::ProbeRequest{true}, probe));
  }

  void connectingAndLettingGoAHundredTimesLeavesNothing() {
    SilentRegistrar registrar;
    QVERIFY(registrar.SaveProfile(m_home->filePath("operator.key").toStdString()).has_value());
    ui::ClusterModel model;
    const auto count = [](const char* folder) {
      return std::distance(std::filesystem::directory_iterator(folder), {});
    };
    const auto cycle = [&] {
      app::Bridge bridge(model);
      QVERIFY(bridge.open("silent").has_value());
      QTest::qWait(5);
    };
    cycle();
    const auto threads = count("/proc/self/task"), files = count("/proc/self/fd");
    for (int i = 0; i < 20; ++i) cycle();  // what is allocated once
    const std::int64_t memory = residentBytes();
    for (int i = 0; i < 100; ++i) cycle();
    QTRY_VERIFY2(count("/proc/self/task") <= threads, "threads are left");
    QTRY_VERIFY2(count("/proc/self/fd") <= files, "descriptors are left");
    // A connection that was not freed would be some 100 KiB, a hundred of them 10 MiB.
    const std::int64_t grown = residentBytes() - memory;
    QVERIFY2(grown < (5LL << 20), qPrintable(QStringLiteral("%1 bytes are left").arg(grown)));
  }

 private:
  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(BridgeTest)
#include "bridge_test.moc"
