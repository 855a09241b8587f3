// SPDX-License-Identifier: Apache-2.0
// Impossible data: wrong sizes, clocks that jump, damaged files, a cluster that sends nothing more.
// The panel never freezes, and shows what is wrong.
#include <QAbstractItemView>
#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/support/heartbeat.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/pages/inspector.h"
#include "ui/pages/notice_bar.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/settings.h"
#include "ui/widgets/key_values.h"

using namespace tessera;
using engine::ClusterSnapshot;
using engine::TxnPhase;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kTiny = std::numeric_limits<std::int64_t>::min();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNow = 1'750'000'000;

QString notices(const test::Panel& panel) {
  QStringList texts;
  for (const auto* bar : panel.window->findChildren<ui::NoticeBar*>())
    if (bar->isVisible()) texts << bar->text();
  return texts.join(u'\n');
}

QAction* action(const test::Panel& panel, const char* id) {
  return panel.window->actions()->find(QString::fromLatin1(id));
}

/// Shows every view for a moment, and selects everything.
void lookAround(const test::Panel& panel) {
  for (const char* view : {"view.mesh", "view.tensors", "view.links", "view.flows", "view.data",
                           "view.files", "view.mesh"}) {
    action(panel, view)->trigger();
    QTest::qWait(20);
  }
  panel.window->meshView()->setFocus();
  QTest::keyClick(panel.window->meshView(), Qt::Key_A, Qt::ControlModifier);
  test::settle();
}

struct Lie {
  const char* name;
  std::function<void(ClusterSnapshot&)> tell;
};

const std::vector<Lie>& lies() {
  static const std::vector<Lie> all = {
      {"memory",
       [](ClusterSnapshot& c) {
         c.nodes[0].devices[0].used_bytes = kHuge;
         c.nodes[0].devices[1].used_bytes = kTiny;
         c.nodes[0].devices[2].total_bytes = 0;
         c.nodes[0].devices[3].total_bytes = -1;
       }},
      {"bytes of a change",
       [](ClusterSnapshot& c) {
         auto& txn = *c.transaction;
         txn.bytes_total = 1;
         txn.bytes_done = kHuge;
         txn.flows[0].bytes_total = kHuge;
         txn.flows[1].bytes_total = -5;
         txn.flows[2].bytes_done = kHuge;
         txn.flows[3].bytes_per_second = kNaN;
         txn.eta = -1;
         txn.paused = kNaN;
       }},
      {"unknown GPUs",
       [](ClusterSnapshot& c) {
         c.jobs[0].devices = {{7, 0}, {0, 99}, {-3, -1}, {0, 0}};
         c.transaction->flows[0].source = {900, 900};
         c.transaction->to_devices = {{5, 5}, {5, 5}};
       }},
      {"a mesh that does not fit",
       [](ClusterSnapshot& c) {
         c.jobs[0].mesh = test::Shape(1'000'000, 1'000'000, 1'000'000);
         c.transaction->to_mesh = test::Shape(0, -2, 1);
       }},
      {"no GPUs",
       [](ClusterSnapshot& c) {
         for (auto& node : c.nodes) node.devices.clear();
       }},
      {"one node twice", [](ClusterSnapshot& c) { c.nodes.push_back(c.nodes[0]); }},
      {"numbers that are none",
       [](ClusterSnapshot& c) {
         auto& job = c.jobs[0];
         job.loss = kNaN;
         job.tokens_per_second = -std::numeric_limits<double>::infinity();
         job.step = kTiny;
         job.state_bytes = kHuge;
         job.step_seconds = kNaN;
         c.nodes[0].last_seen = kNaN;
         c.link_bytes_per_second = kNaN;
       }},
      {"long names",
       [](ClusterSnapshot& c) {
         c.cluster = std::string(100'000, 'c');
         c.jobs[0].reason = std::string(1'000'000, 'r');
         c.nodes[0].host = std::string(100'000, 'h');
         c.transaction->reason = std::string(1'000'000, 't');
       }},
  };
  return all;
}

}  // namespace

class OddDataTest : public QObject {
  Q_OBJECT

 private slots:
  void sizesThatLieHarmNobody_data() {
    QTest::addColumn<int>("lie");
    for (int i = 0; i < static_cast<int>(lies().size()); ++i)
      QTest::newRow(lies()[static_cast<std::size_t>(i)].name) << i;
  }
  void sizesThatLieHarmNobody() {
    QFETCH(int, lie);
    const auto lying = [&](TxnPhase phase) {
      auto cluster = test::PanelMove(phase, {62, 58, 64, 41});
      lies()[static_cast<std::size_t>(lie)].tell(cluster);
      return cluster;
    };
    test::Panel panel({.operate = true});
    panel.window->resize(1280, 800);
    QTest::qWait(100);
    test::Heartbeat heartbeat;
    for (const TxnPhase phase :
         {TxnPhase::kPreparing, TxnPhase::kTransferring, TxnPhase::kVerifying, TxnPhase::kDone}) {
      panel.model.setSnapshot(lying(phase));
      panel.model.flush();
      lookAround(panel);
    }
    TESSERA_VERIFY_ALIVE(heartbeat);
    // The next honest word is shown as ever.
    panel.setSnapshot(test::PanelCluster());
    QCOMPARE(panel.window->meshView()->devices().size(), std::size_t{8});
  }

  void aClockThatJumpsHarmsNobody() {
    test::Panel panel;
    panel.window->resize(1280, 800);
    QTest::qWait(100);
    auto* plots = panel.window->findChild<ui::JobPlots*>();
    test::Heartbeat heartbeat;
    std::int64_t step = 10'000;
    // An hour ahead, a year back, the beginning of time, its end, and no time at all.
    for (const double time :
         {kNow + 3600, kNow + 3601, kNow - 31'536'000, 0.0, 1.0, -5.0, 4e9, 1e15, 1e300, kNaN,
          std::numeric_limits<double>::infinity(), kNow + 4000}) {
      engine::Sample sample;
      sample.job = test::kJob;
      sample.step = ++step;
      sample.time = time;
      sample.loss = 2;
      sample.tokens_per_second = 5000;
      panel.model.addSample(sample);
      panel.model.addEvent({step, time, engine::Severity::kWarning, "n1", "the clock jumped"});
      panel.model.flush();
      QTest::qWait(30);
      for (const int key :
           {Qt::Key_0, Qt::Key_Minus, Qt::Key_Left, Qt::Key_Home, Qt::Key_End, Qt::Key_Plus})
        QTest::keyClick(plots, static_cast<Qt::Key>(key));
      QTest::keyClick(panel.window.get(), Qt::Key_Escape);
    }
    TESSERA_VERIFY_ALIVE(heartbeat);
    lookAround(panel);
    TESSERA_VERIFY_ALIVE(heartbeat);
  }

  void unreadableMessagesAreCounted() {
    test::Panel panel;
    const auto* facts = panel.window->findChild<ui::Inspector*>()->facts();
    QCOMPARE(facts->value(QStringLiteral("ignored")), QString());
    panel.model.setMalformed(1284);
    panel.model.flush();
    QTRY_COMPARE(facts->value(QStringLiteral("ignored")),
                 QStringLiteral("1,284 unreadable messages"));
    panel.model.clear();  // another cluster
    panel.setSnapshot(test::PanelCluster());
    QTRY_COMPARE(facts->value(QStringLiteral("ignored")), QString());
  }

  void damagedSettingsAreSaidInTheWindow() {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("panel.ini"));
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly));
    out.write("; tessera panel settings 1\n[safety]\ncountdown_sec");
    out.close();
    ui::Settings settings(file);
    const test::Panel panel({.settings = &settings});
    QTRY_VERIFY2(notices(panel).contains(file + QStringLiteral(".bad")),
                 qPrintable(notices(panel)));
    QCOMPARE(settings.number(ui::Setting::Countdown), 3);
  }

  // A cluster that is connected and publishes nothing is not shown as current.
  void aSilentClusterIsSaidToBeOld() {
    test::FakeConnections connections;
    connections.now = QStringLiteral("lab-a");
    test::Panel panel({.connections = &connections});
    QVERIFY(!action(panel, "cluster.reconnect")->isEnabled());
    const QImage fresh = panel.window->meshView()->viewport()->grab().toImage();
    QVERIFY(notices(panel).isEmpty());
    QTRY_VERIFY2_WITH_TIMEOUT(
        notices(panel).startsWith(QStringLiteral("The cluster is connected but silent.")),
        qPrintable(notices(panel)), 10'000);
    QVERIFY(panel.model.isSilent());
    QVERIFY(panel.window->meshView()->viewport()->grab().toImage() !=
            fresh);  // dimmed, with its age
    panel.window->actions()->refresh();
    QVERIFY(action(panel, "cluster.reconnect")->isEnabled());
    for (auto* bar : panel.window->findChildren<ui::NoticeBar*>())
      if (bar->isVisible()) bar->actionButton()->click();
    QCOMPARE(panel.commands.reconnects, 1);

    // It speaks again.
    panel.setSnapshot(test::PanelCluster());
    QVERIFY(!panel.model.isSilent());
    QTRY_VERIFY(notices(panel).isEmpty());
    QTRY_VERIFY(panel.window->meshView()->viewport()->grab().toImage() == fresh);

    action(panel, "cluster.disconnect")->trigger();
    QCOMPARE(connections.disconnects, 1);
  }

  // The time of a simulation may pass more slowly, or not at all.
  void aPausedSimulationIsNotSilent() {
    ui::ClusterModel model;
    model.setLink(ui::LinkState::Connected, {});
    auto cluster = test::PanelCluster();
    cluster.simulation = engine::SimulationStatus{.hardware = "h100", .speed = 0, .reached = 0};
    model.setSnapshot(cluster);
    QTest::qWait(static_cast<int>(ui::ClusterModel::kSilentSeconds * 1000) + 100);
    QVERIFY(!model.isSilent());
    cluster.simulation.reset();
    model.setSnapshot(cluster);
    QVERIFY(!model.isSilent());
    QTRY_VERIFY_WITH_TIMEOUT(model.isSilent(), 10'000);
  }
};

TESSERA_THEMED_TEST(OddDataTest)
#include "odd_data_test.moc"
