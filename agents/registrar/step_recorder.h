// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Receives the steps that ranks report and writes their samples to the history: each step once and
/// in order, even across restarts of agents. Agents repeat the steps after the last recorded one.
/// The rate of a step without a time, such as the first one after a pause, is unknown: NaN.

#include <cstdint>
#include <functional>
#include <vector>

#include "agents/registrar/job_table.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

class StepRecorder : public RegistrarPart {
 public:
  /// Called after each report of a step.
  using OnProgress = std::function<void(const Job& job)>;
  /// Called when the program of a job has requested a checkpoint, once per step.
  using OnCheckpoint = std::function<void(const Job& job)>;
  StepRecorder(const Common& common, JobTable& jobs, OnProgress on_progress,
               OnCheckpoint on_checkpoint)
      : RegistrarPart(common),
        jobs_(jobs),
        on_progress_(std::move(on_progress)),
        on_checkpoint_(std::move(on_checkpoint)) {}

  void OnStep(const wire::StepReport& message);
  /// The node has repeated all that it knows.
  void OnRepeated(std::int32_t node, const wire::StepsRepeated& message);
  /// Publishes and records the samples that follow the last recorded step without a gap; with
  /// `all`, all samples.
  void Release(Job& job, bool all);
  /// Takes the sample of the step that a suspended job continues after from the decision in its
  /// arenas, if nobody has reported it.
  void RecordDecided(Job& job, std::int64_t step);
  /// Writes the samples that wait.
  void Flush();
  /// Deletes a bounded number of old rows if the history exceeds its limits.
  void Retain();
  /// Which steps an earlier registrar has recorded.
  Status Recover();
  /// Forgets that, for a new job of this name.
  void ForgetRow(const std::string& job);
  /// Records all pending samples, then expects the step after `step` next.
  void RestartCountAt(Job& job, std::int64_t step);

 private:
  /// Whether no node can know a step that none has repeated.
  bool HaveAllRepeated(const Job& job) const;
  /// Asks the nodes for the step after the last recorded one, now and then.
  /// \return whether nobody will report it any more
  bool IsGapForGood(Job& job);
  /// Measures Job::gap with a step that is later than all others.
  void NoteGap(Job& job, const wire::StepReport& message);
  /// \pre the step is not recorded yet
  void Add(Job& job, const wire::StepReport& message);
  /// Adds metrics to the last recorded step.
  void AddLate(Job& job, const wire::StepReport& message);

  JobTable& jobs_;
  const OnProgress on_progress_;
  const OnCheckpoint on_checkpoint_;
  std::vector<engine::Sample> samples_;  // that wait
  Clock::time_point next_retention_{};
};

}  // namespace tessera::agents
