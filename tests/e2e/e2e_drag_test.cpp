// SPDX-License-Identifier: Apache-2.0
// The main act with a real mouse: GPUs dragged from the pool into the mesh reconfigure the job.
#include <QFile>
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"
#include "tests/support/x_server.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("nano");

}  // namespace

class E2eDragTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_display = std::make_unique<XServer>();
    if (!m_display->missing().isEmpty()) QSKIP(qPrintable(m_display->missing()));
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome job = m_cluster->StartJob(kJob, "dp=2,tp=2", FirstDevices(4));
    QVERIFY2(job.code == 0, job.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    // Longer than a drag with a loaded machine takes: each drop starts the countdown anew.
    QFile settings(m_cluster->home() + "/panel.ini");
    QVERIFY(settings.open(QIODevice::WriteOnly));
    settings.write("; tessera panel settings 1\n[safety]\ncountdown_seconds=8\n[end]\n");
    settings.close();
    m_panel.setEnvironment(m_display->Environment(m_cluster->Environment()));
    m_panel.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    m_panel.start(
        QStringLiteral(TESSERA_BIN_DIR "/tessera"),
        {"--connect", "t", "--operate", "--live", "--print-geometry", "--size", "1440x900"});
    QVERIFY(m_panel.waitForStarted());
    QVERIFY2(waitGeometry(
                 [](const Json& g) { return g["active"] == true && g["cells"].size() == 8; }, 30),
             "the panel did not show eight cells in an active window");
  }

  void cleanupTestCase() {
    if (m_panel.state() != QProcess::NotRunning) {
      m_panel.terminate();
      if (!m_panel.waitForFinished(3000)) m_panel.kill();
      m_panel.waitForFinished(3000);
    }
    m_cluster.reset();
    m_display.reset();
  }

  void draggingTheIdleGpusInReachesEight() {
    for (const QString& device : FirstDevices(8).split(u',').sliced(4)) {
      const std::string name = device.toStdString();
      QVERIFY2(waitGeometry([&](const Json& g) { return g["cells"].contains(name); }, 5),
               name.c_str());
      const QPoint from = XServer::MiddleOf(m_geometry["cells"][name]);
      const QPoint zone = XServer::MiddleOf(m_geometry["drop_zone"]);
      QVERIFY(m_display->Drag(from, zone));
      // The cell moves from the pool to the mesh, so the canvas computes a new layout.
      const Json was = m_geometry["cells"][name];
      QVERIFY2(waitGeometry([&](const Json& g) { return g["cells"][name] != was; }, 5),
               "the drop did not move the cell");
    }
    // Live mode applies once the plan is there and its countdown is over.
    QVERIFY2(waitGeometry([](const Json& g) { return g["counting_down"] == true; }, 30),
             "no countdown began");
    QVERIFY2(waitGeometry([](const Json& g) { return g["counting_down"] == false; }, 30),
             "the countdown did not end");
    Json history;
    const bool ended = LocalCluster::WaitFor(
        [&] {
          history = m_cluster->Ask({"history"})["transactions"];
          return !history.empty() && history[0]["result"] != "";
        },
        60);
    QVERIFY2(ended, history.dump().c_str());
    QCOMPARE(history.size(), std::size_t{1});
    QVERIFY2(history[0]["result"] == "committed", history[0]["reason"].dump().c_str());
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{8});
    QVERIFY(m_cluster->GoesOn(kJob));
    VERIFY_DIGESTS(history[0]["digest_before"], history[0]["digest_after"]);
  }

 private:
  /// Reads what the panel prints until `wanted` holds for the newest geometry.
  bool waitGeometry(const std::function<bool(const Json&)>& wanted, int seconds) {
    return LocalCluster::WaitFor(
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

  std::unique_ptr<XServer> m_display;
  std::unique_ptr<LocalCluster> m_cluster;
  QProcess m_panel;
  Json m_geometry;
};

TESSERA_TEST(E2eDragTest)
#include "e2e_drag_test.moc"
