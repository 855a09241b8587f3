// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// When each forward and backward pass of a training step begins and ends on each pipeline stage.

#include <cstdint>
#include <vector>

namespace tessera::engine {

/// Messages in one direction that fit between two stages. One more waits until the receiver takes
/// the first (Collective::kMaxInFlight of the trainer).
inline constexpr std::int64_t kStageMessages = 2;

/// The costs of one step on one pipeline, in seconds.
struct PipelineTimes {
  struct Stage {
    double forward = 0, backward = 0;  // of one micro-batch
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  std::vector<Stage> stages;  // at least one
  /// [s]: a message between stages s and s + 1, in either direction. One entry less than stages.
  std::vector<double> sends = {};
  std::int64_t micro_batches = 1;
  friend bool operator==(const PipelineTimes&, const PipelineTimes&) = default;
};

/// What a stage does from `begin` to `end`.
struct PipelineBar {
  enum class Kind : std::uint8_t {
    kForward,
    kBackward,
    kSend,  // of the pass before it
    kIdle,  // the bubble: the stage waits for another one
  };
  Kind kind = Kind::kForward;
  std::int64_t stage = 0;
  /// Of an idle time: the micro-batch that comes next, or the last one at the end of the step.
  std::int64_t micro_batch = 0;
  double begin = 0, end = 0;  // seconds since the begin of the step
  double seconds() const { return end - begin; }
  friend bool operator==(const PipelineBar&, const PipelineBar&) = default;
};

struct PipelineSchedule {
  std::int64_t stages = 1, micro_batches = 1;
  double seconds = 0;  // from the first pass to the end of the last one
  /// By stage, then by time. The bars of a stage cover `seconds` without gaps and overlaps.
  std::vector<PipelineBar> bars = {};
  friend bool operator==(const PipelineSchedule&, const PipelineSchedule&) = default;
};

/// Simulates one step in the order of OneForwardOneBackward, as the built-in trainer runs it
/// (PipeDream-Flush; Narayanan et al., SC 2021, section 2.2.1). A stage begins a pass when its
/// message has arrived, and sends the result before the next pass. A send waits while
/// kStageMessages messages are not yet taken.
///
/// With equal stages and free sends, each stage is idle for (p - 1) / (m + p - 1) of the step.
/// Costs O(stages x micro-batches) time and memory.
/// \pre times.sends.size() + 1 == times.stages.size(), micro_batches >= 1, no time is negative
PipelineSchedule MakePipelineSchedule(const PipelineTimes& times);

/// Returns the share of the step in which an average stage waits for others, 0 to 1.
double IdleShare(const PipelineSchedule& schedule);

/// Multiplies all times by `factor`. The schedule of the result is the same, but for its unit.
PipelineTimes Scaled(PipelineTimes times, double factor);

}  // namespace tessera::engine
