// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/snapshot_desk.h"

#include <QTest>
#include <memory>

#include "agents/sim/memory_store.h"
#include "agents/wire/convert.h"
#include "engine/model/gpt.h"
#include "ptc/digest.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::seconds;

namespace {

const std::string kJob = "nano";
using Time = SnapshotDesk::Clock::time_point;

ptc::Layout TwoStages() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=1,tp=1,pp=2 on n0g0,n1g0"), *tensors);
}

/// A desk, and what it asks of the world.
struct Desk {
  sim::MemoryStore disk;
  std::vector<std::function<void(Result<wire::ViewReply>)>> takes;  // not answered yet
  std::vector<std::pair<std::int32_t, wire::ToNode>> sent;
  std::vector<std::string> warnings;
  Status renewed = OkStatus();
  std::optional<std::int32_t> unreachable;
  std::optional<std::uint64_t> unexplained;  // the origin of a job that the table does not explain
  ptc::Layout layout = TwoStages();
  SnapshotDesk::Facts facts{kJob, {20, 0}, true, 1, 0, 0.1};
  Time now{};
  std::unique_ptr<SnapshotDesk> desk;

  Desk() { Restart(); }
  void Restart() {
    SnapshotDesk::World world;
    world.take = [this](const std::string&, auto done) { takes.push_back(std::move(done)); };
    world.renew = [this](std::uint64_t) { return renewed; };
    world.send = [this](std::int32_t node, const wire::ToNode& message) -> Status {
      if (node == unreachable) return Unavailable("n1 is not connected");
      sent.emplace_back(node, message);
      return OkStatus();
    };
    world.warn = [this](const std::string&, const std::string& text) { warnings.push_back(text); };
    world.journal = &disk;
    world.may_free = [this](const std::string&, std::uint64_t origin) {
      return origin != unexplained;
    };
    takes.clear();
    desk = std::make_unique<SnapshotDesk>(std::move(world));
    QVERIFY(desk->Recover());
  }
  void At(std::int64_t step) {
    facts.step = step;
    desk->Consider(facts, now);
  }
  /// The nodes have copied.
  void Take(std::uint64_t id, std::int64_t step) {
    wire::ViewReply shares;
    shares.set_view(id);
    Encode(SharedState{kJob, 1, facts.timeline, step, layout}, shares.mutable_job());
    for (const std::int32_t node : {0, 1}) {
      shares.add_shares()->set_node(node);
      shares.mutable_shares(node)->set_bytes(1000 + node);
    }
    const auto done = std::move(takes.front());
    takes.erase(takes.begin());
    done(std::move(shares));
  }
  void Complete(std::int32_t node, std::uint64_t id) {
    wire::SnapshotReport report;
    report.set_view(id);
    for (std::size_t t = 0; t < layout.collection().tensors().size(); ++t) {
      report.add_digests(t * 10 + static_cast<std::uint64_t>(node));
    }
    desk->OnReport(node, report, now);
  }
  void Make(std::uint64_t id, std::int64_t step) {
    Take(id, step);
    Complete(0, id);
    Complete(1, id);
  }
  /// The nodes that were told to drop the snapshot, since the last call.
  std::vector<std::int32_t> Dropped(std::uint64_t id) {
    std::vector<std::int32_t> nodes;
    for (const auto& [node, message] : std::exchange(sent, {})) {
      if (message.has_drop_snapshots() && message.drop_snapshots().views(0) == id) {
        nodes.push_back(node);
      }
    }
    return nodes;
  }
  std::optional<std::int64_t> Newest() const {
    const SnapshotRow* row = desk->Find(kJob, facts.timeline);
    return row ? std::optional(row->state.step) : std::nullopt;
  }
};

}  // namespace

class SnapshotDeskTest : public QObject {
  Q_OBJECT

 private slots:
  void aSnapshotCountsOnceAllNodesHoldIt() {
    Desk d;
    d.At(1);
    QCOMPARE(d.takes.size(), std::size_t{1});
    d.At(2);  // one at a time
    QCOMPARE(d.takes.size(), std::size_t{1});
    d.Take(7, 3);
    QCOMPARE(d.sent.size(), std::size_t{2});
    QVERIFY(d.sent[1].second.complete_snapshot().shares().view() == 7);
    d.Complete(0, 7);
    d.Complete(0, 7);  // repeated
    QCOMPARE(d.Newest(), std::nullopt);
    QVERIFY(!d.desk->IsCovered(kJob, {0, 1}));
    d.Complete(1, 7);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(3));
    QVERIFY(d.desk->IsCovered(kJob, {0}) && d.desk->IsCovered(kJob, {1, 2}));
    QVERIFY(!d.desk->IsCovered(kJob, {2}) && !d.desk->IsCovered("other", {0, 1}));
    const engine::SnapshotStatus status = d.desk->StatusOf(kJob);
    QCOMPARE(status.step, std::optional<std::int64_t>(3));
    QCOMPARE(status.bytes, 2001);
    QCOMPARE(status.num_nodes, 2);
    QCOMPARE(status.taken, 1);
    std::vector<std::uint64_t> digests;
    for (std::size_t t = 0; t < d.layout.collection().tensors().size(); ++t) {
      digests.push_back(t * 20 + 1);  // the sum of both nodes
    }
    QCOMPARE(d.desk->Find(kJob, 0)->digest,
             ptc::Hex16(ptc::CollectionDigest(d.layout.collection(), digests)));
  }

  void theNextOneIsCompleteAfterSoManySteps() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.At(20);
    QVERIFY(d.takes.empty());
    d.At(22);  // the copy is of the step after, and complete one step later
    QCOMPARE(d.takes.size(), std::size_t{1});
    d.now += seconds(1);  // as long as 10 steps
    d.Make(8, 23);
    d.At(31);
    QVERIFY(d.takes.empty());
    d.At(33);
    QCOMPARE(d.takes.size(), std::size_t{1});
  }

  void bySeconds() {
    Desk d;
    d.facts.every = {0, 30};
    d.At(1);
    d.Make(7, 3);
    d.now += seconds(29);
    d.At(1000);
    QVERIFY(d.takes.empty());
    d.now += seconds(1);
    d.At(1001);
    QCOMPARE(d.takes.size(), std::size_t{1});
  }

  void theOlderOneStaysUntilThen() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.At(23);
    d.Take(8, 24);
    QVERIFY(d.Dropped(7).empty());
    d.Complete(0, 8);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(3));
    d.Complete(1, 8);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(24));
    QCOMPARE(d.Dropped(7), (std::vector<std::int32_t>{0, 1}));
  }

  void whatFailsIsGivenUpAndTriedAgain_data() {
    QTest::addColumn<int>("how");
    QTest::newRow("no copy") << 0;
    QTest::newRow("not sent") << 1;
    QTest::newRow("a node fails") << 2;
    QTest::newRow("a node is gone") << 3;
    QTest::newRow("a lease has ended") << 4;
    QTest::newRow("too slow") << 5;
    QTest::newRow("other tensors") << 6;
    QTest::newRow("no journal") << 7;
  }
  void whatFailsIsGivenUpAndTriedAgain() {
    QFETCH(int, how);
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.sent.clear();
    d.At(23);
    if (how == 0) {
      const auto done = d.takes.front();
      d.takes.clear();
      done(ResourceExhausted("no memory"));
    } else {
      if (how == 1) d.unreachable = 1;
      d.Take(8, 24);
    }
    wire::SnapshotReport report;
    report.set_view(8);
    if (how == 2) {
      Encode(Unavailable("n0 silent"), report.mutable_error());
      d.desk->OnReport(1, report, d.now);
    } else if (how == 3) {
      d.Complete(0, 8);
      d.desk->OnNodeGone(0, "n0 was silent", d.now);  // it has reported
      QCOMPARE(d.desk->StatusOf(kJob).given_up, 0);
      d.desk->OnNodeGone(1, "n1 was silent", d.now);
    } else if (how == 4) {
      d.renewed = DataLoss("the view is lost");
      d.desk->Tick(d.now);
    } else if (how == 5) {
      d.desk->Tick(d.now + seconds(60));
      QCOMPARE(d.desk->StatusOf(kJob).given_up, 0);
      d.desk->Tick(d.now + seconds(61));
    } else if (how == 6) {
      report.add_digests(1);
      d.desk->OnReport(1, report, d.now);
    } else if (how == 7) {
      d.disk.refused = "snapshot/";
      d.Complete(0, 8);
      d.Complete(1, 8);
      d.disk.refused.reset();
    }
    d.renewed = OkStatus();
    d.unreachable.reset();
    const engine::SnapshotStatus status = d.desk->StatusOf(kJob);
    QCOMPARE(status.given_up, 1);
    QVERIFY(!status.problem.empty());
    QCOMPARE(d.warnings.size(), std::size_t{1});
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(3));
    QVERIFY(d.Dropped(7).empty());
    // What arrives later changes nothing.
    d.Complete(1, 8);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(3));

    d.At(24);
    QVERIFY(d.takes.empty());  // not at once
    d.now += seconds(67);
    d.At(25);
    QCOMPARE(d.takes.size(), std::size_t{1});
    d.Make(9, 26);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(26));
    QVERIFY(d.desk->StatusOf(kJob).problem.empty());
  }

  void aRestartedRegistrarKnowsTheNewest() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.At(23);
    d.Take(8, 24);
    d.Restart();
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(3));
    // It is listed once nodes that have all of it have reported.
    const engine::SnapshotStatus early = d.desk->StatusOf(kJob);
    QVERIFY(!early.step && early.num_nodes == 0 && early.problem.empty());
    // Nodes hold the newest and an unfinished one.
    google::protobuf::RepeatedPtrField<wire::HeldSnapshot> held;
    for (const std::uint64_t id : {7U, 8U}) {
      held.Add()->set_job(kJob);
      held[held.size() - 1].set_view(id);
    }
    d.desk->OnHeld(1, held);
    QVERIFY(d.Dropped(7).empty());
    const engine::SnapshotStatus reported = d.desk->StatusOf(kJob);
    QCOMPARE(reported.step, std::optional<std::int64_t>(3));
    QCOMPARE(reported.num_nodes, 1);
    d.desk->OnHeld(1, held);
    QCOMPARE(d.Dropped(8), std::vector<std::int32_t>{1});
    d.desk->OnHeld(0, held);
    QCOMPARE(d.desk->StatusOf(kJob).num_nodes, 2);
    d.sent.clear();
    d.At(4);
    QVERIFY(d.takes.empty());
  }

  // The row of the snapshot was lost with that of its job.
  void sharesOfAJobThatIsNotKnownAreKept() {
    Desk d;
    d.unexplained = 5;
    google::protobuf::RepeatedPtrField<wire::HeldSnapshot> held;
    held.Add()->set_job(kJob);
    held[0].set_view(7);
    held[0].set_origin(5);
    d.desk->OnHeld(1, held);
    QVERIFY(d.Dropped(7).empty());
    d.unexplained.reset();
    d.desk->OnHeld(1, held);
    QCOMPARE(d.Dropped(7), std::vector<std::int32_t>{1});
  }

  // The job's row was restored from nodes. The newest snapshot that is whole counts.
  void aSnapshotOfNodesIsAdopted() {
    Desk d;
    const auto row = [&](std::uint64_t id, std::int64_t step) {
      return SnapshotRow{id, {kJob, 1, 0, step, d.layout}, "", 0};
    };
    const auto nothing = d.desk->Adopt({row(6, 50)}, {});
    QVERIFY(nothing && !nothing->step);
    QCOMPARE(nothing->incomplete, std::optional<std::int64_t>(50));
    QVERIFY(d.disk.rows.empty());
    const auto adopted = d.desk->Adopt({row(6, 30), row(7, 40), row(8, 50)},
                                       {{6, {0, 1}}, {7, {0}}});  // nobody holds 8
    QVERIFY(adopted);
    QCOMPARE(adopted->step, std::optional<std::int64_t>(40));
    QCOMPARE(adopted->incomplete, std::optional<std::int64_t>(50));
    d.facts.every = {};
    d.facts.keeps = true;
    d.At(60);  // nobody has turned snapshots off
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(40));
    d.Restart();
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(40));
    QVERIFY(d.desk->IsCovered(kJob, {0}));
    const auto older = d.desk->Adopt({row(6, 30)}, {{6, {0, 1}}});
    QVERIFY(older && !older->step && !older->incomplete);
    const auto partial = d.desk->Adopt({row(6, 30)}, {{6, {0}}});  // an older one does not matter
    QVERIFY(partial && !partial->step && !partial->incomplete);
    QCOMPARE(d.Newest(), std::optional<std::int64_t>(40));
    d.facts.keeps = false;
    d.At(61);
    QCOMPARE(d.Newest(), std::nullopt);
    QCOMPARE(d.Dropped(7), (std::vector<std::int32_t>{0, 1}));
  }

  // Its row outlives the shares if the memory of nodes is lost, or in an old copy of registrar.db.
  void aSnapshotIsListedWhileNodesHoldAllOfIt() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    google::protobuf::RepeatedPtrField<wire::HeldSnapshot> held;
    held.Add()->set_job(kJob);
    held[0].set_view(7);
    d.desk->OnHeld(0, held);
    d.desk->OnHeld(1, {});  // n0 has a copy of each cell
    const engine::SnapshotStatus half = d.desk->StatusOf(kJob);
    QCOMPARE(half.step, std::optional<std::int64_t>(3));
    QCOMPARE(half.num_nodes, 1);
    const auto plan = engine::ViewPlan::OfSnapshot(d.layout);
    QCOMPARE(half.bytes, plan.bytes_of_node().at(0));
    d.desk->OnNodeGone(0, "n0 was silent", d.now);
    const engine::SnapshotStatus lost = d.desk->StatusOf(kJob);
    QCOMPARE(lost.step, std::nullopt);
    QCOMPARE(lost.num_nodes, 0);
    QCOMPARE(lost.problem,
             std::string("the snapshot of step 3 is incomplete: n0, n1 report no share"));
    // An older one that nodes hold is then better than the newest.
    const SnapshotRow older{6, {kJob, 1, 0, 2, d.layout}, "", 0};
    const auto adopted = d.desk->Adopt({older}, {{6, {1}}});
    QVERIFY(adopted);
    QCOMPARE(adopted->step, std::optional<std::int64_t>(2));
    QCOMPARE(d.desk->StatusOf(kJob).step, std::optional<std::int64_t>(2));
    held[0].set_view(6);
    d.desk->OnHeld(1, held);
    d.desk->OnHeld(0, {});
    QCOMPARE(d.desk->StatusOf(kJob).step, std::optional<std::int64_t>(2));
  }

  void aRowThatCannotBeReadIsSetAside() {
    Desk d;
    d.disk.rows[std::string("snapshot/") + kJob] = "?";
    d.Restart();
    QCOMPARE(d.Newest(), std::nullopt);
    QCOMPARE(d.warnings.size(), std::size_t{1});
    QCOMPARE(d.disk.rows[std::string("unreadable/snapshot/") + kJob], std::string("?"));
  }

  void offAndTheEndFreeTheMemory() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.facts.every = {};
    d.At(4);
    QCOMPARE(d.Newest(), std::nullopt);
    QCOMPARE(d.Dropped(7), (std::vector<std::int32_t>{0, 1}));
    QVERIFY(d.disk.rows.empty());
    QVERIFY(d.takes.empty());

    d.facts.every = {20, 0};
    d.At(5);
    d.Take(9, 6);
    d.desk->Forget(kJob);
    QCOMPARE(d.Dropped(9), (std::vector<std::int32_t>{0, 1}));
    d.Complete(0, 9);
    d.Complete(1, 9);
    QCOMPARE(d.Newest(), std::nullopt);
  }

  // A copy that comes after the job has ended is not taken for one of a later job.
  void aLateCopyIsIgnored() {
    Desk d;
    d.At(1);
    d.desk->Forget(kJob);
    d.Take(7, 3);
    QVERIFY(d.sent.empty());
  }

  // The state of a new timeline is another one, unless it came from the snapshot.
  void timelines() {
    Desk d;
    d.At(1);
    d.Make(7, 3);
    d.facts.timeline = 1;
    QCOMPARE(d.Newest(), std::nullopt);
    QVERIFY(d.desk->StatusOf(kJob).step && !d.desk->StatusOf(kJob, 1).step);
    d.At(4);  // at once
    QCOMPARE(d.takes.size(), std::size_t{1});

    Desk returned;
    returned.At(1);
    returned.Make(7, 3);
    returned.desk->OnReturned(kJob, 1);
    returned.facts.timeline = 1;
    QCOMPARE(returned.Newest(), std::optional<std::int64_t>(3));
    returned.At(4);
    QVERIFY(returned.takes.empty());
    returned.Restart();
    QCOMPARE(returned.Newest(), std::optional<std::int64_t>(3));
  }

  void aPausedJobNeedsNone() {
    Desk d;
    d.facts.runs = false;
    d.At(1);
    QVERIFY(d.takes.empty());
  }
};

TESSERA_TEST_APPLESS(SnapshotDeskTest)
#include "snapshot_desk_test.moc"
