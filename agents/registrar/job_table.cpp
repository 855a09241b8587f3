// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "agents/node/job_row.h"

namespace tessera::agents {
namespace {

// Prefixes of rows.
constexpr std::string_view kJob = "job/", kEnded = "ended-job/";

std::string KeyOf(const std::string& job) { return std::string(kJob) + job; }
std::string EndedKeyOf(const std::string& job) { return std::string(kEnded) + job; }

}  // namespace

Job* JobTable::Find(const std::string& name) {
  const auto it = jobs_.find(name);
  return it == jobs_.end() ? nullptr : &it->second;
}

const Job* JobTable::Find(const std::string& name) const {
  const auto it = jobs_.find(name);
  return it == jobs_.end() ? nullptr : &it->second;
}

Result<Job*> JobTable::Need(const std::string& name) {
  if (Job* job = Find(name)) return job;
  TESSERA_RETURN_IF_ERROR(check_missing_(name));
  std::string known;
  for (const auto& [other, job] : jobs_) known += (known.empty() ? "" : ", ") + other;
  return NotFound(fmt::format("job '{}' does not exist: {}", name,
                              known.empty() ? "there are no jobs" : "there is " + known));
}

Result<Job*> JobTable::Add(Job job) {
  const std::string name = job.name;
  TESSERA_RETURN_IF_ERROR(Journal(job, {{EndedKeyOf(name), std::nullopt}}));
  ended_.erase(name);
  return &jobs_.emplace(name, std::move(job)).first->second;
}

// The row may stay if the disk fails now: the mark holds.
Status JobTable::JournalEnd(const std::string& name) {
  const Status put = journal_.Put(EndedKeyOf(name), "");
  if (publisher_.NoteJournaled(put)) {
    static_cast<void>(journal_.Erase(KeyOf(name)));
  } else {
    left_marks_.insert(name);  // the disk may have it although it says that it does not
    EraseLeftMarks();
  }
  return put;
}

void JobTable::EraseLeftMarks() {
  std::erase_if(left_marks_, [this](const std::string& name) {
    return !jobs_.contains(name) || journal_.Erase(EndedKeyOf(name)).has_value();
  });
}

void JobTable::Erase(const std::string& name) {
  jobs_.erase(name);
  ended_.insert(name);
}

Status JobTable::Journal(const Job& job, std::vector<engine::RowChange> others) {
  const JobTableRow row{{engine::ToJson(job.settings), job.layout, job.epoch, job.timeline},
                        job.options,
                        job.slot,
                        job.state,
                        job.reason,
                        job.step,
                        job.on_failure,
                        job.stays_paused,
                        job.restarts,
                        job.attempt,
                        job.waits,
                        UsualStepSeconds(job),
                        job.snapshots,
                        job.remains,
                        job.given_up};
  others.push_back({KeyOf(job.name), ToText(row)});
  Status put = journal_.Write(others);
  publisher_.NoteJournaled(put);
  EraseLeftMarks();
  return put;
}

Status JobTable::Recover() {
  TESSERA_TRY(const auto marks, journal_.List(kEnded));
  for (const auto& [key, text] : marks) ended_.insert(key.substr(kEnded.size()));
  TESSERA_TRY(const auto rows, journal_.List(kJob));
  for (const auto& [key, text] : rows) {
    if (ended_.contains(key.substr(kJob.size()))) continue;
    TESSERA_TRY(JobTableRow row, ParseJobTableRow(key, text));
    TESSERA_TRY(engine::JobSettings settings, engine::ParseJobSettings(row.job.settings));
    Job job(key.substr(kJob.size()), std::move(settings), std::move(row.job.layout));
    job.epoch = row.job.epoch;
    job.timeline = row.job.timeline;
    job.options = row.options;
    job.slot = row.slot;
    job.state = row.state;
    job.reason = row.reason;
    job.step = row.step;
    job.on_failure = row.on_failure;
    job.stays_paused = row.stays_paused;
    job.restarts = row.restarts;
    job.attempt = row.attempt;
    job.last_step = timers_.now();
    job.suspended_since = timers_.now();
    job.remains = std::move(row.remains);
    job.given_up = std::move(row.given_up);
    job.unreported = NodesOf(job);
    job.waits = row.waits;
    job.usual_step_seconds = row.usual_step_seconds;
    job.snapshots = row.snapshots;
    if (job.state == engine::JobState::kStarting) {
      job.state = engine::JobState::kFailed;
      job.reason = "the registrar's agent restarted while it started";
    }
    for (const std::int32_t node : NodesOf(job)) members_.Expect(node, timers_.now());
    jobs_.emplace(job.name, std::move(job));
  }
  return OkStatus();
}

Status JobTable::CheckDevice(ptc::DeviceId id, const std::string& job) const {
  TESSERA_RETURN_IF_ERROR(members_.CheckDevice(id, timers_.now()));
  for (const auto& [name, other] : jobs_) {
    if (name != job && Has(other, id)) {
      return FailedPrecondition(fmt::format("device {} is in job '{}'", ToString(id), name));
    }
  }
  return OkStatus();
}

}  // namespace tessera::agents
