// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/panel_fixture.h"

#include <QCoreApplication>
#include <QPushButton>
#include <QTest>
#include <cmath>

#include "tests/ui/panel_states.h"
#include "ui/models/draft.h"
#include "ui/pages/plan_panel.h"

namespace tessera::test {
namespace {
constexpr std::int64_t kMiB = 1 << 20;
constexpr double kNoon = 1'750'000'000;

engine::FlowStatus Sent(ptc::DeviceId from, ptc::DeviceId to, std::int64_t bytes) {
  engine::FlowStatus flow;
  flow.source = from;
  flow.destination = to;
  flow.bytes_done = flow.bytes_total = bytes;
  return flow;
}

void describe(engine::ClusterSnapshot* cluster) {
  cluster->link_bytes_per_second = 100e6;
  engine::JobStatus& job = cluster->jobs.front();
  job.model = "gpt-mini";
  job.tokens_per_second = 5800;
  job.layout_hash = "8f3109c277aa41de";
  job.global_batch = 16;
  job.num_tensors = 54;
  job.state_bytes = 39'216'742;
  job.step_seconds = 0.35;
  job.data = {.parts = {{"/srv/text", "text", 190'233, 0}},
              .num_samples = 190'233,
              .sequence = 128,
              .seed = 7};
  for (engine::NodeStatus& node : cluster->nodes) {
    node.host = "worker";
    node.address = "10.0.0." + std::to_string(node.node + 11);
    node.version = "0.2.0";
  }
}
}  // namespace

engine::ClusterSnapshot PanelCluster() {
  auto cluster = SmallCluster();
  describe(&cluster);
  return cluster;
}

engine::ClusterSnapshot PanelMove(engine::TxnPhase phase, const std::vector<int>& done) {
  auto cluster = MovingCluster(done, phase);
  describe(&cluster);
  cluster.transaction->paused = 0.2;
  cluster.transaction->eta = 0.2;
  cluster.transaction->checksums_equal = 24;
  cluster.transaction->can_cancel = phase < engine::TxnPhase::kCommitting;
  cluster.jobs.front().state = engine::JobState::kReconfiguring;
  return cluster;
}

engine::ClusterSnapshot PanelGrown() {
  auto cluster = IdleCluster(2, 4);
  AddJob(&cluster, Shape(4, 2, 1));
  describe(&cluster);
  cluster.jobs.front().epoch = 4;
  cluster.jobs.front().layout_hash = "41de09c277aa8f31";
  cluster.transaction = PanelMove(engine::TxnPhase::kDone, {100, 100, 100, 100}).transaction;
  cluster.transaction->can_cancel = false;
  cluster.transaction->paused = 0.31;
  return cluster;
}

engine::ClusterSnapshot PanelLost() {
  auto cluster = PanelGrown();
  cluster.transaction.reset();
  cluster.nodes[1].state = engine::NodeState::kDead;
  cluster.nodes[1].last_seen = 12;
  engine::JobStatus& job = cluster.jobs.front();
  job.state = engine::JobState::kWaitingDecision;
  job.reason = "n1 was lost";
  job.step_seconds = 0.34;
  job.tokens_per_second.reset();
  engine::DecisionStatus decision;
  decision.lost = {{1, 0}, {1, 1}, {1, 2}, {1, 3}};
  decision.reason = "n1 was lost";
  decision.awaited = decision.lost;
  decision.seconds_left = 47.6;
  engine::RecoveryWay way;
  way.mesh = Shape(2, 2, 1);
  way.devices = {{0, 0}, {0, 1}, {0, 2}, {0, 3}};
  way.step = job.step;
  way.seconds = 6.2;
  way.step_seconds = 0.62;
  way.survival = engine::Survival{0, 37LL << 20};
  decision.ways = {way};
  job.decision = decision;
  return cluster;
}

engine::ClusterSnapshot PanelLostState() {
  auto cluster = PanelLost();
  engine::JobStatus& job = cluster.jobs.front();
  engine::DecisionStatus& decision = *job.decision;
  decision.loss = engine::LossCase::kSnapshot;
  decision.seconds_left.reset();
  decision.missing = {"h.1.attn.qkv.weight [0:512,0:256]", "h.1.attn.qkv.bias [0:512]"};
  decision.missing_bytes = 18LL << 20;
  decision.missing_layers = {{1, 2}};
  decision.missing_others = {"ln_f.weight"};
  engine::RecoveryWay& snapshot = decision.ways.front();
  snapshot.source = engine::RecoverySource::kSnapshot;
  snapshot.moved_bytes = 26LL << 20;
  snapshot.seconds.reset();
  snapshot.step = job.step - 7;
  snapshot.steps_lost = 7;
  engine::RecoveryWay checkpoint = snapshot;
  checkpoint.source = engine::RecoverySource::kCheckpoint;
  checkpoint.checkpoint = "/srv/checkpoints/gpt-mini-step-1000";
  checkpoint.step = job.step - 207;
  checkpoint.steps_lost = 207;
  checkpoint.survival.reset();
  decision.ways.push_back(checkpoint);
  job.snapshots = {{20, 0}, decision.ways[0].step, 52LL << 20, 2, 60, 0, 0.1, {}};
  return cluster;
}

std::vector<engine::Event> PanelEvents() {
  using engine::Severity;
  return {
      {1, kNoon, Severity::kInfo, "gpt-mini", "started on n0g0, n0g1"},
      {2, kNoon + 59, Severity::kInfo, "txn 2", "epoch 2 committed, pause 0.28 s"},
      {3, kNoon + 157, Severity::kInfo, "n1", "joined with 4 GPUs"},
      {4, kNoon + 180, Severity::kWarning, "n1", "answers late, 2.1 s"},
      {5, kNoon + 248, Severity::kInfo, "txn 3", "reconfigure gpt-mini 1×2 → 2×2, 18.7 MiB"},
      {6, kNoon + 249, Severity::kInfo, "txn 3", "epoch 3 committed, digests equal, pause 0.31 s"},
      {7, kNoon + 260, Severity::kError, "n2", "does not answer: connection refused"}};
}

std::vector<engine::HistoryEntry> PanelHistory() {
  engine::HistoryEntry grow;
  grow.id = 3;
  grow.job = kJob;
  grow.from = "dp=1,tp=2,pp=1 on n0g0,n0g1";
  grow.to = "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3";
  grow.started = kNoon + 248;
  grow.result = "committed";
  grow.phases = {{"preparing", 1.2},  {"pausing", 0.04},    {"transferring", 0.19},
                 {"verifying", 0.03}, {"committing", 0.01}, {"resuming", 0.06}};
  grow.requester = "tessera by operator";
  grow.kept = 19'608'371;
  grow.network = 19'608'371;
  grow.pause_estimate = 0.28;
  grow.flows = {Sent({0, 0}, {0, 2}, 9'804'186), Sent({0, 1}, {0, 3}, 9'804'185)};
  grow.pause = 0.31;
  grow.bytes_moved = 19'608'371;
  grow.volume_bound = 19'608'371;
  grow.digest_before = grow.digest_after = "8f3109c277aa41de";
  grow.step = 1200;
  grow.epoch = 3;
  engine::HistoryEntry first = grow;
  first.id = 2;
  first.from = "dp=1,tp=1,pp=1 on n0g0";
  first.to = "dp=1,tp=2,pp=1 on n0g0,n0g1";
  first.started -= 190;
  first.step = 640;
  first.pause = 0.28;
  first.bytes_moved = first.volume_bound = 12 * kMiB;
  engine::HistoryEntry back = grow;
  back.id = 1;
  back.started = kNoon - 60;
  back.phases = {
      {"preparing", 2.4}, {"pausing", 0.04}, {"transferring", 3.1}, {"rolling_back", 0.2}};
  back.kept = back.network = 0;  // what was planned is not known
  back.pause_estimate = 0;
  back.flows.clear();
  back.result = "rolled_back";
  back.reason = "n1 was lost";
  back.digest_after.clear();
  back.pause = 0.1;
  return {grow, first, back};
}

std::vector<engine::Sample> PanelSamples() {
  std::vector<engine::Sample> samples;
  const auto history = PanelHistory();
  double time = kNoon - 120;
  std::int64_t step = 1;
  while (time < kNoon + 300) {
    const double speed = time < kNoon + 59 ? 2600 : time < kNoon + 249 ? 3900 : 5800;
    const auto phase = static_cast<double>(step);
    engine::Sample sample;
    sample.job = kJob;
    sample.step = step;
    sample.time = time;
    sample.loss = 2.1 + 1.5 * std::exp(-phase / 260) + 0.02 * std::sin(phase * 1.7) +
                  0.012 * std::sin(phase * 0.31);
    sample.tokens_per_second = speed * (1 + 0.03 * std::sin(phase * 0.9));
    samples.push_back(sample);
    ++step;
    time += 2048.0 / speed;
    for (const engine::HistoryEntry& entry : history) {
      double before = 0, whole = 0;
      for (const auto& [name, seconds] : entry.phases) {
        whole += seconds;
        if (name == "preparing") before = seconds;
      }
      const double from = entry.started + before, to = entry.started + whole;
      if (time > from && time < to) time = to;
    }
    if (time > kNoon + 122 && time < kNoon + 140) time = kNoon + 140;  // paused by hand
  }
  return samples;
}

void settle() {
  // An event may post another one: a new size requests a layout, which resizes the children.
  for (int round = 0; round < 5; ++round) {
    QCoreApplication::sendPostedEvents();
    QCoreApplication::processEvents();
  }
}

Panel::Panel(ui::WindowOptions options, engine::ClusterSnapshot snapshot) : commands(model) {
  commands.entries = PanelHistory();
  commands.recorded = PanelSamples();
  commands.jobStates = StatesOf(snapshot);
  model.setLink(ui::LinkState::Connected, QStringLiteral("tcp://127.0.0.1:40001"));
  model.setSnapshot(std::move(snapshot));
  window = std::make_unique<ui::MainWindow>(model, commands, options);
  window->show();
  model.flush();
  QCoreApplication::processEvents();
}

void Panel::setSnapshot(engine::ClusterSnapshot snapshot) {
  commands.jobStates = StatesOf(snapshot);
  model.setSnapshot(std::move(snapshot));
  model.flush();
}

bool Panel::waitForPlan() {
  return QTest::qWaitFor(
      [this] {
        return window->planPanel()->productText().contains(QStringLiteral("✓")) &&
               !window->draft()->isEmpty();
      },
      1000);
}

}  // namespace tessera::test
