// SPDX-License-Identifier: Apache-2.0
// The past of a simulated cluster that has lost a node, as the panel reads it from the file.
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <string>

#include "agents/sim/scenario.h"
#include "agents/sim/scenario_run.h"
#include "app/history_file.h"
#include "engine/history/history.h"
#include "tests/support/test_main.h"
#include "ui/models/node_states.h"
#include "ui/models/past_cluster.h"

using namespace tessera;
using engine::NodeState;

namespace {

constexpr char kLostAndBack[] = R"({
  "cluster": {"nodes": 4, "devices": 4, "hardware": "h100", "seed": 3},
  "acts": [
    {"at": 0, "start": {"model": "gpt-10m", "job": "small", "devices": "4x4", "mesh": "dp=8,tp=2",
                        "on_failure": "shrink"}},
    {"at": 20, "fail_device": "n2g1"},
    {"at": 40, "kill_node": 3},
    {"at": 80, "start_node": 3}
  ],
  "end": 100
})";

}  // namespace

class PastStatesTest : public QObject {
  Q_OBJECT

 private slots:
  void aLostNodeIsLostInThePast() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("history.db")).toStdString();
    {
      const auto scenario = agents::sim::ParseScenario({"test.json", kLostAndBack});
      QVERIFY(scenario);
      const auto history = engine::History::Open(path);
      QVERIFY(history);
      const auto run = agents::sim::RunScenario(*scenario, **history, **history, {});
      QVERIFY(run);
      QVERIFY2(run->failures.empty(), run->failures.empty() ? "" : run->failures.front().c_str());
    }
    const auto file = app::HistoryFile::read(path);
    QVERIFY2(file, file ? "" : file.error().ToString().c_str());
    ui::NodeStates states;
    QVERIFY(states.add(file->events));
    QCOMPARE(states.nodes().size(), std::size_t{4});
    const auto& of_node = states.nodes().at(3);
    std::vector<NodeState> course;
    for (const auto& moment : of_node) course.push_back(moment.note.state);
    QVERIFY((course == std::vector{NodeState::kAlive, NodeState::kSuspect, NodeState::kDead,
                                   NodeState::kAlive}));

    const ui::ChangeIndex changes(file->entries);
    ui::SampleSeries series;
    for (const engine::Sample& sample : file->samples.at("small")) series.add(sample);
    const auto at = [&](double time, std::int32_t number) {
      const auto past = ui::clusterAt(file->snapshot(), changes, series, "small", time, states);
      const auto node = std::ranges::find(past->nodes, number, &engine::NodeStatus::node);
      return *node;
    };
    // The job starts after the nodes have joined.
    QVERIFY(at(series.points().front().time, 3).state == NodeState::kAlive);
    for (std::size_t i = 1; i < of_node.size(); ++i) {
      const engine::NodeStatus node = at(of_node[i].time + 0.01, 3);
      QVERIFY(node.is_state_known && node.state == course[i]);
    }
    const double failed = states.nodes().at(2).back().time;
    const auto isFailed = [](const engine::NodeStatus& node) {
      return std::ranges::any_of(node.devices, &engine::DeviceStatus::failed);
    };
    QVERIFY(!isFailed(at(failed - 0.01, 2)));
    const engine::NodeStatus after = at(failed + 0.01, 2);
    QVERIFY(isFailed(after) && after.state == NodeState::kAlive);
    QVERIFY(after.devices[1].failed);
    // Before the cluster was there nothing is known.
    QVERIFY(states.at(3, of_node.front().time - 1) == nullptr);
  }
};

TESSERA_TEST_APPLESS(PastStatesTest)
#include "past_states_test.moc"
