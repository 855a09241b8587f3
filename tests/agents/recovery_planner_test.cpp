// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/recovery_planner.h"

#include <QTest>
#include <cmath>

#include "agents/registrar/loss_desk.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/search/estimate.h"
#include "ptc/plan/mixed_plan.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using agents::FindWayOut;
using agents::LossFacts;
using agents::WayOut;
using engine::LossCase;
using engine::RecoverySource;

namespace {

constexpr std::int64_t kCapacity = std::int64_t{64} << 20;

std::vector<ptc::DeviceId> Devices(const char* text) {
  return *text == '\0' ? std::vector<ptc::DeviceId>() : *ptc::ParseDevices(text);
}

/// A gpt-nano on `mesh` that has lost `lost`; `own` and `spare` can be used.
LossFacts Facts(const char* mesh, const char* lost, const char* own, const char* spare) {
  LossFacts facts;
  engine::SearchInput& job = facts.basis.job;
  job.job = "nano";
  job.settings.model = *engine::FindModel("gpt-nano");
  job.settings.global_batch = 16;
  job.layout =
      *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *engine::MakeCollection(job.settings, false));
  facts.basis.epoch = 3;
  facts.remaining = {Devices(own), Devices(spare)};
  facts.lost = Devices(lost);
  facts.reason = "n1 was lost";
  facts.step = 40;
  for (const ptc::DeviceId device : job.layout->mesh().devices())
    job.capacities[device] = kCapacity;
  for (const ptc::DeviceId device : facts.remaining.spare) job.capacities[device] = kCapacity;
  return facts;
}

}  // namespace

class RecoveryPlannerTest : public QObject {
  Q_OBJECT

 private slots:
  void aReplicaLetsItGoOnWithFewer() {
    const WayOut out =
        FindWayOut(Facts("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", "n1g0,n1g1", "n0g0,n0g1", ""));
    QCOMPARE(out.status.loss, LossCase::kReplicasLive);
    QVERIFY(out.status.can_continue());
    QCOMPARE(out.status.reason, std::string("n1 was lost"));
    QVERIFY(out.status.way().devices == Devices("n0g0,n0g1"));
    QVERIFY(!out.by_itself);  // it is another mesh
    QVERIFY(out.plan && out.plan->plan.bytes.storage == 0);
    QCOMPARE(out.plan->summary.epoch, std::int64_t{3});
  }

  // Half of the GPUs are left. The same tp and pp would leave one copy of the state; another mesh
  // of as many GPUs keeps two.
  void replicasAreKeptWhereTheyFit() {
    const WayOut out = FindWayOut(Facts("dp=2,tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1,n0g2,n0g3,n1g2,n1g3",
                                        "n1g0,n1g1,n1g2,n1g3", "n0g0,n0g1,n0g2,n0g3", ""));
    QVERIFY2(out.status.can_continue(), out.status.why_not.c_str());
    QVERIFY(out.status.way().mesh[ptc::Axis::kDp] > 1);
    QVERIFY(out.plan->summary.survival && out.plan->summary.survival->bytes > 0);  // one node
  }

  void aSpareDeviceIsTakenBeforeItShrinks() {
    const WayOut out = FindWayOut(
        Facts("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1", "n1g0,n1g1", "n0g0,n0g1", "n2g0,n2g1,n3g0"));
    QVERIFY(out.status.way().mesh == *ptc::ParseMeshShape("dp=2,tp=2"));
    QVERIFY(out.status.way().devices == Devices("n0g0,n0g1,n2g0,n2g1"));
    QVERIFY(out.status.way().moved_bytes > 0);
  }

  // Next to the replica that is left, the next loss of a node would take both.
  void aSpareDeviceOnAnotherNodeKeepsReplicasApart() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0", "n0g1,n2g0");
    facts.basis.job.machines.machine_of_node = {{0, 0}, {1, 0}, {2, 0}};  // not slower
    facts.basis.job.machines.topology.host_of_node = {{0, 0}, {1, 0}, {2, 0}};
    const WayOut out = FindWayOut(facts);
    QVERIFY(out.status.way().devices == Devices("n0g0,n2g0"));
    QVERIFY(out.plan->summary.survival && out.plan->summary.survival->of_any_node());
    facts.remaining.spare = Devices("n0g1");
    const WayOut near = FindWayOut(facts);
    QVERIFY(near.status.way().devices == Devices("n0g0,n0g1"));
    QVERIFY(near.plan->summary.survival && !near.plan->summary.survival->of_any_node());
  }

  // A torn device is filled from its replica: the layout stays what the user chose.
  void onItsOwnDevicesItGoesOnByItself() {
    const WayOut out = FindWayOut(Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0,n1g0", "n2g0"));
    QVERIFY(out.by_itself);
    QVERIFY(out.status.way().devices == Devices("n0g0,n1g0"));
  }

  // A move in rounds was given up: some tensors lie as in the layout that it was to reach, the
  // others as in the one before.
  void whatRoundsHaveLeftIsMovedInRounds() {
    LossFacts facts = Facts("dp=2,pp=2 on n0g0,n1g0,n0g1,n1g1", "n1g0,n1g1", "n0g0,n0g1", "");
    const ptc::Layout& to = *facts.basis.job.layout;
    const ptc::Layout before = *ptc::Layout::Make(
        *ptc::ParseDeviceMesh("dp=2,tp=2 on n0g0,n0g1,n1g0,n1g1"), to.collection_ptr());
    const ptc::MixedLayout whole(before);
    facts.basis.remains = agents::Remains{whole.After(to, {0, 1, 2, 3}), 77};
    const WayOut out = FindWayOut(facts);
    QCOMPARE(out.status.loss, LossCase::kReplicasLive);
    QVERIFY2(out.status.can_continue(), out.status.why_not.c_str());
    QVERIFY(out.status.way().devices == Devices("n0g0,n0g1"));
    QVERIFY(out.plan->from == facts.basis.remains);
    QVERIFY(!out.plan->rounds.empty());
    QCOMPARE(out.plan->summary.in_rounds.rounds, std::ssize(out.plan->rounds));
    const auto moves =
        ptc::MakeMixedPlan(facts.basis.remains->where, out.plan->to,
                           facts.basis.job.machines.topology, {.lost = Devices("n1g0,n1g1")});
    VERIFY_OK(moves);
    const double at_once = engine::EstimatePause(moves->outlines);
    const double rounds = engine::SecondsOfRounds(std::ssize(out.plan->rounds));
    QVERIFY(rounds > 0);
    QVERIFY(std::abs(out.plan->summary.pause_estimate - at_once - rounds) < 1e-9);
    QCOMPARE(out.plan->summary.moved(), out.plan->plan.bytes.moved());

    // What the rounds have moved has its only live copy on the node that was lost.
    const ptc::Layout other = *ptc::Layout::Make(
        *ptc::ParseDeviceMesh("dp=2,pp=2 on n0g0,n0g1,n1g0,n1g1"), to.collection_ptr());
    std::vector<int> all;
    for (int t = 0; t < std::ssize(to.collection().tensors()); ++t) all.push_back(t);
    facts.basis.job.layout = other;
    facts.basis.remains = agents::Remains{whole.After(other, all), 77};
    const WayOut missing = FindWayOut(facts);
    QCOMPARE(missing.status.loss, LossCase::kCheckpointOnly);
    QVERIFY(missing.status.missing_bytes > 0 &&
            missing.status.missing_bytes < to.collection().total_bytes());
    // A snapshot replaces all that is left.
    facts.snapshot_step = 30;
    const WayOut back = FindWayOut(facts);
    QCOMPARE(back.status.loss, LossCase::kSnapshot);
    QVERIFY2(back.status.can_continue(), back.status.why_not.c_str());
    QVERIFY(!back.plan->from && back.plan->rounds.empty());
  }

  void whatHasNoLiveCopyIsNamed() {
    const WayOut out = FindWayOut(Facts("pp=2 on n0g0,n1g0", "n1g0", "n0g0", ""));
    QCOMPARE(out.status.loss, LossCase::kCheckpointOnly);
    QVERIFY(!out.status.can_continue() && !out.plan);
    QVERIFY(out.status.missing_bytes > 0);
    QVERIFY(!out.status.missing.empty() && out.status.missing.size() <= 8);
    // The second stage has the last of two layers, and the norm after it.
    QCOMPARE(out.status.missing_layers, (std::vector<engine::LayerRange>{{1, 1}}));
    QVERIFY(!out.status.missing_others.empty() && out.status.missing_others.size() <= 4);
    QVERIFY(out.status.why_not.ends_with(
        "of its state have no live copy, and there is no snapshot and no checkpoint"));
  }

  // The only copy of some of it was lost.
  void onlyWhatIsLeftIsSaidToBeKept() {
    agents::DeviceLoss loss;
    QVERIFY(agents::LossDesk::TextOf(loss).find("kept") == std::string::npos);
    loss.way_out = FindWayOut(Facts("pp=2 on n0g0,n1g0", "n1g0", "n0g0", ""));
    const std::string text = agents::LossDesk::TextOf(loss);
    QVERIFY2(text.ends_with("no checkpoint; what is left of it is kept"), text.c_str());
    loss.way_out = FindWayOut(Facts("dp=2 on n0g0,n1g0", "n1g0", "", ""));
    QVERIFY(agents::LossDesk::TextOf(loss).ends_with("; its state is kept"));
  }

  void aSnapshotCostsTheStepsAfterIt() {
    LossFacts facts = Facts("pp=2 on n0g0,n1g0", "n1g0", "n0g0", "n2g1");
    facts.snapshot_step = 35;
    const WayOut out = FindWayOut(facts);
    QCOMPARE(out.status.loss, LossCase::kSnapshot);
    QCOMPARE(out.status.way().step, std::int64_t{35});
    QCOMPARE(out.status.way().steps_lost, std::int64_t{5});
    QVERIFY(out.status.way().devices.size() == 2 && !out.by_itself);
    // All of it is read, because what is left is of a later step.
    QVERIFY(out.plan->summary.snapshot >= facts.basis.job.layout->collection().total_bytes());
  }

  // The newer of snapshot and checkpoint is loaded, or the checkpoint that somebody wants.
  void theNewestIsLoaded() {
    LossFacts facts = Facts("pp=2 on n0g0,n1g0", "n1g0", "n0g0", "n2g1");
    facts.checkpoint = agents::UsableCheckpoint{"/c/mini-step-30", 30};
    WayOut out = FindWayOut(facts);
    QCOMPARE(out.status.loss, LossCase::kCheckpointOnly);
    QVERIFY(out.status.can_continue() && out.plan && !out.by_itself);
    QCOMPARE(out.status.way().checkpoint, std::string("/c/mini-step-30"));
    QCOMPARE(out.status.way().step, std::int64_t{30});
    QCOMPARE(out.status.way().steps_lost, std::int64_t{10});
    QVERIFY(!out.status.missing.empty());
    QVERIFY(out.plan->summary.storage >= facts.basis.job.layout->collection().total_bytes());
    facts.snapshot_step = 25;
    out = FindWayOut(facts);
    QCOMPARE(out.status.loss, LossCase::kCheckpointOnly);
    QCOMPARE(out.status.way().steps_lost, std::int64_t{10});
    facts.snapshot_step = 30;
    QCOMPARE(FindWayOut(facts).status.loss, LossCase::kSnapshot);
    facts.snapshot_step = 35;
    QCOMPARE(FindWayOut(facts).status.loss, LossCase::kSnapshot);
    facts.snapshot_failed = true;
    QCOMPARE(FindWayOut(facts).status.loss, LossCase::kCheckpointOnly);
    facts.snapshot_failed = false;
    facts.checkpoint->chosen = true;
    facts.checkpoint->path = "https://key@store/c?sig=secret";
    out = FindWayOut(facts);
    QCOMPARE(out.status.loss, LossCase::kCheckpointOnly);
    QVERIFY2(out.status.way().checkpoint.find("secret") == std::string::npos &&
                 out.status.way().checkpoint.find("key") == std::string::npos,
             out.status.way().checkpoint.c_str());
    // Without a loss of state it is not used, unless it is chosen.
    LossFacts live = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0", "");
    live.checkpoint = agents::UsableCheckpoint{"/c/mini-step-30", 30};
    QCOMPARE(FindWayOut(live).status.loss, LossCase::kReplicasLive);
  }

  void withALiveCopyNoSnapshotIsUsed() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0", "");
    facts.snapshot_step = 35;
    QCOMPARE(FindWayOut(facts).status.loss, LossCase::kReplicasLive);
    QCOMPARE(FindWayOut(facts).status.way().source, RecoverySource::kReplicas);
  }

  // Each way says what it costs; what is not known is not 0.
  void allWaysAreOffered() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0", "");
    facts.snapshot_step = 35;
    facts.checkpoint = agents::UsableCheckpoint{"/c/mini-step-30", 30};
    const WayOut out = FindWayOut(facts);
    const auto& ways = out.status.ways;
    QCOMPARE(ways.size(), std::size_t{3});
    QCOMPARE(ways[0].source, RecoverySource::kReplicas);
    QCOMPARE(ways[0].step, std::int64_t{40});
    QCOMPARE(ways[0].steps_lost, std::int64_t{0});
    QVERIFY(ways[0].seconds && *ways[0].seconds == out.plan->summary.pause_estimate);
    QVERIFY(ways[0].survival && !ways[0].survival->of_any_node());  // one GPU
    QCOMPARE(ways[1].source, RecoverySource::kSnapshot);
    QCOMPARE(ways[1].step, std::int64_t{35});
    QCOMPARE(ways[1].steps_lost, std::int64_t{5});
    QVERIFY(ways[1].checkpoint.empty() && !ways[1].seconds);
    QCOMPARE(ways[2].source, RecoverySource::kCheckpoint);
    QCOMPARE(ways[2].steps_lost, std::int64_t{10});
    QCOMPARE(ways[2].checkpoint, std::string("/c/mini-step-30"));
    QVERIFY(!ways[2].seconds);
    for (const auto& way : ways) QVERIFY(way.devices == Devices("n0g0"));
    // The newer of the last two comes first.
    facts.checkpoint->step = 38;
    QCOMPARE(FindWayOut(facts).status.ways[1].source, RecoverySource::kCheckpoint);
  }

  void theWantedWayComesFirst() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0,n1g0", "");
    facts.snapshot_step = 35;
    facts.checkpoint = agents::UsableCheckpoint{"/c/mini-step-30", 30};
    QVERIFY(FindWayOut(facts).by_itself);
    facts.wanted = RecoverySource::kSnapshot;
    WayOut out = FindWayOut(facts);
    QCOMPARE(out.status.way().source, RecoverySource::kSnapshot);
    QCOMPARE(out.status.loss, LossCase::kReplicasLive);  // nothing is missing all the same
    QVERIFY(!out.by_itself && !out.loads_checkpoint());
    QVERIFY(out.plan->summary.snapshot > 0 && out.plan->summary.storage == 0);
    facts.wanted = RecoverySource::kCheckpoint;
    out = FindWayOut(facts);
    QVERIFY(out.loads_checkpoint());
    QVERIFY(out.plan->summary.storage > 0);
    // It is gone: the others stay in their order.
    facts.checkpoint.reset();
    QCOMPARE(FindWayOut(facts).status.way().source, RecoverySource::kReplicas);
  }

  // No steps are given up by themselves where all state is in memory and only room is missing.
  void withoutRoomNoStepsAreGivenUp() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "", "");
    facts.snapshot_step = 35;
    QVERIFY(!FindWayOut(facts).status.can_continue());
  }

  void withoutADeviceItWaits() {
    const WayOut out = FindWayOut(Facts("dp=2 on n0g0,n1g0", "n1g0", "", ""));
    QVERIFY(!out.status.can_continue());
    QCOMPARE(out.status.why_not, std::string("no device is left"));
  }

  void aDeviceWithoutRoomIsNamed() {
    LossFacts facts = Facts("dp=2 on n0g0,n1g0", "n1g0", "n0g0", "n2g0");
    facts.basis.job.capacities[{2, 0}] = 1 << 16;
    const WayOut out = FindWayOut(facts);
    QVERIFY(!out.status.can_continue());
    QVERIFY2(out.status.why_not.find("n2g0") != std::string::npos, out.status.why_not.c_str());
  }
};

TESSERA_TEST_APPLESS(RecoveryPlannerTest)
#include "recovery_planner_test.moc"
