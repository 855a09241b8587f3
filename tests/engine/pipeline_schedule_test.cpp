// SPDX-License-Identifier: Apache-2.0

/// \file
/// The schedule of a training step on a pipeline.

#include "engine/search/pipeline_schedule.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/pass_order.h"
#include "engine/search/cost_model.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::IdleShare;
using engine::MakePipelineSchedule;
using engine::PipelineBar;
using engine::PipelineSchedule;
using engine::PipelineTimes;
using Kind = engine::PipelineBar::Kind;

namespace {

constexpr double kNear = 1e-9;

bool Near(double a, double b) { return std::abs(a - b) <= kNear * std::max(1.0, std::abs(b)); }

PipelineTimes EqualStages(std::int64_t stages, std::int64_t micro_batches, double send = 0) {
  PipelineTimes times;
  times.stages.assign(static_cast<std::size_t>(stages), {1, 2});
  times.sends.assign(static_cast<std::size_t>(stages - 1), send);
  times.micro_batches = micro_batches;
  return times;
}

std::vector<PipelineBar> BarsOf(const PipelineSchedule& schedule, std::int64_t stage) {
  std::vector<PipelineBar> bars;
  std::ranges::copy_if(schedule.bars, std::back_inserter(bars),
                       [stage](const PipelineBar& bar) { return bar.stage == stage; });
  return bars;
}

/// "F0 F1 B0 …", without sends and idle times.
std::string OrderOf(const PipelineSchedule& schedule, std::int64_t stage) {
  std::string text;
  for (const PipelineBar& bar : BarsOf(schedule, stage)) {
    if (bar.kind != Kind::kForward && bar.kind != Kind::kBackward) continue;
    if (!text.empty()) text += ' ';
    text += (bar.kind == Kind::kForward ? 'F' : 'B') + std::to_string(bar.micro_batch);
  }
  return text;
}

/// The bar of a pass by (stage, micro-batch).
std::map<std::pair<std::int64_t, std::int64_t>, PipelineBar> PassesOf(
    const PipelineSchedule& schedule, Kind kind) {
  std::map<std::pair<std::int64_t, std::int64_t>, PipelineBar> passes;
  for (const PipelineBar& bar : schedule.bars) {
    if (bar.kind == kind) passes[{bar.stage, bar.micro_batch}] = bar;
  }
  return passes;
}

/// What holds for every schedule; empty, or what does not.
std::string WrongOf(const PipelineTimes& times, const PipelineSchedule& schedule) {
  const std::int64_t stages = std::ssize(times.stages), count = times.micro_batches;
  const auto forward = PassesOf(schedule, Kind::kForward);
  const auto backward = PassesOf(schedule, Kind::kBackward);
  if (std::ssize(forward) != stages * count || std::ssize(backward) != stages * count) {
    return "a pass is missing";
  }
  for (std::int64_t s = 0; s < stages; ++s) {
    const std::string stage = "stage " + std::to_string(s);
    double time = 0;
    std::int64_t in_flight = 0;
    for (const PipelineBar& bar : BarsOf(schedule, s)) {
      if (bar.begin != time) return stage + " has a gap or an overlap";
      if (bar.end < bar.begin) return stage + " has a bar that ends before it begins";
      time = bar.end;
      in_flight += bar.kind == Kind::kForward ? 1 : bar.kind == Kind::kBackward ? -1 : 0;
      if (in_flight < 0 || in_flight > std::min(count, stages - s)) {
        return stage + " has too many micro-batches in flight";
      }
    }
    if (time != schedule.seconds) return stage + " does not end with the step";
    for (std::int64_t m = 0; m < count; ++m) {
      if (backward.at({s, m}).begin < forward.at({s, m}).end) {
        return stage + ": a backward pass begins before its forward pass has ended";
      }
      if (s + 1 == stages) continue;
      const double send = times.sends[static_cast<std::size_t>(s)];
      if (forward.at({s + 1, m}).begin + kNear < forward.at({s, m}).end + send) {
        return stage + ": the next stage begins before the activations arrive";
      }
      if (backward.at({s, m}).begin + kNear < backward.at({s + 1, m}).end + send) {
        return stage + ": a backward pass begins before its gradients arrive";
      }
    }
  }
  return {};
}

}  // namespace

class PipelineScheduleTest : public QObject {
  Q_OBJECT

 private slots:
  void theBubbleOfEqualStages() {
    for (std::int64_t p = 1; p <= 9; ++p) {
      for (std::int64_t m = 1; m <= 20; ++m) {
        const PipelineTimes times = EqualStages(p, m);
        const PipelineSchedule schedule = MakePipelineSchedule(times);
        const auto all = static_cast<double>(m + p - 1);
        QVERIFY(Near(schedule.seconds, 3 * all));
        QVERIFY(Near(IdleShare(schedule), static_cast<double>(p - 1) / all));
        const std::string wrong = WrongOf(times, schedule);
        QVERIFY2(wrong.empty(), wrong.c_str());
      }
    }
  }

  void stagesFollowTheOrderOfTheTrainer() {
    const PipelineSchedule schedule = MakePipelineSchedule(EqualStages(4, 5));
    QCOMPARE(OrderOf(schedule, 0), std::string("F0 F1 F2 F3 B0 F4 B1 B2 B3 B4"));
    QCOMPARE(OrderOf(schedule, 2), std::string("F0 F1 B0 F2 B1 F3 B2 F4 B3 B4"));
    QCOMPARE(OrderOf(schedule, 3), std::string("F0 B0 F1 B1 F2 B2 F3 B3 F4 B4"));
  }

  void oneStageNeverWaits() {
    const PipelineSchedule schedule = MakePipelineSchedule(EqualStages(1, 3));
    QCOMPARE(OrderOf(schedule, 0), std::string("F0 B0 F1 B1 F2 B2"));
    QCOMPARE(schedule.seconds, 9.0);
    QCOMPARE(IdleShare(schedule), 0.0);
  }

  void oneMicroBatchVisitsTheStagesInTurn() {
    const PipelineSchedule schedule = MakePipelineSchedule(EqualStages(3, 1, 0.5));
    const std::vector<PipelineBar> first = {{Kind::kForward, 0, 0, 0, 1},
                                            {Kind::kSend, 0, 0, 1, 1.5},
                                            {Kind::kIdle, 0, 0, 1.5, 9},
                                            {Kind::kBackward, 0, 0, 9, 11}};
    QCOMPARE(BarsOf(schedule, 0), first);
    const std::vector<PipelineBar> last = {{Kind::kIdle, 2, 0, 0, 3},
                                           {Kind::kForward, 2, 0, 3, 4},
                                           {Kind::kBackward, 2, 0, 4, 6},
                                           {Kind::kSend, 2, 0, 6, 6.5},
                                           {Kind::kIdle, 2, 0, 6.5, 11}};
    QCOMPARE(BarsOf(schedule, 2), last);
  }

  // The slowest stage waits 1 s for its first activations and 1 s for its first gradients. The
  // first stage then makes the last backward pass.
  void theSlowestStageDecides() {
    PipelineTimes times = EqualStages(3, 8);
    times.stages[1] = {2, 4};
    const PipelineSchedule schedule = MakePipelineSchedule(times);
    QCOMPARE(schedule.seconds, 1 + 1 + 8 * 6.0 + 2);
    QVERIFY(WrongOf(times, schedule).empty());
  }

  // Only two messages fit between two stages. With more, a fast first stage would have made all of
  // its forward passes by then.
  void aSendWaitsForRoom() {
    PipelineTimes times = EqualStages(6, 6);
    times.stages[1] = {10, 20};
    const PipelineSchedule schedule = MakePipelineSchedule(times);
    const auto forward = PassesOf(schedule, Kind::kForward);
    // The second stage takes micro-batch 0 at 1 and micro-batch 1 at 11. Micro-batch 3 can be sent
    // from then on.
    QCOMPARE(forward.at({0, 2}).end, 3.0);
    QCOMPARE(forward.at({0, 3}).end, 4.0);
    QCOMPARE(forward.at({0, 4}).begin, 11.0);
    QVERIFY(WrongOf(times, schedule).empty());
  }

  void randomStages() {
    std::mt19937_64 rng(test::Seed());
    const auto between = [&rng](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(rng);
    };
    for (int i = 0; i < 300; ++i) {
      PipelineTimes times;
      const std::int64_t stages = between(1, 9);
      for (std::int64_t s = 0; s < stages; ++s) {
        times.stages.push_back(
            {static_cast<double>(between(1, 40)) / 7, static_cast<double>(between(1, 80)) / 7});
        if (s > 0) times.sends.push_back(static_cast<double>(between(0, 20)) / 7);
      }
      times.micro_batches = between(1, 20);
      const PipelineSchedule schedule = MakePipelineSchedule(times);
      const std::string wrong = WrongOf(times, schedule);
      QVERIFY2(wrong.empty(), wrong.c_str());
      QVERIFY(Near(MakePipelineSchedule(Scaled(times, 3)).seconds, 3 * schedule.seconds));
    }
  }

  // The picture and the estimate of the same step agree, also where ranks share cores.
  void anEstimateTakesAsLongAsTheCostModelSays() {
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    for (const char* shape : {"pp=4", "dp=2,pp=2", "dp=2,tp=2,pp=2", "tp=2"}) {
      for (const std::int64_t cores : {2, 64}) {
        const ptc::MeshShape mesh = *ptc::ParseMeshShape(shape);
        std::vector<ptc::DeviceId> devices;
        for (std::int32_t i = 0; i < mesh.num_ranks(); ++i) devices.push_back({i / 4, i % 4});
        const ptc::DeviceMesh placed = *ptc::DeviceMesh::Make(mesh, devices);
        engine::Calibration calibration;
        calibration.cores = cores;
        const auto estimate = EstimatePipeline(settings, placed, {}, {}, calibration);
        const auto cost = EstimateStep(settings, placed, {}, {}, calibration);
        const PipelineSchedule schedule = MakePipelineSchedule(estimate.times);
        QVERIFY(Near(schedule.seconds + estimate.rest, cost.total()));
        QCOMPARE(schedule.stages, mesh[ptc::Axis::kPp]);
        const auto& stage = estimate.times.stages.front();
        QVERIFY(Near(stage.backward, 2 * stage.forward));
      }
    }
  }
};

TESSERA_TEST_APPLESS(PipelineScheduleTest)
#include "pipeline_schedule_test.moc"
