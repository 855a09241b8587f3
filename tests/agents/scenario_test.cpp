// SPDX-License-Identifier: Apache-2.0
// Scenarios: what their files may say, and what a run of them yields.
#include "agents/sim/scenario.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <string>

#include "agents/sim/hardware.h"
#include "agents/sim/hardware_model.h"
#include "agents/sim/scenario_past.h"
#include "agents/sim/scenario_run.h"
#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/search/cost_model.h"
#include "tests/support/digests.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents::sim;

namespace {

constexpr char kLoss[] = R"({
  "title": "A node is lost",
  "cluster": {"nodes": 4, "devices": 4, "hardware": "h100", "seed": 3},
  "acts": [
    {"at": 0, "start": {"model": "gpt-10m", "job": "small", "devices": "2x4", "mesh": "dp=4,tp=2",
                        "on_failure": "shrink", "settings": {"dropout": "0.1"}}},
    {"at": 10, "apply": {"job": "small", "devices": "4x4", "mesh": "dp=8,tp=2"}},
    {"at": 20, "expect": {"job": "small", "state": "running", "devices": 16, "least_step": 50}},
    {"at": 25, "kill_node": 3},
    {"at": 60, "expect": {"job": "small", "state": "running", "mesh": "dp=6,tp=2"}}
  ],
  "end": 70
})";

constexpr char kPrepare[] = R"({
  "title": "A change is prepared",
  "cluster": {"nodes": 4, "devices": 4, "hardware": "h100", "seed": 3},
  "acts": [
    {"at": 0, "start": {"model": "gpt-10m", "job": "small", "devices": "2x4", "mesh": "dp=4,tp=2"}},
    {"at": 10, "apply": {"job": "small", "devices": "4x4", "mesh": "dp=8,tp=2"}}
  ],
  "end": END
})";

ScenarioResult RunOf(const std::string& text, std::int64_t warm_milliseconds = 0) {
  auto scenario = ParseScenario({"test.json", text});
  if (!scenario) qFatal("%s", scenario.error().ToString().c_str());
  scenario->warm_milliseconds = warm_milliseconds;
  const auto history = engine::History::InMemory();
  auto result = RunScenario(*scenario, **history, **history, {});
  if (!result) qFatal("%s", result.error().ToString().c_str());
  return std::move(*result);
}

std::string With(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) qFatal("no %s", from.c_str());
  return text.replace(at, from.size(), to);
}

}  // namespace

class ScenarioTest : public QObject {
  Q_OBJECT

 private slots:
  // The job trains until the memory of its new pieces is there, for 20 s at most.
  void aChangeWaitsForTheMemoryOfItsNewPieces_data() {
    QTest::addColumn<int>("warm");
    QTest::addColumn<double>("least");
    QTest::addColumn<double>("most");
    QTest::newRow("at once") << 0 << 0.0 << 10.0;
    QTest::newRow("after 15 s") << 15'000 << 15.0 << 17.0;
    QTest::newRow("after a minute") << 60'000 << 20.0 << 22.0;
  }
  void aChangeWaitsForTheMemoryOfItsNewPieces() {
    QFETCH(int, warm);
    QFETCH(double, least);
    QFETCH(double, most);
    const ScenarioResult result = RunOf(With(kPrepare, "END", "90"), warm);
    QVERIFY2(result.failures.empty(), result.failures.empty() ? "" : result.failures[0].c_str());
    QCOMPARE(result.changes.size(), std::size_t{1});
    const engine::HistoryEntry& change = result.changes.front();
    QCOMPARE(change.result, std::string("committed"));
    const auto preparing = std::ranges::find(change.phases, std::string("preparing"),
                                             [](const auto& phase) { return phase.first; });
    QVERIFY(preparing != change.phases.end());
    QVERIFY2(preparing->second >= least && preparing->second <= most,
             qPrintable(QString::number(preparing->second)));
    // Steps go on meanwhile.
    QVERIFY(change.pause < 10);
  }

  // Steps go on while a change is prepared, so the job has a speed.
  // Once the job has made two steps after it. A job that was paused before has none.
  void aChangeHasTheGapBetweenItsSteps() {
    const ScenarioResult result = RunOf(With(kPrepare, "END", "90"));
    QCOMPARE(result.changes.size(), std::size_t{1});
    const engine::HistoryEntry& change = result.changes.front();
    QVERIFY(change.gap);
    QVERIFY2(*change.gap > 0 && *change.gap < change.pause + 2,
             qPrintable(QStringLiteral("gap %1, pause %2").arg(*change.gap).arg(change.pause)));
    const ScenarioResult cut = RunOf(With(kPrepare, "END", "10.1"));
    QVERIFY(cut.changes.empty() || !cut.changes.front().gap);
    const ScenarioResult paused =
        RunOf(With(With(With(kPrepare, "END", "90"), R"({"at": 10, "apply")",
                        R"({"at": 8, "pause": "small"}, {"at": 10, "apply")"),
                   R"("dp=8,tp=2"}})", R"("dp=8,tp=2"}}, {"at": 60, "resume": "small"})"));
    QVERIFY2(paused.failures.empty(), paused.failures.empty() ? "" : paused.failures[0].c_str());
    QCOMPARE(paused.changes.size(), std::size_t{1});
    QVERIFY(!paused.changes.front().gap);
  }

  void aJobHasASpeedWhileItsChangeIsPrepared() {
    int preparing = 0;
    for (int i = 1; i <= 20; ++i) {
      const std::string end = std::to_string(10 + 0.2 * i);
      const ScenarioResult result = RunOf(With(kPrepare, "END", end));
      QVERIFY2(result.failures.empty(), result.failures.empty() ? "" : result.failures[0].c_str());
      const auto& txn = result.cluster.transaction;
      if (!txn || txn->phase != engine::TxnPhase::kPreparing) continue;
      ++preparing;
      const engine::JobStatus& job = result.cluster.jobs.at(0);
      QVERIFY(job.state == engine::JobState::kReconfiguring);
      QVERIFY(job.tokens_per_second.value_or(0) > 0);
    }
    QVERIFY(preparing > 0);
  }

  // The agent of a node returns, and its ranks attach within a second.
  void aChangeWaitsForRanksThatAttachToAnAgentThatHasReturned() {
    int committed = 0;
    for (int i = 1; i <= 20; ++i) {
      const std::string grow = With(kPrepare, "END", "40");
      const std::string at = R"({"at": )" + std::to_string(10 + 0.1 * i) + R"(, "apply")";
      const ScenarioResult result =
          RunOf(With(grow, R"({"at": 10, "apply")", R"({"at": 10, "restart_agent": 1}, )" + at));
      QVERIFY2(result.failures.empty(), result.failures.empty() ? "" : result.failures[0].c_str());
      QCOMPARE(result.changes.size(), std::size_t{1});
      const engine::HistoryEntry& change = result.changes[0];
      QVERIFY2(change.reason.find("attached") == std::string::npos, change.reason.c_str());
      committed += change.result == "committed" ? 1 : 0;
    }
    QVERIFY(committed > 0);  // one that began before the agent returned may be rolled back
  }

  // Its end ends no rank of the job. It is missed before its silence makes it lost after 10 s.
  void aNodeThatIsLostWhileItJoinsIsMissedSoon() {
    const std::string lost = With(With(kPrepare, "END", "60"), R"("mesh": "dp=8,tp=2"}})",
                                  R"("mesh": "dp=8,tp=2"}},
    {"at": 12, "kill_node": 3})");
    const ScenarioResult result = RunOf(lost, 20'000);
    QCOMPARE(result.changes.size(), std::size_t{1});
    const engine::HistoryEntry& change = result.changes.front();
    QCOMPARE(change.result, std::string("rolled_back"));
    QVERIFY2(change.reason.starts_with("a joining node was lost: n3 was silent for 3 s"),
             change.reason.c_str());
    QVERIFY(change.phases.at("preparing") < 8);
  }

  // Replicas that share the update gather the parameters afterwards: as the cost model says.
  void zeroCountsInTheTimeOfSteps() {
    const Hardware hardware = *FindHardware("demo");
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    const auto mesh = *ptc::ParseDeviceMesh("dp=4 on n0g0,n1g0,n2g0,n3g0");
    for (const bool zero : {false, true}) {
      SimWorld sim(1);
      HardwareModel model(sim, hardware, 1, 1);
      const auto layout = *engine::MakeLayout(*engine::TensorsOf(settings, zero), mesh);
      model.NoteLayout(layout);
      agents::RankView view;
      view.world = 4;
      view.axis_size = mesh.shape().sizes;
      view.node_of_rank = {0, 1, 2, 3};
      Time longest = 0;
      for (int i = 0; i < 200; ++i) {
        longest = std::max(longest, model.Compute({"job", {0, 0}}, view, settings, layout.hash()));
      }
      const double expected =
          engine::EstimateStep(settings, mesh, {.zero = zero}, {SpeedsOf(hardware), {}},
                               CalibrationOf(hardware, 1))
              .total();
      QVERIFY2(std::abs(static_cast<double>(longest) / 1000 / expected - 1) < 0.01,
               qPrintable(QString("%1 ms, %2 s").arg(longest).arg(expected)));
    }
  }

  void aFileReadsAsItWasWritten() {
    const auto scenario = ParseScenario({"a.json", kLoss});
    QVERIFY(scenario);
    QCOMPARE(scenario->acts.size(), std::size_t{5});
    QCOMPARE(scenario->acts[3].line, 9);
    const auto again = ParseScenario({"b.json", ToJson(*scenario)});
    QVERIFY2(again, again ? "" : again.error().message.c_str());
    QCOMPARE(ToJson(*again), ToJson(*scenario));
  }

  void aMistakeIsNamedWithItsLine_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const char* from, const char* to, const char* said) {
      QTest::newRow(name) << QString(from) << QString(to) << QString(said);
    };
    row("unknown act", "kill_node", "kill_nodes", "a.json:9: unknown act 'kill_nodes'");
    row("two acts", R"("kill_node": 3)", R"("kill_node": 3, "start_node": 3)",
        "a.json:9: 'kill_node' and 'start_node' are two acts");
    row("no act", R"(, "kill_node": 3)", "", "a.json:9: nothing happens");
    row("no time", R"("at": 25, )", "", "a.json:9: an act needs 'at'");
    row("after the end", R"("at": 25)", R"("at": 71)", "a.json:9: an act at 71 s is after the end");
    row("unknown key", R"("on_failure")", R"("on_fail")", "a.json:6: unknown key 'on_fail'");
    row("bad mesh", R"("dp=8,tp=2")", R"("dp=8,tq=2")", "a.json:7: ");
    row("bad devices", R"("4x4")", R"("4y4")", "a.json:7: ");
    row("hardware", "h100", "h999", "a.json:3: no hardware 'h999'; there are demo, a100, h100");
    row("too large", R"("nodes": 4, "devices": 4)", R"("nodes": 512, "devices": 9)",
        "a.json:3: the cluster has 4608 GPUs, at most 4096");
    row("memory", R"("seed": 3)", R"("seed": 3, "device_bytes": 5000001)",
        "a.json:3: 5000001 bytes are no multiple of 4096");
    row("node", R"("kill_node": 3)", R"("kill_node": -1)", "a.json:9: ");
    row("setting", R"("0.1")", "0.1", "a.json:6: ");
    row("no end", R"("end": 70)", R"("title2": 70)", "a.json:12: unknown key 'title2'");
  }
  void aMistakeIsNamedWithItsLine() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, said);
    const auto scenario =
        ParseScenario({"a.json", With(kLoss, from.toStdString(), to.toStdString())});
    QVERIFY(!scenario);
    QCOMPARE(scenario.error().code, ErrorCode::kInvalidArgument);
    QVERIFY2(scenario.error().message.starts_with(said.toStdString()),
             scenario.error().message.c_str());
  }

  void aRunGrowsAndLosesANode() {
    const ScenarioResult result = RunOf(kLoss);
    for (const std::string& failure : result.failures) qWarning("%s", failure.c_str());
    QVERIFY(result.failures.empty());
    QCOMPARE(result.changes.size(), std::size_t{2});
    const engine::HistoryEntry& grown = result.changes.front();
    QCOMPARE(grown.result, std::string("committed"));
    VERIFY_DIGESTS(grown.digest_before, grown.digest_after);
    QCOMPARE(grown.bytes_moved, grown.volume_bound);
    QVERIFY(grown.bytes_moved > 0);
    QVERIFY(grown.pause > 0 && grown.pause < 5);
    QCOMPARE(result.changes.back().result, std::string("committed"));
    QVERIFY(result.samples > 100);
    QVERIFY(result.cluster.simulation.has_value());
    // The loss falls.
    QVERIFY(result.cluster.jobs.front().loss < 5.5);
  }

  // As many as the hardware has in a rack, also for nodes that join.
  void nodesAreInTheRacksOfTheirHardware() {
    const ScenarioResult result = RunOf(R"({
      "cluster": {"nodes": 7, "devices": 1, "hardware": "demo", "seed": 1},
      "acts": [{"at": 3, "add_nodes": 2}],
      "end": 8
    })");
    QVERIFY(result.failures.empty());
    std::map<std::string, int> nodes;
    for (const engine::NodeStatus& node : result.cluster.nodes) ++nodes[node.rack];
    QCOMPARE(nodes, (std::map<std::string, int>{{"r0", 4}, {"r1", 4}, {"r2", 1}}));
  }

  void theSameSeedGivesTheSameRun() {
    const ScenarioResult first = RunOf(kLoss), second = RunOf(kLoss);
    QVERIFY(first.changes == second.changes);
    QVERIFY(first.cluster == second.cluster);
    const ScenarioResult other = RunOf(With(kLoss, R"("seed": 3)", R"("seed": 4)"));
    QVERIFY(first.changes != other.changes);
  }

  void whatIsRefusedIsSaidWithItsLine() {
    const ScenarioResult result = RunOf(With(kLoss, R"("devices": "4x4", "mesh": "dp=8,tp=2")",
                                             R"("devices": "4x4", "mesh": "dp=1,tp=16")"));
    QVERIFY(!result.failures.empty());
    QVERIFY2(result.failures.front().starts_with("line 7: apply: "),
             result.failures.front().c_str());
    // What follows does not hold either.
    QVERIFY(std::ranges::any_of(result.failures, [](const std::string& failure) {
      return failure.starts_with("line 8: expect: 'small' has GPUs: 8, 16 is expected");
    }));
  }

  // More bytes through the port of a node take longer, and a slow port much longer.
  void thePauseFollowsTheLinks() {
    const std::string grow =
        With(kLoss, R"({"at": 25, "kill_node": 3})", R"({"at": 25, "restart_agent": 3})");
    const std::string demo = With(grow, "h100", "demo");
    const double fast = RunOf(grow).changes.front().pause;
    const double slow = RunOf(demo).changes.front().pause;
    const double slower =
        RunOf(With(demo, R"({"at": 10, "apply")",
                   R"({"at": 9, "port": {"node": 2, "share": 0.1}}, {"at": 10, "apply")"))
            .changes.front()
            .pause;
    QVERIFY2(slow > fast + 0.3, qPrintable(QString("%1 %2").arg(slow).arg(fast)));
    QVERIFY2(slower > 3 * slow, qPrintable(QString("%1 %2").arg(slower).arg(slow)));
  }

  void aSlowGpuSlowsItsJob() {
    const auto steps_of = [](const ScenarioResult& result) {
      return result.cluster.jobs.front().step;
    };
    const std::string calm = R"({"cluster": {"nodes": 1, "devices": 4},
      "acts": [{"at": 0, "start": {"model": "gpt-mini", "mesh": "dp=4"}}], "end": 60})";
    const std::string slow = With(
        calm, "}}], \"end\"", R"(}}, {"at": 5, "slow": {"device": "n0g1", "factor": 4}}], "end")");
    QVERIFY(steps_of(RunOf(slow)) < steps_of(RunOf(calm)) / 2);
  }

  void aPastBecomesAScenario() {
    const ScenarioResult run = RunOf(kLoss);
    const auto scenario = ScenarioOf(run.changes, {.model = "gpt-10m"});
    QVERIFY2(scenario, scenario ? "" : scenario.error().message.c_str());
    QCOMPARE(scenario->nodes, std::int64_t{4});
    QCOMPARE(scenario->devices, std::int64_t{4});
    std::vector<std::string> kinds;
    for (const Scenario::Act& act : scenario->acts) kinds.push_back(KindOf(act.what));
    const std::vector<std::string> wanted = {"start", "apply", "kill_node"};
    QCOMPARE(kinds, wanted);
    // It takes the same way again.
    const ScenarioResult again = RunOf(ToJson(*scenario));
    QVERIFY(again.failures.empty());
    QCOMPARE(again.changes.size(), run.changes.size());
    for (std::size_t i = 0; i < run.changes.size(); ++i) {
      QCOMPARE(again.changes[i].to, run.changes[i].to);
      QCOMPARE(again.changes[i].bytes_moved, run.changes[i].bytes_moved);
    }
    // Every byte lies where it lay.
    QVERIFY(!run.cluster.jobs.front().layout_hash.empty());
    QCOMPARE(again.cluster.jobs.front().layout_hash, run.cluster.jobs.front().layout_hash);
    QVERIFY(!ScenarioOf({}, {.model = "gpt-mini"}));
  }

  void aNodeThatCameBackComesBackAgain() {
    const std::string night = With(
        kLoss, R"({"at": 60, "expect": {"job": "small", "state": "running", "mesh": "dp=6,tp=2"}})",
        R"({"at": 50, "start_node": 3},
           {"at": 60, "apply": {"job": "small", "devices": "4x4", "mesh": "dp=8,tp=2"}})");
    const ScenarioResult run = RunOf(night);
    QCOMPARE(run.changes.size(), std::size_t{3});
    const auto scenario = ScenarioOf(run.changes, {.model = "gpt-10m"});
    QVERIFY(scenario);
    std::vector<std::string> kinds;
    for (const Scenario::Act& act : scenario->acts) kinds.push_back(KindOf(act.what));
    const std::vector<std::string> wanted = {"start", "apply", "kill_node", "start_node", "apply"};
    QCOMPARE(kinds, wanted);
    const ScenarioResult again = RunOf(ToJson(*scenario));
    for (const std::string& failure : again.failures) qWarning("%s", failure.c_str());
    QVERIFY(again.failures.empty());
    QCOMPARE(again.changes.back().to, run.changes.back().to);
    QCOMPARE(again.cluster.jobs.front().layout_hash, run.cluster.jobs.front().layout_hash);
  }

  // The name of a job is used again, with another mesh.
  void aNewJobHasItsOwnSteps() {
    const auto steps_after = [](const std::string& before) {
      const ScenarioResult result = RunOf(
          R"({"cluster": {"nodes": 1, "devices": 8, "hardware": "demo"}, "acts": [)" + before +
          R"({"at": 25, "start": {"model": "gpt-mini", "mesh": "dp=8", "devices": "1x8"}}],
              "end": 60})");
      return result.failures.empty() ? result.cluster.jobs.front().step : -1;
    };
    const std::int64_t alone = steps_after(std::string());
    const std::int64_t second =
        steps_after(R"({"at": 0, "start": {"model": "gpt-mini", "mesh": "dp=1", "devices": "1x1"}},
                       {"at": 20, "stop": "gpt-mini"},)");
    QVERIFY2(std::abs(alone - second) <= 3, qPrintable(QString("%1 %2").arg(alone).arg(second)));
    QVERIFY(alone > 20);
  }

  void whatIsTooLargeIsRefused() {
    const auto failures_of = [](const QString& count) {
      const QString text = QStringLiteral(
          R"({"cluster": {"nodes": 2, "devices": 8}, "acts": [{"at": 1, "add_nodes": %1}],
              "end": 5})");
      return RunOf(text.arg(count).toStdString()).failures;
    };
    QVERIFY(failures_of(QStringLiteral("510")).empty());
    const std::vector<std::string> said = {
        "line 1: add_nodes: 511 nodes cannot join: at most 510 more"};
    QCOMPARE(failures_of(QStringLiteral("511")), said);
  }

  // On real machines their state would not fit; here it has no bytes.
  void aLargeModelRunsOnManyGpus() {
    const ScenarioResult result = RunOf(R"({"cluster": {"nodes": 16, "devices": 8},
      "acts": [{"at": 0, "start": {"model": "llama-3-8b", "job": "l", "devices": "8x8",
                                   "mesh": "dp=8,tp=8", "settings": {"precision": "bf16"}}},
               {"at": 60, "apply": {"job": "l", "devices": "16x8", "mesh": "dp=16,tp=8"}},
               {"at": 119, "expect": {"job": "l", "devices": 128, "state": "running"}}],
      "end": 120})");
    for (const std::string& failure : result.failures) qWarning("%s", failure.c_str());
    QVERIFY(result.failures.empty());
    // Parameters, masters and moments of 8 billion parameters, on 64 GPUs that join.
    QVERIFY(result.changes.front().bytes_moved > 800'000'000'000);
  }

  void largeModelsHaveTheSizesOfTheirPapers_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<double>("parameters");
    QTest::newRow("gpt3-1.3b") << "gpt3-1.3b" << 1.3e9;
    QTest::newRow("gpt3-2.7b") << "gpt3-2.7b" << 2.7e9;
    QTest::newRow("gpt3-6.7b") << "gpt3-6.7b" << 6.7e9;
    QTest::newRow("gpt3-175b") << "gpt3-175b" << 175e9;
    QTest::newRow("llama-3-8b") << "llama-3-8b" << 8.0e9;
    QTest::newRow("llama-3-70b") << "llama-3-70b" << 70.6e9;
    QTest::newRow("llama-3-405b") << "llama-3-405b" << 405e9;
  }
  void largeModelsHaveTheSizesOfTheirPapers() {
    QFETCH(QString, model);
    QFETCH(double, parameters);
    engine::JobSettings settings;
    settings.model = *engine::FindAnyModel(model.toStdString());
    const auto tensors = engine::MakeCollection(settings, false);
    QVERIFY(tensors);
    double found = 0;
    for (const ptc::TensorSpec& tensor : (*tensors)->tensors()) {
      if (tensor.role == ptc::TensorRole::kParam) {
        found += static_cast<double>(*ptc::NumElements(tensor.shape));
      }
    }
    QVERIFY2(std::abs(found / parameters - 1) < 0.03, qPrintable(QString::number(found)));
    QCOMPARE(std::ranges::count(engine::LargeModelNames(), model.toStdString()), std::ptrdiff_t{1});
  }

  void hardwareHasWhatTheCostModelReads() {
    for (const std::string& name : HardwareNames()) {
      const auto hardware = FindHardware(name);
      QVERIFY(hardware);
      const engine::Calibration calibration = CalibrationOf(*hardware, 8);
      const auto parsed = engine::ParseCalibration(engine::ToJson(calibration));
      QVERIFY2(parsed, parsed ? "" : parsed.error().message.c_str());
    }
    QVERIFY(!FindHardware("h999"));
  }
};

TESSERA_TEST_APPLESS(ScenarioTest)
#include "scenario_test.moc"
