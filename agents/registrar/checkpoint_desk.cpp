// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/checkpoint_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <tuple>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/node/job_limits.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/checkpoint/saved_folder.h"
#include "engine/data/is_url.h"
#include "engine/model/shown_settings.h"
#include "engine/search/fit.h"
#include "ptc/base/counted.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

constexpr auto kStall = std::chrono::seconds(120);       // without progress
constexpr auto kFolderTime = std::chrono::seconds(120);  // for acts on folders
constexpr auto kAfterFailure = std::chrono::seconds(60);
constexpr auto kUnreached = std::chrono::seconds(60);  // until one is tried again

constexpr std::string_view kRows = "checkpoint/";
constexpr std::string_view kScheduleRows = "checkpoint-schedule/";
constexpr std::string_view kPartialRows = "checkpoint-partial/";
constexpr std::string_view kLineageRows = "checkpoint-lineage/";

std::string RowKey(std::string_view rows, const std::string& name) {
  return std::string(rows) + name;
}

/// Without secrets: who reads the folder need not know how its job reached the data. Empty for a
/// user's program: a checkpoint must not bring commands that a cluster then runs.
std::string SettingsText(const engine::JobSettings& settings) {
  return settings.program ? std::string() : engine::ShownJson(settings);
}

checkpoint::Manifest ManifestOf(const Job& job, const SharedState& state, double now) {
  checkpoint::Manifest out;
  out.job = state.job;
  out.step = state.step;
  out.timeline = state.timeline;
  out.model = job.settings.program ? "own program" : job.settings.model.name;
  out.mesh = ToString(state.layout.mesh().shape());
  out.created = now;
  out.settings = SettingsText(job.settings);
  return out;
}

std::string PeriodText(engine::SnapshotEvery every) {
  return every.steps > 0 ? Counted(every.steps, "step") : fmt::format("{} s", every.seconds);
}

bool IsNewer(const engine::CheckpointEntry& a, const engine::CheckpointEntry& b) {
  return std::tie(a.created, a.path) > std::tie(b.created, b.path);
}

}  // namespace

Result<StoredState> StateFor(const checkpoint::Manifest& manifest, const std::string& place,
                             const engine::JobSettings& settings, const ptc::Collection& collection,
                             bool parameters_only) {
  TESSERA_TRY(StoredState state, MatchState(manifest, place, collection, parameters_only));
  if (parameters_only || settings.program || manifest.settings.empty()) return state;
  TESSERA_TRY(
      const engine::JobSettings made,
      engine::ParseJobSettings(manifest.settings).Context("checkpoint '" + state.path + "'"));
  const auto differs = [&](const char* what, std::int64_t then, std::int64_t now) {
    return FailedPrecondition(
        fmt::format("checkpoint '{}' does not fit: its job had {} {}, this one has {}; load only "
                    "its parameters",
                    state.path, what, then, now));
  };
  // The position in the data depends on both.
  if (made.seed != settings.seed) return differs("seed", made.seed, settings.seed);
  if (made.global_batch != settings.global_batch) {
    return differs("global batch", made.global_batch, settings.global_batch);
  }
  return state;
}

Status CheckpointDesk::Recover() {
  TESSERA_TRY(const auto rows, journal_.List(std::string(kRows)));
  for (const auto& [key, text] : rows) {
    auto entry = ParseCheckpointRow(key, text);
    if (!entry) {
      TESSERA_RETURN_IF_ERROR(SetAside(key, text, entry.error()));
      continue;
    }
    const std::string path = entry->path;
    known_.insert_or_assign(path, Known{std::move(*entry)});
  }
  TESSERA_TRY(const auto lineages, journal_.List(std::string(kLineageRows)));
  for (const auto& [key, text] : lineages) {
    auto lineage = ParseLineageRow(key, text);
    if (!lineage) {
      TESSERA_RETURN_IF_ERROR(SetAside(key, text, lineage.error()));
      continue;
    }
    entries_[key.substr(kLineageRows.size())].lineage = std::move(*lineage);
  }
  TESSERA_TRY(const auto schedules, journal_.List(std::string(kScheduleRows)));
  for (const auto& [key, text] : schedules) {
    const std::string name = key.substr(kScheduleRows.size());
    const Job* const job = jobs_.Find(name);
    // The schedule of a job that the table does not explain is needed once that is rebuilt.
    if (!job && jobs_.HasEnded(name, 0)) TESSERA_RETURN_IF_ERROR(journal_.Erase(key));
    if (!job) continue;
    auto schedule = ParseScheduleRow(key, text);
    if (!schedule) {
      TESSERA_RETURN_IF_ERROR(SetAside(key, text, schedule.error()));
      continue;
    }
    entries_[name].schedule = std::move(*schedule);
    entries_[name].base_step = job->step;
    entries_[name].base_time = timers_.now();
  }
  TESSERA_TRY(const auto partial, journal_.List(std::string(kPartialRows)));
  for (const auto& [key, text] : partial) left_over_.insert(key.substr(kPartialRows.size()));
  return OkStatus();
}

// ---- requests

Status CheckpointDesk::SetSchedule(const wire::SaveCheckpointRequest& request,
                                   const PendingReply& reply, std::string& text) {
  TESSERA_TRY(Job* const job, jobs_.Need(request.job()));
  engine::CheckpointSchedule schedule;
  TESSERA_TRY(schedule.every, Decode(request.every()));
  schedule.folder = request.folder();
  schedule.keep = request.keep();
  if (schedule.keep < 0) {
    return InvalidArgument(fmt::format("{} checkpoints cannot be kept", schedule.keep));
  }
  const std::string key = RowKey(kScheduleRows, job->name);
  if (!schedule.every.is_on()) {
    TESSERA_RETURN_IF_ERROR(journal_.Erase(key));
    entries_[job->name].schedule.reset();
    text = fmt::format("the schedule for checkpoints of {} is off", job->name);
  } else {
    if (schedule.folder.empty()) return InvalidArgument("a schedule of checkpoints needs a folder");
    TESSERA_RETURN_IF_ERROR(journal_.Put(key, ToText(schedule)));
    Entry& entry = entries_[job->name];
    entry.base_step = job->step;
    entry.base_time = timers_.now();
    entry.not_before.reset();
    text =
        fmt::format("a checkpoint of {} is saved in {} every {}{}", job->name, schedule.folder,
                    PeriodText(schedule.every),
                    schedule.keep > 0 ? fmt::format(", and the newest {} are kept", schedule.keep)
                                      : std::string());
    entry.schedule = std::move(schedule);
  }
  AddEvent(engine::Severity::kInfo, job->name, text + reply.RequesterText());
  MarkDirty();
  return OkStatus();
}

void CheckpointDesk::OnSave(const wire::SaveCheckpointRequest& request, const ReplyPtr& reply) {
  if (!request.folder().empty()) {
    if (engine::IsUrl(request.folder())) {
      return reply->Fail(InvalidArgument(
          fmt::format("'{}' is a URL: checkpoints are saved in folders, and can be read from URLs",
                      engine::ShownUrl(request.folder()))));
    }
    const Status may = CheckCheckpoint(config_.jobs, config_.node, request.folder());
    if (!may) return reply->Fail(may.error());
  }
  if (request.has_every()) {
    std::string text;
    if (const Status set = SetSchedule(request, *reply, text); !set) {
      return reply->Fail(set.error());
    }
    wire::Reply out;
    out.mutable_save_checkpoint()->set_text(text);
    return reply->Done(std::move(out));
  }
  const Result<Job*> job = jobs_.Need(request.job());
  if (!job) return reply->Fail(job.error());
  if (request.folder().empty()) return reply->Fail(InvalidArgument("a checkpoint needs a folder"));
  if (const Entry& entry = entries_[request.job()]; entry.saving) {
    return reply->Fail(FailedPrecondition(fmt::format(
        "a checkpoint of '{}' is being saved in {} already", request.job(), entry.saving->folder)));
  }
  Begin(**job, request.folder(), Cause::kRequest, reply);
}

void CheckpointDesk::OnList(const wire::ListCheckpointsRequest& request, const ReplyPtr& reply) {
  std::vector<engine::CheckpointEntry> rows;
  for (const auto& [path, known] : known_) {
    if (request.job().empty() || known.entry.job == request.job()) rows.push_back(known.entry);
  }
  std::ranges::sort(rows, IsNewer);
  wire::CheckpointQuery query;
  for (const engine::CheckpointEntry& row : rows) query.add_examine(row.path);
  const auto answer = [reply](const std::vector<engine::CheckpointEntry>& all) {
    wire::Reply out;
    out.mutable_list_checkpoints();
    for (const engine::CheckpointEntry& row : all) {
      Encode(row, out.mutable_list_checkpoints()->add_checkpoints());
    }
    reply->Done(std::move(out));
  };
  if (rows.empty()) return answer(rows);
  Query(std::move(query),
        [this, answer, rows](const Result<wire::CheckpointAnswer>& found) mutable {
          for (std::size_t i = 0; i < rows.size(); ++i) {
            if (!found) {
              rows[i].problem = "it could not be examined: " + found.error().message;
            } else if (static_cast<int>(i) < found->found_size() && rows[i].problem.empty()) {
              rows[i].problem = found->found(static_cast<int>(i)).info().problem();
              const auto known = known_.find(rows[i].path);
              if (rows[i].problem.empty() && known != known_.end()) {
                known->second.not_before.reset();
              }
            }
          }
          answer(rows);
        });
}

void CheckpointDesk::OnDelete(const wire::DeleteCheckpointRequest& request, const ReplyPtr& reply) {
  if (request.path().empty()) return reply->Fail(InvalidArgument("no checkpoint is named"));
  std::string path = std::filesystem::path(request.path()).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (around_.is_in_use(path)) {
    return reply->Fail(FailedPrecondition(fmt::format("'{}' is being loaded", path)));
  }
  for (const auto& [job, entry] : entries_) {
    if (!entry.saving || entry.saving->partial != path) continue;
    return reply->Fail(FailedPrecondition(fmt::format("'{}' is being saved", path)));
  }
  // A checkpoint that a person has removed by hand is still in the list.
  const bool is_known = known_.contains(path);
  Remove(path, [this, path, is_known, reply](const Result<wire::CheckpointAnswer>& done) {
    if (!done) return reply->Fail(done.error());
    if (done->missing() && !is_known) {
      return reply->Fail(NotFound(fmt::format("'{}' does not exist", path)));
    }
    AddEvent(engine::Severity::kInfo, "checkpoints",
             fmt::format("'{}' was removed{}", path, reply->RequesterText()));
    wire::Reply out;
    out.mutable_delete_checkpoint()->set_bytes(done->removed());
    reply->Done(std::move(out));
  });
}

// ---- saving

void CheckpointDesk::Consider(const Job& job) {
  const auto found = entries_.find(job.name);
  if (found == entries_.end() || !found->second.schedule || found->second.saving) return;
  Entry& entry = found->second;
  const auto now = timers_.now();
  if (job.state != engine::JobState::kRunning) return;
  if (entry.not_before && now < *entry.not_before) return;
  const engine::SnapshotEvery every = entry.schedule->every;
  // After a return to an older step the steps count from there.
  entry.base_step = std::min(entry.base_step, job.step);
  const bool is_due = every.steps > 0
                          ? job.step >= entry.base_step + every.steps
                          : now - entry.base_time >= std::chrono::seconds(every.seconds);
  if (!is_due) return;
  const std::string path =
      checkpoint::SavedPath(entry.schedule->folder, job.name, job.step, job.timeline);
  if (known_.contains(path)) return;  // of this step
  const auto before = std::pair(entry.base_step, entry.base_time);
  entry.base_step = job.step;
  entry.base_time = now;
  Begin(job, entry.schedule->folder, Cause::kSchedule, nullptr);
  if (!entry.saving) return;
  std::tie(entry.saving->base_step, entry.saving->base_time) = before;
  entry.saving->keep = entry.schedule->keep;
}

Result<std::string> CheckpointDesk::FolderFor(const std::string& job) const {
  std::string folder;
  const auto found = entries_.find(job);
  if (found != entries_.end() && found->second.schedule) folder = found->second.schedule->folder;
  if (folder.empty()) {
    const engine::CheckpointEntry* newest = nullptr;
    for (const auto& [path, known] : known_) {
      const bool is_its = known.entry.job == job && !known.entry.is_over;
      if (is_its && (!newest || IsNewer(known.entry, *newest))) newest = &known.entry;
    }
    if (newest) folder = std::filesystem::path(newest->path).parent_path().string();
  }
  const auto allowed = config_.jobs.checkpoints.value_or(std::vector<std::string>());
  const auto first = std::ranges::find_if_not(allowed, engine::IsUrl);
  if (folder.empty() && first != allowed.end()) folder = *first;
  if (folder.empty()) {
    return FailedPrecondition(
        fmt::format("the program requested one, and '{0}' has no folder for checkpoints; "
                    "`tesseractl checkpoint "
                    "save {0} DIR` saves one, and those of the program are then saved in DIR, too",
                    job));
  }
  TESSERA_RETURN_IF_ERROR(CheckCheckpoint(config_.jobs, config_.node, folder));
  return folder;
}

void CheckpointDesk::OnProgram(const Job& job) {
  Entry& entry = entries_[job.name];
  // After a failure the next one waits, because a program may request one in each step.
  if (entry.saving || (entry.not_before && timers_.now() < *entry.not_before)) {
    entry.again = true;
    return;
  }
  auto folder = FolderFor(job.name);
  if (folder) return Begin(job, std::move(*folder), Cause::kProgram, nullptr);
  ++entry.failed;
  const std::string text = folder.error().ToString();
  // A program may request one in each step.
  if (text != std::exchange(entry.problem, text)) {
    AddEvent(engine::Severity::kWarning, job.name, "no checkpoint was saved: " + text);
  }
  MarkDirty();
}

void CheckpointDesk::Begin(const Job& job, std::string folder, Cause cause, const ReplyPtr& reply) {
  Entry& entry = entries_[job.name];
  const std::uint64_t number = ++last_number_;
  entry.saving = Saving{std::move(folder), cause, reply, number};
  entry.saving->moved = timers_.now();
  MarkDirty();
  wire::ViewRequest request;
  request.set_job(job.name);
  request.set_limit(std::numeric_limits<std::int64_t>::max());
  uses_.views.Take({}, request, [this, name = job.name, number](Result<wire::ViewReply> view) {
    OnTaken(name, number, std::move(view));
  });
}

void CheckpointDesk::OnTaken(const std::string& name, std::uint64_t number,
                             Result<wire::ViewReply> view) {
  const auto found = entries_.find(name);
  const bool is_wanted =
      found != entries_.end() && found->second.saving && found->second.saving->number == number;
  if (!is_wanted) {
    if (!view) return;
    std::set<std::int32_t> nodes;
    for (const wire::ViewShare& share : view->shares()) nodes.insert(share.node());
    return SendRelease(view->view(), nodes);
  }
  Entry& entry = found->second;
  if (!view) return Fail(name, entry, view.error());
  Saving& saving = *entry.saving;
  saving.view = view->view();
  auto state = DecodeSharedState(view->job());
  const Job* const job = jobs_.Find(name);
  if (!state) return Fail(name, entry, state.error());
  if (!job) return Fail(name, entry, Cancelled("the job is over"));
  saving.manifest = ManifestOf(*job, *state, world_.wall_clock());
  saving.path =
      checkpoint::SavedPath(saving.folder, name, saving.manifest.step, saving.manifest.timeline);
  saving.digests.assign(state->layout.collection().tensors().size(), 0);
  saving.state = std::move(*state);
  saving.moved = timers_.now();
  // A registrar that restarts now removes what was written.
  saving.partial = checkpoint::PartialPath(saving.path, saving.view);
  if (const Status noted = journal_.Put(RowKey(kPartialRows, saving.partial), name); !noted) {
    return Fail(name, entry, noted.error());
  }
  for (const wire::ViewShare& share : view->shares()) saving.nodes.insert(share.node());
  saving.waiting = saving.nodes;
  wire::ToNode message;
  message.mutable_save_share()->set_view(saving.view);
  message.mutable_save_share()->set_path(saving.path);
  const std::set<std::int32_t> nodes = saving.nodes;
  for (const std::int32_t node : nodes) {
    if (const Status sent = SendTo(node, message); !sent) return Fail(name, entry, sent.error());
  }
  MarkDirty();
}

void CheckpointDesk::OnReport(std::int32_t node, const wire::SaveReport& report) {
  const auto found = std::ranges::find_if(entries_, [&](const auto& entry) {
    return entry.second.saving && entry.second.saving->view == report.view();
  });
  if (report.view() == 0 || found == entries_.end()) return;
  auto& [job, entry] = *found;
  Saving& saving = *entry.saving;
  if (!saving.waiting.contains(node)) return;
  saving.moved = timers_.now();
  MarkDirty();
  if (!report.ended()) {
    saving.progress[node] = {std::max<std::int64_t>(0, report.done()),
                             std::max<std::int64_t>(0, report.total())};
    return;
  }
  if (report.has_error()) {
    Error why = Decode(report.error());
    why.message = fmt::format("n{}: {}", node, why.message);
    return Fail(job, entry, why);
  }
  if (report.digests_size() != std::ssize(saving.digests)) {
    return Fail(job, entry, InvalidArgument(fmt::format("n{} reported other tensors", node)));
  }
  for (std::size_t t = 0; t < saving.digests.size(); ++t) {
    saving.digests[t] += report.digests(static_cast<int>(t));
  }
  std::int64_t bytes = 0;
  for (const wire::SavedFile& file : report.files()) {
    saving.manifest.files.push_back({file.name(), file.bytes()});
    bytes += file.bytes();
  }
  saving.progress[node] = {bytes, bytes};
  saving.waiting.erase(node);
  if (saving.waiting.empty()) Publish(job, entry);
}

// This node has to see the folder too, because it lists and removes checkpoints.
void CheckpointDesk::Publish(const std::string& job, Entry& entry) {
  Saving& saving = *entry.saving;
  const ptc::Collection& collection = saving.state->layout.collection();
  checkpoint::Manifest& manifest = saving.manifest;
  manifest.digest = ptc::Hex16(ptc::CollectionDigest(collection, saving.digests));
  for (std::size_t t = 0; t < saving.digests.size(); ++t) {
    const ptc::TensorSpec& spec = collection.tensors()[t];
    manifest.tensors.push_back(
        {spec.name, spec.dtype, spec.shape, saving.digests[t], spec.role, spec.aliases});
  }
  std::ranges::sort(manifest.files, {}, &checkpoint::Manifest::StoredFile::name);
  saving.is_publishing = true;
  wire::CheckpointQuery query;
  query.mutable_publish()->set_path(saving.path);
  query.mutable_publish()->set_partial(saving.partial);
  query.mutable_publish()->set_manifest(ToText(manifest));
  Query(std::move(query),
        [this, job, number = saving.number](const Result<wire::CheckpointAnswer>& done) {
          const auto found = entries_.find(job);
          if (found == entries_.end() || !found->second.saving ||
              found->second.saving->number != number) {
            return;
          }
          if (!done) return Fail(job, found->second, done.error());
          Finish(job, found->second);
        });
}

void CheckpointDesk::Finish(const std::string& job, Entry& entry) {
  Saving& saving = *entry.saving;
  engine::CheckpointEntry row = EntryOf({saving.path, saving.manifest, {}});
  row.scheduled = saving.cause == Cause::kSchedule;
  known_.insert_or_assign(row.path, Known{row});
  // Without the row the checkpoint is only not in the list of a later registrar.
  static_cast<void>(journal_.Write(
      std::array{engine::RowChange{RowKey(kRows, row.path), ToText(row)},
                 engine::RowChange{RowKey(kPartialRows, saving.partial), std::nullopt}}));
  entry.problem.clear();
  AddEvent(engine::Severity::kInfo, job,
           fmt::format("checkpoint of step {} saved: '{}', {}{}{}", row.step, row.path,
                       engine::BytesText(row.bytes),
                       saving.reply ? saving.reply->RequesterText() : std::string(),
                       saving.cause == Cause::kProgram ? " (its program)" : ""));
  if (saving.reply) {
    wire::Reply out;
    Encode(row, out.mutable_save_checkpoint()->mutable_checkpoint());
    saving.reply->Done(std::move(out));
  }
  const std::int64_t keep = entry.schedule ? entry.schedule->keep : saving.keep;
  End(entry);
  if (row.scheduled) RemoveOld(job, keep);
  around_.changed(job);
}

void CheckpointDesk::Fail(const std::string& job, Entry& entry, const Error& why) {
  const Saving& saving = *entry.saving;
  if (!saving.partial.empty()) left_over_.insert(saving.partial);
  // The state of that step is on disk already.
  const bool is_there = saving.cause == Cause::kSchedule || IsOfThisRun(saving.path);
  if (!saving.reply && is_there && why.code == ErrorCode::kAlreadyExists) return End(entry);
  if (saving.cause == Cause::kSchedule) {
    entry.base_step = saving.base_step;
    entry.base_time = saving.base_time;
  }
  ++entry.failed;
  const std::string text = why.ToString();
  const bool is_new = text != std::exchange(entry.problem, text);
  entry.not_before = timers_.now() + kAfterFailure;
  if (is_new || saving.reply) {
    AddEvent(engine::Severity::kWarning, job, "no checkpoint was saved: " + text);
  }
  if (saving.reply) saving.reply->Fail(why);
  End(entry);
}

void CheckpointDesk::SendRelease(std::uint64_t view, const std::set<std::int32_t>& nodes) {
  wire::ToNode release;
  release.mutable_release_views()->add_views(view);
  uses_.views.Release(release.release_views());
  for (const std::int32_t node : nodes) static_cast<void>(SendTo(node, release));
}

void CheckpointDesk::End(Entry& entry) {
  if (entry.saving->view != 0) SendRelease(entry.saving->view, entry.saving->nodes);
  entry.saving.reset();
  MarkDirty();
}

void CheckpointDesk::Tick() {
  const auto now = timers_.now();
  for (auto& [job, entry] : entries_) {
    if (!entry.saving && std::exchange(entry.again, false)) {
      if (const Job* const found = jobs_.Find(job)) OnProgram(*found);
    }
    if (!entry.saving || entry.saving->view == 0) continue;
    wire::KeepViewsRequest keep;
    keep.add_views(entry.saving->view);
    wire::ToNode message;
    *message.mutable_keep_views() = keep;
    if (const Status kept = uses_.views.Keep(keep); !kept) {
      Fail(job, entry, kept.error());
      continue;
    }
    for (const std::int32_t node : entry.saving->nodes) static_cast<void>(SendTo(node, message));
    if (!entry.saving->is_publishing && now - entry.saving->moved > kStall) {
      Fail(job, entry,
           Timeout(fmt::format("n{} reported no progress for {} s", *entry.saving->waiting.begin(),
                               kStall.count())));
    }
  }
  const Membership::Node* const own = members_.Find(config_.node);
  if (left_over_.empty() || !own || own->state != engine::NodeState::kAlive) return;
  for (const std::string& path : std::exchange(left_over_, {})) {
    Remove(path, [this, path](const Result<wire::CheckpointAnswer>& done) {
      if (done) static_cast<void>(journal_.Erase(RowKey(kPartialRows, path)));
    });
  }
}

void CheckpointDesk::OnNodeGone(std::int32_t node, const std::string& why) {
  for (auto& [job, entry] : entries_) {
    if (entry.saving && entry.saving->waiting.contains(node)) Fail(job, entry, Unavailable(why));
  }
}

void CheckpointDesk::Forget(const std::string& job) {
  for (auto& [path, known] : known_) {
    if (known.entry.job != job || std::exchange(known.entry.is_over, true)) continue;
    static_cast<void>(journal_.Put(RowKey(kRows, path), ToText(known.entry)));
  }
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  if (found->second.saving) Fail(job, found->second, Cancelled("the job was stopped"));
  entries_.erase(found);
  static_cast<void>(journal_.Erase(RowKey(kScheduleRows, job)));
  static_cast<void>(journal_.Erase(RowKey(kLineageRows, job)));
}

void CheckpointDesk::OnTimeline(const std::string& job, std::int64_t timeline, std::int64_t step) {
  Lineage& lineage = entries_[job].lineage;
  lineage[timeline] = step;
  static_cast<void>(journal_.Put(RowKey(kLineageRows, job), ToText(lineage)));
}

bool CheckpointDesk::IsOfThisRun(const std::string& path) const {
  const auto found = known_.find(path);
  return found != known_.end() && !found->second.entry.is_over;
}

bool CheckpointDesk::IsOfPast(const engine::CheckpointEntry& entry) const {
  if (entry.is_over) return false;
  const auto found = entries_.find(entry.job);
  if (found == entries_.end()) return true;
  const Lineage& lineage = found->second.lineage;
  return std::ranges::all_of(lineage, [&](const auto& begin) {
    return begin.first <= entry.timeline || entry.step <= begin.second;
  });
}

// ---- what is on disk

void CheckpointDesk::RemoveOld(const std::string& job, std::int64_t keep) {
  if (keep <= 0) return;
  std::vector<engine::CheckpointEntry> own;
  for (const auto& [path, known] : known_) {
    const engine::CheckpointEntry& entry = known.entry;
    if (entry.job == job && entry.scheduled && !entry.is_over) own.push_back(entry);
  }
  std::ranges::sort(own, IsNewer);
  for (std::size_t i = static_cast<std::size_t>(keep); i < own.size(); ++i) {
    const std::string path = own[i].path;
    if (around_.is_in_use(path)) continue;
    Remove(path, [this, job](const Result<wire::CheckpointAnswer>& done) {
      if (done) return;
      AddEvent(engine::Severity::kWarning, job,
               fmt::format("an old checkpoint was not removed: {}", done.error().message));
    });
  }
}

void CheckpointDesk::Remove(const std::string& path,
                            std::function<void(Result<wire::CheckpointAnswer>)> then) {
  wire::CheckpointQuery query;
  query.set_remove(path);
  Query(std::move(query),
        [this, path, then = std::move(then)](Result<wire::CheckpointAnswer> done) {
          if (const auto found = known_.find(path); done && found != known_.end()) {
            const std::string job = found->second.entry.job;
            known_.erase(found);
            static_cast<void>(journal_.Erase(RowKey(kRows, path)));
            MarkDirty();
            around_.changed(job);
          }
          then(std::move(done));
        });
}

void CheckpointDesk::Query(wire::CheckpointQuery query,
                           std::function<void(Result<wire::CheckpointAnswer>)> then) {
  const std::int32_t node = config_.node;
  wire::NodeQuery message;
  *message.mutable_checkpoint() = std::move(query);
  uses_.queries.Query({node}, std::move(message), kFolderTime,
                      [node, then = std::move(then)](NodeQueryClient::Answers answers) {
                        const auto found = answers.find(node);
                        if (found == answers.end()) {
                          return then(Unavailable(fmt::format("n{} did not answer", node)));
                        }
                        if (!found->second) return then(found->second.error());
                        then(std::move(*found->second->mutable_checkpoint()));
                      });
}

void CheckpointDesk::Look(const std::string& path,
                          std::function<void(Result<checkpoint::Manifest>)> then) {
  wire::CheckpointQuery query;
  query.add_examine(path);
  query.set_with_manifests(true);
  Query(std::move(query),
        [this, path, then = std::move(then)](const Result<wire::CheckpointAnswer>& answer) {
          if (!answer) return then(answer.error());
          if (answer->found_size() != 1) return then(Internal("a node examined something else"));
          const auto& found = answer->found(0);
          if (!found.info().problem().empty()) {
            return then(FailedPrecondition(fmt::format("checkpoint '{}' cannot be loaded: {}",
                                                       ShownPlace(path), found.info().problem())));
          }
          for (const std::string& line : found.unread()) {
            AddEvent(engine::Severity::kWarning, "checkpoints",
                     fmt::format("checkpoint '{}': {}", ShownPlace(path), line));
          }
          then(checkpoint::ParseManifest(found.manifest(), ShownPlace(path)));
        });
}

const engine::CheckpointEntry* CheckpointDesk::Newest(const std::string& job) const {
  const engine::CheckpointEntry* newest = nullptr;
  const auto now = timers_.now();
  for (const auto& [path, known] : known_) {
    const engine::CheckpointEntry& entry = known.entry;
    const bool is_reached = !known.not_before || now > *known.not_before;
    const bool is_usable =
        entry.job == job && entry.problem.empty() && is_reached && IsOfPast(entry);
    if (is_usable && (!newest || IsNewer(entry, *newest))) newest = &entry;
  }
  return newest;
}

void CheckpointDesk::ExamineNewest(const std::string& job) {
  const engine::CheckpointEntry* const newest = Newest(job);
  if (!newest) return;
  wire::CheckpointQuery query;
  query.add_examine(newest->path);
  Query(std::move(query),
        [this, job, path = newest->path](const Result<wire::CheckpointAnswer>& answer) {
          if (!answer || answer->found_size() != 1) return;  // loading it will show it
          const std::string& problem = answer->found(0).info().problem();
          if (problem.empty()) return;
          NoteProblem(path, problem, false);
          ExamineNewest(job);
          around_.changed(job);
        });
}

void CheckpointDesk::NoteProblem(const std::string& path, const std::string& why, bool lasting) {
  const auto found = known_.find(path);
  if (found == known_.end()) return;
  found->second.not_before = timers_.now() + kUnreached;
  MarkDirty();
  if (!lasting) return;
  found->second.entry.problem = why;
  static_cast<void>(journal_.Put(RowKey(kRows, path), ToText(found->second.entry)));
}

engine::CheckpointStatus CheckpointDesk::StatusOf(const std::string& job) const {
  engine::CheckpointStatus out;
  if (const engine::CheckpointEntry* const newest = Newest(job)) {
    out.step = newest->step;
    out.path = newest->path;
  }
  out.count = std::ranges::count_if(known_, [&](const auto& known) {
    return known.second.entry.job == job && !known.second.entry.is_over;
  });
  const auto found = entries_.find(job);
  if (found == entries_.end()) return out;
  const Entry& entry = found->second;
  if (entry.schedule) out.schedule = *entry.schedule;
  out.failed = entry.failed;
  out.problem = entry.problem;
  if (!entry.saving) return out;
  out.is_saving = true;
  for (const auto& [node, progress] : entry.saving->progress) {
    out.done += progress.first;
    out.total += progress.second;
  }
  return out;
}

}  // namespace tessera::agents
