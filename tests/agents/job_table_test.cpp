// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_table.h"

#include <QTest>

#include "agents/sim/memory_store.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// What one process of the registrar has; the journal outlives it.
struct Office {
  explicit Office(sim::MemoryStore& journal) : around(journal) {}

  test::PartOffice around;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
};

Job NewJob(std::uint64_t origin = 1) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(ptc::MeshShape{}, {ptc::DeviceId{0, 0}});
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  Job job("nano", std::move(settings), std::move(layout));
  job.start = origin;
  return job;
}

/// n0 reports that its first GPU holds `nano`.
Membership::Node& Report(Office& office, std::int64_t epoch, std::uint64_t origin,
                         std::int32_t node = 0) {
  wire::Register message;
  message.set_node(node);
  wire::NodeDevice& device = *message.add_devices();
  device.set_job("nano");
  device.set_epoch(epoch);
  device.set_capacity(100);
  message.add_devices()->set_index(1);
  message.add_jobs()->set_job("nano");
  message.mutable_jobs(0)->set_origin(origin);
  Membership& members = office.around.members();
  members.Register(std::to_string(node), message, office.around.common().timers.now());
  office.jobs.NoteHeld(*members.Find(node));
  return *members.Find(node);
}
JobTable::Claim ClaimOf(const Office& office, const Membership::Node& node) {
  return office.jobs.ClaimOf(node, node.devices[0]);
}

}  // namespace

class JobTableTest : public QObject {
  Q_OBJECT
 private slots:
  // A job that has made no step waits as long as its steps are expected to take.
  void pausesWaitForLongSteps() {
    using std::chrono::seconds;
    Job job = NewJob();
    QVERIFY(PauseDeadline(job, 2) == seconds(40));
    QVERIFY(PauseDeadline(job, 2, 28.0) == seconds(10 * 28 + 2 * 5 * 28));
    job.step_seconds = {4, 4, 4};
    QVERIFY(PauseDeadline(job, 2, 28.0) == seconds(10 * 4 + 2 * 5 * 4));
  }

  void anEndedJobStaysEnded() {
    sim::MemoryStore journal;
    Office first(journal);
    QVERIFY(first.jobs.Add(NewJob()));
    QVERIFY(!first.jobs.HasEnded("nano", 1));
    QVERIFY(first.jobs.JournalEnd("nano"));
    first.jobs.Erase("nano");
    QVERIFY(first.jobs.HasEnded("nano", 1) && !first.jobs.Find("nano"));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(second.jobs.HasEnded("nano", 1) && !second.jobs.Find("nano"));
    // Its name is free.
    QVERIFY(second.jobs.Add(NewJob(2)));
    Office third(journal);
    QVERIFY(third.jobs.Recover());
    QVERIFY(third.jobs.Find("nano"));
    // Nodes may still hold the earlier one.
    QVERIFY(third.jobs.HasEnded("nano", 1) && !third.jobs.HasEnded("nano", 2));
    QCOMPARE(third.jobs.EndedOf("nano"), std::set<std::uint64_t>{1});
  }

  void aRestartKeepsWhoStartedTheJob() {
    sim::MemoryStore journal;
    Office first(journal);
    Job job = NewJob();
    job.owner = "laptop: tesseractl, lena@lab3";
    QVERIFY(first.jobs.Add(std::move(job)));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QCOMPARE(second.jobs.Find("nano")->owner, std::string("laptop: tesseractl, lena@lab3"));
  }

  void anEndThatCannotBeWrittenIsRefused() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob()));
    journal.refused = "";
    const Status refused = office.jobs.JournalEnd("nano");
    QCOMPARE(refused.error().code, ErrorCode::kResourceExhausted);
    QVERIFY(office.jobs.Find("nano") && !office.jobs.HasEnded("nano", 1));
    QVERIFY(!office.jobs.JournalEnd("nano"));
    QCOMPARE(office.around.num_events(), 1);  // the same error is reported once
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(second.jobs.Find("nano"));
  }

  // The row stays, for want of space to erase it. The mark holds.
  void aRowThatCannotBeErasedDoesNotBringTheJobBack() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob()));
    journal.refused = "job/";
    QVERIFY(office.jobs.JournalEnd("nano"));
    QVERIFY(journal.rows.contains("job/nano"));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(!second.jobs.Find("nano") && second.jobs.HasEnded("nano", 1));
  }

  // The end of the second job with the name fails. The mark of the first one holds.
  void anEndThatCannotBeWrittenKeepsTheEarlierMark() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob(1)));
    QVERIFY(office.jobs.JournalEnd("nano"));
    office.jobs.Erase("nano");
    QVERIFY(office.jobs.Add(NewJob(2)));
    journal.fails_after = [] { return true; };
    QVERIFY(!office.jobs.JournalEnd("nano"));
    journal.fails_after = {};
    QVERIFY(office.jobs.Journal(*office.jobs.Find("nano")));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(second.jobs.Find("nano"));
    QCOMPARE(second.jobs.EndedOf("nano"), std::set<std::uint64_t>{1});
  }

  // ---- what nodes hold

  void aJobThatTheTableDoesNotKnowIsNeverStale() {
    sim::MemoryStore journal;
    Office office(journal);
    const Membership::Node& node = Report(office, 4, 7);
    QVERIFY(ClaimOf(office, node) == JobTable::Claim::kUnknown);
    QVERIFY(!office.jobs.IsExplained("nano"));
    const auto needed = office.jobs.Need("nano");
    QVERIFY(!needed);
    const std::string text = "n0 holds job 'nano' (epoch 4) that this registrar does not know";
    QVERIFY2(needed.error().message.starts_with(text), needed.error().message.c_str());
    QVERIFY(needed.error().message.find("`tesseractl registrar rebuild`") != std::string::npos);
    const engine::JobStatus shown = office.jobs.unknown().RowOf("nano");
    QVERIFY(shown.state == engine::JobState::kUnknown);
    QCOMPARE(shown.epoch, std::int64_t{4});
    QVERIFY(shown.reason.starts_with(text));
    const Status device = office.jobs.CheckDevice({0, 0}, "");
    QVERIFY(!device);
    QVERIFY(device.error().ToString().find(text) != std::string::npos);
    QVERIFY(office.jobs.CheckDevice({0, 1}, ""));
    QCOMPARE(office.around.num_events(), 1);
    Report(office, 4, 7);
    QCOMPARE(office.around.num_events(), 1);  // the same is reported once
    // A new job of this name on other GPUs does not make it stale.
    Job other = NewJob(9);
    other.layout =
        *ptc::Layout::Make(*ptc::DeviceMesh::Make(ptc::MeshShape{}, {ptc::DeviceId{2, 0}}),
                           NewJob().layout.collection_ptr());
    QVERIFY(office.jobs.Add(std::move(other)));
    QVERIFY(ClaimOf(office, node) == JobTable::Claim::kUnknown);
    // The node was given up.
    office.jobs.ForgetHeld(0);
    QVERIFY(office.jobs.CheckNode(0, "nano"));
    Report(office, 4, 7);
    QVERIFY(!office.jobs.CheckNode(0, "nano"));
    // The node has freed it.
    office.around.members().Find(0)->devices[0].clear_job();
    office.jobs.NoteHeld(node);
    QVERIFY(office.jobs.IsExplained("nano") && office.jobs.unknown().empty());
  }

  void stateOfALaterEpochIsNeverStale() {
    sim::MemoryStore journal;
    Office office(journal);
    Job job = NewJob(7);
    job.epoch = 4;
    QVERIFY(office.jobs.Add(std::move(job)));
    QVERIFY(ClaimOf(office, Report(office, 4, 7)) == JobTable::Claim::kKnown);
    for (const std::int32_t node : {0, 1}) {  // of the layout, and not
      QVERIFY(ClaimOf(office, Report(office, 5, 7, node)) == JobTable::Claim::kUnknown);
    }
    const Status explained = office.jobs.CheckExplained("nano");
    QVERIFY(!explained);
    QVERIFY2(explained.error().message.find("n0, n1 hold job 'nano' at epoch 5") == 0,
             explained.error().message.c_str());
    // Its end would free what the user has not seen.
    const Status stoppable = office.jobs.CheckStoppable("nano");
    QVERIFY(!stoppable);
    QCOMPARE(stoppable.error().message, explained.error().message);
    // It is explained again when the row is as new.
    Report(office, 4, 7);
    Report(office, 3, 7, 1);
    QVERIFY(office.jobs.CheckExplained("nano") && office.jobs.CheckStoppable("nano"));
  }

  // A node comes with the state of another cluster. The job here goes on, and changes elsewhere.
  void anotherJobOfTheNameKeepsOnlyItsNodesFromChanges() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob(7)));
    Report(office, 1, 7);
    Report(office, 4, 6, 1);
    QCOMPARE(office.around.num_events(), 1);
    QVERIFY(office.jobs.CheckExplained("nano"));
    QVERIFY(office.jobs.CheckNode(0, "nano"));
    QVERIFY(office.jobs.CheckDevice({0, 1}, "nano"));
    const std::string text = "n1 holds another job 'nano' (epoch 4) than this registrar";
    for (const int index : {0, 1}) {  // it would keep the state of both under one name
      const Status refused = office.jobs.CheckDevice({1, index}, "nano");
      QVERIFY(!refused);
      QVERIFY2(refused.error().ToString().find(text) != std::string::npos,
               refused.error().ToString().c_str());
      QVERIFY(refused.error().message.find("`tesseractl registrar rebuild`") != std::string::npos);
    }
    // Jobs of other names use what it leaves free.
    QVERIFY(!office.jobs.CheckDevice({1, 0}, "other"));
    QVERIFY(office.jobs.CheckDevice({1, 1}, "other"));
    // Slots of the job here decide nothing for the other one.
    QVERIFY(office.jobs.IsExplainedOn(0, "nano") && !office.jobs.IsExplainedOn(1, "nano"));
    QVERIFY(office.jobs.IsExplained("nano", 7));
    QVERIFY(!office.jobs.IsExplained("nano", 6) && !office.jobs.IsExplained("nano", 0));
    // The job here ends. The other one is then one that the table does not know.
    QVERIFY(office.jobs.JournalEnd("nano"));
    office.jobs.Erase("nano");
    QVERIFY(!office.jobs.CheckExplained("nano"));
    QVERIFY(!office.jobs.Need("nano"));
    QVERIFY(office.jobs.IsExplained("nano", 7) && !office.jobs.IsExplained("nano", 6));
  }

  // If a node of the job itself holds another one, the row in the table is older.
  void anotherJobOnTheNodesOfTheRowLeavesItInDoubt() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob(7)));
    Report(office, 1, 9);
    const Status explained = office.jobs.CheckExplained("nano");
    QVERIFY(!explained);
    QVERIFY2(explained.error().message.find("another or an older row") != std::string::npos,
             explained.error().message.c_str());
    QVERIFY(!office.jobs.IsExplainedOn(0, "nano"));
    // A rebuild needs its end, which frees nothing of the other one.
    QVERIFY(office.jobs.CheckStoppable("nano"));
  }

  void aNodeThatTheJobHasLeftIsStale() {
    sim::MemoryStore journal;
    Office office(journal);
    Job job = NewJob(7);
    job.epoch = 4;
    QVERIFY(office.jobs.Add(std::move(job)));
    QVERIFY(ClaimOf(office, Report(office, 3, 7, 1)) == JobTable::Claim::kStale);
    QVERIFY(ClaimOf(office, Report(office, 3, 0, 1)) == JobTable::Claim::kStale);
    QVERIFY(ClaimOf(office, Report(office, 3, 6, 1)) == JobTable::Claim::kUnknown);  // another job
  }

  void anEndedJobIsStale() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob(7)));
    QVERIFY(office.jobs.JournalEnd("nano"));
    office.jobs.Erase("nano");
    QVERIFY(ClaimOf(office, Report(office, 9, 7)) == JobTable::Claim::kStale);
    QVERIFY(ClaimOf(office, Report(office, 1, 8)) == JobTable::Claim::kUnknown);
    // The end of one job says nothing about an earlier one that the table does not know.
    QVERIFY(ClaimOf(office, Report(office, 1, 6)) == JobTable::Claim::kUnknown);
    QVERIFY(office.jobs.Add(NewJob(9)));
    QVERIFY(ClaimOf(office, Report(office, 9, 7)) == JobTable::Claim::kStale);
  }

  void aRowThatCannotBeReadIsSetAside() {
    sim::MemoryStore journal;
    {
      Office office(journal);
      QVERIFY(office.jobs.Add(NewJob(7)));
    }
    journal.rows["job/bad"] = "?";
    for (int start = 0; start < 2; ++start) {
      Office office(journal);
      QVERIFY(office.jobs.Recover());
      QVERIFY(office.jobs.Find("nano"));
      QVERIFY(!office.jobs.Find("bad"));
      QCOMPARE(office.around.num_events(), start == 0 ? 1 : 0);
      const auto needed = office.jobs.Need("bad");
      QVERIFY2(needed.error().message.find("cannot be read") != std::string::npos,
               needed.error().message.c_str());
    }
    QCOMPARE(journal.rows["unreadable/job/bad"], std::string("?"));
    QVERIFY(!journal.rows.contains("job/bad"));
  }

  // A registrar that restarts reads in its history which nodes there are. It has no job of theirs.
  void devicesOfNodesThatHaveNotReturnedYetAreNoMistakes() {
    sim::MemoryStore journal;
    Office office(journal);
    QCOMPARE(office.jobs.CheckDevice({3, 0}, "").error().code, ErrorCode::kNotFound);
    Publisher& publisher = office.around.common().publisher;
    publisher.AddNodeEvent(engine::Severity::kInfo, {3, engine::NodeState::kAlive, {}}, "joined");
    const Status absent = office.jobs.CheckDevice({3, 0}, "");
    QVERIFY(!absent && absent.error().code == ErrorCode::kFailedPrecondition);
    QVERIFY2(absent.error().message.find("n3 has not registered") != std::string::npos,
             absent.error().message.c_str());
    publisher.AddNodeEvent(engine::Severity::kInfo, {3, engine::NodeState::kDead, {}}, "given up");
    QCOMPARE(office.jobs.CheckDevice({3, 0}, "").error().code, ErrorCode::kNotFound);
  }

  void aJobWhoseRowCannotBeWrittenIsNotThere() {
    sim::MemoryStore journal;
    journal.refused = "";
    Office office(journal);
    QVERIFY(!office.jobs.Add(NewJob()));
    QVERIFY(!office.jobs.Find("nano"));
  }
};

TESSERA_TEST_APPLESS(JobTableTest)
#include "job_table_test.moc"
