// SPDX-License-Identifier: Apache-2.0
#include "ui/canvas/mesh_view.h"

#include <QAccessible>
#include <QAccessibleActionInterface>
#include <QApplication>
#include <QDrag>
#include <QDropEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "tests/support/widget_test_main.h"
#include "tests/ui/sample_clusters.h"
#include "ui/theme.h"

using namespace tessera;
using tessera::test::kJob;
using ui::makeScene;
using ui::MeshView;
using Devices = QList<ptc::DeviceId>;
using Set = std::set<ptc::DeviceId>;

namespace {

struct Shown {
  explicit Shown(const ui::MeshScene& scene, QSize size = QSize(891, 566)) {
    view.resize(size);
    view.setScene(scene);
    view.show();
    exposed = QTest::qWaitForWindowExposed(&view);
    QCoreApplication::processEvents();
  }
  MeshView view;
  bool exposed = false;
};

// Waits for `count` ticks of a timer with the interval of the view's frame timer. A frame timer
// that runs paints meanwhile.
void framesPass(int count) {
  QTimer frames;
  const QSignalSpy ticks(&frames, &QTimer::timeout);
  frames.start(16);
  QVERIFY(QTest::qWaitFor([&] { return ticks.size() >= count; }, 20'000));
}

// Returns whether the view paints nothing more once its last paint event is delivered.
bool staysStill(const MeshView& view) {
  framesPass(2);
  const int before = view.paintCount();
  framesPass(12);
  return view.paintCount() == before;
}

// What a drag of `devices` to `position` and a drop there does; returns whether it was taken.
bool drop(MeshView& view, const QByteArray& devices, QPoint position,
          const QString& type = MeshView::mimeType()) {
  QMimeData mime;
  mime.setData(type, devices);
  QDragEnterEvent enter(position, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(view.viewport(), &enter);
  if (!enter.isAccepted()) return false;
  QDragMoveEvent move(position, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(view.viewport(), &move);
  const bool welcome = move.isAccepted();
  QDropEvent event(position, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(view.viewport(), &event);
  return welcome && event.isAccepted();
}

// The devices that a drag takes from `from`. Without a screen it ends at once.
Devices draggedFrom(MeshView& view, QPoint from) {
  QTest::mousePress(view.viewport(), Qt::LeftButton, Qt::NoModifier, from);
  const QPointF to = from + QPoint(60, 60);
  QMouseEvent move(QEvent::MouseMove, to, view.viewport()->mapToGlobal(to), Qt::NoButton,
                   Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(view.viewport(), &move);
  Devices devices;
  if (auto* drag = view.findChild<QDrag*>()) {
    const auto parsed =
        ptc::ParseDevices(drag->mimeData()->data(MeshView::mimeType()).toStdString());
    if (parsed) devices = Devices(parsed->begin(), parsed->end());
    delete drag;
  }
  QTest::mouseRelease(view.viewport(), Qt::LeftButton, Qt::NoModifier, to.toPoint());
  return devices;
}

// Throws away what is cached, so that the next frame is drawn from the scene alone.
QImage freshly(MeshView& view) {
  QEvent change(QEvent::PaletteChange);
  QCoreApplication::sendEvent(&view, &change);
  return view.viewport()->grab().toImage();
}

}  // namespace

class MeshViewTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { ui::applyTheme(*qApp, ui::ThemeMode::Light); }

  void hitTestIsTheInverseOfCellRect_data() {
    QTest::addColumn<int>("nodes");
    QTest::addColumn<int>("devices");
    QTest::addColumn<int>("idle");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<double>("zoom");
    const QSize pane(891, 566);
    QTest::newRow("cards and a tray") << 2 << 4 << 1 << pane << 1.0;
    QTest::newRow("compact") << 4 << 4 << 1 << pane << 1.0;
    QTest::newRow("tiles with labels") << 8 << 8 << 2 << pane << 1.0;
    QTest::newRow("tiles with numbers") << 64 << 8 << 4 << pane << 1.0;
    QTest::newRow("zoomed and scrolled") << 64 << 8 << 4 << pane << 2.5;
    QTest::newRow("plain tiles") << 512 << 8 << 32 << QSize(1600, 1000) << 1.0;
    QTest::newRow("blocks") << 512 << 8 << 32 << QSize(500, 400) << 0.5;
    QTest::newRow("nothing idle") << 64 << 8 << 0 << pane << 1.0;
    QTest::newRow("all idle") << 6 << 4 << 6 << pane << 1.0;
    QTest::newRow("sixteen on a node") << 3 << 16 << 1 << pane << 1.0;
  }
  void hitTestIsTheInverseOfCellRect() {
    QFETCH(int, nodes);
    QFETCH(int, devices);
    QFETCH(int, idle);
    QFETCH(QSize, size);
    QFETCH(double, zoom);
    auto cluster = test::IdleCluster(nodes, devices);
    if (nodes > idle) test::AddJob(&cluster, test::Shape((nodes - idle) * devices, 1, 1));
    Shown shown(makeScene(cluster, nodes > idle ? kJob : std::string()), size);
    MeshView& view = shown.view;
    view.setZoom(zoom);
    if (zoom > 1) view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() / 2);
    QCOMPARE(view.devices().size(), static_cast<std::size_t>(nodes * devices));
    for (const auto id : view.devices()) {
      const QRect rect = view.cellRect(id);
      QVERIFY(rect.isValid());
      for (const QPoint point :
           {rect.center(), rect.topLeft(), rect.bottomRight(), rect.topRight()}) {
        const auto hit = view.deviceAt(point);
        QVERIFY2(hit && *hit == id, qPrintable(QString::fromStdString(ptc::ToString(id))));
      }
      QVERIFY(view.deviceAt(rect.topLeft() - QPoint(1, 1)) != id);
      QVERIFY(view.deviceAt(rect.bottomRight() + QPoint(1, 1)) != id);
      QVERIFY(zoom > 1 || view.viewport()->rect().contains(rect) || size.width() < 600);
    }
  }

  void everythingFitsAtZoomOne_data() {
    QTest::addColumn<int>("nodes");
    for (const int nodes : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256}) {
      QTest::addRow("%d nodes", nodes) << nodes;
    }
  }
  void everythingFitsAtZoomOne() {
    QFETCH(int, nodes);
    auto cluster = test::IdleCluster(nodes, 8);
    test::AddJob(&cluster, test::Shape((nodes + 1) / 2 * 8, 1, 1));
    Shown shown(makeScene(cluster, kJob));
    const QRect area = shown.view.viewport()->rect();
    for (const auto id : shown.view.devices()) QVERIFY(area.contains(shown.view.cellRect(id)));
    QVERIFY(area.contains(shown.view.poolRect()));
    QVERIFY(area.contains(shown.view.dropZoneRect()));
    QCOMPARE(shown.view.verticalScrollBar()->maximum(), 0);
    QCOMPARE(shown.view.horizontalScrollBar()->maximum(), 0);
  }

  void keysMoveAndExtend() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QSignalSpy current(&view, &MeshView::currentChanged);
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.current(), (ptc::DeviceId{0, 0}));
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.current(), (ptc::DeviceId{0, 1}));
    QCOMPARE(view.selection(), (Set{{0, 1}}));
    QTest::keyClick(&view, Qt::Key_Down);
    QCOMPARE(view.current(), (ptc::DeviceId{0, 3}));
    QTest::keyClick(&view, Qt::Key_Left);
    QCOMPARE(view.current(), (ptc::DeviceId{0, 2}));
    QCOMPARE(current.count(), 4);
    QTest::keyClick(&view, Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(view.current()->node, 1);  // the pool lies below
    QTest::keyClick(&view, Qt::Key_End);
    QCOMPARE(view.current(), (ptc::DeviceId{1, 3}));
    QTest::keyClick(&view, Qt::Key_Left, Qt::ShiftModifier);
    QTest::keyClick(&view, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(view.selection(), (Set{{1, 1}, {1, 2}, {1, 3}}));
    QTest::keyClick(&view, Qt::Key_N);
    QCOMPARE(view.selection().size(), 4U);
    QTest::keyClick(&view, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(view.selection().size(), 8U);
  }

  void escapeIsLeftToTheWindow() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    QKeyEvent escape(QEvent::KeyPress, Qt::Key_Escape, Qt::NoModifier);
    QCoreApplication::sendEvent(&shown.view, &escape);
    QVERIFY(!escape.isAccepted());
  }

  void spaceAsksToToggle() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QSignalSpy toggle(&view, &MeshView::toggleRequested);
    view.setSelection({{1, 0}, {1, 2}});
    QTest::keyClick(&view, Qt::Key_Space);
    QCOMPARE(toggle.count(), 1);
    QCOMPARE(toggle[0][0].value<Devices>(), (Devices{{1, 0}, {1, 2}}));
    view.setSelection({});
    view.setCurrent({0, 1});
    QTest::keyClick(&view, Qt::Key_Space);
    QCOMPARE(toggle[1][0].value<Devices>(), (Devices{{0, 1}}));
    view.setReadOnly(true);
    QTest::keyClick(&view, Qt::Key_Space);
    QCOMPARE(toggle.count(), 2);
  }

  void enterActivates() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    QSignalSpy activated(&shown.view, &MeshView::activated);
    shown.view.setCurrent({0, 2});
    QTest::keyClick(&shown.view, Qt::Key_Return);
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated[0][0].value<ptc::DeviceId>(), (ptc::DeviceId{0, 2}));
  }

  void mouseSelects() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QWidget* area = view.viewport();
    const auto at = [&](ptc::DeviceId id) { return view.cellRect(id).center(); };
    QSignalSpy changed(&view, &MeshView::selectionChanged);
    QTest::mouseClick(area, Qt::LeftButton, Qt::NoModifier, at({0, 2}));
    QCOMPARE(view.selection(), (Set{{0, 2}}));
    QCOMPARE(view.current(), (ptc::DeviceId{0, 2}));
    QTest::mouseClick(area, Qt::LeftButton, Qt::ControlModifier, at({1, 1}));
    QCOMPARE(view.selection(), (Set{{0, 2}, {1, 1}}));
    QTest::mouseClick(area, Qt::LeftButton, Qt::ControlModifier, at({1, 1}));
    QCOMPARE(view.selection(), (Set{{0, 2}}));
    QTest::mouseClick(area, Qt::LeftButton, Qt::NoModifier, at({0, 0}));
    QTest::mouseClick(area, Qt::LeftButton, Qt::ShiftModifier, at({0, 2}));
    QCOMPARE(view.selection(), (Set{{0, 0}, {0, 1}, {0, 2}}));
    QCOMPARE(changed.count(), 5);
    // A click in a selection keeps it until the button is released, for the sake of drags.
    QTest::mousePress(area, Qt::LeftButton, Qt::NoModifier, at({0, 1}));
    QCOMPARE(view.selection().size(), 3U);
    QTest::mouseRelease(area, Qt::LeftButton, Qt::NoModifier, at({0, 1}));
    QCOMPARE(view.selection(), (Set{{0, 1}}));
    const QRect node = view.nodeRect(0);
    QTest::mouseClick(area, Qt::LeftButton, Qt::NoModifier, node.topLeft() + QPoint(40, 16));
    QCOMPARE(view.selection().size(), 4U);
  }

  void labelsSelectAndDragWhatTheyName() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    const Devices n0{{0, 0}, {0, 1}, {0, 2}, {0, 3}}, n1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};
    const Set all1(n1.begin(), n1.end());
    const QPoint label0 = view.nodeRect(0).topLeft() + QPoint(40, 16);
    const QPoint label1(view.nodeRect(1).left() + 12, view.nodeRect(1).center().y());
    const QPoint pool = view.poolLabelRect().center();
    QVERIFY(view.poolRect().contains(pool));
    view.setSelection({{0, 2}});
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, pool);
    QCOMPARE(view.selection(), all1);
    view.setSelection({});
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, label1);
    QCOMPARE(view.selection(), all1);
    for (const auto& [from, devices] :
         {std::pair(label0, n0), std::pair(label1, n1), std::pair(pool, n1),
          std::pair(view.cellRect({0, 1}).center(), Devices{{0, 1}})}) {
      view.setSelection({});
      QCOMPARE(draggedFrom(view, from), devices);
    }
    // A label in a selection takes the whole selection of its side along.
    view.setSelection({{0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QCOMPARE(draggedFrom(view, label1), n1);
    view.setReadOnly(true);
    QVERIFY(draggedFrom(view, label1).isEmpty());
  }

  void rubberBandSelects() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    const QPoint start = view.nodeRect(0).topLeft() - QPoint(6, 6);
    const QPoint end = view.cellRect({0, 1}).center();
    QTest::mousePress(view.viewport(), Qt::LeftButton, Qt::NoModifier, start);
    QTest::mouseMove(view.viewport(), end);
    QCOMPARE(view.selection(), (Set{{0, 0}, {0, 1}}));
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, Qt::NoModifier, end);
    QCOMPARE(view.selection(), (Set{{0, 0}, {0, 1}}));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier, start);
    QVERIFY(view.selection().empty());
  }

  void dropsCarryAcross() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QSignalSpy dropped(&view, &MeshView::devicesDropped);
    QVERIFY(drop(view, "n1g0,n1g1", view.dropZoneRect().center()));
    QCOMPARE(dropped.count(), 1);
    QCOMPARE(dropped[0][0].value<Devices>(), (Devices{{1, 0}, {1, 1}}));
    QCOMPARE(dropped[0][1].toBool(), true);
    QVERIFY(drop(view, "n1g3", view.nodeRect(0).center()));  // a node of the mesh is mesh, too
    QCOMPARE(dropped[1][1].toBool(), true);
    QVERIFY(drop(view, "n0g3", view.poolRect().center()));
    QCOMPARE(dropped[2][0].value<Devices>(), (Devices{{0, 3}}));
    QCOMPARE(dropped[2][1].toBool(), false);
    QVERIFY(drop(view, "n0g0,n1g0", view.poolRect().center()));  // of a mixed lot what crosses
    QCOMPARE(dropped[3][0].value<Devices>(), (Devices{{0, 0}}));
  }

  void dropsThatChangeNothingAreRefused() {
    auto cluster = test::SmallCluster();
    Shown shown(makeScene(cluster, kJob));
    MeshView& view = shown.view;
    QSignalSpy dropped(&view, &MeshView::devicesDropped);
    const QPoint zone = view.dropZoneRect().center();
    QVERIFY(!drop(view, "n0g0", zone));
    QVERIFY(!drop(view, "n1g0", view.poolRect().center()));
    QVERIFY(!drop(view, "n7g0", zone));
    QVERIFY(!drop(view, "not a device", zone));
    QVERIFY(!drop(view, "n1g0", zone, QStringLiteral("text/plain")));
    view.setReadOnly(true);
    QVERIFY(!drop(view, "n1g0", view.nodeRect(0).center()));
    view.setReadOnly(false);
    cluster.nodes[1].devices[0].job = "another";
    view.setScene(makeScene(cluster, kJob));
    QVERIFY(!drop(view, "n1g0", zone));
    QCOMPARE(dropped.count(), 0);
  }

  void dropsWorkAmongTiles() {
    Shown shown(makeScene(test::LargeCluster(64, 8, 4, 0), kJob));
    MeshView& view = shown.view;
    QSignalSpy dropped(&view, &MeshView::devicesDropped);
    QVERIFY(drop(view, "n63g0", view.nodeRect(3).center()));
    QVERIFY(drop(view, "n3g0", view.poolRect().topLeft() + QPoint(20, 14)));
    QCOMPARE(dropped[0][1].toBool(), true);
    QCOMPARE(dropped[1][1].toBool(), false);
    view.setScene(makeScene(test::LargeCluster(64, 8, 0, 0), kJob));  // nothing idle: a slim tray
    QVERIFY(drop(view, "n3g0", view.poolRect().center()));
    QCOMPARE(dropped[2][1].toBool(), false);
  }

  // In every grouping and size each cell is where the pointer finds it, and everything fits.
  void groupsHitAndFit_data() {
    QTest::addColumn<ui::GroupBy>("by");
    QTest::addColumn<int>("nodes");
    QTest::addColumn<QSize>("size");
    for (int i = 0; i < ui::kNumGroupings; ++i) {
      const auto by = static_cast<ui::GroupBy>(i);
      QTest::addRow("16 GPUs by %d", i) << by << 2 << QSize(891, 566);
      QTest::addRow("512 GPUs by %d", i) << by << 64 << QSize(891, 566);
      QTest::addRow("4,096 GPUs by %d", i) << by << 512 << QSize(1600, 1000);
    }
  }
  void groupsHitAndFit() {
    QFETCH(ui::GroupBy, by);
    QFETCH(int, nodes);
    QFETCH(QSize, size);
    auto cluster = test::IdleCluster(nodes, 8);
    for (auto& node : cluster.nodes) {
      node.host = "host " + std::to_string(node.node / 4);
      if (node.node > 0) node.rack = "r" + std::to_string(node.node / 16);
    }
    test::AddJob(&cluster, test::Shape(nodes, 2, 2));  // half of them
    for (int n = nodes - nodes / 4; n < nodes; ++n) {
      for (auto& device : cluster.nodes[static_cast<std::size_t>(n)].devices) device.job = "other";
    }
    auto scene = makeScene(cluster, kJob);
    ui::groupScene(&scene, by);
    Shown shown(scene, size);
    MeshView& view = shown.view;
    QCOMPARE(view.devices().size(), static_cast<std::size_t>(nodes * 8));
    const QRect area = view.viewport()->rect();
    for (const auto id : view.devices()) {
      const QRect rect = view.cellRect(id);
      QCOMPARE(view.deviceAt(rect.center()), std::optional(id));
      QVERIFY(area.contains(rect));
      QCOMPARE(view.poolRect().contains(rect), !scene.find(id)->inMesh && !scene.find(id)->taken);
      if (nodes > 2) {
        QCOMPARE(view.jobRect(QStringLiteral("other")).contains(rect), scene.find(id)->taken);
      }
    }
    QCOMPARE(view.verticalScrollBar()->maximum(), 0);
    // By keys every frame is reached.
    QTest::keyClick(&view, Qt::Key_Home);
    const auto first = view.current();
    QTest::keyClick(&view, Qt::Key_Down, Qt::ControlModifier);
    QVERIFY(view.current() != first);
  }

  void thePoolLeavesRoomForTheMesh() {
    Shown shown(makeScene(test::LargeCluster(512, 8, 256, 0), kJob), QSize(1600, 1000));
    QVERIFY(shown.view.poolRect().height() <= 300);
    const auto width = [&](ptc::DeviceId id) { return shown.view.cellRect(id).width(); };
    QVERIFY2(width({0, 0}) >= 2 * width({511, 0}), qPrintable(QString::number(width({0, 0}))));
    QVERIFY(width({0, 0}) >= 14);
  }

  void framesOfOtherJobsAreChosenAndRefuseDrops() {
    auto cluster = test::SmallCluster();
    for (const std::size_t i : {0U, 1U}) cluster.nodes[1].devices[i].job = "other";
    Shown shown(makeScene(cluster, kJob));
    MeshView& view = shown.view;
    QSignalSpy dropped(&view, &MeshView::devicesDropped);
    QSignalSpy chosen(&view, &MeshView::jobRequested);
    QSignalSpy refused(&view, &MeshView::refused);
    const QRect frame = view.jobRect(QStringLiteral("other"));
    QVERIFY(frame.contains(view.cellRect({1, 1})));
    QVERIFY(!drop(view, "n0g0", frame.center()));
    QVERIFY(!drop(view, "n1g2", view.cellRect({1, 0}).center()));
    QCOMPARE(dropped.count(), 0);
    QCOMPARE(refused.count(), 2);
    QCOMPARE(refused[0][0].toString(),
             QStringLiteral("other runs there: its GPUs cannot be taken."));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::NoModifier,
                      frame.topLeft() + QPoint(20, 12));
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("other"));
    view.setCurrent({1, 1});
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(chosen.count(), 2);
  }

  void aDropOnACellSwaps() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QSignalSpy swapped(&view, &MeshView::swapRequested);
    QSignalSpy dropped(&view, &MeshView::devicesDropped);
    QVERIFY(drop(view, "n0g1", view.cellRect({0, 2}).center()));
    QCOMPARE(swapped.count(), 1);
    QCOMPARE(swapped[0][0].value<Devices>(), (Devices{{0, 1}}));
    QCOMPARE(swapped[0][1].value<Devices>(), (Devices{{0, 2}}));
    // In the pool it leaves the job, also where an idle one is.
    QVERIFY(drop(view, "n0g1", view.cellRect({1, 3}).center()));
    QCOMPARE(swapped.count(), 1);
    QCOMPARE(dropped.count(), 1);
    QVERIFY(!dropped[0][1].toBool());
    // Several GPUs are not swapped by a drag, nor is one onto itself.
    QVERIFY(drop(view, "n0g0,n0g1", view.cellRect({1, 3}).center()));
    QVERIFY(!drop(view, "n0g1", view.cellRect({0, 1}).center()));
    QCOMPARE(swapped.count(), 1);
    QCOMPARE(dropped.count(), 2);
  }

  void cutAndPasteSwap() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    QSignalSpy swapped(&view, &MeshView::swapRequested);
    QSignalSpy refused(&view, &MeshView::refused);
    QTest::keyClick(&view, Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(refused.count(), 1);
    view.setSelection({{0, 0}, {0, 1}});
    QTest::keyClick(&view, Qt::Key_X, Qt::ControlModifier);
    QCOMPARE(view.cut(), (std::vector<ptc::DeviceId>{{0, 0}, {0, 1}}));
    QTest::keyClick(&view, Qt::Key_V, Qt::ControlModifier);  // onto themselves
    view.setSelection({{1, 0}, {1, 1}, {1, 2}});             // too many
    QTest::keyClick(&view, Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(refused.count(), 3);
    QCOMPARE(swapped.count(), 0);
    view.setSelection({{1, 2}});  // this one and the next
    QTest::keyClick(&view, Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(swapped.count(), 1);
    QCOMPARE(swapped[0][0].value<Devices>(), (Devices{{0, 0}, {0, 1}}));
    QCOMPARE(swapped[0][1].value<Devices>(), (Devices{{1, 2}, {1, 3}}));
    QVERIFY(view.cut().empty());
    view.setReadOnly(true);
    QTest::keyClick(&view, Qt::Key_X, Qt::ControlModifier);
    QVERIFY(view.cut().empty());
  }

  // The lines between frames stay; those of the GPU that the user looks at are drawn in full.
  void linesOfTheChosenGpuAreDrawnInFull() {
    const auto scene = makeScene(test::LargeCluster(64, 8, 4, 40), kJob);
    Shown shown(scene);
    MeshView& view = shown.view;
    QVERIFY(view.ownFlows().empty());
    const auto id = scene.flows.front().from;
    view.setSelection({id});
    const auto count = std::ranges::count_if(
        scene.flows, [id](const auto& flow) { return flow.from == id || flow.to == id; });
    QCOMPARE(std::ssize(view.ownFlows()), count);
    for (const auto& path : view.ownFlows()) {
      QVERIFY(path.from == id || path.to == id);
    }
    QTest::mouseMove(view.viewport(), view.cellRect(scene.flows.back().to).center());
    for (const auto& path : view.ownFlows()) {
      QVERIFY(path.from == scene.flows.back().to || path.to == scene.flows.back().to);
    }
    view.setSelection({view.devices().begin(), view.devices().end()});
    QTest::mouseMove(view.viewport(), QPoint(1, 1));
    QVERIFY(view.ownFlows().empty());  // more than can be told apart
  }

  void dragHintIsAsked() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    Devices asked;
    shown.view.setDragHint([&](const Devices& devices, bool intoMesh) {
      if (intoMesh) asked = devices;
      return QStringLiteral("4 × 2 × 1");
    });
    drop(shown.view, "n1g2,n0g0", shown.view.dropZoneRect().center());
    QCOMPARE(asked, (Devices{{1, 2}}));
  }

  void idleMeansNoPaint() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    QVERIFY(shown.exposed);
    framesPass(2);
    const int before = shown.view.paintCount();
    QVERIFY(before > 0);
    framesPass(12);
    shown.view.setScene(makeScene(test::SmallCluster(), kJob));
    shown.view.setSelection({});
    shown.view.setStale(0.5);
    framesPass(2);
    QCOMPARE(shown.view.paintCount(), before);
  }

  void movingBytesRepaintAndNothingElseDoes() {
    Shown shown(makeScene(test::MovingCluster(), kJob));
    MeshView& view = shown.view;
    QVERIFY(shown.exposed);
    const auto isMoving = [&] {
      const int before = view.paintCount();
      return QTest::qWaitFor([&] { return view.paintCount() >= before + 4; }, 20'000);
    };
    QVERIFY(isMoving());
    view.setReduceMotion(true);
    QVERIFY(staysStill(view));
    view.setReduceMotion(false);
    QVERIFY(isMoving());
    view.setStale(10);
    QVERIFY(staysStill(view));
    view.setStale(0);
    auto scene = makeScene(test::MovingCluster(), kJob);
    for (auto& flow : scene.flows) flow.stalled = true;
    view.setScene(scene);
    QVERIFY(staysStill(view));
    view.setScene(makeScene(test::MovingCluster({63, 59, 65, 42}), kJob));
    QVERIFY(isMoving());
    view.hide();
    QVERIFY(staysStill(view));
    view.show();
    QVERIFY(isMoving());
  }

  void silentFlowsStallByThemselves() {
    Shown shown(makeScene(test::MovingCluster(), kJob));
    QTRY_VERIFY_WITH_TIMEOUT(!shown.view.scene().moving(), 10'000);
    QCOMPARE(shown.view.scene().find({1, 0})->state, ui::MeshScene::Cell::State::Stalled);
    QVERIFY(staysStill(shown.view));
  }

  // A patched canvas is the canvas that a full repaint would give.
  void patchesAreExact_data() {
    QTest::addColumn<int>("nodes");
    QTest::newRow("cards") << 2;
    QTest::newRow("tiles") << 32;
    QTest::newRow("a small pool") << 128;
  }
  void patchesAreExact() {
    QFETCH(int, nodes);
    auto cluster = nodes == 2 ? test::SmallCluster() : test::LargeCluster(nodes, 8, nodes / 4, 0);
    Shown shown(makeScene(cluster, kJob));
    MeshView& view = shown.view;
    const QImage before = view.viewport()->grab().toImage();
    cluster.nodes[0].devices[1].used_bytes = 300 << 20;
    cluster.nodes[0].devices[2].failed = true;
    cluster.nodes[1].state = engine::NodeState::kSuspect;
    cluster.nodes[1].last_seen = 4;
    cluster.nodes.back().devices[0].failed = true;  // in the pool
    view.setScene(makeScene(cluster, kJob));
    const QImage patched = view.viewport()->grab().toImage();
    QVERIFY(patched != before);
    QCOMPARE(patched, freshly(view));
  }

  void scrollingIsExact() {
    Shown shown(makeScene(test::LargeCluster(64, 8, 4, 0), kJob));
    MeshView& view = shown.view;
    view.setZoom(3);
    QVERIFY(view.verticalScrollBar()->maximum() > 200);
    view.verticalScrollBar()->setValue(40);
    view.viewport()->grab();
    view.verticalScrollBar()->setValue(93);
    const QImage scrolled = view.viewport()->grab().toImage();
    QCOMPARE(scrolled, freshly(view));
    // In small steps, as a scroll bar is dragged. ctest runs this at a fractional scale, too: what
    // is lost in a step must not add up.
    for (int step = 0; step < 20; ++step) {
      view.verticalScrollBar()->setValue(94 + step);
      view.horizontalScrollBar()->setValue(step / 3);
      view.viewport()->grab();
    }
    const QImage dragged = view.viewport()->grab().toImage();
    QCOMPARE(dragged, freshly(view));
    view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum());
    view.viewport()->grab();
    view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() - 7);
    const QImage above = view.viewport()->grab().toImage();
    QCOMPARE(above, freshly(view));
  }

  void zoomFollowsTheCursor() {
    Shown shown(makeScene(test::LargeCluster(64, 8, 4, 0), kJob));
    MeshView& view = shown.view;
    const ptc::DeviceId id{27, 5};
    const QPoint at = view.cellRect(id).center();
    view.setZoom(2.5, at);
    // Frames wrap differently at each size, so the cell may move sideways, but stays visible.
    const QRect there = view.cellRect(id).adjusted(0, -2, 0, 2);
    QVERIFY(there.top() <= at.y() && at.y() <= there.bottom());
    QVERIFY(view.viewport()->rect().contains(view.cellRect(id)));
    QTest::keyClick(&view, Qt::Key_0);
    QCOMPARE(view.zoom(), 1.0);
    view.setSelection({id});
    QTest::keyClick(&view, Qt::Key_F);
    QVERIFY(view.zoom() > 1);
    QVERIFY(view.viewport()->rect().contains(view.cellRect(id)));
    QTest::keyClick(&view, Qt::Key_F);
    QCOMPARE(view.zoom(), 1.0);
  }

  void currentCellIsScrolledIntoView() {
    Shown shown(makeScene(test::LargeCluster(64, 8, 4, 0), kJob));
    shown.view.setZoom(4);
    QTest::keyClick(&shown.view, Qt::Key_End);
    QVERIFY(shown.view.viewport()->rect().contains(shown.view.cellRect(*shown.view.current())));
  }

  void selectionForgetsWhatIsGone() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    MeshView& view = shown.view;
    view.setSelection({{0, 0}, {1, 0}, {9, 9}});
    QCOMPARE(view.selection().size(), 2U);
    view.setCurrent({1, 0});
    auto cluster = test::SmallCluster();
    cluster.nodes.pop_back();
    QSignalSpy changed(&view, &MeshView::selectionChanged);
    view.setScene(makeScene(cluster, kJob));
    QCOMPARE(view.selection(), (Set{{0, 0}}));
    QVERIFY(!view.current());
    QCOMPARE(changed.count(), 1);
  }

  void statesDifferWithoutColour_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("nodes");
    QTest::newRow("cards") << QSize(891, 566) << 1;
    QTest::newRow("tiles") << QSize(700, 460) << 8;
  }
  // A GPU in each state, in grey and without words: the shapes alone tell them apart.
  void statesDifferWithoutColour() {
    QFETCH(QSize, size);
    QFETCH(int, nodes);
    using State = ui::MeshScene::Cell::State;
    const State states[] = {State::Healthy,   State::Joining, State::Leaving, State::Sending,
                            State::Receiving, State::Stalled, State::Suspect, State::Dead};
    ui::MeshScene scene = makeScene(test::LargeCluster(nodes, 8, 0, 0), kJob);
    for (int i = 0; i < 8; ++i) {
      auto& cell = scene.nodes[0].cells[static_cast<std::size_t>(i)];
      const auto same = scene.nodes[0].cells[0];
      cell.state = states[i];
      cell.piece = same.piece;
      cell.swatch = same.swatch;
      cell.label = same.label;
      cell.replica = same.replica;
      cell.rank = same.rank;
      cell.note.clear();
      cell.progress = 0.6;
      cell.incoming = 1 << 20;
    }
    Shown shown(scene, size);
    QVERIFY(shown.exposed);
    const QImage all =
        shown.view.viewport()->grab().toImage().convertToFormat(QImage::Format_Grayscale8);
    std::vector<QImage> pictures;
    for (const auto& cell : scene.nodes[0].cells) {
      // Without the edge, where a cell has its neighbour's shadow.
      pictures.push_back(all.copy(shown.view.cellRect(cell.id).adjusted(-2, -2, 2, 2)));
    }
    for (std::size_t a = 0; a < pictures.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        QCOMPARE(pictures[a].size(), pictures[b].size());
        int different = 0;
        for (int y = 0; y < pictures[a].height(); ++y) {
          for (int x = 0; x < pictures[a].width(); ++x) {
            different +=
                std::abs(qGray(pictures[a].pixel(x, y)) - qGray(pictures[b].pixel(x, y))) > 24;
          }
        }
        QVERIFY2(different >= 10, qPrintable(QStringLiteral("states %1 and %2 differ in %3 points")
                                                 .arg(a)
                                                 .arg(b)
                                                 .arg(different)));
      }
    }
  }

  void focusShows() {
    QWidget window;
    auto* layout = new QVBoxLayout(&window);
    auto* edit = new QLineEdit;
    auto* view = new MeshView;
    layout->addWidget(edit);
    layout->addWidget(view);
    window.resize(900, 640);
    view->setScene(makeScene(test::SmallCluster(), kJob));
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    edit->setFocus();
    const QImage without = view->viewport()->grab().toImage();
    view->setFocus(Qt::TabFocusReason);
    QVERIFY(view->current());
    QVERIFY(view->viewport()->grab().toImage() != without);
  }

  void themeSwitchRepaints() {
    Shown shown(makeScene(test::SmallCluster(), kJob));
    const QPoint corner(3, 3);
    QCOMPARE(shown.view.viewport()->grab().toImage().pixelColor(corner), ui::Theme::light().canvas);
    ui::applyTheme(*qApp, ui::ThemeMode::Dark);
    QCOMPARE(shown.view.viewport()->grab().toImage().pixelColor(corner), ui::Theme::dark().canvas);
    ui::applyTheme(*qApp, ui::ThemeMode::Light);
  }

  void everyGpuIsAnAccessibleChild() {
    QAccessible::setActive(true);
    Shown shown(makeScene(test::MovingCluster(), kJob));
    MeshView& view = shown.view;
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&view);
    QVERIFY(list);
    QCOMPARE(list->role(), QAccessible::List);
    QVERIFY(!list->text(QAccessible::Name).isEmpty());
    QCOMPARE(list->childCount(), 8);
    QSet<QString> names;
    for (int i = 0; i < 8; ++i) {
      QAccessibleInterface* child = list->child(i);
      QVERIFY(child && child->isValid());
      QCOMPARE(child->parent(), list);
      QCOMPARE(list->indexOfChild(child), i);
      names.insert(child->text(QAccessible::Name));
      const QPoint middle = child->rect().center();
      QCOMPARE(list->childAt(middle.x(), middle.y()), child);
    }
    QCOMPARE(names.size(), qsizetype{8});
    QVERIFY(
        names.contains(QStringLiteral("n1 GPU 0, rank 4, DP 2 TP 0 PP 0, receiving 62 percent")));
    QVERIFY(!list->child(8) && !list->child(-1));

    QAccessibleInterface* first = list->child(0);
    QVERIFY(!first->state().selected);
    auto* actions = first->actionInterface();
    QVERIFY(actions);
    actions->doAction(QAccessibleActionInterface::pressAction());
    QVERIFY(first->state().selected);
    QCOMPARE(view.selection(), (Set{{0, 0}}));
    QSignalSpy toggle(&view, &MeshView::toggleRequested);
    actions->doAction(QAccessibleActionInterface::toggleAction());
    QCOMPARE(toggle.count(), 1);

    view.setScene(makeScene(test::LargeCluster(64, 8, 4, 0), kJob));
    QCOMPARE(list->childCount(), 512);
    QVERIFY(list->child(511)->text(QAccessible::Name).contains(QStringLiteral("in the pool")));
  }
};

TESSERA_WIDGET_TEST(MeshViewTest)
#include "mesh_view_test.moc"
