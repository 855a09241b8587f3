// SPDX-License-Identifier: Apache-2.0
// Changes of the cluster's state: they are complete, and no larger than what differs.
#include "engine/cluster/snapshot_change.h"

#include <QTest>
#include <random>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

ClusterSnapshot SomeCluster() {
  ClusterSnapshot state;
  state.cluster = "lab";
  for (std::int32_t node = 0; node < 3; ++node) {
    NodeStatus row;
    row.node = node;
    row.state = NodeState::kAlive;
    for (std::int32_t index = 0; index < 2; ++index) {
      DeviceStatus device;
      device.id = {node, index};
      row.devices.push_back(device);
    }
    state.nodes.push_back(row);
  }
  for (const char* name : {"mini", "nano"}) {
    JobStatus job;
    job.name = name;
    job.devices = {{0, 0}, {1, 0}};
    state.jobs.push_back(job);
  }
  return state;
}

TxnStatus SomeTransaction() {
  TxnStatus txn;
  txn.id = 7;
  txn.from_devices = {{0, 0}};
  txn.to_devices = {{0, 0}, {1, 0}};
  for (std::int32_t node = 1; node < 4; ++node) txn.flows.push_back({{0, 0}, {node, 0}, 0, 100});
  return txn;
}

/// One of the things that happen to a cluster.
void Disturb(ClusterSnapshot& state, std::mt19937& random) {
  if (random() % 4 == 0) {
    state.lease.reset();
    if (random() % 2 == 0) state.lease = OperatorLease{"p", "lena", static_cast<double>(random())};
  }
  const auto pick = [&](std::size_t count) { return random() % count; };
  switch (pick(9)) {
    case 0:
      state.nodes[pick(state.nodes.size())].devices[0].used_bytes += 1;
      return;
    case 1:
      state.nodes[pick(state.nodes.size())].state = NodeState::kSuspect;
      return;
    case 2: {
      NodeStatus row = state.nodes.front();
      row.node = static_cast<std::int32_t>(pick(20));
      const auto at = std::ranges::lower_bound(state.nodes, row.node, {}, &NodeStatus::node);
      if (at == state.nodes.end() || at->node != row.node) state.nodes.insert(at, row);
      return;
    }
    case 3:
      if (!state.jobs.empty()) state.jobs[pick(state.jobs.size())].step += 1;
      return;
    case 4:
      if (!state.jobs.empty()) state.jobs[pick(state.jobs.size())].devices.push_back({9, 9});
      return;
    case 5:
      if (state.jobs.size() > 1) state.jobs.erase(state.jobs.begin());
      return;
    case 6: {
      JobStatus job;
      job.name = "job-" + std::to_string(random() % 5);
      state.jobs.insert(state.jobs.begin(), job);
      if (std::ranges::count(state.jobs, job.name, &JobStatus::name) > 1) {
        state.jobs.erase(state.jobs.begin());
      }
      return;
    }
    case 7:
      if (!state.transaction) state.transaction = SomeTransaction();
      state.transaction->flows[pick(3)].bytes_done += 5;
      return;
    default:
      state.transaction.reset();
      state.history_problem = state.history_problem.empty() ? "disk full" : "";
  }
}

}  // namespace

class SnapshotChangeTest : public QObject {
  Q_OBJECT

 private slots:
  void theFirstChangeHasEverything() {
    ClusterSnapshot state, watched;
    const SnapshotChange change = Advance(state, SomeCluster());
    QVERIFY(change.differs);
    QVERIFY(Apply(change, watched));
    QVERIFY(watched == SomeCluster());
    QVERIFY(!Advance(state, SomeCluster()).differs);
  }

  void anythingThatHappensArrives() {
    std::mt19937 random(1);
    ClusterSnapshot state, watched, truth = SomeCluster();
    QVERIFY(Apply(Advance(state, truth), watched));
    for (int i = 0; i < 5000; ++i) {
      for (auto times = random() % 3; times > 0; --times) Disturb(truth, random);
      const bool differs = !(truth == state);
      const SnapshotChange change = Advance(state, truth);
      QCOMPARE(change.differs, differs);
      QVERIFY(state == truth);
      QVERIFY(Apply(change, watched));
      QVERIFY(watched == truth);
    }
  }

  // Who computes the new state need not look at nodes that are as they were.
  void nodesThatCannotDifferMayBeMissing() {
    ClusterSnapshot state, watched;
    QVERIFY(Apply(Advance(state, SomeCluster()), watched));
    ClusterSnapshot now = SomeCluster();
    now.nodes[1].view_bytes = 5;
    ClusterSnapshot sparse = now;
    sparse.nodes = {now.nodes[1], now.nodes[2]};
    const SnapshotChange change = Advance(state, sparse);
    QVERIFY(state == now);
    QCOMPARE(change.rows.nodes.size(), std::size_t{1});
    QVERIFY(Apply(change, watched));
    QVERIFY(watched == now);
  }

  // A job makes steps all the time, and may have thousands of devices and flows.
  void whatIsAsBeforeIsLeftOut() {
    ClusterSnapshot state, now = SomeCluster();
    now.transaction = SomeTransaction();
    Advance(state, now);
    now.jobs[1].step = 5;
    now.transaction->flows[1].bytes_done = 50;
    const SnapshotChange change = Advance(state, now);
    QVERIFY(change.rows.nodes.empty());
    QCOMPARE(change.rows.jobs.size(), std::size_t{1});
    QVERIFY(change.rows.jobs[0].devices.empty());
    QVERIFY(change.transaction_goes_on);
    QVERIFY(change.rows.transaction->to_devices.empty());
    QCOMPARE(change.rows.transaction->flows.size(), std::size_t{1});
  }

  void aChangeFromAnotherStateIsRefused() {
    ClusterSnapshot state, other;
    ClusterSnapshot now = SomeCluster();
    Advance(state, now);
    now.jobs[0].step = 1;
    const SnapshotChange change = Advance(state, now);
    const Status applied = Apply(change, other);
    QVERIFY(!applied);
    QCOMPARE(applied.error().message, std::string("job 'mini' is not known"));

    now.transaction = SomeTransaction();
    Advance(state, now);
    now.transaction->flows[0].bytes_done = 1;
    const SnapshotChange progress = Advance(state, now);
    ClusterSnapshot before = SomeCluster();
    QVERIFY(!Apply(progress, before));
    before = SomeCluster();
    before.transaction = SomeTransaction();
    before.transaction->flows.clear();
    QVERIFY(!Apply(progress, before));
  }
};

TESSERA_TEST(SnapshotChangeTest)
#include "snapshot_change_test.moc"
