// SPDX-License-Identifier: Apache-2.0
// The past: the cluster at earlier moments, the window that shows it, and the player.
#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QAction>
#include <QJsonArray>
#include <QJsonDocument>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "tests/support/random.h"
#include "tests/support/widget_test_main.h"
#include "tests/support/work.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/change_diff.h"
#include "ui/models/draft.h"
#include "ui/models/moment_diff.h"
#include "ui/models/node_states.h"
#include "ui/models/past_cluster.h"
#include "ui/models/playback.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/views/data_page.h"
#include "ui/views/files_page.h"
#include "ui/views/links_view.h"
#include "ui/views/mesh_page.h"
#include "ui/views/mesh_pair.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/tabbed_pane.h"

using namespace tessera;
using engine::TxnPhase;
using Cell = ui::MeshScene::Cell;

namespace {

constexpr double kNoon = 1'750'000'000;  // of PanelHistory
const std::vector<ptc::DeviceId> kPair{{0, 0}, {0, 1}};
const std::vector<ptc::DeviceId> kN0{{0, 0}, {0, 1}, {0, 2}, {0, 3}};

ui::SampleSeries seriesOf(const std::vector<engine::Sample>& samples) {
  ui::SampleSeries series;
  for (const engine::Sample& sample : samples) series.add(sample);
  return series;
}

const engine::JobStatus& jobOf(const engine::ClusterSnapshot& cluster) {
  return cluster.jobs.front();
}

std::vector<ptc::DeviceId> devicesOf(const engine::ClusterSnapshot& cluster,
                                     const std::string& job) {
  std::vector<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : cluster.nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (device.job == job && device.rank) devices.push_back(device.id);
    }
  }
  return devices;
}

std::vector<ptc::DeviceId> sorted(std::vector<ptc::DeviceId> devices) {
  std::sort(devices.begin(), devices.end());
  return devices;
}

/// A chain of changes of one job on four nodes of four, some of them undone.
std::vector<engine::HistoryEntry> randomHistory(std::mt19937_64& rng, int changes) {
  const auto anyMesh = [&rng] {
    const int dp = 1 << (rng() % 3), tp = 1 << (rng() % 2);
    std::vector<ptc::DeviceId> all;
    for (int node = 0; node < 4; ++node) {
      for (int index = 0; index < 4; ++index) all.push_back({node, index});
    }
    std::shuffle(all.begin(), all.end(), rng);
    all.resize(static_cast<std::size_t>(dp * tp));
    return ptc::ToString(*ptc::DeviceMesh::Make(test::Shape(dp, tp, 1), all));
  };
  std::vector<engine::HistoryEntry> entries;
  std::string mesh = anyMesh();
  double time = kNoon;
  std::int64_t epoch = 1;
  for (int i = 0; i < changes; ++i) {
    time += 1 + static_cast<double>(rng() % 50);
    engine::HistoryEntry entry;
    entry.id = i + 1;
    entry.job = test::kJob;
    entry.from = mesh;
    entry.to = anyMesh();
    entry.started = time;
    const auto outcome = rng() % 4;
    entry.result = outcome == 0 ? "rolled_back" : outcome == 1 ? "failed" : "committed";
    entry.phases = {{"preparing", 0.5}, {"transferring", 1.0 + static_cast<double>(rng() % 3)}};
    entry.phases[entry.result == "committed" ? "committing" : "rolling_back"] = 0.25;
    entry.pause = 1;
    entry.step = 100 * (i + 1);
    if (entry.result == "committed") {
      mesh = entry.to;
      ++epoch;
    }
    entry.epoch = epoch;
    entries.push_back(entry);
    time += 5;
  }
  std::reverse(entries.begin(), entries.end());
  return entries;
}

/// The mesh at a time, by going through all changes from the first one.
std::string replay(const std::vector<engine::HistoryEntry>& newestFirst, double time) {
  std::string mesh = newestFirst.back().from;
  for (auto entry = newestFirst.rbegin(); entry != newestFirst.rend(); ++entry) {
    double end = entry->started;
    for (const auto& [phase, seconds] : entry->phases) end += seconds;
    if (end <= time && entry->result == "committed") mesh = entry->to;
  }
  return mesh;
}

struct Window {
  explicit Window(engine::ClusterSnapshot cluster = test::PanelCluster(),
                  ui::WindowOptions options = {.operate = true})
      : panel(options, std::move(cluster)) {
    for (const engine::Event& event : test::PanelEvents()) panel.model.addEvent(event);
    panel.model.flush();
  }
  template <typename T>
  T* find() const {
    return panel.window->findChild<T*>();
  }
  bool ready() const {
    return QTest::qWaitFor(
        [this] {
          return find<ui::HistoryPage>()->model()->rowCount() > 0 &&
                 find<ui::TimelinePage>()->words().isEmpty() &&
                 find<ui::TimelinePage>()->samples().state() == ui::SampleHistory::State::Following;
        },
        3000);
  }
  ui::JobPlots* plots() const { return find<ui::JobPlots>(); }
  QAction* action(const char* id) const {
    return panel.window->actions()->find(QString::fromLatin1(id));
  }
  QAbstractButton* segment(ui::LayoutSource source) const {
    return find<ui::SegmentedSwitch>()->segment(static_cast<int>(source));
  }
  bool isPast() const { return segment(ui::LayoutSource::Past)->isChecked(); }
  /// The visible notice that begins with this text.
  QString notice(const QString& begin) const {
    for (const auto* each : panel.window->findChildren<ui::NoticeBar*>()) {
      if (each->isVisible() && each->text().startsWith(begin)) return each->text();
    }
    return {};
  }
  std::vector<ptc::DeviceId> shown() const {
    std::vector<ptc::DeviceId> devices;
    for (const auto& node : panel.window->meshView()->scene().nodes) {
      for (const auto& cell : node.cells) {
        if (cell.inMesh) devices.push_back(cell.id);
      }
    }
    return devices;
  }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) const {
    QTest::keyClick(
        panel.window->focusWidget() == nullptr ? panel.window.get() : panel.window->focusWidget(),
        key, modifiers);
  }

  test::Panel panel;
};

}  // namespace

class PastTest : public QObject {
  Q_OBJECT

 private slots:
  void momentsOfAChange_data() {
    QTest::addColumn<double>("time");
    QTest::addColumn<int>("phase");
    QTest::addColumn<int>("devices");
    QTest::addColumn<qint64>("epoch");
    QTest::addColumn<bool>("arrived");
    // Change 3 takes 1.2, 0.04, 0.19, 0.03, 0.01 and 0.06 s.
    const double start = kNoon + 248;
    const auto row = [](const char* name, double time, TxnPhase phase, int devices, qint64 epoch,
                        bool arrived) {
      QTest::newRow(name) << time << static_cast<int>(phase) << devices << epoch << arrived;
    };
    row("after the change before", start - 0.5, TxnPhase::kDone, 2, 3, true);
    row("first moment", start, TxnPhase::kPreparing, 2, 2, false);
    row("pausing", start + 1.22, TxnPhase::kPausing, 2, 2, false);
    row("transferring", start + 1.3, TxnPhase::kTransferring, 2, 2, false);
    row("verifying", start + 1.45, TxnPhase::kVerifying, 2, 2, true);
    row("committing", start + 1.465, TxnPhase::kCommitting, 2, 2, true);
    row("resuming", start + 1.5, TxnPhase::kResuming, 4, 3, true);
    row("after it", start + 1.6, TxnPhase::kDone, 4, 3, true);
    row("within the one that was undone", kNoon - 58, TxnPhase::kPreparing, 2, 3, false);
    row("undoing it", kNoon - 60 + 5.6, TxnPhase::kRollingBack, 2, 3, false);
    row("after it was undone", kNoon, TxnPhase::kRolledBack, 2, 3, false);
  }
  void momentsOfAChange() {
    QFETCH(double, time);
    QFETCH(int, phase);
    QFETCH(int, devices);
    QFETCH(qint64, epoch);
    QFETCH(bool, arrived);
    const auto history = test::PanelHistory();
    const auto past = ui::clusterAt(test::PanelCluster(), ui::ChangeIndex(history),
                                    seriesOf(test::PanelSamples()), test::kJob, time);
    QVERIFY(past.has_value());
    const engine::JobStatus& job = jobOf(*past);
    QCOMPARE(std::ssize(job.devices), devices);
    QCOMPARE(job.devices, devices == 4 ? kN0 : kPair);
    QCOMPARE(job.epoch, std::int64_t{epoch});
    QVERIFY(past->transaction.has_value());
    QCOMPARE(static_cast<int>(past->transaction->phase), phase);
    for (const engine::FlowStatus& flow : past->transaction->flows) {
      QVERIFY(flow.bytes_total > 0);
      QCOMPARE(flow.bytes_done, arrived ? flow.bytes_total : 0);
    }
    const bool changing = !engine::IsFinal(past->transaction->phase);
    QCOMPARE(job.state == engine::JobState::kReconfiguring, changing);
    // The sample is the last one before the moment, not the nearest.
    const auto samples = test::PanelSamples();
    const auto after = std::upper_bound(samples.begin(), samples.end(), time,
                                        [](double t, const auto& each) { return t < each.time; });
    QVERIFY(after != samples.begin());
    QCOMPARE(job.step, (after - 1)->step);
    QCOMPARE(job.loss, std::optional((after - 1)->loss));
    QCOMPARE(job.tokens_per_second.has_value(), !changing || past->transaction->paused == 0);
  }

  void theNewestMomentEqualsLive() {
    const auto now = test::PanelCluster();
    const auto history = test::PanelHistory();
    const auto past = ui::clusterAt(now, ui::ChangeIndex(history), seriesOf(test::PanelSamples()),
                                    test::kJob, kNoon + 299);
    QVERIFY(past.has_value());
    const engine::JobStatus &before = jobOf(*past), &live = now.jobs.front();
    QVERIFY(before.mesh == live.mesh);
    QCOMPARE(before.devices, live.devices);
    QVERIFY(before.options == live.options);
    QCOMPARE(before.epoch, live.epoch);
    QCOMPARE(before.layout_hash, live.layout_hash);
    QVERIFY(!before.layout_hash.empty());
    for (std::size_t node = 0; node < now.nodes.size(); ++node)
      QVERIFY(past->nodes[node].devices == now.nodes[node].devices);
  }

  void earlierLayoutsHaveNoHashAndNoMemory() {
    const auto history = test::PanelHistory();
    const auto past = ui::clusterAt(test::PanelCluster(), ui::ChangeIndex(history),
                                    seriesOf(test::PanelSamples()), test::kJob, kNoon + 100);
    QVERIFY(past.has_value());
    QCOMPARE(jobOf(*past).layout_hash, std::string());
    for (const auto& device : past->nodes.front().devices) QCOMPARE(device.total_bytes, 0);
  }

  void nothingIsKnownBeforeTheFirstMoment() {
    const auto history = test::PanelHistory();
    const ui::ChangeIndex index(history);
    const auto now = test::PanelCluster();
    const auto series = seriesOf(test::PanelSamples());
    QVERIFY(!ui::clusterAt(now, index, series, test::kJob, kNoon - 121));
    QVERIFY(ui::clusterAt(now, index, series, test::kJob, kNoon - 119));
    QVERIFY(!ui::clusterAt(now, index, ui::SampleSeries(), test::kJob, kNoon - 61));
    QVERIFY(ui::clusterAt(now, index, ui::SampleSeries(), test::kJob, kNoon - 60));
    QVERIFY(!ui::clusterAt(now, index, series, "other", kNoon + 100));
    QVERIFY(!ui::clusterAt(now, {}, ui::SampleSeries(), test::kJob, kNoon + 100));
    // Without changes the job has been where it is.
    const auto past = ui::clusterAt(now, {}, series, test::kJob, kNoon);
    QVERIFY(past.has_value());
    QCOMPARE(jobOf(*past).devices, kN0);
  }

  void vanishedNodesAreShown() {
    auto history = test::PanelHistory();
    history[1].from = "dp=1,tp=1,pp=1 on n7g5";
    const auto past = ui::clusterAt(test::PanelCluster(), ui::ChangeIndex(history),
                                    seriesOf(test::PanelSamples()), test::kJob, kNoon + 30);
    QVERIFY(past.has_value());
    const engine::NodeStatus& gone = past->nodes.back();
    QCOMPARE(gone.node, 7);
    QVERIFY(gone.state == engine::NodeState::kAlive);
    QCOMPARE(gone.devices.size(), std::size_t{1});
  }

  void aJobThatWasStartedAgainIsWhereItIs() {
    // The epoch is that of the earlier job, so that only the start tells them apart.
    auto now = test::PanelCluster();
    const auto origin = static_cast<std::int64_t>(kNoon + 250) * 1'000'000'000;
    now.jobs.front().origin = origin;
    now.jobs.front().devices = kPair;
    const auto history = test::PanelHistory();
    std::vector<engine::Sample> samples = test::PanelSamples();
    std::erase_if(samples, [](const auto& sample) { return sample.time < kNoon + 255; });
    for (engine::Sample& sample : samples) sample.origin = origin;
    const ui::ChangeIndex index(history);
    for (const double time : {kNoon + 262, kNoon + 280}) {
      const auto past = ui::clusterAt(now, index, seriesOf(samples), test::kJob, time);
      QVERIFY(past.has_value());
      QCOMPARE(jobOf(*past).origin, origin);
      QCOMPARE(jobOf(*past).devices, kPair);
      QVERIFY(!past->transaction);
    }
    // Nothing is known of its first seconds, and before them the earlier job had the name.
    QVERIFY(!ui::clusterAt(now, index, seriesOf(samples), test::kJob, kNoon + 252));
    const auto before = ui::clusterAt(now, index, seriesOf(samples), test::kJob, kNoon + 249.9);
    QVERIFY(before.has_value());
    QCOMPARE(jobOf(*before).origin, std::int64_t{0});
    QCOMPARE(jobOf(*before).devices, kN0);
    QVERIFY(jobOf(*before).model.empty());  // of the present job
    QVERIFY(before->transaction.has_value());
    QVERIFY(index.last(test::kJob, origin) == nullptr);
    QVERIFY(index.last(test::kJob, 0) != nullptr);
  }

  void aJobThatWasStartedLaterIsNotThere() {
    auto now = test::PanelCluster();
    engine::JobStatus other = now.jobs.front();
    other.name = "other";
    other.devices = {{1, 0}};
    other.origin = static_cast<std::int64_t>(kNoon + 200) * 1'000'000'000;
    now.jobs.push_back(other);
    const auto history = test::PanelHistory();
    const ui::ChangeIndex index(history);
    const auto jobs = [&](double time) {
      return ui::clusterAt(now, index, seriesOf(test::PanelSamples()), test::kJob, time)
          ->jobs.size();
    };
    QCOMPARE(jobs(kNoon + 199), std::size_t{1});
    QCOMPARE(jobs(kNoon + 201), std::size_t{2});
  }

  void meshesEqualThoseOfAReplay() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 20; ++round) {
      const auto history = randomHistory(rng, 60);
      const ui::ChangeIndex index(history);
      auto now = test::IdleCluster(4, 4);
      test::AddJob(&now, test::Shape(2, 2, 1));
      const double from = history.back().started, to = history.front().started + 20;
      for (int i = 0; i < 200; ++i) {
        const double time = from + (to - from) * static_cast<double>(rng() % 100'000) / 100'000;
        const auto past = ui::clusterAt(now, index, ui::SampleSeries(), test::kJob, time);
        QVERIFY(past.has_value());
        const auto mesh = ptc::DeviceMesh::Make(jobOf(*past).mesh, jobOf(*past).devices);
        QVERIFY(mesh);
        QCOMPARE(ptc::ToString(*mesh), replay(history, time));
        QCOMPARE(devicesOf(*past, test::kJob), sorted(mesh->devices()));
      }
    }
  }

  void aCallIsFastInALongHistory() {
    std::mt19937_64 rng(test::Seed());
    const auto history = randomHistory(rng, 10'000);
    const ui::ChangeIndex index(history);
    auto now = test::IdleCluster(4, 4);
    test::AddJob(&now, test::Shape(2, 2, 1));
    const double from = history.back().started, to = history.front().started;
    constexpr int kCalls = 200;
    bool found = true;
    const double units = test::UnitsOf(kCalls, [&](int i) {
      const double time = from + (to - from) * i / kCalls;
      found = ui::clusterAt(now, index, ui::SampleSeries(), test::kJob, time) && found;
    });
    QVERIFY(found);
    QVERIFY2(units < 50, qPrintable(QString::number(units)));
  }

  void thePlayheadShowsTheMomentEverywhere() {
    Window window;
    QVERIFY(window.ready());
    window.press(Qt::Key_Escape);
    QCOMPARE(window.shown(), kN0);
    auto* header = window.find<ui::HeaderBar>();
    const QString live = header->metric(QStringLiteral("step"));

    window.plots()->setPlayhead(kNoon + 100);
    QVERIFY(window.isPast());
    QCOMPARE(window.shown(), kPair);
    QVERIFY(window.panel.window->meshView()->isReadOnly());
    const QString banner = window.notice(QStringLiteral("Past: "));
    QVERIFY2(banner.endsWith(QStringLiteral("Nothing here changes the cluster.")),
             qPrintable(banner));
    QVERIFY(banner.contains(QStringLiteral("step ") + header->metric(QStringLiteral("step"))));
    QVERIFY(header->metric(QStringLiteral("step")) != live);
    QCOMPARE(header->metric(QStringLiteral("dp × tp × pp")), QStringLiteral("1 × 2 × 1"));
    QVERIFY(header->stateText().startsWith(QStringLiteral("at ")));

    // A new snapshot of the cluster does not bring Live back.
    auto next = test::PanelCluster();
    next.jobs.front().step += 10;
    window.panel.setSnapshot(next);
    QVERIFY(window.isPast());
    QCOMPARE(window.shown(), kPair);

    window.press(Qt::Key_Escape);
    QVERIFY(!window.isPast());
    QCOMPARE(window.shown(), kN0);
    QVERIFY(!window.plots()->playhead());
    QVERIFY(window.notice(QStringLiteral("Past: ")).isEmpty());
    QVERIFY(!window.panel.window->meshView()->isReadOnly());
    QCOMPARE(window.panel.commands.mutations(), 0);
  }

  void nodesAreAsTheEventsTell() {
    const auto told = [](std::int64_t sequence, double time, engine::NodeNote note) {
      engine::Event event{sequence, time, engine::Severity::kInfo, "n", "text"};
      event.note = std::move(note);
      return event;
    };
    using engine::NodeState;
    ui::NodeStates states;
    const std::vector<engine::Event> events{told(5, kNoon + 20, {1, NodeState::kDead}),
                                            told(3, kNoon + 10, {1, NodeState::kSuspect}),
                                            told(8, kNoon + 50, {1, NodeState::kAlive, {2}}),
                                            {6, kNoon + 30, engine::Severity::kInfo, "n1", "x"}};
    QVERIFY(states.add(events));
    QVERIFY(!states.add(events));
    QVERIFY(!states.at(1, kNoon + 9.9));
    QVERIFY(!states.at(0, kNoon + 99));
    QVERIFY(states.at(1, kNoon + 10)->note.state == NodeState::kSuspect);
    QVERIFY(states.at(1, kNoon + 49)->note.state == NodeState::kDead);
    const auto now = test::PanelCluster();
    const auto changes = test::PanelHistory();
    const ui::ChangeIndex index(changes);
    const auto at = [&](double time) {
      const auto past = ui::clusterAt(now, index, ui::SampleSeries(), test::kJob, time, states);
      const auto node = std::ranges::find(past->nodes, 1, &engine::NodeStatus::node);
      return *node;
    };
    QVERIFY(!at(kNoon + 5).is_state_known && at(kNoon + 5).state == NodeState::kAlive);
    QVERIFY(at(kNoon + 13).is_state_known && at(kNoon + 13).state == NodeState::kSuspect);
    QCOMPARE(at(kNoon + 13).last_seen, 3.0);
    QVERIFY(at(kNoon + 30).state == NodeState::kDead);
    const auto back = at(kNoon + 60);
    QVERIFY(back.state == NodeState::kAlive && back.devices[2].failed && !back.devices[0].failed);
  }

  void aMomentAmongManyEventsIsFoundAtOnce() {
    const auto cost = [](int count) {
      ui::NodeStates states;
      std::vector<engine::Event> events;
      for (int i = 0; i < count; ++i) {
        engine::Event event{i + 1, kNoon + i, engine::Severity::kInfo, "n", "text"};
        event.note = engine::NodeNote{
            i % 64, i % 2 == 0 ? engine::NodeState::kAlive : engine::NodeState::kSuspect};
        events.push_back(std::move(event));
      }
      states.add(events);
      constexpr int kMoments = 200;
      bool earlier = true;
      const double units = test::UnitsOf(5, [&](int) {
        for (int i = 0; i < kMoments; ++i) {
          for (int node = 0; node < 64; ++node) {
            const double time = kNoon + (count - 1.0) * i / kMoments;
            const auto* found = states.at(node, time);
            earlier = earlier && (found == nullptr || found->time <= time);
          }
        }
      });
      return earlier ? units : -1;
    };
    // A hundred times the events: a search that halves them takes twice as long.
    const double few = cost(1'000), many = cost(100'000);
    qInfo("states of 64 nodes at 200 moments: %.3f units of work among 1,000 events, %.3f among "
          "100,000",
          few, many);
    QVERIFY(few > 0 && many > 0);
    QVERIFY2(many < 10 * few, qPrintable(QString::number(many / few)));
  }

  void theMeshOfThePastShowsALostNode() {
    Window window;
    engine::Event lost{900, kNoon + 150, engine::Severity::kError, "n1", "dead"};
    lost.note = engine::NodeNote{1, engine::NodeState::kDead};
    engine::Event back{901, kNoon + 200, engine::Severity::kInfo, "n1", "is back"};
    back.note = engine::NodeNote{1, engine::NodeState::kAlive};
    window.panel.commands.nodeEvents = {lost};
    window.find<ui::HistoryPage>()->reload();
    QVERIFY(window.ready());
    window.panel.model.addEvent(back);  // the stream goes on after the answer
    window.panel.model.flush();
    const auto state = [&] {
      for (const auto& node : window.panel.window->meshView()->scene().nodes)
        if (node.node == 1) return node.state;
      return engine::NodeState::kLeft;
    };
    window.plots()->setPlayhead(kNoon + 160);
    QTRY_VERIFY(window.isPast() && state() == engine::NodeState::kDead);
    window.plots()->setPlayhead(kNoon + 210);
    QVERIFY(state() == engine::NodeState::kAlive);
    window.press(Qt::Key_Escape);
    QVERIFY(!window.isPast());
  }

  void metricsAreThoseOfTheMoment() {
    Window window;
    QVERIFY(window.ready());
    const auto& series = window.find<ui::TimelinePage>()->samples().series();
    engine::Sample sample = series.sampleOf(test::kJob, series.points().size() - 1);
    for (const double value : {0.25, 0.75}) {
      ++sample.step;
      sample.time += 1;
      sample.metrics = {{"accuracy", value}};
      window.panel.model.addSample(sample);
    }
    window.panel.model.flush();
    const auto shown = [&] {
      for (const auto* rows : window.find<ui::Inspector>()->findChildren<ui::KeyValues*>()) {
        const QString value = rows->value(QStringLiteral("accuracy"));
        if (!value.isEmpty()) return value;
      }
      return QString();
    };
    window.plots()->setPlayhead(sample.time - 1);
    QVERIFY(window.isPast());
    QTRY_COMPARE(shown(), QStringLiteral("0.25"));
    window.plots()->setPlayhead(sample.time);
    QTRY_COMPARE(shown(), QStringLiteral("0.75"));
  }

  void draggingThePlayheadMovesAllViews() {
    Window window;
    QVERIFY(window.ready());
    test::settle();
    ui::JobPlots* plots = window.plots();
    plots->measureReplot();
    auto* canvas = plots->findChild<QWidget*>();
    const auto at = [&](double time) {
      return QPoint(static_cast<int>(std::lround(plots->pixelOf(time))), canvas->height() - 8);
    };
    QTest::mousePress(canvas, Qt::LeftButton, {}, at(kNoon + 280));
    QVERIFY(window.isPast());
    QCOMPARE(window.shown(), kN0);
    QTest::mouseMove(canvas, at(kNoon + 200));
    QCOMPARE(window.shown(), kPair);
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, at(kNoon + 200));
    QVERIFY(window.isPast());
    // A click on a band selects the change, too.
    QTest::mouseClick(canvas, Qt::LeftButton, {},
                      QPoint(static_cast<int>(std::lround(plots->pixelOf(kNoon + 248.7))), 40));
    QVERIFY(window.isPast());
    QVERIFY(window.find<ui::ChangeDetails>()->isVisible());
    QCOMPARE(plots->playhead(), std::optional(kNoon + 248));
    QCOMPARE(window.panel.commands.mutations(), 0);
  }

  void closingFromThePastAsksAboutARunningChange() {
    Window window(test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    QVERIFY(window.ready());
    window.plots()->setPlayhead(kNoon + 100);
    QVERIFY(window.isPast());
    QVERIFY(!window.action("plan.cancelMove")->isEnabled());
    QVERIFY(!window.panel.window->close());
    QVERIFY(!window.isPast());
    QVERIFY(window.action("plan.cancelMove")->isEnabled());
  }

  void nothingChangesTheClusterFromThePast() {
    Window window;
    QVERIFY(window.ready());
    emit window.panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(window.panel.waitForPlan());
    QVERIFY(window.action("plan.apply")->isEnabled());
    const ui::Draft::Edits edits = window.panel.window->draft()->edits();

    window.plots()->setPlayhead(kNoon + 100);
    QVERIFY(window.isPast());
    const QString reason = QStringLiteral("This is the past: return to live first.");
    for (const char* id : {"plan.apply", "plan.discard", "edit.undo", "history.reverse",
                           "cluster.pauseJob", "cluster.stopJob", "job.saveCheckpoint"}) {
      QVERIFY2(!window.action(id)->isEnabled(), id);
      QCOMPARE(window.action(id)->toolTip(), reason);
    }
    emit window.panel.window->meshView()->toggleRequested({{1, 0}});
    emit window.panel.window->meshView()->devicesDropped({{1, 1}}, true);
    window.panel.window->planPanel()->applyButton()->click();
    QVERIFY(window.panel.window->draft()->edits() == edits);
    QVERIFY(window.isPast());
    QCOMPARE(window.panel.commands.mutations(), 0);

    // The draft is still there.
    window.action("view.draft")->trigger();
    QVERIFY(!window.isPast());
    QVERIFY(window.segment(ui::LayoutSource::Draft)->isChecked());
    QVERIFY(window.panel.window->draft()->edits() == edits);
    QVERIFY(window.action("plan.apply")->isEnabled());
  }

  void thePastStopsACountdown() {
    Window window(test::PanelCluster(), {.operate = true, .live = true});
    QVERIFY(window.ready());
    emit window.panel.window->meshView()->toggleRequested({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(window.panel.waitForPlan());
    QTRY_VERIFY(window.panel.window->isCountingDown());
    window.plots()->setPlayhead(kNoon + 100);
    QVERIFY(!window.panel.window->isCountingDown());
    QCOMPARE(window.panel.commands.mutations(), 0);
  }

  void theSegmentShowsTheLastChange() {
    Window window;
    QVERIFY(window.ready());
    QVERIFY(window.action("view.past")->isEnabled());
    window.segment(ui::LayoutSource::Past)->click();
    QVERIFY(window.isPast());
    QCOMPARE(window.plots()->playhead(), std::optional(kNoon + 248));
    // Both layouts of the change are shown.
    QCOMPARE(window.shown(), kN0);
    QVERIFY(window.panel.window->meshView()->scene().find({0, 2})->state == Cell::State::Joining);
    window.segment(ui::LayoutSource::Live)->click();
    QVERIFY(!window.plots()->playhead());
  }

  void withoutHistoryThereIsNoPast() {
    test::Panel panel({}, test::IdleCluster(2, 4));
    panel.commands.recorded.clear();
    const QAction* past = panel.window->actions()->find(QStringLiteral("view.past"));
    QVERIFY(!past->isEnabled());
    QCOMPARE(past->toolTip(), QStringLiteral("There is no job."));
  }

  void aRowShowsItsMoment() {
    Window window;
    QVERIFY(window.ready());
    auto* details = window.find<ui::ChangeDetails>();
    QVERIFY(window.find<ui::HistoryPage>()->choose(2));
    QVERIFY(!window.isPast());
    details->momentButton()->click();
    QVERIFY(window.isPast());
    QVERIFY(details->isVisible());
    QVERIFY(!details->reverseButton()->isEnabled());
    QCOMPARE(window.plots()->playhead(), std::optional(kNoon + 58));
    QCOMPARE(window.shown(), kPair);
    // A new job of the cluster does not have the change.
    auto entries = test::PanelHistory();
    entries.front().job = "gone";
    window.panel.commands.entries = entries;
    window.find<ui::HistoryPage>()->reload();
    QTRY_COMPARE(window.find<ui::HistoryPage>()->model()->entry(0)->job, std::string("gone"));
    window.find<ui::HistoryPage>()->choose(3);
    details->momentButton()->click();
    QVERIFY(!window.notice(QStringLiteral("The moment of change 3")).isEmpty());
  }

  void anEventShowsItsMoment() {
    Window window;
    QVERIFY(window.ready());
    auto* events = window.find<ui::EventsPage>();
    const QModelIndex joined = events->table()->model()->index(2, 2);  // n1 joined
    events->table()->scrollTo(joined);
    QTest::mouseClick(events->table()->viewport(), Qt::LeftButton, {},
                      events->table()->visualRect(joined).center());
    QVERIFY(window.isPast());
    QCOMPARE(window.plots()->playhead(), std::optional(kNoon + 157));
    QCOMPARE(window.shown(), kPair);
    QCOMPARE(window.panel.window->meshView()->selection().size(), std::size_t{4});
  }

  void everyViewShowsThePastOrSaysWhyNot() {
    Window window;
    QVERIFY(window.ready());
    window.plots()->setPlayhead(kNoon + 100);
    window.action("view.files")->trigger();
    auto* files = window.find<ui::FilesPage>();
    QTRY_VERIFY2(files->words().contains(QStringLiteral("The history contains no state")),
                 qPrintable(files->words()));
    window.action("view.data")->trigger();
    auto* data = window.find<ui::DataPage>();
    QVERIFY(data->view().has_value());
    QCOMPARE(data->view()->shares.size(), std::size_t{1});  // dp was 1
    QVERIFY(data->view()->step < 500);
    window.action("view.links")->trigger();
    auto* links = window.find<ui::LinksView>();
    QVERIFY2(links->words().isEmpty(), qPrintable(links->words()));
    QVERIFY(links->caption().contains(QStringLiteral("change 2")));
    window.plots()->setPlayhead(kNoon - 100);
    QCOMPARE(links->words(), QStringLiteral("There was no change before this moment."));
    window.press(Qt::Key_Escape);
    window.action("view.files")->trigger();
    QTRY_VERIFY(files->words().isEmpty());
  }

  void aFileIsScrubbedWithoutACluster() {
    test::Panel panel;
    panel.model.clear(QStringLiteral("/tmp/lab-a.db"));
    panel.model.setLink(ui::LinkState::Connected, QStringLiteral("/tmp/lab-a.db"));
    engine::ClusterSnapshot last;
    last.cluster = "lab-a";
    last.jobs.push_back(test::PanelCluster().jobs.front());
    panel.model.setSnapshot(last);
    panel.model.flush();
    auto* plots = panel.window->findChild<ui::JobPlots*>();
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    QTRY_VERIFY(timeline->samples().state() == ui::SampleHistory::State::Following &&
                !plots->bands().empty());
    auto* page = panel.window->findChild<ui::MeshPage*>();
    QVERIFY(!page->mesh()->isVisible());
    plots->setPlayhead(kNoon + 100);
    QVERIFY(page->mesh()->isVisible());
    const auto& scene = page->mesh()->scene();
    QCOMPARE(scene.nodes.size(), std::size_t{1});  // no change names n1
    QVERIFY(scene.find({0, 1})->inMesh);
    QVERIFY(!scene.find({0, 2})->inMesh);
    panel.window->actions()->find(QStringLiteral("edit.back"))->trigger();
    QVERIFY(!page->mesh()->isVisible());
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void thePlayerStopsAtTheEnd() {
    ui::Playback playback;
    QSignalSpy moved(&playback, &ui::Playback::moved);
    playback.setEnd(10);
    playback.play(10);
    QVERIFY(!playback.isPlaying());
    playback.play(2);
    QVERIFY(playback.isPlaying());
    playback.advance(1);
    QCOMPARE(moved.last().first().toDouble(), 3.0);
    playback.stepSpeed(1);
    playback.stepSpeed(1);
    playback.stepSpeed(1);
    QCOMPARE(playback.speed(), 16);
    playback.moveTo(1);
    playback.advance(0.25);
    QCOMPARE(moved.last().first().toDouble(), 5.0);
    playback.advance(1);
    QCOMPARE(moved.last().first().toDouble(), 10.0);
    QVERIFY(!playback.isPlaying());
    playback.cycleSpeed();
    QCOMPARE(playback.speed(), 1);
  }

  void keysPlayAndStep() {
    Window window;
    QVERIFY(window.ready());
    auto* timeline = window.find<ui::TimelinePage>();
    ui::JobPlots* plots = window.plots();
    plots->setFocus();
    QTest::keyClick(plots, Qt::Key_Home);
    QVERIFY(window.isPast());
    QTest::keyClick(plots, Qt::Key_Period);
    QTest::keyClick(plots, Qt::Key_Period);
    QCOMPARE(timeline->speedButton()->text(), QStringLiteral("16×"));
    QTest::keyClick(plots, Qt::Key_Comma);
    QCOMPARE(timeline->playback().speed(), 4);
    const double from = *plots->playhead();
    QTest::keyClick(plots, Qt::Key_Space);
    QVERIFY(timeline->playback().isPlaying());
    QTRY_VERIFY(*plots->playhead() > from + 0.5);
    QVERIFY(window.isPast());
    QTest::keyClick(plots, Qt::Key_Space);
    QVERIFY(!timeline->playback().isPlaying());
    timeline->nextButton()->click();
    QCOMPARE(plots->playhead(), std::optional(kNoon - 60));
    timeline->previousButton()->click();
    QCOMPARE(plots->playhead(), std::optional(kNoon - 60));  // there is none before
    timeline->playButton()->click();
    QVERIFY(timeline->playback().isPlaying());
    window.press(Qt::Key_Escape);
    QVERIFY(!timeline->playback().isPlaying());
    QVERIFY(!window.isPast());
  }

  void differencesAreThoseOfTheSets() {
    std::mt19937_64 rng(test::Seed());
    const auto history = randomHistory(rng, 60);
    const auto meshAfter = [](const engine::HistoryEntry& entry) {
      return *ptc::ParseDeviceMesh(entry.result == "committed" ? entry.to : entry.from);
    };
    for (int i = 0; i < 300; ++i) {
      const auto& one = history[rng() % history.size()];
      const auto& other = history[rng() % history.size()];
      const ui::ChangeDiff diff = ui::makeChangeDiff(one, other, ui::SampleSeries());
      QVERIFY(diff.a.entry.started <= diff.b.entry.started);
      const auto before = meshAfter(diff.a.entry), after = meshAfter(diff.b.entry);
      const auto a = sorted(before.devices()), b = sorted(after.devices());
      std::vector<ptc::DeviceId> joined, left;
      std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(joined));
      std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(left));
      QCOMPARE(diff.joined, joined);
      QCOMPARE(diff.left, left);
      // The job is cut over tp only.
      std::vector<ptc::DeviceId> resharded;
      for (const ptc::DeviceId device : a) {
        const auto was = before.RankOf(device), is = after.RankOf(device);
        if (!is) continue;
        const bool same =
            before.shape()[ptc::Axis::kTp] == after.shape()[ptc::Axis::kTp] &&
            before.Coordinate(*was, ptc::Axis::kTp) == after.Coordinate(*is, ptc::Axis::kTp);
        if (!same) resharded.push_back(device);
      }
      QCOMPARE(diff.resharded, resharded);
      for (const ptc::Axis axis : ptc::kAxes) {
        QCOMPARE(std::find(diff.axes.begin(), diff.axes.end(), axis) != diff.axes.end(),
                 before.shape()[axis] != after.shape()[axis]);
      }
    }
  }

  void aDifferenceIsExported() {
    const auto history = test::PanelHistory();
    const ui::ChangeDiff diff =
        ui::makeChangeDiff(history[0], history[1], seriesOf(test::PanelSamples()));
    QCOMPARE(diff.a.entry.id, std::int64_t{2});
    const QByteArray csv = ui::exportText(diff, ui::ExportFormat::Csv);
    QVERIFY(csv.startsWith("fact,a,b\n"));
    QVERIFY(csv.contains("\ndp,1,2\n"));
    QVERIFY(csv.contains("\nmoved_bytes,12582912,19608371\n"));
    QVERIFY(csv.contains("\njoined,,\"n0g2,n0g3\"\n"));
    const auto json = QJsonDocument::fromJson(ui::exportText(diff, ui::ExportFormat::Json));
    QCOMPARE(json[QStringLiteral("a")][QStringLiteral("change")].toInt(), 2);
    QCOMPARE(json[QStringLiteral("joined")].toArray().size(), 2);
    // It became faster at each change.
    QVERIFY(*diff.a.tokensBefore < *diff.a.tokensAfter);
    QVERIFY(*diff.b.tokensBefore < *diff.b.tokensAfter);
    QVERIFY(*diff.a.lossBefore > *diff.b.lossAfter);
  }

  void twoRowsAreCompared() {
    Window window;
    QVERIFY(window.ready());
    auto* history = window.find<ui::HistoryPage>();
    window.panel.window->findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))
        ->setCurrent(history);
    auto* page = window.find<ui::ComparePage>();
    const auto click = [&](int row, Qt::KeyboardModifiers modifiers) {
      const QRect area = history->table()->visualRect(history->model()->index(row, 2));
      QTest::mouseClick(history->table()->viewport(), Qt::LeftButton, modifiers, area.center());
    };
    click(0, {});
    QVERIFY(!page->isVisible());
    click(1, Qt::ControlModifier);
    QVERIFY(page->isVisible());
    QCOMPARE(page->diff()->a.entry.id, std::int64_t{2});
    QCOMPARE(page->diff()->b.entry.id, std::int64_t{3});
    QCOMPARE(page->devices(), QStringLiteral("+2 GPUs: n0g2–n0g3"));
    // The mesh shows the later layout, with marks where it differs from the earlier one.
    const auto marks = [&] {
      std::map<ui::MeshScene::Cell::Mark, std::vector<ptc::DeviceId>> found;
      for (const auto& node : window.panel.window->meshView()->scene().nodes) {
        for (const auto& cell : node.cells) found[cell.mark].push_back(cell.id);
      }
      found.erase(ui::MeshScene::Cell::Mark::None);
      return found;
    };
    QCOMPARE(marks().size(), 1U);
    QCOMPARE(marks()[ui::MeshScene::Cell::Mark::Joined], page->diff()->joined);
    QVERIFY(window.panel.window->meshView()->isReadOnly());
    const auto banners = window.panel.window->findChildren<ui::NoticeBar*>();
    QVERIFY(std::ranges::any_of(banners, [](const ui::NoticeBar* bar) {
      return bar->isVisible() &&
             bar->text().startsWith(QStringLiteral("After change #3, against #2: 2 GPUs joined"));
    }));
    const QAbstractItemModelTester tester(page->model(),
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    // Both stay when the history is read again.
    history->reload();
    QSignalSpy loaded(history, &ui::HistoryPage::loaded);
    QVERIFY(loaded.wait());
    QVERIFY(history->compared().has_value());
    QVERIFY(page->isVisible());
    // The keyboard selects a second row, too.
    history->choose(3);
    QVERIFY(!page->isVisible());
    history->table()->setFocus();
    QTest::keyClick(history->table(), Qt::Key_Down, Qt::ControlModifier);
    QTest::keyClick(history->table(), Qt::Key_Space, Qt::ControlModifier);
    QVERIFY(page->isVisible());
    page->closeButton()->click();
    QVERIFY(!page->isVisible());
    QVERIFY(history->chosen() == nullptr);
    QVERIFY(marks().empty());
    QVERIFY(!window.panel.window->meshView()->isReadOnly());
  }

  void anyTwoMomentsAreCompared() {
    Window window;
    QVERIFY(window.ready());
    auto* page = window.find<ui::ComparePage>();
    QAction* compare = window.action("history.compareMoments");
    QVERIFY(!compare->isEnabled());
    QVERIFY(compare->toolTip().contains(QStringLiteral("moment of the past")));
    window.plots()->setPlayhead(kNoon + 200);
    QCOMPARE(window.shown(), kPair);
    compare->trigger();
    QVERIFY(compare->isChecked() && page->isVisible());
    QVERIFY(page->moments() && page->moments()->joined.empty() && page->moments()->changes == 0);
    // From then on it follows the playhead, in both directions.
    window.plots()->setPlayhead(kNoon + 280);
    QVERIFY(page->isVisible());
    const auto later = *page->moments();
    QCOMPARE(later.a.time, kNoon + 200);
    QCOMPARE(later.b.time, kNoon + 280);
    QCOMPARE(later.joined, (std::vector<ptc::DeviceId>{{0, 2}, {0, 3}}));
    QVERIFY(later.left.empty());
    QCOMPARE(later.changes, std::int64_t{1});
    QCOMPARE(later.bytes, test::PanelHistory().front().bytes_moved);
    std::set<ptc::DeviceId> marked;
    for (const auto& node : window.panel.window->meshView()->scene().nodes) {
      for (const auto& cell : node.cells) {
        if (cell.mark == Cell::Mark::Joined) marked.insert(cell.id);
      }
    }
    QCOMPARE(marked.size(), std::size_t{2});
    // Both meshes are beside each other, A on the left, with cells of one size and one cursor.
    auto* pair = window.panel.window->findChild<ui::MeshPair*>();
    ui::MeshView *shown = pair->mesh(), *other = pair->other();
    QCOMPARE(shown, window.panel.window->meshView());
    QVERIFY(pair->isComparing() && other->isVisible());
    QTRY_COMPARE(other->width(), shown->width());
    const auto leftOf = [pair](const ui::MeshView* view) {
      return view->mapTo(pair, QPoint(0, 0)).x();
    };
    QTRY_VERIFY(leftOf(other) < leftOf(shown));
    for (const ptc::DeviceId id : shown->devices()) {
      QCOMPARE(other->cellRect(id), shown->cellRect(id));
    }
    QTest::mouseClick(other->viewport(), Qt::LeftButton, {}, other->cellRect({0, 2}).center());
    QCOMPARE(shown->selection(), (std::set<ptc::DeviceId>{{0, 2}}));
    QCOMPARE(shown->current(), std::optional(ptc::DeviceId{0, 2}));
    shown->setZoom(1.5);
    QCOMPARE(other->zoom(), 1.5);
    other->setZoom(1);
    QCOMPARE(shown->zoom(), 1.0);
    shown->setSelection({});
    QVERIFY(other->selection().empty());
    const auto rows = ui::rowsOf(later);
    const auto row = [&](const char* key) {
      return *std::ranges::find(rows, QString::fromLatin1(key), &ui::DiffRow::key);
    };
    QVERIFY(row("gpus").differs() && row("step").differs() && row("loss").differs());
    QVERIFY(!row("phase").differs());
    QVERIFY(ui::betweenText(later).startsWith(QStringLiteral("1 change in between moved")));
    const auto json = QJsonDocument::fromJson(ui::exportText(rows, later, ui::ExportFormat::Json));
    QCOMPARE(json[QStringLiteral("joined")].toArray().size(), 2);
    QCOMPARE(json[QStringLiteral("a")][QStringLiteral("time")].toDouble(), kNoon + 200);
    // In the middle of the change the comparison has its phase.
    window.plots()->setPlayhead(kNoon + 248.5);
    QVERIFY(page->moments()->b.running.has_value());
    window.plots()->setPlayhead(kNoon + 150);
    QCOMPARE(page->moments()->a.time, kNoon + 150);
    QCOMPARE(page->moments()->b.time, kNoon + 200);
    QTRY_VERIFY(leftOf(shown) < leftOf(other));
    // With the present; the key in the plots ends it.
    window.press(Qt::Key_Escape);
    QVERIFY(!window.isPast() && page->isVisible());
    QCOMPARE(page->moments()->b.job.step, test::PanelCluster().jobs.front().step);
    QTest::keyClick(window.plots(), Qt::Key_C);
    QVERIFY(!page->isVisible() && !compare->isChecked() && !compare->isEnabled());
    QVERIFY(!pair->isComparing() && !window.panel.window->meshView()->isReadOnly());
    QCOMPARE(window.panel.commands.mutations(), 0);
  }

  void scrubbingALongHistoryIsFast() {
    std::mt19937_64 rng(test::Seed());
    const auto history = randomHistory(rng, 10'000);
    auto now = test::IdleCluster(4, 4);
    test::AddJob(&now, test::Shape(2, 2, 1));
    test::Panel panel({}, now);
    panel.commands.entries = history;
    std::vector<engine::Sample> samples;
    const double from = history.back().started, to = history.front().started + 20;
    for (int i = 0; i < 5000; ++i) {
      engine::Sample sample;
      sample.job = test::kJob;
      sample.step = i + 1;
      sample.time = from + (to - from) * i / 5000;
      samples.push_back(sample);
    }
    panel.commands.recorded = samples;
    panel.commands.samplesPage = 5000;
    panel.window->findChild<ui::HistoryPage*>()->reload();
    panel.model.chooseJob("none");
    panel.model.setLink(ui::LinkState::Lost, {});
    panel.model.flush();
    panel.model.setLink(ui::LinkState::Connected, {});
    panel.model.flush();
    auto* timeline = panel.window->findChild<ui::TimelinePage*>();
    auto* plots = panel.window->findChild<ui::JobPlots*>();
    QTRY_VERIFY_WITH_TIMEOUT(
        panel.window->findChild<ui::HistoryPage*>()->model()->rowCount() == 10'000 &&
            timeline->samples().series().points().size() >= 5000,
        10'000);
    double worst = 0;
    for (int i = 1; i <= 20; ++i) {
      const double time = from + (to - from) * i / 21;
      const double units = test::UnitsOf(1, [&](int) {
        plots->setPlayhead(time);
        panel.window->meshView()->viewport()->repaint();
      });
      worst = std::max(worst, units);
      const auto mesh = ptc::ParseDeviceMesh(replay(history, time));
      for (const ptc::DeviceId id : mesh->devices())
        QVERIFY(panel.window->meshView()->scene().find(id)->inMesh);
    }
    qInfo("the slowest of 20 moments took %.1f units of work", worst);
    QVERIFY2(worst < 500, qPrintable(QString::number(worst)));
  }
};
TESSERA_THEMED_TEST(PastTest)
#include "past_test.moc"
