// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <QTest>
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/search/enumerate.h"
#include "engine/search/exposure.h"
#include "engine/search/place_job.h"
#include "engine/search/propose.h"
#include "engine/search/why.h"
#include "engine/store/allocate.h"
#include "tests/engine/step_oracle.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::Candidate;
using engine::SearchInput;
using engine::StepOptions;
using ptc::Axis;
using ptc::DeviceId;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

ptc::MeshShape Mesh(const char* text) { return *ptc::ParseMeshShape(text); }
std::vector<DeviceId> Devices(const char* text) { return *ptc::ParseDevices(text); }

engine::JobSettings Settings(const char* model, std::int64_t batch = 16) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel(model);
  settings.global_batch = batch;
  return settings;
}

/// A job on `mesh` ("dp=2,tp=2 on n0g0,…"; empty: not started) that may use `devices`.
SearchInput Input(const char* model, const char* mesh, const char* devices,
                  std::int64_t capacity = 512 * kMiB) {
  SearchInput input;
  input.job = "job";
  input.settings = Settings(model);
  input.devices = Devices(devices);
  if (*mesh != '\0') {
    input.layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh),
                                      *engine::MakeCollection(input.settings, false));
    for (const DeviceId device : input.layout->mesh().devices())
      input.capacities[device] = capacity;
  }
  for (const DeviceId device : input.devices) input.capacities[device] = capacity;
  return input;
}

/// All devices of nodes of four but one.
QString allBut(const std::string& left_out, int nodes) {
  std::vector<DeviceId> devices = Devices((std::to_string(nodes) + "x4").c_str());
  std::erase(devices, *ptc::ParseDevice(left_out));
  return QString::fromStdString(ptc::ToString(devices));
}

const Candidate& Recommended(const engine::Proposal& proposal) {
  return proposal.candidates.front();
}

}  // namespace

class ChoiceTest : public QObject {
  Q_OBJECT
 private slots:
  // ---- enumeration

  void everyMeshThatCanRunIsEnumerated_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<qint64>("batch");
    QTest::newRow("mini") << "gpt-mini" << qint64{16};
    QTest::newRow("odd batch") << "gpt-mini" << qint64{15};
    QTest::newRow("twelve heads") << "gpt2" << qint64{24};
    QTest::newRow("two layers") << "gpt-nano" << qint64{8};
  }
  void everyMeshThatCanRunIsEnumerated() {
    QFETCH(QString, model);
    QFETCH(qint64, batch);
    const engine::JobSettings settings = Settings(model.toUtf8().constData(), batch);
    constexpr std::int64_t kMost = 16;
    std::map<std::int64_t, std::set<ptc::MeshShape>> all;
    for (std::int64_t dp = 1; dp <= kMost; ++dp) {
      for (std::int64_t tp = 1; tp <= kMost; ++tp) {
        for (std::int64_t pp = 1; pp <= kMost; ++pp) {
          ptc::MeshShape mesh;
          mesh[Axis::kDp] = dp, mesh[Axis::kTp] = tp, mesh[Axis::kPp] = pp;
          if (engine::CheckMesh(settings, mesh, {})) all[dp * tp * pp].insert(mesh);
        }
      }
    }
    for (std::int64_t ranks = 1; ranks <= kMost; ++ranks) {
      const auto meshes = engine::MeshesOf(settings, ranks);
      QCOMPARE(meshes.size(), all[ranks].size());
      QVERIFY((std::set<ptc::MeshShape>(meshes.begin(), meshes.end()) == all[ranks]));
    }
  }

  // Who starts a candidate on its devices gets what the candidate says about lost nodes.
  void aStartHasTheRanksOfItsCandidate() {
    const SearchInput input = Input("gpt-mini", "", "2x2");
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    int num_surviving = 0;
    for (const Candidate& c : proposal->candidates) {
      const auto mesh = ptc::DeviceMesh::Make(c.mesh, c.devices);
      VERIFY_OK(mesh);
      const auto tensors = engine::TensorsOf(input.settings, c.options.zero);
      VERIFY_OK(tensors);
      const auto layout = engine::MakeLayout(*tensors, *mesh);
      VERIFY_OK(layout);
      QVERIFY(c.survival && engine::SurvivalOf(*layout) == *c.survival);
      num_surviving += c.survival->of_any_node() ? 1 : 0;
    }
    QVERIFY(num_surviving > 0);
  }

  void microBatchesFitIntoTheShare() {
    const engine::JobSettings settings = Settings("gpt-mini", 24);
    const auto sizes = engine::MicroBatchesOf(settings, Mesh("dp=2"));
    QCOMPARE(sizes.front(), 0);
    QVERIFY(std::set<std::int64_t>(sizes.begin(), sizes.end()).size() == sizes.size());
    for (const std::int64_t size : sizes) {
      QVERIFY(engine::CheckMesh(settings, Mesh("dp=2"), {.micro_batch = size}));
    }
    QVERIFY(std::find(sizes.begin(), sizes.end(), 4) != sizes.end());
    QVERIFY(std::find(sizes.begin(), sizes.end(), 8) != sizes.end());  // 8 and 4 of a share of 12
  }

  // ---- proposals

  void theRecommendedOneIsTheFastestThatUsesAllDevices() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 20; ++i) {
      SearchInput input = Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "2x4");
      input.aim = engine::Aim::kUseAll;
      std::shuffle(input.devices.begin(), input.devices.end(), rng);
      input.devices.resize(1 + rng() % 8);
      input.calibration.cores = 1 + static_cast<std::int64_t>(rng() % 8);
      input.calibration.flops_per_second = 1e9 * static_cast<double>(1 + rng() % 200);
      const auto proposal = engine::Propose(input, 16);
      VERIFY_OK(proposal);
      const Candidate& best = Recommended(*proposal);
      QVERIFY(best.recommended && best.fits());
      QCOMPARE(std::ssize(best.devices), best.mesh.num_ranks());
      std::vector<DeviceId> all = best.devices;
      all.insert(all.end(), best.idle.begin(), best.idle.end());
      std::sort(all.begin(), all.end());
      std::sort(input.devices.begin(), input.devices.end());
      QVERIFY(all == input.devices);
      int recommended = 0;
      for (const Candidate& c : proposal->candidates) {
        recommended += c.recommended;
        if (!c.fits()) continue;
        QVERIFY(c.idle.size() >= best.idle.size());
        if (c.idle.size() > best.idle.size()) continue;
        // It may stay where it is, but does not take a slower one that moves less.
        const double equal = best.current ? engine::kEqualSpeed : engine::kSameSpeed;
        QVERIFY(best.step_seconds <= c.step_seconds * (1 + equal) + 1e-12);
        // Of equally fast ones none moves less.
        if (c.step_seconds <= best.step_seconds) QVERIFY(best.moved_bytes <= c.moved_bytes);
      }
      QCOMPARE(recommended, 1);
      QVERIFY(proposal->why.ends_with('.'));
    }
  }

  // On random clusters of up to 64 devices: all meshes with all options, each estimated by the
  // formulae.
  void noConfigurationIsClearlyFasterThanTheRecommendedOne() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 12; ++i) {
      const auto nodes = static_cast<std::int32_t>(1 + rng() % 8);
      const auto per_node = static_cast<std::int32_t>(1 + rng() % 8);
      SearchInput input;
      input.job = "job";
      input.settings =
          Settings(i % 2 == 0 ? "gpt-mini" : "gpt-10m", 8 + static_cast<int>(rng() % 60));
      for (std::int32_t node = 0; node < nodes; ++node) {
        for (std::int32_t index = 0; index < per_node; ++index) {
          input.devices.push_back({node, index});
          input.capacities[{node, index}] = 512 * kMiB;
        }
        if (rng() % 2 == 0) input.machines.machine_of_node[node] = 0;
      }
      input.calibration.cores = 1 + static_cast<std::int64_t>(rng() % 8);
      input.calibration.all_cores_speed = static_cast<double>(input.calibration.cores);
      input.calibration.flops_per_second = 1e9 * static_cast<double>(1 + rng() % 500);
      const auto proposal = engine::Propose(input);
      VERIFY_OK(proposal);
      const Candidate& best = Recommended(*proposal);
      const auto seconds = [&](const ptc::DeviceMesh& mesh, const StepOptions& options) {
        return test::StepOracle(input.settings, mesh, options, input.machines, input.calibration)
            .Total();
      };
      const auto tensors = *engine::TensorsOf(input.settings, best.options.zero);
      const auto placed = *engine::PlaceJob(input, best.mesh, best.options, tensors, input.devices);
      QVERIFY(std::abs(seconds(placed, best.options) - best.step_seconds) <
              1e-9 * best.step_seconds);
      // Between equally fast meshes, of a mesh between equally fast micro-batches, and of both
      // between equally fast placements.
      const double limit =
          (1 + engine::kEqualSpeed) * (1 + engine::kEqualSpeed) / (1 - engine::kEqualSpeed);
      for (std::int64_t ranks = best.mesh.num_ranks(); ranks <= std::ssize(input.devices);
           ++ranks) {
        for (const ptc::MeshShape& shape : engine::MeshesOf(input.settings, ranks)) {
          QVERIFY2(ranks == best.mesh.num_ranks(), "a mesh would use more devices");
          const auto mesh = *ptc::DeviceMesh::Make(
              shape, {input.devices.begin(), input.devices.begin() + shape.num_ranks()});
          for (const bool zero : {false, true}) {
            if (zero && shape[Axis::kDp] == 1) continue;
            for (const std::int64_t size : engine::MicroBatchesOf(input.settings, shape)) {
              const StepOptions options{.zero = zero, .micro_batch = size};
              QVERIFY2(best.step_seconds <= seconds(mesh, options) * limit,
                       engine::ShortText(shape, options).c_str());
            }
          }
        }
      }
    }
  }

  // Nothing but fixed costs: all configurations are equally fast, so nothing moves.
  void atEqualSpeedNothingMoves() {
    SearchInput input =
        Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "n0g0,n0g1,n0g2,n0g3");
    input.calibration = FreeCalibration();
    input.calibration.step_seconds = 0.01;
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    QVERIFY(Recommended(*proposal).current);
    QCOMPARE(Recommended(*proposal).moved_bytes, 0);
    QCOMPARE(Recommended(*proposal).pause_seconds, 0.0);
    QCOMPARE(QString::fromStdString(proposal->why).section(';', 0, 0),
             QString("dp=2,tp=2 stays: no other configuration is estimated to be clearly faster"));
  }

  void ofEquallyFastNewOnesThatWhichMovesLeastIsTaken() {
    SearchInput input = Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "2x4");
    input.calibration = FreeCalibration();
    input.calibration.step_seconds = 0.01;
    input.aim = engine::Aim::kUseAll;
    const auto proposal = engine::Propose(input, 64);
    VERIFY_OK(proposal);
    const Candidate& best = Recommended(*proposal);
    QVERIFY(best.idle.empty());
    for (const Candidate& c : proposal->candidates) {
      if (c.idle.empty()) QVERIFY(best.moved_bytes <= c.moved_bytes);
    }
  }

  void theSmallestChangeIsRecommended_data() {
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("devices");
    QTest::addColumn<QString>("expected");
    QTest::addColumn<int>("idle");
    const QString four = "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3";
    QTest::newRow("one more") << four << "n0g0,n0g1,n0g2,n0g3,n1g0"
                              << "dp=2,tp=2" << 1;
    QTest::newRow("twice as many") << four << "2x4"
                                   << "dp=4,tp=2" << 0;
    QTest::newRow("one less") << four << "n0g0,n0g1,n0g2"
                              << "dp=1,tp=2" << 1;
    QTest::newRow("other ones") << four << "n1g0,n1g1,n1g2,n1g3"
                                << "dp=2,tp=2" << 0;
    const QString eight = "dp=2,tp=2,pp=2 on 2x4";
    QTest::newRow("no pipeline is left idle") << eight << "n0g0,n0g1,n0g2,n0g3,n1g0,n1g1,n1g2"
                                              << "dp=1,tp=2,pp=2" << 3;
    QTest::newRow("one of many") << "dp=16,tp=2,pp=2 on 16x4" << allBut("n7g3", 16)
                                 << "dp=15,tp=2,pp=2" << 3;
  }
  void theSmallestChangeIsRecommended() {
    QFETCH(QString, mesh);
    QFETCH(QString, devices);
    QFETCH(QString, expected);
    QFETCH(int, idle);
    SearchInput input = Input("gpt-mini", mesh.toUtf8().constData(), devices.toUtf8().constData());
    input.settings.global_batch = 32;
    // Devices that compute on their own: more of them are faster, whatever the mesh.
    input.calibration.cores = 4;
    input.calibration.all_cores_speed = 4;
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    const Candidate& best = Recommended(*proposal);
    QVERIFY(best.recommended);
    QCOMPARE(best.mesh, Mesh(expected.toUtf8().constData()));
    QCOMPARE(std::ssize(best.idle), idle);
    if (idle > 0) {
      QVERIFY2(proposal->why.find("idle.") != std::string::npos, proposal->why.c_str());
      // What uses more of the devices is offered, too.
      QVERIFY(std::ranges::any_of(proposal->candidates, [&](const Candidate& c) {
        return c.fits() && c.idle.size() < best.idle.size();
      }));
    }
    const auto choice = engine::ChooseMesh(input, input.options);
    VERIFY_OK(choice);
    QCOMPARE(choice->mesh, best.mesh);
    QCOMPARE(choice->idle, best.idle);
    input.aim = engine::Aim::kUseAll;
    const auto most = engine::ChooseMesh(input, input.options);
    VERIFY_OK(most);
    QVERIFY(most->idle.size() <= best.idle.size());
  }

  // Sixteen devices for a job on four: the kept mesh copies the state to six more replicas, all
  // that use fewer of the devices compute on fewer cores.
  void furtherRowsAreTheFastestAndTheOneThatMovesLeast_data() {
    QTest::addColumn<double>("cores");
    QTest::newRow("devices share two cores") << 2.0;
    QTest::newRow("devices with a core each") << 4.0;
  }
  void furtherRowsAreTheFastestAndTheOneThatMovesLeast() {
    QFETCH(double, cores);
    SearchInput input = Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "4x4");
    input.calibration.cores = static_cast<std::int64_t>(cores);
    input.calibration.all_cores_speed = cores;
    const auto with_limit = [&](std::int64_t limit) {
      auto proposal = engine::Propose(input, limit);
      return proposal ? proposal->candidates : std::vector<Candidate>();
    };
    const auto one = [](const std::vector<Candidate>& all, bool Candidate::*is) {
      std::vector<Candidate> found;
      std::ranges::copy_if(all, std::back_inserter(found), is);
      return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
    };
    const std::vector<Candidate> eight = with_limit(8);
    QCOMPARE(eight.size(), std::size_t{8});
    QCOMPARE(eight.front().mesh, Mesh("dp=8,tp=2"));
    const auto fastest = one(eight, &Candidate::fastest);
    const auto least = one(eight, &Candidate::moves_least);
    QVERIFY(fastest && least);
    for (const Candidate& c : with_limit(64)) {
      if (!c.fits()) continue;
      QVERIFY(fastest->step_seconds <= c.step_seconds * (1 + engine::kEqualSpeed));
    }
    // The state goes to twelve devices once at most, in place of six times.
    QVERIFY(!least->current && least->idle.empty());
    QVERIFY(least->moved_bytes * 3 < eight.front().moved_bytes);
    for (const Candidate& c : eight) {
      if (c.fits() && !c.current && c.idle.empty()) QVERIFY(least->moved_bytes <= c.moved_bytes);
    }
    // A short list has them, too.
    const std::vector<Candidate> four = with_limit(4);
    QCOMPARE(four.size(), std::size_t{4});
    QVERIFY(four.front() == eight.front());
    QCOMPARE(one(four, &Candidate::fastest), fastest);
    QVERIFY(one(four, &Candidate::current));
    QVERIFY(std::ranges::any_of(four, [](const Candidate& c) { return c.idle.empty(); }));
    QCOMPARE(with_limit(1), std::vector<Candidate>{eight.front()});
  }

  // A start moves nothing.
  void aStartNamesTheFastestOnly() {
    const auto proposal = engine::Propose(Input("gpt-mini", "", "2x2"));
    VERIFY_OK(proposal);
    QCOMPARE(std::ranges::count_if(proposal->candidates, &Candidate::fastest), 1);
    QCOMPARE(std::ranges::count_if(proposal->candidates, &Candidate::moves_least), 0);
  }

  // Fewer devices than one replica has: nothing can be kept.
  void withoutRoomForAReplicaTheFastestIsRecommended() {
    const SearchInput input =
        Input("gpt-mini", "tp=2,pp=2 on n0g0,n0g1,n0g2,n0g3", "n0g0,n0g1,n0g2");
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    QVERIFY(Recommended(*proposal).mesh.num_ranks() <= 3);
  }

  // After a loss, replicas are worth more than the same tp.
  void afterALossReplicasAreKept() {
    SearchInput input = Input("gpt-mini", "dp=2,tp=2,pp=2 on 2x4", "n0g0,n0g1,n0g2,n0g3");
    input.lost = Devices("n1g0,n1g1,n1g2,n1g3");
    input.layout = *ptc::Layout::Make(
        *ptc::ParseDeviceMesh("dp=2,tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1,n0g2,n0g3,n1g2,n1g3"),
        input.layout->collection_ptr());
    QCOMPARE(Recommended(*engine::Propose(input)).mesh, Mesh("dp=1,tp=2,pp=2"));
    input.aim = engine::Aim::kKeepReplicas;
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    QVERIFY(Recommended(*proposal).mesh[Axis::kDp] > 1);
  }

  // Memory that is just enough for one of several hundred configurations, and somewhat more.
  void aStartIsRefusedOnlyIfNothingFits() {
    SearchInput input = Input("gpt-mini", "", "8x4");
    input.calibration.cores = 4;
    input.calibration.all_cores_speed = 4;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t ranks = 1; ranks <= 32; ++ranks) {
      for (const ptc::MeshShape& mesh : engine::MeshesOf(input.settings, ranks)) {
        least = std::min({least, MostNeeded(input.settings, mesh, false),
                          MostNeeded(input.settings, mesh, true)});
      }
    }
    const auto with = [&](std::int64_t capacity) {
      for (const DeviceId device : input.devices) input.capacities[device] = capacity;
      return engine::Propose(input);
    };
    VERIFY_ERROR(with(least - 1), ErrorCode::kResourceExhausted, "the smallest set that fits has ");
    for (const std::int64_t percent : {100, 102, 105, 110, 120, 150, 200, 300, 500}) {
      const auto proposal = with(least * percent / 100);
      VERIFY_OK(proposal);
      QVERIFY(Recommended(*proposal).fits());
    }
  }

  // A large model on 4 nodes of 8 GPUs of 80 GiB: data parallelism is the fastest, but only a few
  // meshes hold the state.
  void aLargeModelStartsOnTheMeshesThatHoldIt() {
    SearchInput input;
    input.job = "llama";
    input.settings.model = *engine::FindAnyModel("llama-3-70b");
    input.settings.global_batch = engine::kLargeBatch;
    input.devices = Devices("4x8");
    for (const DeviceId device : input.devices) input.capacities[device] = std::int64_t{80} << 30;
    input.calibration.cores = 8;
    input.calibration.all_cores_speed = 8;
    const auto proposal = engine::Propose(input);
    VERIFY_OK(proposal);
    QVERIFY(Recommended(*proposal).fits() && Recommended(*proposal).idle.empty());
    // On too few of them the refusal names what would do.
    input.devices = Devices("1x8");
    VERIFY_ERROR(engine::Propose(input), ErrorCode::kResourceExhausted,
                 "devices have 80.0 GiB: the smallest set that fits has ");
    QVERIFY(engine::Propose(input).error().message.find("with dp=8") == std::string::npos);
  }

  // Devices of different size: those with room are taken.
  void smallDevicesAreLeftOut() {
    SearchInput input = Input("gpt-10m", "", "2x4", 1 * kMiB);
    for (const DeviceId device : Devices("n1g0,n1g1")) input.capacities[device] = 512 * kMiB;
    const auto choice = engine::ChooseMesh(input, StepOptions{});
    VERIFY_OK(choice);
    QCOMPARE(ptc::ToString(choice->used), std::string("n1g0,n1g1"));
  }

  void replicasAreOnDifferentNodesIfThatCostsNothing() {
    SearchInput input = Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "2x4");
    const auto tensors = *engine::TensorsOf(input.settings, false);
    const auto survives = [&](const ptc::DeviceMesh& mesh) {
      return engine::SurvivalOf(*engine::MakeLayout(tensors, mesh)).of_any_node();
    };
    const auto place = [&] {
      return *engine::PlaceJob(input, Mesh("dp=2,pp=4"), {}, tensors, input.devices);
    };
    // All nodes on one machine: no mesh is slower than another.
    for (const std::int32_t node : {0, 1}) input.machines.machine_of_node[node] = 0;
    input.machines.topology.host_of_node = {{0, 0}, {1, 0}};
    QVERIFY(survives(place()));
    // Gradients through a network that is far slower than messages of the pipeline.
    input.machines = {};
    const double fast = 1e-12;
    input.calibration.network_all_reduce = {{1, 1e-6}, {1, 1e-6}, {1, 1e-6}};
    input.calibration.network_send = {fast, fast};
    QVERIFY(!survives(place()));
    // A job that starts.
    input.layout.reset();
    QVERIFY(!survives(place()));
    input.calibration = {};
    for (const std::int32_t node : {0, 1}) input.machines.machine_of_node[node] = 0;
    input.machines.topology.host_of_node = {{0, 0}, {1, 0}};
    QVERIFY(survives(place()));
    // With ZeRO a copy of the moments exists once, wherever it is: the ranks stay in order.
    const auto sharded = *engine::TensorsOf(input.settings, true);
    QCOMPARE(engine::PlaceJob(input, Mesh("dp=2,pp=4"), {.zero = true}, sharded, input.devices)
                 ->devices(),
             input.devices);
  }

  void theMeasuredStepTimeAnchorsTheEstimates() {
    SearchInput input =
        Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "n0g0,n0g1,n0g2,n0g3");
    const auto mesh = *ptc::ParseDeviceMesh("dp=4 on n0g0,n0g1,n0g2,n0g3");
    const double before = *engine::EstimateStepSeconds(input, input.layout->mesh(), {});
    const double other = *engine::EstimateStepSeconds(input, mesh, {});
    input.step_seconds = 2 * before;
    QVERIFY(
        qFuzzyCompare(*engine::EstimateStepSeconds(input, input.layout->mesh(), {}), 2 * before));
    QVERIFY(qFuzzyCompare(*engine::EstimateStepSeconds(input, mesh, {}), 2 * other));
  }

  void theReasonIsASentence() {
    // One core a device and free communication: more data parallelism is proportionally faster.
    SearchInput input = Input("gpt-mini", "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3", "2x4");
    input.calibration = FreeCalibration();
    input.calibration.cores = 8;
    input.calibration.all_cores_speed = 8;
    input.calibration.flops_per_second = 1e10;
    const auto grown = engine::Propose(input);
    VERIFY_OK(grown);
    const QString why = QString::fromStdString(grown->why);
    QVERIFY2(why.startsWith("dp=4,tp=2 is estimated 2.0 times as fast as now and moves "),
             qPrintable(why));
    QVERIFY2(why.contains("; tp and pp stay"), qPrintable(why));

    input = Input("gpt-mini", "", "n0g0,n0g1,n0g2");
    input.calibration = FreeCalibration();
    input.calibration.cores = 4;
    input.calibration.all_cores_speed = 4;
    input.calibration.flops_per_second = 1e10;
    input.settings.global_batch = 4;
    const auto started = engine::ChooseMesh(input, StepOptions{});
    VERIFY_OK(started);
    QVERIFY2(started->why.find(" is estimated the fastest, ") != std::string::npos,
             started->why.c_str());
  }

  // "25 % slower than now; another would be 5 % faster" is not comparable.
  void theReasonComparesWithOneSpeed() {
    Candidate chosen{.mesh = Mesh("dp=3,tp=2"), .step_seconds = 1.25, .moved_bytes = 3 * kMiB};
    chosen.recommended = true;
    Candidate rival{.mesh = Mesh("dp=7"), .step_seconds = 1.19, .moved_bytes = 4 * kMiB};
    const auto why = [&](std::optional<double> now) {
      return engine::WhyText({chosen, rival}, now, false);
    };
    QCOMPARE(why(1),
             std::string("dp=3,tp=2 is estimated 25 % slower than now, but the fastest that uses "
                         "these devices and moves 3.0 MiB; dp=7 would be 19 % slower than now but "
                         "moves 4.0 MiB."));
    rival.step_seconds = 1.5;
    QVERIFY(why(1).ends_with("; next is dp=7, 50 % slower than now."));
    QVERIFY(why(3).ends_with("; next is dp=7, 2.0 times as fast as now."));
    QVERIFY(why(1.5).ends_with("; next is dp=7, as fast as now."));
    QVERIFY(why(std::nullopt).ends_with("; next is dp=7, 20 % slower."));  // than the chosen one
  }

  void optionsThatAreGivenStay() {
    const SearchInput input = Input("gpt-mini", "", "2x4");
    for (const bool zero : {false, true}) {
      const auto choice = engine::ChooseMesh(input, StepOptions{.zero = zero, .micro_batch = 2});
      VERIFY_OK(choice);
      QCOMPARE(choice->options.zero, zero);
      QCOMPARE(choice->options.micro_batch, 2);
      QCOMPARE(std::ssize(choice->used), 8);
    }
  }

  void devicesThatNoMeshUsesStayIdle() {
    SearchInput input = Input("gpt-nano", "", "n0g0,n0g1,n0g2,n0g3,n1g0");
    input.settings.global_batch = 4;  // a sample for each of four replicas, none for a fifth
    const auto choice = engine::ChooseMesh(input, StepOptions{});
    VERIFY_OK(choice);
    QCOMPARE(choice->mesh.num_ranks(), 4);
    QCOMPARE(std::ssize(choice->idle), 1);
    QVERIFY2(choice->why.ends_with("; " + ptc::ToString(choice->idle) + " stays idle."),
             choice->why.c_str());
  }

  void devicesOfTheJobAreUsedFirst() {
    SearchInput input = Input("gpt-nano", "dp=1,tp=2 on n1g2,n1g3", "n1g3,n0g0,n1g2,n0g1,n0g2");
    const auto proposal = engine::Propose(input, 16);
    VERIFY_OK(proposal);
    bool hasCurrent = false;
    for (const Candidate& c : proposal->candidates) hasCurrent = hasCurrent || c.current;
    QVERIFY(hasCurrent);
  }

  void badInputIsRefused() {
    SearchInput input = Input("gpt-mini", "", "n0g0");
    input.devices.clear();
    VERIFY_ERROR(engine::Propose(input), ErrorCode::kInvalidArgument, "no device given");
    input = Input("gpt2", "", "n0g0,n0g1");
    VERIFY_ERROR(engine::Propose(input), ErrorCode::kResourceExhausted,
                 "the smallest set that fits has");
    input = Input("gpt-mini", "", "n0g0");
    input.capacities.clear();
    VERIFY_ERROR(engine::Propose(input), ErrorCode::kResourceExhausted, "devices have 0.0 MiB");
  }

  // The time of a proposal grows little faster than the devices times the meshes that they allow.
  void aProposalForSixteenDevicesIsNotMuchDearerThanForFour() {
    const auto seconds = [](const SearchInput& input) {
      double fastest = 1e9;
      for (int i = 0; i < 5; ++i) {
        const auto now = [] {
          timespec time{};
          ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
          return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
        };
        const double begin = now();
        if (!engine::Propose(input)) return 0.0;
        fastest = std::min(fastest, now() - begin);
      }
      return fastest;
    };
    const double four = seconds(Input("gpt-mini", "dp=2 on n0g0,n0g1", "2x2"));
    const double sixteen =
        seconds(Input("gpt-mini", "dp=4,tp=2 on n0g0,n0g1,n0g2,n0g3,n1g0,n1g1,n1g2,n1g3", "4x4"));
    qInfo("4 devices: %.1f ms, 16 devices: %.1f ms", 1e3 * four, 1e3 * sixteen);
    QVERIFY(four > 0 && sixteen > 0);
    QVERIFY(sixteen < 64 * four);  // the cube of the devices
  }

  // ---- the smallest set that fits

  void theSmallestSetIsTheSmallest_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<qint64>("mib");
    QTest::newRow("one is enough") << "gpt-mini" << qint64{512};
    QTest::newRow("mini on little") << "gpt-mini" << qint64{24};
    QTest::newRow("10m") << "gpt-10m" << qint64{64};
    QTest::newRow("too little for any") << "gpt-mini" << qint64{1};
  }
  void theSmallestSetIsTheSmallest() {
    QFETCH(QString, model);
    QFETCH(qint64, mib);
    const engine::JobSettings settings = Settings(model.toUtf8().constData());
    constexpr std::int64_t kMost = 16;
    const auto fit = engine::SmallestFit(settings, mib * kMiB, kMost);
    std::optional<std::int64_t> fewest;
    for (std::int64_t ranks = 1; ranks <= kMost && !fewest; ++ranks) {
      for (const ptc::MeshShape& mesh : engine::MeshesOf(settings, ranks)) {
        for (const bool zero : {false, true}) {
          if (MostNeeded(settings, mesh, zero) <= mib * kMiB) fewest = ranks;
        }
      }
    }
    QCOMPARE(fit.has_value(), fewest.has_value());
    if (!fit) return;
    QCOMPARE(fit->mesh.num_ranks(), *fewest);
    QCOMPARE(fit->needed, MostNeeded(settings, fit->mesh, fit->options.zero));
    QVERIFY(fit->needed <= mib * kMiB);
  }

  // Where the smallest change fits, a choice plans no other mesh, and comes to the same.
  void theChoiceForAProgramIsWhatIsRecommended() {
    engine::JobSettings settings;
    settings.program = engine::OwnProgram{"true",
                                          {"tensors", R"({"layers": 4, "tensors": [
          {"name": "layer.{layer}.a", "dtype": "f32", "shape": [96, 64]}]})"},
                                          {"rules", R"({"rules": [{"match": "layer.{layer}.a",
          "cut": {"dims": [["tp"], []]}}]})"}};
    settings.global_batch = 16;
    const auto tensors = *engine::TensorsOf(settings, false);
    std::mt19937_64 rng(test::Seed());
    int num_equal = 0;
    for (int i = 0; i < 60; ++i) {
      SearchInput input;
      input.job = "job";
      input.settings = settings;
      const auto* const mesh =
          i % 2 == 0 ? "dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3" : "pp=2 on n0g1,n1g0";
      input.layout = *engine::MakeLayout(tensors, *ptc::ParseDeviceMesh(mesh));
      for (const DeviceId device : Devices("3x4")) {
        input.capacities[device] = static_cast<std::int64_t>(100'000 + rng() % 500'000);
      }
      input.devices = Devices("3x4");
      std::shuffle(input.devices.begin(), input.devices.end(), rng);
      input.devices.resize(1 + rng() % 12);
      const auto choice = engine::ChooseMesh(input, std::nullopt);
      const auto proposal = engine::Propose(input, engine::kMaxProposed);
      QCOMPARE(choice.has_value(), proposal.has_value());
      if (!choice || choice->why.find(" keeps tp and pp") == std::string::npos) continue;
      const Candidate& best = Recommended(*proposal);
      QCOMPARE(choice->mesh, best.mesh);
      QVERIFY(choice->options == best.options && choice->used == best.devices);
      QVERIFY(choice->idle == best.idle);
      QCOMPARE(choice->why, proposal->why);
      ++num_equal;
    }
    QVERIFY2(num_equal > 10, qPrintable(QString::number(num_equal)));
  }

  // Three heads over two ranks: the first holds one, the second two.
  void theFullestRankNeedNotBeTheFirst() {
    engine::JobSettings settings;
    settings.program =
        engine::OwnProgram{"true",
                           {"tensors", R"({"layers": 1, "tensors": [
          {"name": "q", "dtype": "f32", "shape": [3, 100000]}]})"},
                           {"rules", R"({"rules": [{"match": "q", "stage": "first", "cut": {"dims":
          [{"axes": ["tp"], "heads": {"kv": 3, "query": 3, "of": "kv"}}]}}]})"}};
    const auto tensors = *engine::TensorsOf(settings, false);
    const auto needed = [&](const char* mesh) {
      const auto layout = *engine::MakeLayout(tensors, *ptc::ParseDeviceMesh(mesh));
      std::vector<std::int64_t> bytes;
      for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
        bytes.push_back(engine::BytesNeeded(layout, rank));
      }
      return bytes;
    };
    const auto two = needed("tp=2 on n0g0,n0g1");
    QVERIFY(two[1] > two[0]);
    const auto three = needed("tp=3 on n0g0,n0g1,n0g2");
    const auto fit = engine::SmallestFit(settings, two[1] - 1, 8);
    QVERIFY(fit.has_value());
    QCOMPARE(fit->mesh, Mesh("tp=3"));
    QCOMPARE(fit->needed, *std::max_element(three.begin(), three.end()));
    QCOMPARE(engine::SmallestFit(settings, two[1], 8)->needed, two[1]);
  }

  void aModelThatDoesNotFitIsRefusedWithWhatWould() {
    engine::Capacities capacities;
    for (const DeviceId device : Devices("2x4")) capacities[device] = 512 * kMiB;
    const auto mesh = *ptc::ParseDeviceMesh("dp=1 on n0g0");
    const Status refused = engine::CheckFits(Settings("gpt2"), mesh, {}, capacities);
    VERIFY_ERROR(refused, ErrorCode::kResourceExhausted, "model gpt2 needs ");
    VERIFY_ERROR(
        refused, ErrorCode::kResourceExhausted,
        " GiB per device with dp=1; devices have 512 MiB: the smallest set that fits has ");
    const Status fits = engine::CheckFits(Settings("gpt-mini"), mesh, {}, capacities);
    VERIFY_OK(fits);
  }

 private:
  static engine::Calibration FreeCalibration() {
    engine::Calibration c;
    c.pass_seconds = c.layer_seconds = c.element_seconds = c.gradient_seconds = 0;
    c.step_seconds = 0;
    c.update_seconds = 1e-15;
    c.flops_per_second = 1e15;
    c.shared_all_reduce = c.network_all_reduce = c.shared_gather = c.network_gather = {};
    c.shared_send = c.network_send = {};
    c.cores = 1;
    c.all_cores_speed = 1;
    return c;
  }

  static std::int64_t MostNeeded(const engine::JobSettings& settings, const ptc::MeshShape& mesh,
                                 bool zero) {
    std::vector<DeviceId> devices;
    for (std::int32_t i = 0; i < mesh.num_ranks(); ++i) devices.push_back({0, i});
    const auto layout = *ptc::Layout::Make(*ptc::DeviceMesh::Make(mesh, devices),
                                           *engine::MakeCollection(settings, zero));
    std::int64_t most = 0;
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      most = std::max(most, engine::BytesNeeded(layout, rank));
    }
    return most;
  }
};
TESSERA_TEST_APPLESS(ChoiceTest)
#include "choice_test.moc"
