// SPDX-License-Identifier: Apache-2.0
// The bridge with nobody at the other end: the GUI thread never waits, every callback comes once.
#include "app/bridge.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <QTimer>
#include <filesystem>

#include "agents/net/socket.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

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
    int answers = 0;
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
    QCOMPARE(answers, 0);  // never from within the call
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
    timed([&] { QVERIFY(bridge->open("silent").has_value()); });
    QCOMPARE(model.link(), ui::LinkState::Connecting);
    int answers = 0;
    timed([&] { bridge->plan({}, [&](Result<engine::PlanSummary>) { ++answers; }); });
    timed([&] { bridge->cancel(1, [&](Result<void>) { ++answers; }); });
    timed([&] { bridge->history([&](Result<std::vector<engine::HistoryEntry>>) { ++answers; }); });
    timed([&] { bridge->propose({}, {}, [&](Result<engine::Proposal>) { ++answers; }); });
    timed([&] { bridge->doctor([&](Result<std::vector<engine::Check>>) { ++answers; }); });
    for (int i = 0; i < 5; ++i) {
      QTest::qWait(100);
      timed([&] { bridge->reconnect(); });
    }
    // The registrar never answers: a call that waited for it would last as long as the timeout.
    constexpr qint64 kTimeout = std::chrono::milliseconds(app::kAnswerTimeout).count();
    QVERIFY2(longest < kTimeout / 10, qPrintable(QString::number(longest)));
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

  void connectingAndLettingGoKeepsThreadsFlat() {
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
    for (int i = 0; i < 30; ++i) cycle();
    QTRY_VERIFY2(count("/proc/self/task") <= threads, "threads are left");
    QTRY_VERIFY2(count("/proc/self/fd") <= files, "descriptors are left");
  }

 private:
  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(BridgeTest)
#include "bridge_test.moc"
