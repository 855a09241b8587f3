// SPDX-License-Identifier: Apache-2.0
// What the registrar remembers of a snapshot that a job could not return to.
#include "agents/registrar/loss_desk.h"

#include <QTest>
#include <memory>
#include <string>
#include <vector>

#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/decisions.h"
#include "agents/registrar/documents.h"
#include "agents/registrar/inquiries.h"
#include "agents/registrar/replica_inquiry.h"
#include "agents/registrar/transaction_run.h"
#include "agents/sim/memory_store.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

const std::string kJob = "nano";
const std::string kCheckpoint = "/c/nano-step-20";
constexpr std::uint64_t kSnapshot = 7;  // id; of step 30
const auto kNone = [](const auto&...) {};

Job TwoStages() {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  ptc::DeviceMesh mesh = *ptc::ParseDeviceMesh("dp=1,tp=1,pp=2 on n0g0,n1g0");
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  Job job(kJob, std::move(settings), std::move(layout));
  job.state = engine::JobState::kSuspended;
  job.step = 40;
  return job;
}

/// n1 was lost. n0 has two GPUs, one of them of the job, and a share of the snapshot. There is an
/// older checkpoint.
struct Office {
  sim::MemoryStore disk;
  test::PartOffice around;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
  NodeQueryClient queries{around.common().timers, [this](std::int32_t node, const auto& message) {
                            return around.common().Send(node, message);
                          }};
  ViewDesk views{around.common().timers, {}};
  SnapshotDesk snapshots{{{}, {}, {}, {}, &disk}};
  CheckpointDesk checkpoints{around.common(), jobs, {views, queries}, {}};
  LinkSurvey links{around.common(), queries, {}};
  Inquiries inquiries{around.common(), jobs, queries, {}};
  PlanDesk plans{around.common(), jobs, links, inquiries};
  StepRecorder steps{around.common(), jobs, {}, {}};
  Rendezvous rendezvous{{}};
  JobStops stops{around.common(), jobs, rendezvous};
  TransactionNumbers numbers{disk};
  Decisions decisions{around.common(), {}};
  Documents documents{around.common()};
  ReplicaInquiry replicas{around.common()};
  TransactionDesk transactions{
      around.common(),
      jobs,
      {numbers, decisions, documents, plans, links, steps, rendezvous, replicas},
      {}};
  LossDesk desk{around.common(),
                jobs,
                {plans, snapshots, checkpoints, steps, stops, transactions},
                {[] {}, kNone, kNone}};
  ptc::DeviceId lost{1, 0};

  Office() : around(disk, {}, [](const std::string&, const auto&) { return OkStatus(); }) {
    QVERIFY(jobs.Add(TwoStages()));
    SaveSnapshot(kSnapshot);
    engine::CheckpointEntry checkpoint;
    checkpoint.path = kCheckpoint;
    checkpoint.job = kJob;
    checkpoint.step = 20;
    disk.rows["checkpoint/" + kCheckpoint] = ToText(checkpoint);
    VERIFY_OK(checkpoints.Recover());
    Note();
  }
  /// Those of n0.
  static wire::Register Devices() {
    wire::Register message;
    for (const int index : {0, 1}) {
      wire::NodeDevice& device = *message.add_devices();
      device.set_index(index);
      device.set_capacity(std::int64_t{1} << 30);
      if (index > 0) continue;
      device.set_job(kJob);
      device.set_epoch(1);
    }
    return message;
  }
  /// Makes it the newest snapshot of the job.
  void SaveSnapshot(std::uint64_t id) {
    disk.rows["snapshot/" + kJob] =
        ToText(SnapshotRow{id, {kJob, 1, 0, 30, job().layout}, "0123456789abcdef", 0});
    VERIFY_OK(snapshots.Recover());
    wire::Register message = Devices();
    wire::HeldSnapshot& share = *message.add_snapshots();
    share.set_view(id);
    share.set_job(kJob);
    around.members().Register("n0", message, around.common().timers.now());
  }
  Job& job() { return **jobs.Need(kJob); }
  /// As each time that something has changed.
  void Note() { desk.Note(job(), {"", 40, {}, {}, {{lost, "it was lost"}}}); }
  /// The recovery that is known now begins, and is rolled back.
  void Fail(bool cancelled = false) {
    const WayOut& way_out = *job().device_loss->way_out;
    QVERIFY(way_out.plan.has_value());
    Txn txn(*way_out.plan, around.common().timers.now());
    txn.recovery =
        Recovery{way_out.status.lost, 40, "n1 was lost", way_out.status.way().steps_lost};
    txn.cancelled = cancelled;
    txn.run = std::make_unique<TransactionRun>(
        TransactionRun::Terms{}, engine::Coordinator({{0}, {}, {}}),
        around.common().world.decisions, TransactionRun::World{});
    desk.OnRecovered(job(), txn, false, "n0 cannot load its share");
    Note();
  }
  wire::Reply Ask(const wire::DecisionRequest& request) {
    wire::Reply reply;
    const auto pending = std::make_shared<PendingReply>(
        "1", "", [&reply](const std::string&, const wire::Reply& out) { reply = out; });
    pending->Join("client", 1);
    desk.OnDecision(request, pending);
    return reply;
  }
  /// A user has the job continue from there.
  wire::Reply Decide(engine::RecoverySource source) {
    wire::DecisionRequest request;
    request.set_job(kJob);
    request.set_choice(static_cast<std::uint32_t>(engine::LossChoice::kContinue));
    request.set_source(static_cast<std::uint32_t>(source));
    return Ask(request);
  }
  /// No node holds a share of the snapshot any more.
  void DropSnapshot() {
    wire::Register message = Devices();
    around.members().Register("n0", message, around.common().timers.now());
  }
  /// The checkpoint that the job would load; empty: it would return to the snapshot.
  std::string Loads() {
    const std::optional<engine::DecisionStatus> status = desk.StatusOf(job());
    if (!status || !status->can_continue()) return "nothing";
    return status->way().checkpoint;
  }
};

}  // namespace

class LossDeskTest : public QObject {
  Q_OBJECT

 private slots:
  void aSnapshotThatFailsTwiceComesAfterTheCheckpoint() {
    Office office;
    QCOMPARE(office.Loads(), std::string());
    office.Fail();
    QCOMPARE(office.Loads(), std::string());  // a node may have been silent for a moment
    office.Fail();
    QCOMPARE(office.Loads(), kCheckpoint);
  }

  void aUserWhoCancelsIsNoFailure() {
    Office office;
    for (int i = 0; i < 3; ++i) office.Fail(true);
    QCOMPARE(office.Loads(), std::string());
  }

  // The search begins anew when the job has other devices.
  void failuresAreRememberedWhenTheLossIsAnother() {
    Office office;
    office.Fail();
    office.lost = {0, 0};
    office.Note();
    QCOMPARE(office.Loads(), std::string());
    office.Fail();
    QCOMPARE(office.Loads(), kCheckpoint);
    office.lost = {1, 0};
    office.Note();
    QCOMPARE(office.Loads(), kCheckpoint);
  }

  void anotherSnapshotIsTriedFirst() {
    Office office;
    office.Fail();
    office.Fail();
    QCOMPARE(office.Loads(), kCheckpoint);
    office.SaveSnapshot(kSnapshot + 1);
    office.Note();
    QCOMPARE(office.Loads(), std::string());
    office.Fail();
    QCOMPARE(office.Loads(), std::string());
    office.Fail();
    QCOMPARE(office.Loads(), kCheckpoint);
  }

  // A user may go back further than the job has to.
  void theChosenSourceIsTaken() {
    Office office;
    QCOMPARE(office.Loads(), std::string());  // the snapshot, which is newer
    const wire::Reply reply = office.Decide(engine::RecoverySource::kCheckpoint);
    QVERIFY2(reply.decision().text().find("from the checkpoint '" + kCheckpoint + "' of step 20") !=
                 std::string::npos,
             reply.DebugString().c_str());
    office.Note();
    QCOMPARE(office.Loads(), kCheckpoint);
    QVERIFY(office.job().device_loss->chosen == engine::LossChoice::kContinue);
    // To wait is no choice of a source.
    wire::DecisionRequest wait;
    wait.set_job(kJob);
    wait.set_choice(static_cast<std::uint32_t>(engine::LossChoice::kWait));
    QVERIFY(office.Ask(wait).has_decision());
    office.Note();
    QCOMPARE(office.Loads(), std::string());
  }

  // The panel shows a choice that is gone by the time it is made.
  void aSourceThatIsNotThereIsRefused() {
    Office office;
    const wire::Reply reply = office.Decide(engine::RecoverySource::kReplicas);
    QCOMPARE(reply.error().message(), std::string("job 'nano' cannot continue from replicas: there "
                                                  "is none that can be used"));
    QVERIFY(!office.job().device_loss->chosen);
  }

  // A choice at the cost of 10 steps does not hold for 20.
  void whatCostsMoreIsAskedAgain() {
    Office office;
    QVERIFY(office.Decide(engine::RecoverySource::kSnapshot).has_decision());
    office.DropSnapshot();
    office.Note();
    QCOMPARE(office.Loads(), kCheckpoint);
    QVERIFY(!office.job().device_loss->chosen);
  }

  // The state of a node that is back without its memory does not come back.
  void onlyNodesThatAreAwayAreWaitedFor() {
    Office office;
    QVERIFY(office.desk.StatusOf(office.job())->awaited == std::vector{office.lost});
    wire::Register message;
    message.set_node(office.lost.node);
    office.around.members().Register("n1", message, office.around.common().timers.now());
    QVERIFY(office.desk.StatusOf(office.job())->awaited.empty());
  }

  // What was chosen at the cost of the snapshot does not hold for an older checkpoint.
  void aUserIsAskedAgain_data() {
    QTest::addColumn<bool>("shrinks");
    QTest::newRow("asks") << false;
    QTest::newRow("continues by itself") << true;
  }
  void aUserIsAskedAgain() {
    QFETCH(bool, shrinks);
    Office office;
    Job& job = office.job();
    if (shrinks) job.on_failure = engine::OnFailure::kShrink;
    job.device_loss->chosen = engine::LossChoice::kContinue;
    office.Fail();
    QVERIFY(job.device_loss->chosen == engine::LossChoice::kContinue);
    office.Fail();
    QCOMPARE(job.device_loss->chosen.has_value(), shrinks);
  }
};

TESSERA_TEST_APPLESS(LossDeskTest)
#include "loss_desk_test.moc"
