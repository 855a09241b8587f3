// SPDX-License-Identifier: Apache-2.0
// What the panel costs while nothing happens, while much moves, and with many events: in paint
// events, and in units of work (tests/support/work.h). tests/bench/panel_bench prints real times.
#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <algorithm>

#include "tests/support/widget_test_main.h"
#include "tests/support/work.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/draft.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/views/model_map.h"
#include "ui/views/tensors_view.h"
#include "ui/widgets/tabbed_pane.h"

using namespace tessera;

namespace {

// Units of work, each about a millisecond.
constexpr double kMostIdle = 150;   // in three seconds
constexpr double kMostFrame = 80;   // what is promised is a fifth
constexpr double kMostFilter = 1'000;
constexpr int kFrames = 30;
constexpr int kNumEvents = 100'000;

/// The cluster with all bytes in flight advanced, so that no flow stalls.
engine::ClusterSnapshot advanced(engine::ClusterSnapshot cluster, int percent) {
  for (engine::FlowStatus& flow : cluster.transaction->flows)
    flow.bytes_done = flow.bytes_total * percent / 100;
  return cluster;
}

}  // namespace

class PaintCostTest : public QObject {
  Q_OBJECT

 private slots:
  void anIdlePanelPaintsNothing() {
    test::Panel panel;
    panel.window->resize(1440, 900);
    QTest::qWait(300);
    const int before = panel.window->meshView()->paintCount();
    engine::ClusterSnapshot cluster = test::PanelCluster();
    const double units = test::UnitsOf(1, [&](int) {
      for (int i = 0; i < 3; ++i) {  // a cluster that has nothing to say says that each second
        QTest::qWait(1000);
        ++cluster.sequence;
        panel.model.setSnapshot(cluster);
      }
    });
    QCOMPARE(panel.window->meshView()->paintCount(), before);
    qInfo("%.0f units of work in three idle seconds", units);
    QVERIFY2(units < kMostIdle, qPrintable(QString::number(units)));
  }

  void aTickRefreshesTheHeaderOnce() {
    test::Panel panel;
    const auto* header = panel.window->findChild<ui::HeaderBar*>();
    engine::ClusterSnapshot cluster = test::PanelCluster();
    panel.setSnapshot(cluster);
    const int before = header->numRefreshes();
    for (int tick = 0; tick < 5; ++tick) {
      ++cluster.sequence;
      ++cluster.jobs.front().step;
      panel.setSnapshot(cluster);
    }
    QCOMPARE(header->numRefreshes(), before + 5);
    QCOMPARE(header->metric(QStringLiteral("step")), QStringLiteral("1,289"));
    // What changes without the cluster is shown, too.
    panel.window->draft()->add({{1, 0}});
    QVERIFY(header->numRefreshes() > before + 5);
  }

  void aMinimisedPanelPaintsNothing() {
    test::Panel panel({}, test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    ui::MeshView* mesh = panel.window->meshView();
    QTRY_VERIFY(mesh->paintCount() > 3);  // its dots move
    panel.window->showMinimized();
    QTest::qWait(100);
    const int before = mesh->paintCount();
    QTest::qWait(500);
    QCOMPARE(mesh->paintCount(), before);
    panel.window->showNormal();
    panel.setSnapshot(test::PanelMove(engine::TxnPhase::kTransferring, {10, 20, 30, 40}));
    QTRY_VERIFY(mesh->paintCount() > before + 3);
  }

  void bytesMoveFluently_data() {
    QTest::addColumn<int>("nodes");
    QTest::addColumn<int>("bundles");
    QTest::newRow("64 GPUs") << 8 << 4;
    QTest::newRow("4,096 GPUs, 512 flows") << 512 << 64;
  }
  void bytesMoveFluently() {
    QFETCH(int, nodes);
    QFETCH(int, bundles);
    const auto cluster = test::LargeCluster(nodes, 8, 0, bundles);
    test::Panel panel({}, advanced(cluster, 1));
    panel.window->resize(1600, 1000);
    ui::MeshView* mesh = panel.window->meshView();
    QTest::qWait(300);
    panel.setSnapshot(advanced(cluster, 20));
    QTest::qWait(200);
    // The dots go on without a further snapshot, and each frame is short.
    const int before = mesh->paintCount();
    bool moves = false;
    const double units = test::UnitsOf(1, [&](int) {
      moves = QTest::qWaitFor([&] { return mesh->paintCount() >= before + kFrames; });
    });
    QVERIFY(moves);
    const double frame = units / (mesh->paintCount() - before);
    qInfo("%.2f units of work a frame", frame);
    QVERIFY2(frame < kMostFrame, qPrintable(QString::number(frame)));
  }

  // These three run at scale factors of 1.5 and 2 as well. At 1.5 each step of a scroll bar paints all
  // cells anew.
  void scrollingTheMeshIsShort() {
    test::Panel panel({}, test::LargeCluster(512, 8, 0, 64));
    panel.window->resize(1600, 1000);
    ui::MeshView* mesh = panel.window->meshView();
    for (int i = 0; i < 12 && mesh->verticalScrollBar()->maximum() < 200; ++i)
      mesh->setZoom(mesh->zoom() * 1.3);
    QVERIFY(mesh->verticalScrollBar()->maximum() >= 200);
    mesh->viewport()->repaint();
    const double frame = test::UnitsOf(31, [&](int i) {
      mesh->verticalScrollBar()->setValue(5 * i + 3);
      mesh->viewport()->repaint();
    });
    qInfo("%.1f units of work a frame while scrolling at scale factor %.1f", frame,
          mesh->devicePixelRatioF());
    QVERIFY2(frame < kMostFrame, qPrintable(QString::number(frame)));
  }

  void aFrameOfTheMeshIsShort() {
    const auto cluster = test::LargeCluster(512, 8, 0, 64);
    test::Panel panel({}, advanced(cluster, 1));
    panel.window->resize(1600, 1000);
    QTest::qWait(300);
    panel.setSnapshot(advanced(cluster, 20));
    QWidget* canvas = panel.window->meshView()->viewport();
    canvas->repaint();
    const double frame = test::UnitsOf(31, [&](int) { canvas->repaint(); });
    qInfo("%.1f units of work a frame at scale factor %.1f", frame, canvas->devicePixelRatioF());
    QVERIFY2(frame < kMostFrame, qPrintable(QString::number(frame)));
  }

  void aFrameOfALargeModelIsShort() {
    test::Panel panel({}, test::IdleCluster(2, 4));
    panel.window->resize(1600, 1000);
    panel.window->actions()->find(QStringLiteral("view.tensors"))->trigger();
    auto* view = panel.window->findChild<ui::TensorsView*>();
    view->subject()->setCurrentText(QStringLiteral("llama-3-405b"));
    view->meshEdit()->setText(QStringLiteral("dp=8,tp=8,pp=16"));
    emit view->meshEdit()->editingFinished();
    QVERIFY(QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 20'000));
    ui::ModelMap* map = view->map();
    map->viewport()->repaint();
    const double panning = test::UnitsOf(31, [&](int i) {
      map->verticalScrollBar()->setValue(i * 17);
      map->viewport()->repaint();
    });
    const double pointing = test::UnitsOf(31, [&](int i) {
      map->setHighlighted({{i % 8, 0}});
      map->viewport()->repaint();
    });
    qInfo("%.1f units of work a frame while panning, %.1f while pointing, at scale factor %.1f", panning,
          pointing, map->devicePixelRatioF());
    QVERIFY2(panning < kMostFrame, qPrintable(QString::number(panning)));
    QVERIFY2(pointing < kMostFrame, qPrintable(QString::number(pointing)));
  }

  void aHundredThousandEventsAreScrolledAndFiltered() {
    test::Panel panel;
    panel.window->resize(1440, 900);
    auto* events = panel.window->findChild<ui::EventsPage*>();
    panel.window->findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))->setCurrent(events);
    const auto event = [](int i) {
      return engine::Event{i, 1'750'000'000.0 + i, engine::Severity::kInfo, "n1",
                           "step " + std::to_string(i) + " is complete"};
    };
    for (int i = 1; i <= kNumEvents; ++i) panel.model.addEvent(event(i));
    panel.model.flush();
    test::settle();
    QTableView* table = events->table();
    QCOMPARE(table->model()->rowCount(), kNumEvents);
    QScrollBar* bar = table->verticalScrollBar();
    QTRY_COMPARE(bar->value(), bar->maximum());  // the newest is shown
    QVERIFY(events->isFollowing());

    const double frame = test::UnitsOf(31, [&](int i) {
      bar->setValue(bar->maximum() / 32 * (i + 1));
      table->viewport()->repaint();
    });
    const double filter = test::UnitsOf(5, [&](int i) {
      events->filterEdit()->setText(QStringLiteral("step %1").arg(7 + i));
      test::settle();
    });
    qInfo("%.1f units of work a frame, %.0f a filter", frame, filter);
    QVERIFY2(frame < kMostFrame, qPrintable(QString::number(frame)));
    QVERIFY2(filter < kMostFilter, qPrintable(QString::number(filter)));
    QVERIFY(table->model()->rowCount() > 0 && table->model()->rowCount() < kNumEvents);

    // Who scrolls up stays there.
    events->filterEdit()->clear();
    test::settle();
    bar->triggerAction(QAbstractSlider::SliderToMaximum);
    for (int i = 0; i < 3; ++i) bar->triggerAction(QAbstractSlider::SliderPageStepSub);
    QVERIFY(!events->isFollowing());
    const int there = bar->value();
    panel.model.addEvent(event(kNumEvents + 1));
    panel.model.flush();
    test::settle();
    QVERIFY(std::abs(bar->value() - there) <= 1);  // the oldest row has given way
    bar->triggerAction(QAbstractSlider::SliderToMaximum);
    QVERIFY(events->isFollowing());
  }
};

TESSERA_THEMED_TEST(PaintCostTest)
#include "paint_cost_test.moc"
