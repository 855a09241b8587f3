// SPDX-License-Identifier: Apache-2.0
// A registrar whose journal was lost restores its job table from what the nodes hold.
#include "agents/registrar/table_rebuilder.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/sim/memory_store.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/txn/decision.h"
#include "engine/txn/participant.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr std::uint64_t kOrigin = 7;
constexpr std::int64_t kChange = 12, kSlot = 3;

/// What a node journals of `nano`, which has a data-parallel rank on the first GPU of each of these
/// nodes.
JobRow RowOn(const std::vector<std::int32_t>& nodes, std::int64_t epoch, bool zero = false) {
  const engine::JobSettings settings{.model = *engine::FindModel("gpt-nano")};
  std::vector<ptc::DeviceId> devices;
  for (const std::int32_t node : nodes) devices.push_back({node, 0});
  const auto shape = ptc::ParseMeshShape("dp=" + std::to_string(nodes.size()) + ",tp=1,pp=1");
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(*shape, std::move(devices));
  return {engine::ToJson(settings),
          *ptc::Layout::Make(std::move(mesh), *engine::MakeCollection(settings, zero)),
          epoch,
          1,
          kOrigin,
          2};
}

/// A registrar, and nodes that answer it.
struct Office {
  explicit Office(sim::MemoryStore& disk)
      : around(
            disk, [this](const std::string&, const wire::Reply& out) { reply = out; },
            [this](const std::string& identity, const wire::ToNode& message) {
              asked.emplace_back(std::stoi(identity), message);
              return OkStatus();
            }) {}

  /// n holds a rank of `nano` at this epoch, by its own row.
  void Add(std::int32_t node, const JobRow& row, bool has_rank = true) {
    rows.insert_or_assign(node, row);
    wire::Register message;
    message.set_node(node);
    wire::NodeDevice& device = *message.add_devices();
    device.set_job("nano");
    device.set_epoch(row.epoch);
    device.set_end(40 + node);
    device.set_has_rank(has_rank);
    message.add_jobs()->set_job("nano");
    message.mutable_jobs(0)->set_origin(row.origin);
    for (const SnapshotRow& snapshot : snapshots[node]) {
      wire::HeldSnapshot& held = *message.add_snapshots();
      held.set_view(snapshot.id);
      held.set_job(snapshot.state.job);
      held.set_origin(snapshot.state.origin);
    }
    Membership& members = around.members();
    members.Register(std::to_string(node), message, around.common().timers.now());
    jobs.NoteHeld(*members.Find(node));
  }
  /// n holds nothing.
  void AddNode(std::int32_t node) {
    wire::Register message;
    message.set_node(node);
    around.members().Register(std::to_string(node), message, around.common().timers.now());
  }
  const wire::RebuildReply& Rebuild() {
    asked.clear();
    rebuilder.OnRebuild(Pending());
    Answer();
    return reply.rebuild();
  }
  /// \return the error; empty: there was none
  std::string Stop(bool destroys) {
    asked.clear();
    rebuilder.OnStop("nano", destroys, Pending());
    Answer();
    return reply.error().message();
  }
  ReplyPtr Pending() {
    auto pending = std::make_shared<PendingReply>(
        "1", "", [this](const std::string&, const wire::Reply& out) { reply = out; });
    pending->Join("client", 1);
    return pending;
  }
  /// Of all nodes that were asked.
  void Answer() {
    for (const auto& [node, message] : std::exchange(asked, {})) {
      wire::NodeAnswer answer;
      answer.set_ticket(message.query().ticket());
      answer.mutable_held()->set_last_number(last_number);
      if (const auto row = rows.find(node); row != rows.end()) {
        wire::HeldJobRow& held = *answer.mutable_held()->add_jobs();
        held.set_job("nano");
        held.set_row(ToText(row->second));
      }
      if (const auto change = changes.find(node); change != changes.end()) {
        *answer.mutable_held()->mutable_change() = change->second;
      }
      for (const SnapshotRow& snapshot : snapshots[node]) {
        answer.mutable_held()->add_snapshots(ToText(snapshot));
      }
      queries.OnAnswer(node, answer);
    }
    around.Pass(std::chrono::seconds(11));
  }

  /// n takes part in a change of `nano` to the layout of epoch 5, with these nodes.
  void AddChange(std::int32_t node, engine::ParticipantState state,
                 const std::vector<std::int32_t>& nodes) {
    wire::HeldChange& change = changes[node];
    change.set_transaction(kChange);
    change.set_job("nano");
    change.set_slot(kSlot);
    change.set_state(static_cast<std::uint32_t>(state));
    change.set_epoch(5);
    change.set_to_hash(0xabc);
    change.mutable_nodes()->Assign(nodes.begin(), nodes.end());
    around.members().Find(node)->transaction = kChange;
  }
  /// The text of the decision in a slot of `nano`; empty: there is none.
  std::string DecisionOf(std::int64_t slot) {
    std::string text;
    decisions.decision_register().Read("nano", slot, [&](const auto& held) {
      if (held && *held) text = ToText(**held);
    });
    return text;
  }

  std::map<std::int32_t, JobRow> rows;
  std::map<std::int32_t, wire::HeldChange> changes;
  std::map<std::int32_t, std::vector<SnapshotRow>> snapshots;  // set before Add
  std::int64_t last_number = 300;
  std::vector<std::pair<std::int32_t, wire::ToNode>> asked;
  wire::Reply reply;
  std::vector<std::string> restored, destroyed;
  int completed = 0;
  test::PartOffice around;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
  NodeQueryClient queries{around.common().timers,
                          [this](std::int32_t node, const wire::ToNode& message) {
                            return around.common().Send(node, message);
                          }};
  TransactionNumbers numbers{around.common().world.journal};
  Decisions decisions{around.common(), {}};
  SnapshotDesk desk{{{}, {}, {}, {}, &around.common().world.journal}};
  TableRebuilder rebuilder{around.common(),
                           jobs,
                           {queries, numbers, decisions, desk},
                           {.check_idle = [] { return OkStatus(); },
                            .restored = [this](Job& job) { restored.push_back(job.name); },
                            .completed = [this] { ++completed; },
                            .destroyed = [this](const auto& job) { destroyed.push_back(job); }}};
};

}  // namespace

class TableRebuilderTest : public QObject {
  Q_OBJECT

 private slots:
  void aJobComesBackFromItsNodes() {
    sim::MemoryStore disk;
    Office office(disk);
    office.Add(0, RowOn({0, 1}, 4));
    office.Add(1, RowOn({0, 1}, 4));
    QVERIFY(!office.jobs.IsExplained("nano"));
    const wire::RebuildReply& reply = office.Rebuild();
    QCOMPARE(reply.left_size(), 0);
    QCOMPARE(reply.jobs_size(), 1);
    QCOMPARE(office.restored, std::vector<std::string>{"nano"});
    QVERIFY(office.jobs.IsExplained("nano") && office.jobs.unknown().empty());
    const auto check = [](const Job* job) {
      QVERIFY(job);
      QCOMPARE(job->epoch, std::int64_t{4});
      QCOMPARE(job->timeline, std::int64_t{1});
      QCOMPARE(job->start, kOrigin);
      QCOMPARE(job->step, std::int64_t{40});
      QVERIFY(job->state == engine::JobState::kRunning);
      QCOMPARE(job->options.micro_batch, std::int64_t{2});
      QVERIFY(!job->options.zero);
      QCOMPARE(job->layout.hash(), RowOn({0, 1}, 4).layout.hash());
    };
    check(office.jobs.Find("nano"));
    // Nodes compare numbers with those that they have seen.
    QVERIFY(*office.numbers.Next() > 300);
    Office later(disk);
    QVERIFY(later.jobs.Recover());
    check(later.jobs.Find("nano"));
  }

  void optionsComeFromTheLayout() {
    sim::MemoryStore disk;
    Office office(disk);
    for (const std::int32_t node : {0, 1}) office.Add(node, RowOn({0, 1}, 1, true), false);
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    const Job* const job = office.jobs.Find("nano");
    QVERIFY(job->options.zero);
    QVERIFY(job->state == engine::JobState::kSuspended && job->restarts);
  }

  // The registrar has lost the row of the snapshot too, and nobody has turned snapshots off.
  void itsNewestSnapshotIsAdopted() {
    sim::MemoryStore disk;
    Office office(disk);
    const ptc::Layout layout = RowOn({0, 1}, 4).layout;
    const auto snapshot = [&](std::uint64_t id, std::int64_t timeline, std::int64_t step,
                              std::uint64_t origin) {
      return SnapshotRow{id, {"nano", 4, timeline, step, layout, {}, origin}, "", 0};
    };
    const SnapshotRow newest = snapshot(11, 1, 30, kOrigin);
    const SnapshotRow other = snapshot(12, 1, 35, kOrigin + 1);  // of another job of the name
    const SnapshotRow earlier = snapshot(13, 0, 38, kOrigin);    // before the job returned
    office.snapshots[0] = {newest, other, earlier};
    office.snapshots[1] = {newest, other, earlier};
    for (const std::int32_t node : {0, 1}) office.Add(node, RowOn({0, 1}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    const auto check = [](const Job* job, const SnapshotDesk& desk) {
      QVERIFY(job && job->keeps_snapshots && !job->snapshots.is_on());
      const SnapshotRow* const found = desk.Find("nano", 1);
      QVERIFY(found);
      QCOMPARE(found->id, std::uint64_t{11});
      QCOMPARE(found->state.step, std::int64_t{30});
    };
    check(office.jobs.Find("nano"), office.desk);
    Office later(disk);
    QVERIFY(later.jobs.Recover() && later.desk.Recover());
    check(later.jobs.Find("nano"), later.desk);
  }

  // A node that holds a share of it was lost, or has lost its memory.
  void aSnapshotThatIsNotWholeIsNamed() {
    sim::MemoryStore disk;
    Office office(disk);
    office.snapshots[1] = {
        SnapshotRow{11, {"nano", 4, 1, 30, RowOn({0, 1, 2}, 4).layout, {}, kOrigin}, "", 0}};
    for (const std::int32_t node : {0, 1}) office.Add(node, RowOn({0, 1}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    QVERIFY(!office.desk.Find("nano", 1) && !office.desk.StatusOf("nano").step);
    QVERIFY(std::ranges::any_of(office.around.events(), [](const engine::Event& event) {
      return event.text.find("cannot return to the snapshot of step 30") != std::string::npos;
    }));
  }

  // Only the row that was lost told whether the job may return to it.
  void aSnapshotOfAnEarlierTimelineIsNamed() {
    sim::MemoryStore disk;
    Office office(disk);
    office.snapshots[0] = office.snapshots[1] = {
        SnapshotRow{11, {"nano", 4, 7, 30, RowOn({0, 1}, 4).layout, {}, kOrigin}, "", 0}};
    for (const std::int32_t node : {0, 1}) office.Add(node, RowOn({0, 1}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    QVERIFY(std::ranges::any_of(office.around.events(), [](const engine::Event& event) {
      return event.text.find("snapshot of step 30, which was taken before") != std::string::npos;
    }));
  }

  // A node that was away during the last change has an older row.
  void theLatestEpochCounts() {
    sim::MemoryStore disk;
    Office office(disk);
    office.Add(0, RowOn({0, 1}, 3));
    office.Add(1, RowOn({1, 2}, 4));
    office.Add(2, RowOn({1, 2}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    QCOMPARE(office.jobs.Find("nano")->epoch, std::int64_t{4});
    QVERIFY(!office.jobs.Find("nano")->layout.mesh().RankOf({0, 0}));
    QVERIFY(office.jobs.ClaimOf(*office.around.members().Find(0),
                                office.around.members().Find(0)->devices[0]) ==
            JobTable::Claim::kStale);
  }

  // It may hold a later epoch.
  void aNodeThatIsAwayIsWaitedFor() {
    sim::MemoryStore disk;
    Office office(disk);
    office.Add(0, RowOn({0, 1}, 4));
    // After an outage it may be about to register: nobody is told to give it up.
    const wire::RebuildReply& early = office.Rebuild();
    QCOMPARE(early.left_size(), 1);
    QVERIFY2(early.left(0).starts_with("n1 holds a part of job 'nano' and has not reported yet") &&
                 early.left(0).find("give-up") == std::string::npos,
             early.left(0).c_str());
    QVERIFY(office.around.members().Find(1));  // so `node give-up` knows it
    office.around.members().Find(1)->state = engine::NodeState::kUnmanaged;
    const wire::RebuildReply& refused = office.Rebuild();
    QCOMPARE(refused.jobs_size(), 0);
    QCOMPARE(refused.left_size(), 1);
    QVERIFY2(refused.left(0).starts_with("n1 holds a part of job 'nano' and is not there") &&
                 refused.left(0).find("give-up n1") != std::string::npos,
             refused.left(0).c_str());
    QVERIFY(!office.jobs.Find("nano") && !disk.rows.contains("job/nano"));
    office.around.members().Find(1)->state = engine::NodeState::kDead;  // it was given up
    QCOMPARE(office.Rebuild().jobs_size(), 1);
  }

  // Its decision was in the lost file. No participant has followed a commit.
  void aChangeThatNobodyHasCommittedIsRolledBack() {
    using State = engine::ParticipantState;
    for (const State state : {State::kPrepared, State::kVerified, State::kAborted}) {
      sim::MemoryStore disk;
      Office office(disk);
      for (const std::int32_t node : {0, 1}) office.Add(node, RowOn({0, 1}, 4));
      office.AddChange(0, State::kVerified, {0, 1});
      office.AddChange(1, state, {0, 1});
      const wire::RebuildReply& reply = office.Rebuild();
      QVERIFY2(reply.left_size() == 0, reply.left_size() == 0 ? "" : reply.left(0).c_str());
      QCOMPARE(reply.jobs_size(), 1);
      QCOMPARE(office.jobs.Find("nano")->epoch, std::int64_t{4});
      QCOMPARE(office.DecisionOf(kSlot), ToText(engine::AbortOf(kChange)));
      QCOMPARE(office.jobs.Find("nano")->slot, kSlot + 1);
      QVERIFY(std::ranges::any_of(office.around.events(), [](const engine::Event& event) {
        return event.text.starts_with("its change 12 is rolled back");
      }));
    }
  }

  // A node follows a commit only after all have promised it.
  void aChangeThatANodeHasCommittedIsNotRolledBack() {
    using State = engine::ParticipantState;
    for (const bool has_ended : {false, true}) {
      sim::MemoryStore disk;
      Office office(disk);
      office.Add(0, RowOn({0, 1}, 4));
      office.Add(1, RowOn({0, 1}, 5));
      office.AddChange(0, State::kVerified, {0, 1});
      if (!has_ended) {
        office.AddChange(1, State::kCommitted, {0, 1});
        QVERIFY2(office.Rebuild().left(0).starts_with("n1 is still ending change 12"),
                 office.reply.rebuild().left(0).c_str());
        office.changes[1].set_in_rounds(true);
      }
      const wire::RebuildReply& reply = office.Rebuild();
      QCOMPARE(reply.jobs_size(), 0);
      QCOMPARE(reply.left_size(), 1);
      QVERIFY2(reply.left(0).starts_with("the nodes of job 'nano' have promised to follow"),
               reply.left(0).c_str());
      QVERIFY(!office.jobs.Find("nano") && office.DecisionOf(kSlot).empty());
    }
  }

  // n1 has left the job with the change, so it has no row of the job any more.
  void aNodeThatHasLeftWithAChangeShowsNothing() {
    sim::MemoryStore disk;
    Office office(disk);
    office.Add(0, RowOn({0}, 4));
    office.AddChange(0, engine::ParticipantState::kVerified, {0, 1});
    office.AddNode(1);
    QVERIFY(office.Rebuild().left(0).starts_with("the nodes of job 'nano' have promised to follow"));
    QVERIFY(office.DecisionOf(kSlot).empty());
    office.rows.clear();  // and n0 has joined it
    const wire::RebuildReply& reply = office.Rebuild();
    QCOMPARE(reply.left_size(), 1);
    QVERIFY2(reply.left(0).starts_with("n0 takes part in change 12 of job 'nano'"),
             reply.left(0).c_str());
  }

  void anImpossibleSlotDecidesNothing() {
    for (const std::int64_t slot : {std::int64_t{0}, Decisions::kLastSlot}) {
      sim::MemoryStore disk;
      Office office(disk);
      office.Add(0, RowOn({0}, 4));
      office.AddChange(0, engine::ParticipantState::kPrepared, {0});
      office.changes[0].set_slot(slot);
      QCOMPARE(office.Rebuild().jobs_size(), 1);
      QCOMPARE(office.jobs.Find("nano")->slot, std::int64_t{1});
      QVERIFY(office.DecisionOf(slot).empty());
    }
  }

  // A participant that is away may have followed a commit, unless another has not promised it.
  void aParticipantThatIsAwayIsWaitedFor() {
    using State = engine::ParticipantState;
    for (const State state : {State::kVerified, State::kTransferred}) {
      sim::MemoryStore disk;
      Office office(disk);
      office.Add(0, RowOn({0}, 4));
      office.AddChange(0, state, {0, 2});
      const wire::RebuildReply& reply = office.Rebuild();
      QCOMPARE(reply.jobs_size(), state == State::kVerified ? 0 : 1);
      if (state != State::kVerified) continue;
      QVERIFY2(reply.left(0).starts_with("n2 takes part in change 12 of job 'nano'"),
               reply.left(0).c_str());
      QVERIFY(office.DecisionOf(kSlot).empty());
      office.around.members().Find(2)->state = engine::NodeState::kDead;  // it was given up
      QVERIFY(office.Rebuild().left(0).starts_with("the nodes of job 'nano' have promised to follow"));
      QVERIFY(office.DecisionOf(kSlot).empty());
    }
  }

  void aJobThatCanBeRestoredIsNotDestroyed() {
    sim::MemoryStore disk;
    Office office(disk);
    office.Add(0, RowOn({0}, 4));
    for (const bool destroys : {false, true}) {
      const std::string error = office.Stop(destroys);
      QVERIFY2(error.find("`tesseractl registrar rebuild` restores") != std::string::npos,
               error.c_str());
    }
    office.AddChange(0, engine::ParticipantState::kVerified, {0, 2});  // n2 may return
    const std::string error = office.Stop(true);
    QVERIFY2(error.starts_with("n2 takes part in change 12"), error.c_str());
    QVERIFY(office.destroyed.empty() && !office.jobs.HasEnded("nano", kOrigin));
    QVERIFY(office.DecisionOf(kSlot).empty());
  }

  // The first attempt says what would be destroyed.
  void aJobThatCannotBeRestoredIsDestroyedOnRequest() {
    using State = engine::ParticipantState;
    for (const bool has_ended : {false, true}) {
      sim::MemoryStore disk;
      Office office(disk);
      office.Add(0, RowOn({0, 1}, 4));
      office.Add(1, RowOn({0, 1}, 5));
      office.AddChange(0, State::kVerified, {0, 1});
      if (!has_ended) {
        office.AddChange(1, State::kCommitted, {0, 1});
        QVERIFY(office.Stop(true).starts_with("n1 is still ending change 12"));
        office.changes[1].set_in_rounds(true);
      }
      const std::string error = office.Stop(false);
      QVERIFY2(error.starts_with("job 'nano' cannot be restored: the nodes of job 'nano' have"),
               error.c_str());
      QVERIFY2(error.find("on n0 (epoch 4, step 40), ") != std::string::npos &&
                   error.find("on n1 (epoch 5, step 41): ") != std::string::npos &&
                   error.find("`tesseractl job stop nano --destroy`") != std::string::npos,
               error.c_str());
      QVERIFY(office.destroyed.empty() && office.DecisionOf(kSlot).empty());
      QVERIFY(!office.jobs.CheckStoppable("nano"));

      QCOMPARE(office.Stop(true), std::string());
      QCOMPARE(office.reply.job().step(), std::int64_t{41});
      QCOMPARE(office.destroyed, std::vector<std::string>{"nano"});
      QVERIFY(std::ranges::none_of(office.around.events(), [](const engine::Event& event) {
        return event.text.find("rebuild again once") != std::string::npos;
      }));
      // Nodes end the change first, and then free what is stale.
      const engine::Decision commit{
          .commit = true, .transaction = kChange, .epoch = 5, .layout_hash = "0000000000000abc"};
      QCOMPARE(office.DecisionOf(kSlot), ToText(has_ended ? engine::AbortOf(kChange) : commit));
      for (const std::int32_t n : {0, 1}) {
        const Membership::Node& node = *office.around.members().Find(n);
        QVERIFY(office.jobs.ClaimOf(node, node.devices[0]) == JobTable::Claim::kStale);
        QVERIFY(office.jobs.IsExplainedOn(n, "nano"));
      }
      Office later(disk);
      QVERIFY(later.jobs.Recover() && later.jobs.HasEnded("nano", kOrigin));
    }
  }

  // An old copy of registrar.db was put back.
  void anOlderRowIsReplaced() {
    sim::MemoryStore disk;
    Office office(disk);
    const JobRow old = RowOn({0}, 2);
    Job job("nano", *engine::ParseJobSettings(old.settings), old.layout);
    job.epoch = old.epoch;
    job.start = kOrigin;
    job.on_failure = engine::OnFailure::kShrink;
    QVERIFY(office.jobs.Add(std::move(job)));
    office.Add(1, RowOn({1}, 5));
    QVERIFY(!office.jobs.CheckExplained("nano"));
    QCOMPARE(office.Rebuild().jobs_size(), 1);
    QCOMPARE(office.jobs.Find("nano")->epoch, std::int64_t{5});
    QVERIFY(office.jobs.Find("nano")->on_failure == engine::OnFailure::kShrink);
    QVERIFY(office.jobs.CheckExplained("nano"));
  }

  void anotherJobOfTheNameIsNotReplaced() {
    sim::MemoryStore disk;
    Office office(disk);
    const JobRow row = RowOn({3}, 1);
    Job job("nano", *engine::ParseJobSettings(row.settings), row.layout);
    job.start = kOrigin + 1;
    QVERIFY(office.jobs.Add(std::move(job)));
    office.Add(0, RowOn({0}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 0);
    QVERIFY(office.reply.rebuild().left(0).find("another job") != std::string::npos);
    QCOMPARE(office.jobs.Find("nano")->start, kOrigin + 1);
  }

  // The job of the table goes on beside another one of its name.
  void aHealthyJobIsNotRebuiltForAnotherOfItsName() {
    sim::MemoryStore disk;
    Office office(disk);
    JobRow row = RowOn({3}, 2);
    Job job("nano", *engine::ParseJobSettings(row.settings), row.layout);
    job.epoch = row.epoch;
    job.start = kOrigin + 1;
    job.step = 99;
    QVERIFY(office.jobs.Add(std::move(job)));
    row.origin = kOrigin + 1;
    office.Add(3, row);
    office.Add(0, RowOn({0}, 4));
    QCOMPARE(office.Rebuild().jobs_size(), 0);
    QCOMPARE(office.reply.rebuild().left_size(), 1);
    QVERIFY2(office.reply.rebuild().left(0).starts_with("n0 holds another job 'nano'"),
             office.reply.rebuild().left(0).c_str());
    QCOMPARE(office.jobs.Find("nano")->step, std::int64_t{99});
  }

  // Its nodes are off, so the rebuild says nothing about it.
  void aRowThatCannotBeReadSurvivesARebuildWithoutItsNodes() {
    sim::MemoryStore disk;
    disk.rows["job/away"] = "?";
    Office office(disk);
    QVERIFY(office.jobs.Recover());
    office.Add(0, RowOn({0}, 4));
    for (int rebuild = 0; rebuild < 2; ++rebuild) {
      const wire::RebuildReply& reply = office.Rebuild();
      QCOMPARE(reply.jobs_size(), rebuild == 0 ? 1 : 0);
      QCOMPARE(reply.left_size(), 1);
      QVERIFY2(reply.left(0).starts_with("the row of job 'away' in registrar.db cannot be read"),
               reply.left(0).c_str());
      QCOMPARE(disk.rows["unreadable/job/away"], std::string("?"));
      QVERIFY(!office.jobs.CheckExplained("away"));
      QCOMPARE(office.completed, rebuild + 1);  // for all that nodes hold
    }
    // Only the operator says that its nodes do not come back.
    QVERIFY(office.jobs.IsSetAside("away"));
    QVERIFY(office.jobs.ForgetSetAside("away"));
    QVERIFY(!disk.rows.contains("unreadable/job/away"));
    QVERIFY(office.jobs.CheckExplained("away"));
    QCOMPARE(office.Rebuild().left_size(), 0);
  }

  void aRowThatCannotBeReadIsForgottenWhenItsJobIsRestored() {
    sim::MemoryStore disk;
    disk.rows["job/nano"] = "?";
    Office office(disk);
    QVERIFY(office.jobs.Recover());
    QVERIFY(office.jobs.IsSetAside("nano"));
    office.Add(0, RowOn({0}, 4));
    QVERIFY(!office.jobs.IsSetAside("nano"));  // a node has reported it
    QCOMPARE(office.Rebuild().left_size(), 0);
    QVERIFY(office.jobs.Find("nano") && disk.rows.contains("job/nano"));
    QVERIFY(!disk.rows.contains("unreadable/job/nano"));
  }

  void aJobThatTheTableKnowsIsLeftAlone() {
    sim::MemoryStore disk;
    Office office(disk);
    const JobRow row = RowOn({0}, 4);
    Job job("nano", *engine::ParseJobSettings(row.settings), row.layout);
    job.epoch = 4;
    job.start = kOrigin;
    job.step = 99;
    QVERIFY(office.jobs.Add(std::move(job)));
    office.Add(0, row);
    QCOMPARE(office.Rebuild().jobs_size(), 0);
    QCOMPARE(office.reply.rebuild().left_size(), 0);
    QCOMPARE(office.jobs.Find("nano")->step, std::int64_t{99});
  }
};

TESSERA_TEST_APPLESS(TableRebuilderTest)
#include "table_rebuilder_test.moc"
