// SPDX-License-Identifier: Apache-2.0
// The event loop of the panel never stands still: large clusters, large models and many events
// arrive while it goes on.
#include "tests/support/heartbeat.h"

#include <QComboBox>
#include <QLineEdit>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"
#include "ui/pages/events_page.h"
#include "ui/views/tensors_view.h"

using namespace tessera;
using test::Heartbeat;

class HeartbeatTest : public QObject {
  Q_OBJECT

 private slots:
  // The judge notices what it is there for.
  void aBlockedLoopIsNoticed() {
    Heartbeat heartbeat;
    QTest::qWait(20);
    TESSERA_VERIFY_ALIVE(heartbeat);
    const auto blocked = 2 * Heartbeat::mostInTests();
    QTest::qSleep(static_cast<int>(blocked.count()));
    QVERIFY(heartbeat.longestGap() > blocked / 2);
  }

  void aLargeClusterArrives() {
    test::Panel panel;
    panel.window->resize(1600, 1000);
    QTest::qWait(50);
    auto cluster = test::LargeCluster(512, 8, 16, 64);
    Heartbeat heartbeat;
    for (int i = 0; i < 10; ++i) {
      for (engine::NodeStatus& node : cluster.nodes) node.last_seen = 0.1 * i;
      ++cluster.sequence;
      panel.model.setSnapshot(cluster);
      QTest::qWait(40);
    }
    QVERIFY(panel.window->meshView()->isVisible());
    TESSERA_VERIFY_ALIVE(heartbeat);
  }

  void aLargeClusterIsDraftedAndSelected() {
    test::Panel panel({.operate = true}, test::LargeCluster(512, 8, 16, 0));
    panel.window->resize(1600, 1000);
    QTest::qWait(200);
    Heartbeat heartbeat;
    QList<ptc::DeviceId> idle;
    for (std::int32_t node = 496; node < 512; ++node) {
      for (std::int32_t device = 0; device < 8; ++device) idle << ptc::DeviceId{node, device};
    }
    emit panel.window->meshView()->toggleRequested(idle);
    QTest::qWait(100);
    QCOMPARE(panel.window->draft()->added().size(), std::size_t{128});
    QTest::keyClick(panel.window->meshView(), Qt::Key_A, Qt::ControlModifier);
    QTest::qWait(100);
    panel.window->actions()->find(QStringLiteral("edit.undo"))->trigger();
    QTest::qWait(100);
    TESSERA_VERIFY_ALIVE(heartbeat);
  }

  void theTensorsOfALargeModelAreCut() {
    test::Panel panel({}, test::IdleCluster(2, 4));
    Heartbeat heartbeat;
    panel.window->actions()->find(QStringLiteral("view.tensors"))->trigger();
    auto* view = panel.window->findChild<ui::TensorsView*>();
    view->subject()->setCurrentText(QStringLiteral("llama-3-405b"));
    view->meshEdit()->setText(QStringLiteral("dp=8,tp=8,pp=16"));
    emit view->meshEdit()->editingFinished();
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 20'000));
    QTest::qWait(100);
    TESSERA_VERIFY_ALIVE(heartbeat);
  }

  void anotherThemeIsChosen() {
    test::Panel panel({}, test::LargeCluster(512, 8, 16, 64));
    panel.window->resize(1600, 1000);
    QTest::qWait(200);
    Heartbeat heartbeat;
    for (const char* theme : {"view.themeDark", "view.themeLight"}) {
      panel.window->actions()->find(QLatin1String(theme))->trigger();
      QTest::qWait(150);
    }
    qInfo("at most %lld ms", static_cast<long long>(heartbeat.longestGap().count()));
    TESSERA_VERIFY_ALIVE(heartbeat);
  }

  void manyEventsArriveAndAreFiltered() {
    test::Panel panel;
    Heartbeat heartbeat;
    std::int64_t sequence = 100;
    for (int burst = 0; burst < 20; ++burst) {
      for (int i = 0; i < 500; ++i) {
        panel.model.addEvent({++sequence, 1'750'000'000.0 + static_cast<double>(sequence),
                              i % 50 == 0 ? engine::Severity::kWarning : engine::Severity::kInfo,
                              "n1", "step " + std::to_string(sequence) + " is complete"});
      }
      QTest::qWait(40);
    }
    auto* events = panel.window->findChild<ui::EventsPage*>();
    QTest::keyClicks(events->filterEdit(), QStringLiteral("step 7"));
    QTest::qWait(250);
    TESSERA_VERIFY_ALIVE(heartbeat);
  }
};

TESSERA_THEMED_TEST(HeartbeatTest)
#include "heartbeat_test.moc"
