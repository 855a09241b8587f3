// SPDX-License-Identifier: Apache-2.0
/// \file
/// What `status`, `job list` and `job describe` print.

#include "app/commands/status_text.h"

#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/job_describe.h"
#include "app/commands/job_text.h"
#include "tests/support/test_main.h"

using namespace tessera;
using app::Json;
using app::StatusParts;

namespace {

/// A cluster with a job on its first two GPUs.
engine::ClusterSnapshot Cluster(int nodes, int gpus) {
  engine::ClusterSnapshot snapshot;
  snapshot.cluster = "lab";
  snapshot.time = 10'000;
  for (int n = 0; n < nodes; ++n) {
    engine::NodeStatus node;
    node.node = n;
    node.state = engine::NodeState::kAlive;
    for (int g = 0; g < gpus; ++g) {
      engine::DeviceStatus device;
      device.id = {n, g};
      device.used_bytes = 1 << 20;
      device.total_bytes = 4 << 20;
      node.devices.push_back(device);
    }
    snapshot.nodes.push_back(node);
  }
  engine::JobStatus job;
  job.name = "gpt";
  job.state = engine::JobState::kRunning;
  job.step = 100;
  job.max_steps = 700;
  job.step_seconds = 0.5;
  job.started = 10'000 - 2 * 3600;
  job.owner = "laptop: tesseractl, lena@lab3";
  job.mesh = *ptc::ParseMeshShape("dp=2");
  job.devices = {{0, 0}, {0, 1}};
  job.survival = engine::Survival{0, 18 << 20};
  for (int rank = 0; rank < 2; ++rank) {
    snapshot.nodes[0].devices[static_cast<std::size_t>(rank)].job = "gpt";
    snapshot.nodes[0].devices[static_cast<std::size_t>(rank)].rank = rank;
  }
  snapshot.jobs = {job};
  return snapshot;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
std::size_t NumLines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}
/// The line that begins with `word`.
std::string LineOf(const std::string& text, const std::string& word) {
  const auto at = ("\n" + text).find("\n" + word);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

class StatusTextTest : public QObject {
  Q_OBJECT

 private slots:
  void aLargeClusterIsASummary() {
    const std::string listed = app::describeStatus(Cluster(8, 8));
    QVERIFY2(Has(listed, "n7g7") && !Has(listed, "idle:"), listed.c_str());
    const auto large = Cluster(9, 8);
    const std::string summary = app::describeStatus(large);
    QVERIFY2(!Has(summary, "n7g7") && NumLines(summary) < 12, summary.c_str());
    QCOMPARE(LineOf(summary, "nodes"), std::string("nodes   9: 9 alive"));
    QCOMPARE(LineOf(summary, "GPUs"), std::string("GPUs    72: 2 in jobs, 70 idle"));
    QCOMPARE(LineOf(summary, "memory"), std::string("memory  72.0 MiB of 288.0 MiB used"));
    QVERIFY(Has(app::describeStatus(large, StatusParts::kAll), "n7g7"));
    QCOMPARE(app::describeStatus(large, StatusParts::kSummary), summary);
    QVERIFY(!Has(app::describeStatus(Cluster(1, 2), StatusParts::kSummary), "n0g1"));
  }

  void aSummaryNamesWhatNeedsAttention() {
    auto snapshot = Cluster(4, 8);
    snapshot.nodes[3].state = engine::NodeState::kDead;
    snapshot.nodes[3].last_seen = 95;
    snapshot.nodes[1].devices[4].failed = true;
    snapshot.nodes[0].devices[1].busy_seconds = 0.9;
    snapshot.nodes[0].devices[1].peers_seconds = 0.3;
    const std::string text = app::describeStatus(snapshot, StatusParts::kSummary);
    QCOMPARE(LineOf(text, "nodes"), std::string("nodes   4: 3 alive, 1 dead"));
    QCOMPARE(
        LineOf(text, "GPUs"),
        std::string("GPUs    32: 2 in jobs, 21 idle, 1 failed, 8 on nodes that are not alive"));
    QCOMPARE(LineOf(text, "n3 "), std::string("n3 is dead, last heard 1 min ago"));
    QCOMPARE(LineOf(text, "n1g4"), std::string("n1g4 has failed"));
    QCOMPARE(LineOf(text, "n0g1"),
             std::string("n0g1 of gpt is slow: 900.0 ms a step, its peers 300.0 ms"));
    QCOMPARE(LineOf(text, "n2"), std::string());
  }

  void aSummaryEndsAfterSomeLines() {
    auto snapshot = Cluster(50, 2);
    snapshot.jobs.clear();
    for (engine::NodeStatus& node : snapshot.nodes) node.state = engine::NodeState::kDead;
    const std::string text = app::describeStatus(snapshot);
    QVERIFY2(NumLines(text) < 30, text.c_str());
    QVERIFY(Has(text, "and 30 more; `tesseractl status --all` lists each GPU\n"));
  }

  void onlyJobs() {
    auto snapshot = Cluster(2, 2);
    const std::string text = app::describeStatus(snapshot, StatusParts::kJobs);
    QVERIFY2(Has(text, "cluster lab") && Has(text, "gpt") && !Has(text, "n1g1"), text.c_str());
    snapshot.jobs.clear();
    QVERIFY(Has(app::describeStatus(snapshot, StatusParts::kJobs), "no jobs\n"));
  }

  void jobsHaveAgeOwnerAndTimeLeft() {
    auto snapshot = Cluster(1, 2);
    const std::string row = LineOf(app::jobTable(snapshot, false), "gpt ");
    QVERIFY2(Has(row, "2 h 00 min") && Has(row, "  5 min") && row.ends_with("lena@lab3"),
             row.c_str());
    QCOMPARE(app::progressOf(snapshot.jobs[0]), std::string("step 100 of 700, about 5 min left"));
    snapshot.jobs[0].state = engine::JobState::kPaused;
    QVERIFY(!app::secondsLeft(snapshot.jobs[0]));
    snapshot.jobs[0].state = engine::JobState::kRunning;
    snapshot.jobs[0].max_steps = 0;
    QVERIFY(!app::secondsLeft(snapshot.jobs[0]));
    snapshot.jobs[0].started = 0;  // of a registrar that does not know it
    QVERIFY(!app::ageOf(snapshot, snapshot.jobs[0]));
    snapshot.jobs[0].owner = "laptop";
    QCOMPARE(app::ownerOf(snapshot.jobs[0]), std::string("laptop"));
  }

  void aWideTableSaysWhatANodeWouldTake() {
    auto snapshot = Cluster(1, 2);
    snapshot.jobs[0].epoch = 3;
    snapshot.jobs[0].layout_hash = "0123456789abcdef";
    const std::string narrow = app::jobTable(snapshot, false);
    QVERIFY(Has(narrow, "gpt: survives the loss of any one node: no (n0 would lose 18.0 MiB)"));
    QVERIFY(!Has(narrow, "0123456789abcdef"));
    const std::string wide = app::jobTable(snapshot, true);
    QVERIFY2(LineOf(wide, "gpt ").ends_with("2      3  0123456789abcdef  n0 would lose 18.0 MiB"),
             wide.c_str());
    QVERIFY(!Has(wide, "any one node"));
    snapshot.jobs[0].survival = engine::Survival{};
    QVERIFY(LineOf(app::jobTable(snapshot, true), "gpt ").ends_with("  survives"));
  }

  // The clock and the time since a node was heard change with every answer.
  void onlyChangesCount() {
    const auto before = Cluster(2, 2);
    auto now = before;
    now.time += 1;
    now.sequence += 1;
    now.nodes[0].last_seen = 0.4;
    QVERIFY(!app::differs(before, now));
    now.jobs[0].step += 1;
    QVERIFY(app::differs(before, now));
  }

  void aScreenHasNoMoreLinesThanTheTerminal() {
    QCOMPARE(app::screenOf("a\nb\n", 5, 80), std::string("\033[Ha\033[K\nb\033[K\n\033[J"));
    QCOMPARE(app::screenOf("a\nb\nc\n", 4, 80),
             std::string("\033[Ha\033[K\nb\033[K\nc\033[K\n\033[J"));
    QCOMPARE(app::screenOf("a\nb\nc\nd\n", 4, 80),
             std::string("\033[Ha\033[K\nb\033[K\n… 2 lines more\033[K\n\033[J"));
    // A line of two rows.
    QCOMPARE(app::screenOf("abcdef\nb\n", 3, 4), std::string("\033[H… 2 lines more\033[K\n\033[J"));
  }

  void aJobIsDescribedWhole() {
    auto snapshot = Cluster(2, 2);
    engine::JobStatus& job = snapshot.jobs[0];
    job.metrics = {{"accuracy", 0.5}};
    job.on_failure = engine::OnFailure::kShrink;
    job.checkpoints.schedule = {{0, 600}, "/srv/checkpoints", 3};
    job.snapshots.every = {20, 0};
    snapshot.transaction.emplace();
    snapshot.transaction->id = 8;
    snapshot.transaction->job = "gpt";
    snapshot.transaction->phase = engine::TxnPhase::kTransferring;
    engine::HistoryEntry change;
    change.id = 7;
    change.job = "gpt";
    change.to = "dp=2,tp=1,pp=1 on n0g0,n0g1";
    change.result = "committed";
    const std::string text = app::describeJob(snapshot, job, {change});
    for (const char* part :
         {"job gpt: running", "2 h 00 min ago, by laptop: tesseractl, lena@lab3",
          "step 100 of 700, about 5 min left", "n0g0 rank 0, n0g1 rank 1", "accuracy 0.5",
          "survives the loss of any one node: no", "goes on with fewer GPUs at a loss",
          "snapshot every 20 steps: none", "saved every 600s in /srv/checkpoints",
          "transaction 8, to dp=1", "committed"})
      QVERIFY2(Has(text, part), (std::string(part) + " in\n" + text).c_str());
    QVERIFY(!Has(text, "n1g0"));
    QVERIFY(Has(app::describeJob(snapshot, job, {}), "no changes on record"));

    const Json json = app::jobDocument(snapshot, job, {change});
    QCOMPARE(json["age_seconds"].get<double>(), 7200.0);
    QCOMPARE(json["eta_seconds"].get<double>(), 300.0);
    QCOMPARE(json["owner"].get<std::string>(), job.owner);
    QCOMPARE(json["nodes"].size(), std::size_t{1});
    QCOMPARE(json["nodes"][0]["devices"].size(), std::size_t{2});
    QCOMPARE(json["transaction"]["id"].get<int>(), 8);
    QCOMPARE(json["changes"][0]["id"].get<int>(), 7);
  }

  void aJobSaysWhatItWaitsFor() {
    auto snapshot = Cluster(1, 2);
    engine::JobStatus& job = snapshot.jobs[0];
    job.state = engine::JobState::kWaitingDecision;
    job.reason = "n1 was lost";
    job.decision.emplace();
    job.decision->reason = "n1 was lost";
    engine::RecoveryWay& way = job.decision->ways.emplace_back();
    way.devices = {{0, 0}};
    way.steps_lost = 4;
    const std::string text = app::describeJob(snapshot, job, {});
    QVERIFY2(Has(LineOf(text, "  waiting"), "n1 was lost"), text.c_str());
    QVERIFY2(Has(LineOf(text, "  decision"), "(1 GPU), 4 steps lost"), text.c_str());
    job.state = engine::JobState::kPaused;
    job.finished = true;
    job.reason = "all 700 steps are made";
    QVERIFY(Has(LineOf(app::describeJob(snapshot, job, {}), "  reason"), "all 700 steps are made"));
  }
};

TESSERA_TEST_APPLESS(StatusTextTest)
#include "status_text_test.moc"
