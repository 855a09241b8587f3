// SPDX-License-Identifier: Apache-2.0
// Draws sample scenes into PNG files and prints how long the canvas took, for eyes and for notes:
//   render_scenes DIRECTORY
#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QImage>
#include <QMimeData>
#include <cstdio>

#include "tests/ui/sample_clusters.h"
#include "ui/canvas/mesh_view.h"
#include "ui/theme.h"

using namespace tessera;
using ui::makeScene;

namespace {

class Renderer {
 public:
  explicit Renderer(QString directory) : m_directory(std::move(directory)) {}

  void save(const char* name, ui::MeshView& view) {
    QCoreApplication::processEvents();
    const QString path =
        m_directory + QLatin1Char('/') + QLatin1String(name) + QStringLiteral(".png");
    view.grab().save(path);
    const auto& t = view.timing();
    std::printf(
        "%-14s layout %6.2f ms  cells %6.2f ms  patch %6.2f ms  flows %6.2f ms  frame %5.2f ms\n",
        name, t.layout, t.cells, t.patch, t.flows, t.frame);
  }

 private:
  QString m_directory;
};

void prepare(ui::MeshView* view, QSize size) {
  view->resize(size);
  view->show();
}

// Wall time of a frame with all dots, over many.
double frameTime(ui::MeshView* view) {
  QElapsedTimer timer;
  timer.start();
  constexpr int kFrames = 100;
  for (int i = 0; i < kFrames; ++i) view->viewport()->repaint();
  return static_cast<double>(timer.nsecsElapsed()) / 1e6 / kFrames;
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: render_scenes DIRECTORY\n");
    return 2;
  }
  const QString directory = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(directory);
  Renderer renderer(directory);
  const QSize pane(891, 566);

  ui::applyTheme(app, ui::ThemeMode::Light);
  {
    ui::MeshView view;
    prepare(&view, pane);
    view.setScene(makeScene(test::SmallCluster(), test::kJob));
    view.setSelection({{0, 2}});
    renderer.save("live", view);
    view.setScene({});
    renderer.save("empty", view);
  }
  {
    ui::MeshView view;
    prepare(&view, pane);
    const auto cluster = test::SmallCluster();
    const auto all = test::AllDevices(cluster);
    const auto plan = test::GrowthPlan();
    view.setScene(makeScene(cluster, test::kJob, &all, &plan));
    renderer.save("draft", view);
    view.setScene(makeScene(cluster, test::kJob, &all));
    renderer.save("draft_planning", view);
    std::set<ptc::DeviceId> fewer{{0, 0}, {0, 1}};
    engine::PlanSummary shrink = plan;
    shrink.to_mesh = test::Shape(1, 2, 1);
    shrink.to_devices = {{0, 0}, {0, 1}};
    shrink.flows.clear();
    view.setScene(makeScene(cluster, test::kJob, &fewer, &shrink));
    renderer.save("draft_shrink", view);
  }
  {
    ui::MeshView view;
    prepare(&view, pane);
    view.setScene(makeScene(test::MovingCluster(), test::kJob));
    view.setSelection({{1, 0}});
    renderer.save("moving", view);
    view.setStale(12);
    renderer.save("stale", view);
    view.setStale(0);
    ui::applyTheme(app, ui::ThemeMode::Dark);
    renderer.save("moving_dark", view);
    view.setScene(makeScene(test::SmallCluster(), test::kJob));
    renderer.save("live_dark", view);
    ui::applyTheme(app, ui::ThemeMode::Light);
  }
  {
    ui::MeshView view;
    prepare(&view, pane);
    auto cluster = test::IdleCluster(4, 4);
    test::AddJob(&cluster, test::Shape(3, 2, 2));
    cluster.nodes[0].state = engine::NodeState::kSuspect;
    cluster.nodes[0].last_seen = 5;
    cluster.nodes[1].state = engine::NodeState::kDead;
    cluster.nodes[1].last_seen = 12;
    cluster.nodes[2].state = engine::NodeState::kUnmanaged;
    cluster.nodes[2].last_seen = 40;
    cluster.nodes[3].devices[2].failed = true;
    view.setScene(makeScene(cluster, test::kJob));
    renderer.save("troubles", view);
    for (auto& node : cluster.nodes) {
      node.state = engine::NodeState::kJoining;
      node.devices.clear();
    }
    view.setScene(makeScene(cluster, {}));
    renderer.save("loading", view);
    view.setScene(makeScene(test::IdleCluster(2, 4), {}));
    renderer.save("no_job", view);
  }
  {
    // A drag from the pool, held over the drop zone.
    ui::MeshView view;
    prepare(&view, pane);
    view.setScene(makeScene(test::SmallCluster(), test::kJob));
    view.setSelection({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    view.setDragHint([](const QList<ptc::DeviceId>&, bool) {
      return QStringLiteral("4 GPUs → 4 × 2 × 1, moves 37.4 MiB");
    });
    QMimeData mime;
    mime.setData(ui::MeshView::mimeType(), "n1g0,n1g1,n1g2,n1g3");
    const QPoint at = view.dropZoneRect().center() + QPoint(-60, 30);
    QDragEnterEvent enter(at, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(view.viewport(), &enter);
    renderer.save("dragging", view);
  }
  for (const int nodes : {4, 8, 16, 32}) {
    ui::MeshView view;
    prepare(&view, pane);
    view.setScene(makeScene(test::LargeCluster(nodes, 8, nodes / 4, 3), test::kJob));
    renderer.save(qPrintable(QStringLiteral("nodes_%1x8").arg(nodes)), view);
  }
  {
    ui::MeshView view;
    prepare(&view, pane);
    auto cluster = test::LargeCluster(64, 8, 4, 6);
    cluster.nodes[17].state = engine::NodeState::kDead;
    cluster.nodes[17].last_seen = 12;
    cluster.nodes[40].state = engine::NodeState::kSuspect;
    cluster.nodes[40].last_seen = 4;
    view.setScene(makeScene(cluster, test::kJob));
    renderer.save("large_64x8", view);
    view.setZoom(2.4);
    renderer.save("large_zoomed", view);
  }
  {
    ui::MeshView view;
    prepare(&view, QSize(1600, 1000));
    auto cluster = test::LargeCluster(512, 8, 32, 512);
    auto scene = makeScene(cluster, test::kJob);
    QElapsedTimer timer;
    timer.start();
    scene = makeScene(cluster, test::kJob);
    const double making = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    timer.restart();
    view.setScene(scene);
    const double setting = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    renderer.save("large_512x8", view);
    std::printf(
        "512x8: makeScene %.2f ms, first setScene %.2f ms, %zu flows in at most 512 bundles, frame "
        "%.2f ms\n",
        making, setting, scene.flows.size(), frameTime(&view));
    for (auto& flow : cluster.transaction->flows) flow.bytes_done += flow.bytes_total / 20;
    auto next = makeScene(cluster, test::kJob);
    timer.restart();
    view.setScene(std::move(next));
    std::printf("512x8: setScene with %zu flows advanced %.2f ms, of it patch %.2f ms\n",
                scene.flows.size(), static_cast<double>(timer.nsecsElapsed()) / 1e6,
                view.timing().patch);
    timer.restart();
    view.setSelection({view.devices().begin(), view.devices().end()});
    view.viewport()->repaint();
    std::printf("512x8: select all and repaint %.2f ms\n",
                static_cast<double>(timer.nsecsElapsed()) / 1e6);
    view.setSelection({});
    cluster.transaction.reset();
    view.setScene(makeScene(cluster, test::kJob));
    view.viewport()->repaint();
    std::printf("512x8: bare frame %.2f ms, layout %.2f ms, cells %.2f ms\n", frameTime(&view),
                view.timing().layout, view.timing().cells);
  }
  return 0;
}
