// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/history/unreadable_rows.h"
#include "ptc/base/utf8.h"

namespace tessera::agents {
namespace {

// Prefixes of rows.
constexpr std::string_view kJob = "job/", kEnded = "ended-job/";

std::string KeyOf(const std::string& job) { return std::string(kJob) + job; }
std::string EndedKeyOf(const std::string& job) { return std::string(kEnded) + job; }

// Of a name; an older one then counts as unknown, and its state is kept.
constexpr std::size_t kMostEnded = 64;

std::string OriginsText(const std::set<std::uint64_t>& origins) {
  return fmt::format("{}", fmt::join(origins, " "));
}
// An earlier version wrote nothing, of a job without an origin.
Result<std::set<std::uint64_t>> ParseOrigins(const std::string& key, const std::string& text) {
  std::set<std::uint64_t> origins;
  std::istringstream in(text);
  for (std::uint64_t origin = 0; in >> origin;) origins.insert(origin);
  if (!in.eof())
    return DataLoss(
        fmt::format("journal row '{}' is '{}', not a list of numbers", key, Escaped(text)));
  if (origins.empty()) origins.insert(0);
  return origins;
}

std::uint64_t OriginOn(const Membership::Node& node, const std::string& job) {
  const auto reported = node.origins.find(job);
  return reported == node.origins.end() ? 0 : reported->second;
}
// If a node of the job itself holds another one, the row is that of an earlier job.
bool IsOther(const UnknownJobs::Held& held, std::int32_t node, const Job& job) {
  const bool differs = held.origin != 0 && job.start != 0 && held.origin != job.start;
  return differs && !HasNode(job, node);
}

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
  TESSERA_RETURN_IF_ERROR(CheckExplained(name));
  TESSERA_RETURN_IF_ERROR(check_missing_(name));
  std::string known;
  for (const auto& [other, job] : jobs_) known += (known.empty() ? "" : ", ") + other;
  return NotFound(fmt::format("job '{}' does not exist: {}", name,
                              known.empty() ? "there are no jobs" : "there is " + known));
}

// The mark of earlier jobs stays: it names their origins.
Result<Job*> JobTable::Add(Job job) {
  const std::string name = job.name;
  TESSERA_RETURN_IF_ERROR(Journal(job));
  return &jobs_.emplace(name, std::move(job)).first->second;
}

Result<Job*> JobTable::Restore(const std::string& name, JobTableRow row) {
  TESSERA_TRY(engine::JobSettings settings, engine::ParseJobSettings(row.job.settings));
  if (const Job* const old = Find(name)) {
    const bool is_other = old->start != 0 && row.job.origin != 0 && old->start != row.job.origin;
    if (is_other) {
      return AlreadyExists(fmt::format(
          "job '{}' exists, and what its nodes hold is of another job: stop the job, and "
          "rebuild again",
          name));
    }
    row.on_failure = old->on_failure;
    row.snapshots = old->snapshots;
    row.stays_paused = old->stays_paused;
    row.owner = old->owner;
  }
  row.keeps_snapshots = !row.snapshots.is_on();
  const Status put = journal_.Put(KeyOf(name), ToText(row));
  if (!publisher_.NoteJournaled(put)) return put.error();
  jobs_.erase(name);
  Insert(name, std::move(settings), std::move(row));
  static_cast<void>(ForgetSetAside(name));  // the job is in the table, whatever the disk says
  for (const auto& [number, node] : members_.nodes()) NoteHeld(node);
  return Find(name);
}

std::vector<std::string> JobTable::SetAsideJobs() const {
  std::vector<std::string> names;
  for (const std::string& name : unreadable_) {
    if (IsSetAside(name)) names.push_back(name);
  }
  return names;
}

bool JobTable::IsSetAside(const std::string& name) const {
  return unreadable_.contains(name) && !Find(name) && !unknown_.Contains(name);
}

Status JobTable::ForgetSetAside(const std::string& name) {
  if (!unreadable_.contains(name)) return OkStatus();
  TESSERA_RETURN_IF_ERROR(journal_.Erase(engine::kUnreadable + KeyOf(name)));
  unreadable_.erase(name);
  return OkStatus();
}

// The row may stay if the disk fails now: the mark holds.
Status JobTable::JournalEnd(const std::string& name) {
  std::set<std::uint64_t> origins = EndedOf(name);
  origins.insert(jobs_.at(name).start);
  if (origins.size() > kMostEnded) origins.erase(origins.begin());
  const Status put = journal_.Put(EndedKeyOf(name), OriginsText(origins));
  if (publisher_.NoteJournaled(put)) {
    left_marks_.erase(name);
    world_.fault_point("registrar.job_ended");
    static_cast<void>(journal_.Erase(KeyOf(name)));
  } else {
    left_marks_.insert(name);  // the disk may have it although it says that it does not
    EraseLeftMarks();
  }
  return put;
}

void JobTable::EraseLeftMarks() {
  std::erase_if(left_marks_, [this](const std::string& name) {
    const auto earlier = ended_.find(name);
    const Status undone = earlier == ended_.end()
                              ? journal_.Erase(EndedKeyOf(name))
                              : journal_.Put(EndedKeyOf(name), OriginsText(earlier->second));
    return undone.has_value();
  });
}

void JobTable::Erase(const std::string& name) {
  std::set<std::uint64_t>& origins = ended_[name];
  origins.insert(jobs_.at(name).start);
  if (origins.size() > kMostEnded) origins.erase(origins.begin());
  jobs_.erase(name);
}

Status JobTable::EndUnknown(const std::string& name) {
  std::set<std::uint64_t> origins = EndedOf(name);
  if (const Job* const job = Find(name)) origins.insert(job->start);
  for (const auto& [node, held] : unknown_.HoldersOf(name)) origins.insert(held.origin);
  while (origins.size() > kMostEnded) origins.erase(origins.begin());
  const Status put = journal_.Put(EndedKeyOf(name), OriginsText(origins));
  if (!publisher_.NoteJournaled(put)) {
    left_marks_.insert(name);
    EraseLeftMarks();
    return put;
  }
  left_marks_.erase(name);
  world_.fault_point("registrar.job_ended");
  static_cast<void>(journal_.Erase(KeyOf(name)));
  static_cast<void>(ForgetSetAside(name));
  ended_[name] = std::move(origins);
  return OkStatus();
}

std::set<std::uint64_t> JobTable::EndedOf(const std::string& name) const {
  const auto found = ended_.find(name);
  return found == ended_.end() ? std::set<std::uint64_t>() : found->second;
}

bool JobTable::HasEnded(const std::string& name, std::uint64_t origin) const {
  if (!ended_.contains(name)) return false;
  return origin == 0 ? !jobs_.contains(name) : ended_.at(name).contains(origin);
}

// ---- what nodes hold

JobTable::Claim JobTable::ClaimOf(const Membership::Node& node,
                                  const wire::NodeDevice& device) const {
  const std::string& name = device.job();
  const std::uint64_t origin = OriginOn(node, name);
  if (HasEnded(name, origin)) return Claim::kStale;
  const Job* const job = Find(name);
  if (!job) return Claim::kUnknown;
  if (origin != 0 && job->start != 0 && origin != job->start) return Claim::kUnknown;
  if (is_changing_ && is_changing_(name)) return Claim::kKnown;
  // What a move in rounds has left is at several epochs.
  if (device.epoch() > job->epoch && !job->remains) return Claim::kUnknown;
  if (IsOn(node, *job)) return Claim::kKnown;
  // Rounds that were given up leave devices at the epoch that the job then continues at.
  const bool is_same = origin != 0 && origin == job->start;
  return is_same || device.epoch() < job->epoch ? Claim::kStale : Claim::kUnknown;
}

void JobTable::NoteHeld(const Membership::Node& node) {
  UnknownJobs::ByJob held;
  for (const wire::NodeDevice& device : node.devices) {
    if (!IsJobName(device.job()) || ClaimOf(node, device) != Claim::kUnknown) continue;
    UnknownJobs::Held& row = held[device.job()];
    row.epoch = std::max(row.epoch, device.epoch());
    row.origin = OriginOn(node, device.job());
    row.devices.push_back({node.number, device.index()});
  }
  for (const std::string& name : unknown_.Note(node.number, held)) {
    members_.MarkChanged(node.number);
    MarkDirty();
    Status explained = CheckExplained(name);
    if (explained) explained = CheckNode(node.number, name);
    if (!explained && held.contains(name)) {  // the node may have stopped holding it
      AddEvent(engine::Severity::kError, fmt::format("n{}", node.number),
               explained.error().message);
    }
  }
}

bool JobTable::IsInDoubt(const std::string& name) const {
  const Job* const job = Find(name);
  return std::ranges::any_of(unknown_.HoldersOf(name), [job](const auto& holder) {
    return !job || !IsOther(holder.second, holder.first, *job);
  });
}

bool JobTable::IsExplained(const std::string& name) const {
  return !unknown_.Contains(name) && (jobs_.contains(name) || ended_.contains(name));
}

bool JobTable::IsExplained(const std::string& name, std::uint64_t origin) const {
  const Job* const job = Find(name);
  if (origin == 0 || (job && job->start == 0)) return IsExplained(name);
  if (HasEnded(name, origin)) return true;
  return job && job->start == origin && !IsInDoubt(name);
}

bool JobTable::IsExplainedOn(std::int32_t node, const std::string& name) const {
  const bool is_known = jobs_.contains(name) || ended_.contains(name);
  return is_known && !IsInDoubt(name) && !unknown_.HoldersOf(name).contains(node);
}

Status JobTable::CheckExplained(const std::string& name) const {
  const Job* const job = Find(name);
  if (IsSetAside(name)) {
    return FailedPrecondition(fmt::format(
        "the row of job '{}' in registrar.db cannot be read and is kept aside, and no node has "
        "reported the job: start its nodes, and `tesseractl registrar rebuild` restores it; "
        "`tesseractl job stop {}` forgets the row",
        name, name));
  }
  if (!IsInDoubt(name)) return OkStatus();
  return FailedPrecondition(unknown_.TextOf(name, job ? job->epoch : 0));
}

Status JobTable::CheckStoppable(const std::string& name) const {
  const Job* const job = Find(name);
  const auto may_be_its = [job](const auto& holder) {
    return !job || job->MayOwn(holder.second.origin);
  };
  if (std::ranges::none_of(unknown_.HoldersOf(name), may_be_its)) return OkStatus();
  return FailedPrecondition(unknown_.TextOf(name, job ? job->epoch : 0));
}

Status JobTable::CheckNode(std::int32_t node, const std::string& name) const {
  const Job* const job = Find(name);
  const auto& holders = unknown_.HoldersOf(name);
  const auto holder = holders.find(node);
  if (!job || holder == holders.end() || !IsOther(holder->second, node, *job)) return OkStatus();
  return FailedPrecondition(unknown_.OtherTextOf(name, node));
}

Status JobTable::Journal(const Job& job, std::vector<engine::RowChange> others) {
  const JobTableRow row{{engine::ToJson(job.settings), job.layout, job.epoch, job.timeline,
                         job.start, job.options.micro_batch},
                        job.options,
                        job.slot,
                        job.lost_start ? engine::JobState::kStarting : job.state,
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
                        job.given_up,
                        job.earlier,
                        job.keeps_snapshots,
                        job.finished,
                        job.owner,
                        job.start_request};
  // First, because nodes get copies of the rows one by one: a copy without the row of a transaction
  // has its outcome in the row of the job.
  others.insert(others.begin(), {KeyOf(job.name), ToText(row)});
  Status put = journal_.Write(others);
  publisher_.NoteJournaled(put);
  EraseLeftMarks();
  return put;
}

Status JobTable::Recover() {
  TESSERA_TRY(const auto marks, journal_.List(kEnded));
  for (const auto& [key, text] : marks) {
    auto origins = ParseOrigins(key, text);
    if (origins) {
      ended_[key.substr(kEnded.size())] = std::move(*origins);
    } else {
      TESSERA_RETURN_IF_ERROR(SetAside(key, text, origins.error()));
    }
  }
  TESSERA_TRY(const auto rows, journal_.List(kJob));
  for (const auto& [key, text] : rows) {
    if (const Status read = RecoverRow(key, text); !read) {
      TESSERA_RETURN_IF_ERROR(SetAside(key, text, read.error()));
    }
  }
  const std::string prefix = engine::kUnreadable + std::string(kJob);
  TESSERA_TRY(const auto aside, journal_.List(prefix));
  for (const auto& [key, text] : aside) unreadable_.insert(key.substr(prefix.size()));
  return OkStatus();
}

Status JobTable::RecoverRow(const std::string& key, const std::string& text) {
  const std::string name = key.substr(kJob.size());
  TESSERA_TRY(JobTableRow row, ParseJobTableRow(key, text));
  if (EndedOf(name).contains(row.job.origin)) return OkStatus();
  TESSERA_TRY(engine::JobSettings settings, engine::ParseJobSettings(row.job.settings));
  const bool was_starting = row.state == engine::JobState::kStarting;
  Insert(name, std::move(settings), std::move(row));
  jobs_.at(name).lost_start = was_starting;
  return OkStatus();
}

void JobTable::Insert(const std::string& name, engine::JobSettings settings, JobTableRow row) {
  Job job(name, std::move(settings), std::move(row.job.layout));
  job.start = row.job.origin;
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
  job.earlier = std::move(row.earlier);
  job.unreported = NodesOf(job);
  job.waits = row.waits;
  job.usual_step_seconds = row.usual_step_seconds;
  job.snapshots = row.snapshots;
  job.keeps_snapshots = row.keeps_snapshots;
  job.finished = row.finished;
  job.owner = std::move(row.owner);
  job.start_request = row.start_request;
  if (job.state == engine::JobState::kStarting) {
    job.state = engine::JobState::kFailed;
    job.reason = "the registrar's agent restarted while it started";
  }
  for (const std::int32_t node : NodesOf(job)) members_.Expect(node, timers_.now());
  jobs_.emplace(job.name, std::move(job));
}

Status JobTable::CheckDevice(ptc::DeviceId id, const std::string& job) const {
  if (!members_.Find(id.node) && publisher_.HasJoined(id.node)) {
    return Membership::NotRegistered(id);
  }
  TESSERA_RETURN_IF_ERROR(members_.CheckDevice(id, timers_.now()));
  const Membership::Node& node = *members_.Find(id.node);
  const wire::NodeDevice& device = *members_.FindDevice(id);
  if (!device.job().empty() && ClaimOf(node, device) == Claim::kUnknown) {
    TESSERA_RETURN_IF_ERROR(CheckExplained(device.job()).Context(ToString(id)));
    TESSERA_RETURN_IF_ERROR(CheckNode(id.node, device.job()).Context(ToString(id)));
  }
  TESSERA_RETURN_IF_ERROR(CheckNode(id.node, job).Context(ToString(id)));
  for (const auto& [name, other] : jobs_) {
    if (name != job && Has(other, id)) {
      return FailedPrecondition(fmt::format("device {} is in job '{}'", ToString(id), name));
    }
  }
  return OkStatus();
}

}  // namespace tessera::agents
