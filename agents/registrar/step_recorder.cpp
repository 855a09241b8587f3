// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/step_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "engine/history/unreadable_rows.h"

namespace tessera::agents {
namespace {

constexpr std::size_t kStepsOfMedian = 20;
/// How often a node is asked for a missing step after a later one has arrived, until it answers. An
/// agent that restarted or was cut off repeats its steps when it registers, within 2 s.
constexpr auto kAskAgain = std::chrono::seconds(1);
/// Earlier answers do not count: a rank may still repeat to its agent what that has missed.
constexpr auto kEarliest = std::chrono::seconds(5);
/// How long the registrar waits for a node that does not answer. Only that node may know the step.
constexpr auto kPatience = std::chrono::seconds(60);
/// In seconds.
constexpr double kLongestStep = 24 * 3600;

/// Samples kept in memory while the history cannot be written.
constexpr std::size_t kMostWaiting = 100000;
constexpr auto kRetentionPeriod = std::chrono::minutes(1);

std::string KeyOf(const std::string& job) { return "recorded/" + job; }

bool IsSame(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Ranks that were started again may report other names than before.
void NoteMetrics(const wire::StepReport& m, Job& job) {
  for (const auto& [name, value] : m.metrics()) {
    const bool has_room = job.metrics.size() < engine::kMaxMetrics || job.metrics.contains(name);
    if (has_room) job.metrics[name] = value;
  }
}

/// Returns whether the sample differs now.
bool AddMetrics(const wire::StepReport& m, engine::Sample& sample) {
  bool differs = false;
  for (const auto& [name, value] : m.metrics()) {
    const auto found = sample.metrics.find(name);
    const bool is_known = found != sample.metrics.end();
    if (is_known && IsSame(found->second, value)) continue;
    if (!is_known && sample.metrics.size() >= engine::kMaxMetrics) continue;
    sample.metrics[name] = value;
    differs = true;
  }
  return differs;
}

}  // namespace

void StepRecorder::OnStep(const wire::StepReport& m) {
  Job* job = jobs_.Find(m.job());
  if (!job || m.timeline() != job->timeline) return;
  if (m.step() > job->recorded && !job->ahead.contains(m.step())) Add(*job, m);
  if (m.step() == job->recorded) AddLate(*job, m);
  // A step that waits for an earlier one gets its late metrics while it waits.
  if (const auto waiting = job->ahead.find(m.step()); waiting != job->ahead.end()) {
    static_cast<void>(AddMetrics(m, waiting->second));
  }
  // A request after the decision comes with a repeated report.
  if (m.checkpoint() && m.step() > job->checkpoint_step) {
    job->checkpoint_step = m.step();
    on_checkpoint_(*job);
  }
}

// By this clock only, because those of nodes may differ by more than a pause.
void StepRecorder::NoteGap(Job& job, const wire::StepReport& m) {
  const auto now = timers_.now();
  job.newest_step = now;
  if (!job.gap || m.epoch() != job.epoch) return;
  Job::Gap& gap = *job.gap;
  if (!gap.first) {
    gap.first = now;
    return;
  }
  if (!gap.seconds) {
    if (!(m.seconds() > 0)) return job.gap.reset();  // paused again
    const std::chrono::duration<double> between = *gap.first - gap.before;
    gap.seconds = std::max(0.0, between.count() - m.seconds());
  }
  // Its outcome may be recorded after these steps.
  auto entry = world_.history.Transaction(gap.transaction);
  if (!entry || !*entry || (**entry).result.empty()) return;
  (**entry).gap = gap.seconds;
  publisher_.Record(**entry);
  job.gap.reset();
}

void StepRecorder::Add(Job& job, const wire::StepReport& m) {
  if (m.step() > job.step) {
    NoteGap(job, m);
    job.step = m.step();
    job.loss = m.loss();
    job.last_step = timers_.now();
    // The pause after this very step may be reported before the step; it stays.
    std::erase_if(job.paused_nodes,
                  [&](const auto& entry) { return entry.second.step < m.step(); });
    // Deadlines depend on this measurement, so implausible values are ignored.
    if (m.seconds() > 0 && m.seconds() <= kLongestStep && m.epoch() == job.epoch) {
      job.tokens_per_second = static_cast<double>(m.tokens()) / m.seconds();
      job.step_seconds.push_back(m.seconds());
      if (job.step_seconds.size() > kStepsOfMedian) job.step_seconds.pop_front();
    }
    NoteMetrics(m, job);
  }
  engine::Sample sample;
  sample.job = m.job();
  sample.origin = static_cast<std::int64_t>(job.start);
  sample.step = m.step();
  sample.loss = m.loss();
  sample.grad_norm = std::sqrt(m.norm2());
  sample.tokens_per_second = m.seconds() > 0 ? static_cast<double>(m.tokens()) / m.seconds()
                                             : std::numeric_limits<double>::quiet_NaN();
  sample.time = m.time();
  sample.metrics.insert(m.metrics().begin(), m.metrics().end());
  job.ahead.emplace(m.step(), std::move(sample));
  Release(job, false);
  on_progress_(job);
  MarkDirty();
}

void StepRecorder::AddLate(Job& job, const wire::StepReport& m) {
  if (!job.newest || job.newest->step != m.step()) return;
  if (!AddMetrics(m, *job.newest)) return;  // an agent repeats what it knows
  if (m.step() >= job.step) NoteMetrics(m, job);
  publisher_.Publish(*job.newest);
  samples_.push_back(*job.newest);  // replaces the one of the same step
  MarkDirty();
}

// Its ranks may have ended between the decision of the step and their reports.
void StepRecorder::RecordDecided(Job& job, std::int64_t step) {
  for (const ptc::DeviceId id : job.layout.mesh().devices()) {
    const wire::NodeDevice* device = members_.FindDevice(id);
    const bool knows = device && device->job() == job.name && device->epoch() == job.epoch &&
                       device->decision().step() == step;
    if (!knows) continue;
    const wire::StepDecision& decision = device->decision();
    wire::StepReport report;
    report.set_job(job.name);
    report.set_step(step);
    report.set_loss(std::bit_cast<double>(decision.loss()));
    report.set_norm2(std::bit_cast<double>(decision.norm2()));
    report.set_tokens(decision.tokens());
    report.set_epoch(job.epoch);
    report.set_timeline(job.timeline);
    report.set_time(world_.wall_clock());
    OnStep(report);
    return Flush();  // the next step overwrites the decision, and nobody else knows the sample
  }
}

bool StepRecorder::HaveAllRepeated(const Job& job) const {
  return std::ranges::all_of(members_.nodes(), [&](const auto& entry) {
    const auto& [number, node] = entry;
    switch (node.state) {
      case engine::NodeState::kAlive:
        return job.gap_answers.contains(number);
      case engine::NodeState::kJoining:
      case engine::NodeState::kSuspect:
      case engine::NodeState::kUnmanaged:
        // It may come back, and know a step that it has taken part in.
        return !job.layout.mesh().HasNode(number);
      case engine::NodeState::kDead:
      case engine::NodeState::kLeft:
        return true;
    }
    return true;
  });
}

void StepRecorder::OnRepeated(std::int32_t node, const wire::StepsRepeated& m) {
  Job* const job = jobs_.Find(m.job());
  if (!job || !job->gap_since || m.after() != job->recorded) return;
  if (timers_.now() - *job->gap_since < kEarliest) return;
  job->gap_answers.insert(node);
  Release(*job, false);
}

// Answers are counted, not seconds: while the registrar did not run, or a node was away or did not
// hear it, they could not arrive.
bool StepRecorder::IsGapForGood(Job& job) {
  const auto now = timers_.now();
  if (!job.gap_since) {
    job.gap_since = now;
    job.gap_answers.clear();
  }
  if (HaveAllRepeated(job)) return true;
  if (now - job.gap_asked >= kAskAgain) {
    job.gap_asked = now;
    wire::ToNode message;
    message.mutable_repeat_steps()->set_job(job.name);
    message.mutable_repeat_steps()->set_after(job.recorded);
    for (const auto& [number, node] : members_.nodes()) {
      if (!job.gap_answers.contains(number)) static_cast<void>(SendTo(number, message));
    }
  }
  return now - *job.gap_since >= kPatience;
}

void StepRecorder::Release(Job& job, bool all) {
  while (!job.ahead.empty()) {
    const auto next = job.ahead.begin();
    const bool follows = next->first == job.recorded + 1;
    if (!follows && !all && !IsGapForGood(job)) return;
    job.gap_since.reset();  // the next gap has requests of its own
    job.recorded = next->first;
    publisher_.Publish(next->second);
    samples_.push_back(next->second);
    job.newest = std::move(next->second);
    job.ahead.erase(next);
  }
}

void StepRecorder::Flush() {
  for (auto& [name, job] : jobs_) Release(job, false);
  if (samples_.empty()) return;
  std::set<std::string> jobs;
  for (const engine::Sample& sample : samples_) jobs.insert(sample.job);
  const bool added = publisher_.NoteRecorded(world_.history.AddSamples(samples_));
  if (!added && samples_.size() < kMostWaiting)
    return;  // tried again: the disk may have room later
  samples_.clear();
  for (const std::string& name : jobs) {
    const Job* job = jobs_.Find(name);
    if (!job) continue;
    publisher_.NoteJournaled(journal_.Put(KeyOf(name), std::to_string(job->recorded)));
  }
}

void StepRecorder::RestartCountAt(Job& job, std::int64_t step) {
  Release(job, true);
  Flush();
  job.recorded = step;
  job.heard_step = step;
  job.newest.reset();
  job.checkpoint_step = step;
  publisher_.NoteJournaled(journal_.Put(KeyOf(job.name), std::to_string(step)));
}

void StepRecorder::Retain() {
  const auto now = timers_.now();
  if (now < next_retention_) return;
  const engine::Retention limits{config_.history_bytes,
                                 static_cast<double>(config_.history_days) * 86400};
  const auto more = world_.history.Retain(limits, world_.wall_clock());
  if (!more) world_.print("retention: " + more.error().ToString());
  // If rows are left to delete, the next tick continues.
  next_retention_ = more && *more ? now : now + kRetentionPeriod;
}

Status StepRecorder::Recover() {
  for (auto& [name, job] : jobs_) {
    TESSERA_TRY(const std::optional<std::string> row, journal_.Get(KeyOf(name)));
    if (row) {
      const auto recorded = engine::ParseNumberRow(KeyOf(name), *row);
      if (recorded) {
        job.recorded = *recorded;
      } else {
        TESSERA_RETURN_IF_ERROR(SetAside(KeyOf(name), *row, recorded.error()));
        RestartCountAt(job, job.step);
      }
    }
    job.step = std::max(job.step, job.recorded);
    job.checkpoint_step = job.recorded;
  }
  return OkStatus();
}

void StepRecorder::ForgetRow(const std::string& job) {
  static_cast<void>(journal_.Erase(KeyOf(job)));
}

}  // namespace tessera::agents
