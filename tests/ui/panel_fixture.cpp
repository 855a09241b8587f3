// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/panel_fixture.h"

#include <QPushButton>
#include <QTest>

#include "ui/models/draft.h"
#include "ui/pages/plan_panel.h"

namespace tessera::test {
namespace {
constexpr std::int64_t kMiB = 1 << 20;

void describe(engine::ClusterSnapshot* cluster) {
  cluster->link_bytes_per_second = 100e6;
  engine::JobStatus& job = cluster->jobs.front();
  job.model = "gpt-mini";
  job.tokens_per_second = 5800;
  job.layout_hash = "8f3109c277aa41de";
  job.global_batch = 16;
  job.num_tensors = 54;
  job.state_bytes = 39'216'742;
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

std::vector<engine::Event> PanelEvents() {
  const double noon = 1'750'000'000;
  using engine::Severity;
  return {
      {1, noon, Severity::kInfo, "gpt-mini", "started on n0g0, n0g1"},
      {2, noon + 59, Severity::kInfo, "txn 2", "epoch 2 committed, pause 0.28 s"},
      {3, noon + 157, Severity::kInfo, "n1", "joined with 4 GPUs"},
      {4, noon + 180, Severity::kWarning, "n1", "answers late, 2.1 s"},
      {5, noon + 248, Severity::kInfo, "txn 3", "reconfigure gpt-mini 1×2 → 2×2, 18.7 MiB"},
      {6, noon + 249, Severity::kInfo, "txn 3", "epoch 3 committed, digests equal, pause 0.31 s"},
      {7, noon + 260, Severity::kError, "n2", "does not answer: connection refused"}};
}

std::vector<engine::HistoryEntry> PanelHistory() {
  engine::HistoryEntry grow;
  grow.id = 3;
  grow.job = kJob;
  grow.from = "dp=1,tp=2,pp=1 on n0g0,n0g1";
  grow.to = "dp=2,tp=2,pp=1 on n0g0,n0g1,n0g2,n0g3";
  grow.started = 1'750'000'248;
  grow.result = "committed";
  grow.phases = {{"preparing", 1.2}, {"pausing", 0.04}, {"transferring", 0.19}};
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
  first.pause = 0.28;
  first.bytes_moved = first.volume_bound = 12 * kMiB;
  engine::HistoryEntry back = grow;
  back.id = 1;
  back.started -= 300;
  back.result = "rolled_back";
  back.reason = "n1 was lost";
  back.digest_after.clear();
  back.pause = 0.1;
  return {grow, first, back};
}

Panel::Panel(ui::WindowOptions options, engine::ClusterSnapshot snapshot) : commands(model) {
  commands.entries = PanelHistory();
  model.setLink(ui::LinkState::Connected, QStringLiteral("tcp://127.0.0.1:40001"));
  model.setSnapshot(std::move(snapshot));
  window = std::make_unique<ui::MainWindow>(model, commands, options);
  window->show();
  model.flush();
  QCoreApplication::processEvents();
}

void Panel::setSnapshot(engine::ClusterSnapshot snapshot) {
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
