// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A lesson as values: a simulated cluster with a job, and steps with text, actions, a question and
/// a task. Files of lessons are described for their authors in resources/guide/lessons.md.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ptc/base/json_reader.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// The most words of a text that is read in one go, such as that of a step.
inline constexpr int kMostLessonWords = 60;
inline constexpr std::int64_t kMostLessonDevices = 4096;

struct LessonCluster {
  std::int64_t nodes = 2;
  std::int64_t gpus = 4;                              // of each node
  std::int64_t memory_bytes = std::int64_t{1} << 29;  // of each GPU
  double network_bytes_per_second = 1e9;              // of a node, in each direction
  double host_bytes_per_second = 6e9;                 // of a GPU inside its node
  friend bool operator==(const LessonCluster&, const LessonCluster&) = default;
};

struct LessonJob {
  std::string model;  // of the built-in trainer or of the catalogue, or the name of `tensors`
  std::string tensors = {}, rules = {};  // files that are part of the lesson (ptc/FORMAT.md)
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices = {};  // in rank order; empty: the first ones
  bool zero = false;
  std::int64_t global_batch = 16;
  std::int64_t micro_batch = 0;  // 0: the trainer chooses
  friend bool operator==(const LessonJob&, const LessonJob&) = default;
};

struct LessonSetup {
  LessonCluster cluster;
  LessonJob job;
  friend bool operator==(const LessonSetup&, const LessonSetup&) = default;
};

/// A change of the job. What is not set stays as it is.
struct LessonChange {
  std::optional<ptc::MeshShape> mesh = {};                 // empty: chosen by search
  std::optional<std::vector<ptc::DeviceId>> devices = {};  // empty: those of now, then idle ones
  std::optional<bool> zero = {};
  std::optional<std::int64_t> micro_batch = {};
  bool relay = true;  // whether bytes may be forwarded inside a node
  bool pin = false;   // `devices` are in rank order; else their order is free
  friend bool operator==(const LessonChange&, const LessonChange&) = default;
};

// Actions, each done when its step begins.
/// Shows the plan of a change. Nothing moves.
struct LessonPlanAction {
  LessonChange change;
  friend bool operator==(const LessonPlanAction&, const LessonPlanAction&) = default;
};
/// Shows the plan in which GPUs exchange their places, each of `some` with that of `others` at the
/// same position. A GPU without a rank takes the other's place in the job. Nothing moves.
struct LessonSwapAction {
  std::vector<ptc::DeviceId> some, others;  // of equal length
  friend bool operator==(const LessonSwapAction&, const LessonSwapAction&) = default;
};
/// Carries out the plan shown.
struct LessonMoveAction {
  friend bool operator==(const LessonMoveAction&, const LessonMoveAction&) = default;
};
/// These devices fail; their state cannot be read any more.
struct LessonLoseAction {
  std::vector<std::int32_t> nodes;
  std::vector<ptc::DeviceId> devices;
  friend bool operator==(const LessonLoseAction&, const LessonLoseAction&) = default;
};
/// Begins again with the cluster and the job of the lesson.
struct LessonResetAction {
  friend bool operator==(const LessonResetAction&, const LessonResetAction&) = default;
};
/// Shows a view: "mesh", "tensors", "links" or "data".
struct LessonViewAction {
  std::string view;
  friend bool operator==(const LessonViewAction&, const LessonViewAction&) = default;
};
/// Selects devices; none: clears the selection.
struct LessonSelectAction {
  std::vector<ptc::DeviceId> devices;
  friend bool operator==(const LessonSelectAction&, const LessonSelectAction&) = default;
};
/// Opens a tensor in the view of tensors.
struct LessonTensorAction {
  std::string name;
  friend bool operator==(const LessonTensorAction&, const LessonTensorAction&) = default;
};
/// Colours by "piece", "replica", "stage", "slice", "host" or "memory".
struct LessonColourAction {
  std::string by;
  friend bool operator==(const LessonColourAction&, const LessonColourAction&) = default;
};
/// Moves the camera to devices; none: to everything.
struct LessonFrameAction {
  std::vector<ptc::DeviceId> devices;
  friend bool operator==(const LessonFrameAction&, const LessonFrameAction&) = default;
};
/// Offers an experiment that trains on this machine: "consistency".
struct LessonExperimentAction {
  std::string name;
  friend bool operator==(const LessonExperimentAction&, const LessonExperimentAction&) = default;
};

/// Shows or hides the schedule of a step on the pipeline.
struct LessonPipelineAction {
  bool is_shown = true;
  friend bool operator==(const LessonPipelineAction&, const LessonPipelineAction&) = default;
};

struct LessonAction {
  std::variant<LessonSetup, LessonPlanAction, LessonSwapAction, LessonMoveAction, LessonLoseAction,
               LessonResetAction, LessonViewAction, LessonSelectAction, LessonTensorAction,
               LessonColourAction, LessonFrameAction, LessonExperimentAction, LessonPipelineAction>
      what;
  int line = 1;  // in the file
};

/// A question that is answered before the step goes on. Its answer is an expression that the stage
/// computes, never a number of the file.
struct LessonQuestion {
  struct Choice {
    std::string value;  // an expression
    std::string text;
  };
  std::string ask;
  std::vector<Choice> choices = {};  // empty: the student enters a number
  std::string answer;                // an expression
  double tolerance = 0.05;           // of an entered number, as a fraction
  std::string explain = {};          // shown with the answer
  /// What happens before the answer is computed. The student sees it in a later step.
  std::vector<LessonAction> after = {};
  int line = 1;
};

/// Something to do with the draft. It is done when all conditions hold for the plan of the draft.
struct LessonTask {
  struct Condition {
    std::string text;  // as CheckLessonCondition reads it
    int line = 1;
  };
  std::string text;
  std::vector<Condition> check;
  std::string hint = {};
  LessonChange solution;  // for which all conditions hold; not shown
  int line = 1;
};

struct LessonStep {
  std::string text;
  std::vector<LessonAction> actions = {};
  std::optional<LessonQuestion> predict = {};
  std::optional<LessonTask> task = {};
  int line = 1;
};

struct Lesson {
  std::string name;  // of its file, without path, number and ending
  std::string file;  // as messages name it
  std::string title;
  std::string summary;  // one sentence
  LessonSetup setup;
  std::vector<LessonStep> steps;
};

/// Reads a lesson.
/// \error kInvalidArgument `FILE:LINE:COLUMN: …` for what is no JSON, for an unknown or missing key,
///     a value of another kind or outside its limits, an unknown action, a text above
///     kMostLessonWords words, an expression that cannot be read, a name of a value that does not
///     exist, and for the file of a translation
Result<Lesson> ReadLesson(const NamedText& file);

/// Checks one text of a lesson.
/// \error kInvalidArgument naming the key, for a text that is empty or above kMostLessonWords words,
///     and for an expression that cannot be read
Status CheckLessonText(std::string_view key, std::string_view text);

/// Adds the column to an error `FILE:LINE: …` about a file that still has this text: the column of
/// the first word in quotes, which is the key or the value in question, else that of the first
/// character of the line. Other errors stay as they are.
Error WithLessonColumn(Error error, const NamedText& file);

/// The name of a lesson from that of its file: "what-moves" of "a/05-what-moves.json", and of its
/// translation "a/05-what-moves.de.json".
std::string LessonNameOf(std::string_view path);

}  // namespace tessera::engine
