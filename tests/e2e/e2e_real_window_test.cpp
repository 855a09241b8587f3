// SPDX-License-Identifier: Apache-2.0
// The program itself in front of a user with a mouse and a keyboard: take GPUs away, lose a node,
// decide, look back, open a lesson. Each step leaves a picture, which the program itself saves.
#include <QDir>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/cluster.h"
#include "tests/support/heartbeat.h"
#include "tests/support/home_guard.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"
#include "tests/support/x_server.h"

using namespace tessera::test;

namespace {

constexpr int kAskEveryMs = 300;
const std::string kLeave = "Return to live  Esc";

}  // namespace

class E2eRealWindowTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_display = std::make_unique<XServer>();
    if (!m_display->missing().isEmpty()) QSKIP(qPrintable(m_display->missing()));
    m_environment = EnvironmentWithHome(m_home.path());
    m_environment << "XDG_RUNTIME_DIR=" + m_home.path();  // Qt warns if it is not set
    m_pictures = qEnvironmentVariable("TESSERA_PICTURES", m_home.path() + "/pictures");
    QVERIFY(QDir().mkpath(m_pictures));
    m_panel.setEnvironment(m_display->Environment(m_environment));
    m_panel.setProcessChannelMode(QProcess::SeparateChannels);
    m_panel.start(QStringLiteral(TESSERA_BIN_DIR "/tessera"),
                  {"--simulate", "4x4", "--operate", "--print-geometry", "--size", "1440x900",
                   "--log-gaps", QString::number(Heartbeat::mostInTests().count())});
    QVERIFY(m_panel.waitForStarted());
    QVERIFY2(
        waitFor([](const Json& g) { return g["active"] == true && g["cells"].size() == 16; }, 60),
        "the panel did not show sixteen cells in an active window");
    QVERIFY(waitJob([](const Json& job) { return job["step"] > 2; }));
  }

  void cleanupTestCase() {
    if (m_panel.state() != QProcess::NotRunning) {
      m_panel.terminate();
      if (!m_panel.waitForFinished(3000)) m_panel.kill();
      m_panel.waitForFinished(3000);
    }
    ctl({"down", "--all", "--yes"});
    m_display.reset();
  }

  void aUserWalksThroughIt() {
    picture("1-live");

    for (const std::string gpu : {"n0g2", "n0g3", "n1g2", "n1g3"}) {
      const Json was = m_geometry["cells"][gpu];
      QVERIFY(m_display->Drag(XServer::MiddleOf(was), XServer::MiddleOf(m_geometry["pool"])));
      QVERIFY2(waitFor([&](const Json& g) { return g["cells"][gpu] != was; }, 5), gpu.c_str());
    }
    QVERIFY2(waitButton("Apply: move", 20), "Apply stays off");
    picture("2-draft");
    apply(4);
    picture("3-moved");

    // Back again, so that each node has whole replicas.
    QVERIFY2(waitButton("Plan an undo", 10), "the change cannot be undone");
    QVERIFY(m_display->Click(XServer::MiddleOf(m_button)));
    QVERIFY2(waitButton("Apply: move", 20), "Apply stays off");
    apply(8);

    // The loss of a node asks what now; the user continues with what is left.
    QCOMPARE(ctl({"node", "kill", "n1", "--yes"}).code, 0);
    QVERIFY2(waitButton("Continue", 40), "nothing asked what to do after the loss");
    picture("4-lost");
    QVERIFY(waitButton("Continue", 5));  // the cards have their places now
    QVERIFY(m_display->Click(XServer::MiddleOf(m_button)));
    QVERIFY2(waitJob([](const Json& job) {
               return job["state"] == "running" &&
                      job["devices"].dump().find("n1g") == std::string::npos;
             }),
             "the job does not continue without n1");
    picture("5-continues");

    // Back to when n1 was there, by dragging in the times below the plots, and to now by Esc.
    const Json now = m_geometry["cells"];
    const Json plots = m_geometry["plots"];
    const int bottom = plots[1].get<int>() + plots[3].get<int>() - 6;
    const int left = plots[0].get<int>(), width = plots[2].get<int>();
    QVERIFY(m_display->Drag({left + width * 9 / 10, bottom}, {left + width / 4, bottom}));
    QVERIFY2(waitFor([&](const Json& g) { return g["buttons"].contains(kLeave); }, 10),
             "the past did not open");
    QVERIFY(waitFor([&](const Json& g) { return g["cells"] != now; }, 10));
    picture("6-past");
    QVERIFY(m_display->Key("Escape"));  // from the selected GPU,
    QVERIFY(m_display->Key("Escape"));  // then from the past
    QVERIFY(waitFor([&](const Json& g) { return !g["buttons"].contains(kLeave); }, 10));

    QVERIFY(m_display->Key("alt+4"));
    QVERIFY2(waitFor([&](const Json& g) { return g["buttons"].contains(kLeave); }, 10),
             "no lesson opened");
    picture("7-lesson");
    QVERIFY(m_display->Click(XServer::MiddleOf(m_geometry["buttons"][kLeave])));
    QVERIFY(waitFor([&](const Json& g) { return !g["buttons"].contains(kLeave); }, 10));

    // What was done is in the history, and the cluster ends with the window.
    const Json history = ctl({"history", "--json"}).LastJson()["transactions"];
    QCOMPARE(history.size(), std::size_t{3});
    for (const Json& each : history) QCOMPARE(each["result"].get<std::string>(), "committed");
    QVERIFY(m_display->Key("ctrl+q"));
    QVERIFY2(m_panel.waitForFinished(20'000), "Ctrl+Q does not end the program");
    QCOMPARE(m_panel.exitCode(), 0);
    QVERIFY2(ctl({"status"}).code != 0, "the simulated cluster outlives its window");
    // Nothing went wrong, and the window reacted all the time.
    const QString errors = QString::fromUtf8(m_panel.readAllStandardError());
    QVERIFY2(errors.isEmpty(), qPrintable(errors));
  }

 private:
  Outcome ctl(QStringList words) const {
    return RunProgram("tesseractl", QStringList{"--cluster", "simulated"} + words, m_environment);
  }

  bool waitJob(const std::function<bool(const Json&)>& wanted) {
    return Cluster::WaitFor(
        [&] {
          QThread::msleep(kAskEveryMs);  // each question is a process
          const Json jobs = ctl({"status", "--json"}).LastJson()["jobs"];
          return jobs.is_array() && !jobs.empty() && wanted(jobs[0]);
        },
        60);
  }

  /// Reads what the panel prints until `wanted` holds for the newest geometry.
  bool waitFor(const std::function<bool(const Json&)>& wanted, int seconds) {
    return Cluster::WaitFor(
        [&] {
          m_panel.waitForReadyRead(50);
          while (m_panel.canReadLine()) {
            Json json = Json::parse(m_panel.readLine().toStdString(), nullptr, false);
            if (json.is_object()) m_geometry = std::move(json);
          }
          return m_geometry.is_object() && wanted(m_geometry);
        },
        seconds);
  }

  /// Waits for a button whose text begins so; m_button is then where it is.
  bool waitButton(const std::string& text, int seconds) {
    return waitFor(
        [&](const Json& g) {
          for (const auto& [name, rect] : g["buttons"].items()) {
            if (!name.starts_with(text)) continue;
            m_button = rect;
            return true;
          }
          return false;
        },
        seconds);
  }

  /// Applies the draft and waits until the job trains on so many GPUs.
  void apply(std::size_t gpus) {
    QVERIFY(m_display->Key("ctrl+Return"));
    QVERIFY2(waitButton("Move ", 10), "the question before the change did not come");
    QVERIFY(m_display->Click(XServer::MiddleOf(m_button)));
    QVERIFY2(waitJob([gpus](const Json& job) {
               return job["state"] == "running" && job["devices"].size() == gpus;
             }),
             "the job does not train on these GPUs");
    QVERIFY(waitFor([](const Json& g) { return g["active"] == true; }, 10));
  }

  /// Saves a picture of the window as a user does: Ctrl+Shift+P, the last part of the list, a file
  /// name, Return.
  void picture(const QString& name) {
    const QString file = m_pictures + u'/' + name + QStringLiteral(".png");
    QFile::remove(file);
    QVERIFY(m_display->Key("ctrl+shift+p"));
    QVERIFY2(waitButton("Save…", 10), "no dialog asks for part and size");
    QVERIFY(m_display->Key("End"));
    QVERIFY(m_display->Key("Return"));
    QVERIFY2(waitButton("&Save", 10), "no dialog asks for the file");
    QVERIFY(m_display->Key("ctrl+a"));
    QVERIFY(m_display->Type(file));
    QVERIFY(m_display->Key("Return"));
    QVERIFY(waitFor([](const Json& g) { return g["active"] == true; }, 10));  // it is written
    const QImage image(file);
    QVERIFY2(image.size() == 2 * QSize(1440, 900), qPrintable(file));
  }

  const QTemporaryDir m_home{QStringLiteral("/tmp/tsr.XXXXXX")};
  const HomeGuard m_guard{m_home.path()};
  QStringList m_environment;
  QString m_pictures;
  std::unique_ptr<XServer> m_display;
  QProcess m_panel;
  Json m_geometry, m_button;
};

TESSERA_TEST(E2eRealWindowTest)
#include "e2e_real_window_test.moc"
