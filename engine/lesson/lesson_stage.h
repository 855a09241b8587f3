// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The simulated cluster of a lesson: what each step shows, and real plans of its changes. A stage
/// is a value: it has no clock, no threads and no connection.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_value.h"
#include "engine/model/gpt.h"
#include "ptc/layout.h"
#include "ptc/plan/outline.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

/// What a setup determines, shared by the states of a lesson.
struct LessonWorld {
  LessonSetup setup;
  JobSettings settings;
  ptc::Topology topology;
  std::vector<ptc::DeviceId> devices;  // all, ascending
  /// \error kNotFound for the model; kInvalidArgument for its tensors
  static Result<std::shared_ptr<const LessonWorld>> Make(const LessonSetup& setup);
};

/// A change with its plan: the same that a cluster would make.
struct LessonPlanned {
  ptc::Layout from, to;
  StepOptions options;
  ptc::Outline outline;
  PlanSummary summary;
  bool fits = true;   // in the memory of each GPU
  bool relay = true;  // as the change allows it
};

/// What is shown after the actions of a step.
struct LessonState {
  std::shared_ptr<const LessonWorld> world;
  ptc::Layout layout;
  StepOptions options;
  std::int64_t epoch = 1;
  std::vector<ptc::DeviceId> lost = {};                 // ascending
  std::shared_ptr<const LessonPlanned> plan = nullptr;  // the newest; null: none yet
  bool is_moved = false;                                // whether `plan` was carried out
  std::string view = "mesh";
  std::string colour = "piece";
  std::string tensor = {};
  std::vector<ptc::DeviceId> selected = {};
  std::vector<ptc::DeviceId> frame = {};  // empty: everything
  std::string experiment = {};
  bool has_pipeline = false;  // whether the schedule of a step is shown
  /// The plan that is shown and not carried out, or nullptr.
  const LessonPlanned* draft() const { return is_moved ? nullptr : plan.get(); }
};
/// Whether both show the same.
bool operator==(const LessonState& a, const LessonState& b);

/// \error kInvalidArgument if the job does not fit on the cluster's GPUs or cannot be cut so
Result<LessonState> StartState(const LessonSetup& setup);

/// Plans a change of the job as it is in `state`.
/// \error kInvalidArgument naming what cannot be cut, or a device that does not exist or is lost;
///     kFailedPrecondition if nothing would change; as engine::ChooseMesh without a mesh
Result<std::shared_ptr<const LessonPlanned>> PlanLessonChange(const LessonState& state,
                                                              const LessonChange& change);

/// The state after an action.
/// \error as PlanLessonChange; kFailedPrecondition for a move without a plan and for a swap of
///     devices without ranks; kInvalidArgument for an unknown device or tensor
Result<LessonState> ActLesson(const LessonState& state, const LessonAction& action,
                              const LessonSetup& setup);

/// The cluster as the panel shows it.
ClusterSnapshot LessonSnapshot(const LessonState& state);

/// The least number of live GPUs that hold a part of the layout; of one tensor if it is given.
std::int64_t HoldersLeft(const LessonState& state, std::optional<int> tensor = {});
/// The bytes that no live GPU holds, one copy of each.
std::int64_t LostBytes(const LessonState& state);

/// All states of a lesson: a state per step, so that going back is exact.
class LessonStage {
 public:
  /// \error `FILE:LINE: …` of the action that cannot be done
  static Result<LessonStage> Make(Lesson lesson);

  const Lesson& lesson() const { return lesson_; }
  std::size_t num_steps() const { return states_.size(); }
  /// \pre step < num_steps()
  const LessonState& StateAt(std::size_t step) const { return states_[step]; }
  /// The state in which the question of a step is answered.
  /// \pre the step has a question
  const LessonState& AnswerState(std::size_t step) const { return answers_[step].value(); }

 private:
  LessonStage() = default;
  Lesson lesson_;
  std::vector<LessonState> states_;
  std::vector<std::optional<LessonState>> answers_;
};

/// The answer of a question, and the choice that has it.
struct LessonAnswer {
  LessonValue value;
  std::vector<LessonValue> choices;       // as in the question
  std::optional<std::size_t> right = {};  // of choices; empty without choices
};
/// \error kInvalidArgument if no choice has the value of the answer, or more than one has
Result<LessonAnswer> AnswerOf(const LessonQuestion& question, const LessonState& state);
/// Whether an entered number is near enough.
bool IsRight(const LessonQuestion& question, const LessonValue& truth, double entered);

/// The conditions of a task for the plan of a draft, or for no draft.
/// \param plan null: nothing is drafted; conditions on a plan then do not hold
std::vector<LessonCheck> CheckTask(const LessonTask& task, const LessonState& state,
                                   const std::shared_ptr<const LessonPlanned>& plan);

/// Runs a lesson from the start to the end: all texts, questions and tasks. Each task must be open
/// before its solution and done with it.
/// \error `FILE:LINE: …`
Status RehearseLesson(const LessonStage& stage);

}  // namespace tessera::engine
