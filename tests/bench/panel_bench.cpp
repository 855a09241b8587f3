// SPDX-License-Identifier: Apache-2.0
// What the panel costs, drawn in software: frames of the mesh, snapshots, the Tensors view of a
// large model, moments of the past. Prints the machine and one figure per line; times are medians
// of repeated runs unless it says otherwise. Runs without a display (QT_QPA_PLATFORM=offscreen).
#include <fmt/format.h>
#include <sys/resource.h>

#include <QApplication>
#include <QComboBox>
#include <QEventLoop>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalogue/catalogue.h"
#include "ptc/rules/rules.h"
#include "tests/bench/machine.h"
#include "tests/support/heartbeat.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/past_cluster.h"
#include "ui/models/tensor_layouts.h"
#include "ui/pages/events_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/theme.h"
#include "ui/views/model_map.h"
#include "ui/views/tensors_view.h"
#include "ui/widgets/tabbed_pane.h"

using namespace tessera;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::ranges::sort(times);
  return times.empty() ? 0 : times[times.size() / 2];
}

template <typename F>
double medianOf(int runs, const F& run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = Clock::now();
    run(i);
    times.push_back(since(begin));
  }
  return median(times);
}

void print(const std::string& what, double value, const std::string& unit) {
  fmt::print("{:<74} {:>9.2f} {}\n", what, value, unit);
  std::fflush(stdout);
}

/// With the figure that is asked for.
void print(const std::string& what, double value, const std::string& unit, double asked) {
  print(what, value, fmt::format("{}  (asked: at most {:g})", unit, asked));
}

double residentMiB() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

double processorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The cluster with all bytes in flight advanced.
engine::ClusterSnapshot advanced(engine::ClusterSnapshot cluster, int percent) {
  for (engine::FlowStatus& flow : cluster.transaction->flows)
    flow.bytes_done = flow.bytes_total * percent / 100;
  return cluster;
}

/// Frames of the mesh at 4,096 devices.
void benchMesh() {
  const auto cluster = test::LargeCluster(512, 8, 8, 64);
  test::Panel panel({}, cluster);
  panel.window->resize(1600, 1000);
  ui::MeshView* mesh = panel.window->meshView();
  QTest::qWait(500);
  // Its dots stop when no bytes have come for three seconds.
  panel.setSnapshot(advanced(cluster, 20));
  QTest::qWait(200);
  std::vector<double> frames;
  const int before = mesh->paintCount();
  const double processor = processorSeconds();
  const auto begin = Clock::now();
  // An event loop as in the program: QTest::qWait sleeps between events and so loses frames.
  QEventLoop loop;
  QTimer sampling;
  QObject::connect(&sampling, &QTimer::timeout, [&] { frames.push_back(mesh->timing().frame); });
  sampling.start(30);
  QTimer::singleShot(2500, &loop, &QEventLoop::quit);
  loop.exec();
  const double seconds = since(begin) / 1000;
  print("mesh of 4,096 GPUs with 512 flows, one frame", median(frames), "ms");
  print("  frames while bytes move", (mesh->paintCount() - before) / seconds,
        "per s  (asked: at least 58)");
  print("  one core while bytes move", 100 * (processorSeconds() - processor) / seconds, "%");
  print("  cells drawn from nothing", mesh->timing().cells, "ms (last)");
}

void benchSnapshots() {
  auto cluster = test::LargeCluster(512, 8, 8, 0);
  test::Panel panel({}, cluster);
  panel.window->resize(1600, 1000);
  QTest::qWait(500);
  print("snapshot of 4,096 GPUs, every memory changed, drawn",
        medianOf(9,
                 [&](int run) {
                   for (auto& node : cluster.nodes) {
                     for (auto& device : node.devices) device.used_bytes += 1'000'000 * (run + 1);
                   }
                   ++cluster.sequence;
                   panel.model.setSnapshot(cluster);
                   panel.model.flush();
                   panel.window->meshView()->viewport()->repaint();
                 }),
        "ms");
  print("  the same, one GPU changed",
        medianOf(9,
                 [&](int run) {
                   cluster.nodes[3].devices[2].used_bytes += 1'000'000 * (run + 1);
                   ++cluster.sequence;
                   panel.model.setSnapshot(cluster);
                   panel.model.flush();
                   panel.window->meshView()->viewport()->repaint();
                 }),
        "ms");
  const int before = panel.window->meshView()->paintCount();
  QTest::qWait(3000);
  print("  paint events of the mesh in 3 idle seconds",
        panel.window->meshView()->paintCount() - before, "");
}

/// Llama 3 405B with Adam's state, sharded over dp (ZeRO), on the devices of a job.
engine::vfs::JobFactsPtr largeModel(const engine::JobStatus& job) {
  const auto tensors = engine::FindCatalogueTensors("llama-3-405b");
  const auto rules = engine::FindRuleSet("llama");
  const auto ruled = ptc::ApplyRules(*tensors, *rules, true, ptc::OptimizerState::kAdamW);
  const auto layout = ptc::Layout::Make(*ptc::DeviceMesh::Make(job.mesh, job.devices),
                                        ruled->tensors, ruled->stages);
  return engine::vfs::MakeFacts({job.name, job.epoch, 0, job.step, *layout}, nullptr);
}

void benchTensors() {
  const auto cluster = test::LargeCluster(512, 8, 0, 0);
  test::Panel panel({}, cluster);
  panel.window->resize(1600, 1000);
  const auto state = largeModel(panel.model.snapshot().jobs.front());
  panel.commands.jobStates = engine::vfs::Jobs{{state->info.name, state}};
  fmt::print("llama-3-405b: {} tensors on {} GPUs\n",
             state->info.layout.collection().tensors().size(),
             state->info.layout.mesh().num_ranks());
  print("  groups and holders of its tensors, on a thread",
        medianOf(3, [&](int) { (void)ui::TensorLayouts::make(state->info.layout, std::nullopt); }),
        "ms");
  auto begin = Clock::now();
  panel.window->actions()->find(QStringLiteral("view.tensors"))->trigger();
  auto* view = panel.window->findChild<ui::TensorsView*>();
  if (!QTest::qWaitFor([&] { return view->layouts() != nullptr; }, 60'000)) {
    fmt::print("  the tensors were not shown\n");
    return;
  }
  print("  from the key to the picture", since(begin), "ms (once)");
  ui::ModelMap* map = view->map();
  map->viewport()->repaint();
  std::vector<double> frames;
  for (int i = 0; i < 60; ++i) {
    map->verticalScrollBar()->setValue(i * 17);
    begin = Clock::now();
    map->viewport()->repaint();
    frames.push_back(since(begin));
  }
  print("  whole model, one frame while panning", median(frames), "ms", 16);
  print("    the slowest of 60", *std::ranges::max_element(frames), "ms");
  print("  whole model, one frame while pointing at other GPUs",
        medianOf(20,
                 [&](int run) {
                   map->setHighlighted({{run, 0}});
                   map->viewport()->repaint();
                 }),
        "ms", 16);
  for (auto* box : view->findChildren<QComboBox*>()) {
    if (box->accessibleName() == QLatin1String("Role of the tensors")) box->setCurrentIndex(1);
  }
  map->viewport()->repaint();
  print("  optimizer state, a part per GPU, one frame while pointing",
        medianOf(20,
                 [&](int run) {
                   map->setHighlighted({{run, 1}});
                   map->viewport()->repaint();
                 }),
        "ms", 16);
  print("  optimizer state, a part per GPU, one frame while panning",
        medianOf(20,
                 [&](int run) {
                   map->verticalScrollBar()->setValue(run * 17);
                   map->viewport()->repaint();
                 }),
        "ms", 16);
  print("  picture of one tensor",
        medianOf(20, [&](int run) { (void)view->layouts()->picture(run * 100); }), "ms");
}

void benchPast() {
  auto now = test::IdleCluster(64, 8);
  test::AddJob(&now, test::Shape(64, 2, 4));
  std::vector<engine::HistoryEntry> history;
  const std::string mesh =
      ptc::ToString(*ptc::DeviceMesh::Make(now.jobs.front().mesh, now.jobs.front().devices));
  for (int i = 10'000; i > 0; --i) {
    engine::HistoryEntry entry;
    entry.id = i;
    entry.job = now.jobs.front().name;
    entry.from = entry.to = mesh;
    entry.started = 1e9 + 60.0 * i;
    entry.result = "committed";
    entry.phases = {{"transferring", 2.0}};
    entry.epoch = i;
    history.push_back(std::move(entry));
  }
  const auto begin = Clock::now();
  const ui::ChangeIndex index(history);
  print("past: index of 10,000 changes of 512 GPUs", since(begin), "ms (once)");
  print("  the cluster at a moment",
        medianOf(51,
                 [&](int run) {
                   (void)ui::clusterAt(now, index, ui::SampleSeries(), now.jobs.front().name,
                                       1e9 + 60.0 * 190 * run + 30);
                 }),
        "ms");
}

/// Scrolls a table by its pages and draws it each time.
double medianScroll(QTableView* table) {
  QScrollBar* bar = table->verticalScrollBar();
  return medianOf(41, [&](int run) {
    bar->setValue(bar->minimum() + (bar->maximum() - bar->minimum()) * (run % 41) / 41);
    table->viewport()->repaint();
  });
}

void benchRecords() {
  auto now = test::IdleCluster(16, 8);
  test::AddJob(&now, test::Shape(16, 2, 4));
  const std::string job = now.jobs.front().name;
  test::Panel panel({}, now);
  panel.window->resize(1600, 1000);
  std::vector<engine::HistoryEntry> history;
  const std::string mesh =
      ptc::ToString(*ptc::DeviceMesh::Make(now.jobs.front().mesh, now.jobs.front().devices));
  constexpr double kBegin = 1.75e9;
  for (int i = 10'000; i > 0; --i) {
    engine::HistoryEntry entry;
    entry.id = i;
    entry.job = job;
    entry.from = entry.to = mesh;
    entry.started = kBegin + 10.0 * i;
    entry.result = "committed";
    entry.pause = 1;
    entry.phases = {{"preparing", 1.0}, {"transferring", 2.0}};
    entry.epoch = i;
    history.push_back(std::move(entry));
  }
  panel.commands.entries = std::move(history);
  auto* page = panel.window->findChild<ui::HistoryPage*>();
  page->reload();
  (void)QTest::qWaitFor([&] { return page->model()->rowCount() == 10'000; }, 10'000);
  std::vector<engine::Event> events;
  for (int i = 0; i < 100'000; ++i) {
    events.push_back({i + 1, kBegin + i, engine::Severity::kInfo, fmt::format("n{}", i % 16),
                      fmt::format("text of event {}", i)});
    if (i % 10 == 0) {
      events.back().note = engine::NodeNote{
          i % 16, i % 20 == 0 ? engine::NodeState::kAlive : engine::NodeState::kSuspect};
    }
  }
  auto* list = panel.window->findChild<ui::EventsPage*>();
  auto begin = Clock::now();
  for (const engine::Event& event : events) panel.model.addEvent(event);
  panel.model.flush();
  print("records: 100,000 events enter the panel", since(begin), "ms (once)");
  list->table()->viewport()->repaint();
  print("  events, one frame while scrolling", medianScroll(list->table()), "ms", 16);
  const std::string patterns[] = {"event 99", "zzz", "7"};
  print("  events, filtered by another text",
        medianOf(9,
                 [&](int run) {
                   list->filterEdit()->setText(
                       QString::fromStdString(patterns[run % 3] + std::to_string(run)));
                   list->table()->viewport()->repaint();
                 }),
        "ms", 200);
  list->filterEdit()->clear();
  const auto open = [&](QWidget* pane) {
    for (auto* tabs : panel.window->findChildren<ui::TabbedPane*>()) {
      if (tabs->isAncestorOf(pane)) tabs->setCurrent(pane);
    }
  };
  open(page);
  page->table()->viewport()->repaint();
  print("  10,000 changes, one frame while scrolling", medianScroll(page->table()), "ms", 16);

  engine::Sample sample;
  sample.job = job;
  sample.loss = 3;
  for (int i = 0; i < 100'000; ++i) {
    sample.step = i + 1;
    sample.time = kBegin + i;
    sample.loss = 3 - i * 1e-5;
    sample.tokens_per_second = 1e5 + i % 100;
    sample.metrics = {{"accuracy", i * 1e-5}};
    panel.model.addSample(sample);
  }
  panel.model.flush();
  auto* timeline = panel.window->findChild<ui::TimelinePage*>();
  open(timeline);
  ui::JobPlots* plots = timeline->plots();
  (void)QTest::qWaitFor([&] { return timeline->words().isEmpty(); }, 5000);
  print("  a moment among 10,000 changes and 10,000 states of nodes, drawn",
        medianOf(41,
                 [&](int run) {
                   plots->setPlayhead(kBegin + 99'000.0 * (run + 1) / 42);
                   panel.window->meshView()->viewport()->repaint();
                 }),
        "ms", 100);
  print("  plots of 2 x 100,000 points", 1000 * plots->measureReplot(), "ms (once)");
  print("    the same, again", medianOf(9, [&](int) { (void)plots->measureReplot(); }), "ms", 10);
  plots->setCurves({ui::PlotCurve::ofMetric("accuracy")});
  print("  plot of 100,000 points of a metric",
        medianOf(9, [&](int) { (void)plots->measureReplot(); }), "ms", 10);
}

void benchTheme(QApplication& application) {
  const auto cluster = test::LargeCluster(512, 8, 8, 64);
  test::Panel panel({}, cluster);
  panel.window->resize(1600, 1000);
  QTest::qWait(300);
  std::vector<double> calls, gaps;
  for (int run = 0; run < 8; ++run) {
    panel.setSnapshot(advanced(cluster, 10 + run));
    QTest::qWait(100);
    test::Heartbeat heartbeat;
    const auto begin = Clock::now();
    ui::applyTheme(application, run % 2 == 0 ? ui::ThemeMode::Dark : ui::ThemeMode::Light);
    calls.push_back(since(begin));
    QTest::qWait(200);
    gaps.push_back(static_cast<double>(heartbeat.longestGap().count()));
  }
  print("another theme, 4,096 GPUs with 512 flows", median(calls), "ms");
  print("  drawn, the longest time without events", median(gaps), "ms", 50);
  print("  the longest of 8", *std::ranges::max_element(gaps), "ms", 50);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", qEnvironmentVariable("QT_QPA_PLATFORM", "offscreen").toUtf8());
  QApplication application(argc, argv);
  ui::applyTheme(application, ui::ThemeMode::Light);
  fmt::print("{}\n", test::Machine());
  const auto begin = Clock::now();
  // Words on the command line choose among these.
  const std::vector<std::pair<QString, std::function<void()>>> parts{
      {QStringLiteral("window"),
       [&] {
         test::Panel panel;
         panel.window->grab();
         print("small cluster, window made and drawn once", since(begin), "ms");
       }},
      {QStringLiteral("mesh"), benchMesh},
      {QStringLiteral("snapshots"), benchSnapshots},
      {QStringLiteral("tensors"), benchTensors},
      {QStringLiteral("past"), benchPast},
      {QStringLiteral("records"), benchRecords},
      {QStringLiteral("theme"), [&] { benchTheme(application); }}};
  const QStringList words = application.arguments().mid(1);
  for (const auto& [name, run] : parts) {
    if (words.isEmpty() || words.contains(name)) run();
  }
  print("resident memory at the end", residentMiB(), "MiB");
  return 0;
}
