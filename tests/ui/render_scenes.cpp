// SPDX-License-Identifier: Apache-2.0 Draws sample scenes into PNG files and prints how long the
// canvas took, for eyes and for notes: render_scenes DIRECTORY or opens a window with a small
// cluster and prints the requests of the canvas until it is closed: render_scenes --show
#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QImage>
#include <QMimeData>
#include <cstdio>
#include <cstring>
#include <ctime>

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

// Processor time of this thread, milliseconds: other programs do not count.
double cpuTime() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <typename Action>
double cpuTimeOf(int times, Action action) {
  const double before = cpuTime();
  for (int i = 0; i < times; ++i) action();
  return (cpuTime() - before) / times;
}

double frameTime(ui::MeshView* view) {
  return cpuTimeOf(100, [view] { view->viewport()->repaint(); });
}

// With everything drawn again.
double rebuildTime(ui::MeshView* view) {
  return cpuTimeOf(10, [view] {
    QEvent change(QEvent::PaletteChange);
    QCoreApplication::sendEvent(view, &change);
    view->viewport()->repaint();
  });
}

// A minimal owner: each request becomes the draft.
int show() {
  const auto cluster = test::SmallCluster();
  auto draft = test::JobDevices(cluster);
  ui::MeshView view;
  const auto update = [&](const char* what, const QList<ptc::DeviceId>& devices, bool into) {
    std::printf("%s %s %s\n", what,
                ptc::ToString(std::vector<ptc::DeviceId>(devices.begin(), devices.end())).c_str(),
                into ? "into the mesh" : "to the pool");
    std::fflush(stdout);
    for (const auto id : devices) {
      if (into) {
        draft.insert(id);
      } else {
        draft.erase(id);
      }
    }
    view.setScene(makeScene(cluster, test::kJob, &draft));
  };
  QObject::connect(&view, &ui::MeshView::devicesDropped, &view,
                   [&](const auto& devices, bool into) { update("dropped", devices, into); });
  QObject::connect(&view, &ui::MeshView::toggleRequested, &view, [&](const auto& devices) {
    update("toggled", devices, !draft.contains(devices.front()));
  });
  view.setScene(makeScene(cluster, test::kJob));
  view.show();
  const auto where = [&](const char* name, const QRect& rect) {
    const QPoint at = view.viewport()->mapToGlobal(rect.center());
    std::printf("%s %d %d\n", name, at.x(), at.y());
  };
  QCoreApplication::processEvents();
  where("n1g0", view.cellRect({1, 0}));
  where("n0g3", view.cellRect({0, 3}));
  where("zone", view.dropZoneRect());
  where("pool", view.poolRect());
  std::fflush(stdout);
  return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--show") == 0) {
    QApplication app(argc, argv);
    ui::applyTheme(app, ui::ThemeMode::Light);
    return show();
  }
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
  // Each grouping at 8 and at 4,096 GPUs, with another job and idle GPUs.
  for (const int nodes : {4, 512}) {
    auto cluster = test::IdleCluster(nodes, nodes == 4 ? 4 : 8);
    const int quarter = nodes / 4;
    test::AddJob(&cluster, nodes == 4 ? test::Shape(2, 2, 2) : test::Shape(64, 8, 4));
    engine::JobStatus other;
    other.name = "gpt-b";
    other.state = engine::JobState::kRunning;
    for (auto& node : cluster.nodes) {
      node.host = "host-" + std::to_string(node.node / (nodes == 4 ? 2 : 4));
      node.rack = "r" + std::to_string(node.node / (nodes == 4 ? 2 : 8));
      if (node.node < 2 * quarter || node.node >= 3 * quarter) continue;
      for (auto& device : node.devices) {
        if (nodes == 4 && device.id.index > 1) continue;
        device.job = other.name;
        other.devices.push_back(device.id);
      }
    }
    cluster.jobs.push_back(other);
    for (int i = 0; i < ui::kNumGroupings; ++i) {
      ui::MeshView view;
      prepare(&view, nodes == 4 ? pane : QSize(1600, 1000));
      auto scene = makeScene(cluster, test::kJob);
      ui::groupScene(&scene, static_cast<ui::GroupBy>(i));
      view.setScene(std::move(scene));
      renderer.save(qPrintable(QStringLiteral("group_%1_%2").arg(nodes).arg(i)), view);
    }
    ui::MeshView view;
    prepare(&view, nodes == 4 ? pane : QSize(1600, 1000));
    auto scene = makeScene(cluster, test::kJob);
    ui::markScene(&scene, {{0, 1}, {0, 2}}, {{nodes - 1, 0}}, {{1, 0}, {1, 1}});
    view.setScene(std::move(scene));
    renderer.save(qPrintable(QStringLiteral("difference_%1").arg(nodes)), view);
  }
  {
    // The lines of one GPU among hundreds of bundles.
    ui::MeshView view;
    prepare(&view, QSize(1600, 1000));
    const auto scene = makeScene(test::LargeCluster(512, 8, 256, 200), test::kJob);
    view.setScene(scene);
    view.setSelection({scene.flows.front().from, scene.flows.back().to});
    renderer.save("own_lines", view);
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
    const double making = cpuTimeOf(5, [&] { scene = makeScene(cluster, test::kJob); });
    const double setting = cpuTimeOf(1, [&] { view.setScene(scene); });
    renderer.save("large_512x8", view);
    std::printf("512x8, CPU ms: makeScene %.2f, first setScene %.2f\n", making, setting);
    std::printf(
        "512x8, %zu flows in at most 512 bundles: frame %.2f, rebuild of both layers %.2f\n",
        scene.flows.size(), frameTime(&view), rebuildTime(&view));
    for (auto& flow : cluster.transaction->flows) flow.bytes_done += flow.bytes_total / 20;
    auto next = makeScene(cluster, test::kJob);
    std::printf("512x8: setScene with all flows advanced %.2f",
                cpuTimeOf(1, [&] { view.setScene(std::move(next)); }));
    std::printf(", of it patch (wall) %.2f\n", view.timing().patch);
    std::printf("512x8: select all and repaint %.2f\n", cpuTimeOf(1, [&] {
                  view.setSelection({view.devices().begin(), view.devices().end()});
                  view.viewport()->repaint();
                }));
    view.setSelection({});
    cluster.transaction.reset();
    view.setScene(makeScene(cluster, test::kJob));
    std::printf("512x8, nothing moving: frame %.2f, rebuild %.2f, layout (wall) %.2f\n",
                frameTime(&view), rebuildTime(&view), view.timing().layout);
  }
  return 0;
}
