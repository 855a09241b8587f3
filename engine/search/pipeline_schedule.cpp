// SPDX-License-Identifier: Apache-2.0
#include "engine/search/pipeline_schedule.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "engine/model/pass_order.h"
#include "engine/search/to_double.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

using Kind = PipelineBar::Kind;

/// The messages from one stage to a neighbour. All micro-batches come in order, so the index of a
/// message is its micro-batch.
struct StageChannel {
  double send_seconds = 0;
  std::vector<double> arrived, taken;  // seconds, by micro-batch
  /// When message `micro_batch` may be sent; nullopt: not known yet.
  std::optional<double> RoomFor(std::int64_t micro_batch) const {
    const std::int64_t before = micro_batch - kStageMessages;
    if (before < 0) return 0;
    if (before >= std::ssize(taken)) return std::nullopt;
    return taken[static_cast<std::size_t>(before)];
  }
};

struct StageRun {
  std::vector<StageAction> actions;
  std::size_t next = 0;
  bool is_sending = false;  // the result of the action before `next`
  double free = 0;          // end of its last bar
  std::vector<PipelineBar> bars = {};
};

class PipelineRun {
 public:
  explicit PipelineRun(const PipelineTimes& times)
      : times_(times), count_(times.stages.size()), down_(count_), up_(count_) {
    for (std::size_t s = 0; s < count_; ++s) {
      runs_.push_back({OneForwardOneBackward(
          static_cast<std::int64_t>(s), static_cast<std::int64_t>(count_), times.micro_batches)});
      if (s + 1 < count_) down_[s].send_seconds = times.sends[s];
      if (s > 0) up_[s].send_seconds = times.sends[s - 1];
    }
  }

  PipelineSchedule Run() {
    // The order cannot lead to stages that wait in a circle, so each sweep advances one at least.
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t s = 0; s < count_; ++s) {
        while (Advance(s)) moves = true;
      }
    }
    PipelineSchedule out{.stages = static_cast<std::int64_t>(count_),
                         .micro_batches = times_.micro_batches};
    for (const StageRun& run : runs_) {
      TESSERA_DCHECK(run.next == run.actions.size() && !run.is_sending);
      out.seconds = std::max(out.seconds, run.free);
    }
    for (std::size_t s = 0; s < count_; ++s) {
      WaitUntil(s, times_.micro_batches - 1, out.seconds);
      out.bars.insert(out.bars.end(), runs_[s].bars.begin(), runs_[s].bars.end());
    }
    return out;
  }

 private:
  /// Makes the next pass or send of a stage if what it waits for is known. Returns whether it did.
  bool Advance(std::size_t s) {
    StageRun& run = runs_[s];
    if (run.is_sending) return Send(s, run.actions[run.next - 1]);
    if (run.next == run.actions.size()) return false;
    const StageAction& action = run.actions[run.next];
    const bool is_forward = action.kind == StageAction::kForward;
    const std::int64_t m = action.micro_batch;
    StageChannel* const from =
        is_forward ? (s > 0 ? &down_[s - 1] : nullptr) : (s + 1 < count_ ? &up_[s + 1] : nullptr);
    if (from != nullptr) {
      if (m >= std::ssize(from->arrived)) return false;
      WaitUntil(s, m, from->arrived[static_cast<std::size_t>(m)]);
      from->taken.push_back(run.free);
    }
    const PipelineTimes::Stage& seconds = times_.stages[s];
    Add(s, is_forward ? Kind::kForward : Kind::kBackward, m,
        is_forward ? seconds.forward : seconds.backward);
    ++run.next;
    run.is_sending = is_forward ? s + 1 < count_ : s > 0;
    return true;
  }

  bool Send(std::size_t s, const StageAction& action) {
    StageChannel& to = action.kind == StageAction::kForward ? down_[s] : up_[s];
    const std::optional<double> room = to.RoomFor(action.micro_batch);
    if (!room) return false;
    WaitUntil(s, action.micro_batch, *room);
    Add(s, Kind::kSend, action.micro_batch, to.send_seconds);
    to.arrived.push_back(runs_[s].free);
    runs_[s].is_sending = false;
    return true;
  }

  void WaitUntil(std::size_t s, std::int64_t micro_batch, double time) {
    if (time > runs_[s].free) AddUntil(s, Kind::kIdle, micro_batch, time);
  }

  void Add(std::size_t s, Kind kind, std::int64_t micro_batch, double seconds) {
    if (seconds > 0) AddUntil(s, kind, micro_batch, runs_[s].free + seconds);
  }

  void AddUntil(std::size_t s, Kind kind, std::int64_t micro_batch, double end) {
    StageRun& run = runs_[s];
    run.bars.push_back({kind, static_cast<std::int64_t>(s), micro_batch, run.free, end});
    run.free = end;
  }

  const PipelineTimes& times_;
  std::size_t count_;
  std::vector<StageRun> runs_;
  std::vector<StageChannel> down_, up_;  // [s]: from stage s to the next, to the one before
};

}  // namespace

PipelineSchedule MakePipelineSchedule(const PipelineTimes& times) {
  TESSERA_DCHECK(!times.stages.empty() && times.sends.size() + 1 == times.stages.size() &&
                 times.micro_batches >= 1);
  return PipelineRun(times).Run();
}

double IdleShare(const PipelineSchedule& schedule) {
  double idle = 0;
  for (const PipelineBar& bar : schedule.bars) {
    if (bar.kind == Kind::kIdle) idle += bar.seconds();
  }
  const double all = ToDouble(schedule.stages) * schedule.seconds;
  return all > 0 ? idle / all : 0;
}

PipelineTimes Scaled(PipelineTimes times, double factor) {
  for (PipelineTimes::Stage& stage : times.stages) {
    stage.forward *= factor;
    stage.backward *= factor;
  }
  for (double& send : times.sends) send *= factor;
  return times;
}

}  // namespace tessera::engine
