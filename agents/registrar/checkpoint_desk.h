// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints of jobs on disk: saves them from views, on request or by a schedule, lists and
/// removes them. The nodes write their shares at once; the manifest comes last.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/checkpoint/stored_state.h"
#include "agents/registrar/checkpoint_row.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/node_query_client.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/views/share_reader.h"
#include "agents/views/view_desk.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/checkpoint/manifest.h"
#include "engine/cluster/checkpoint_status.h"

namespace tessera::agents {

class CheckpointDesk : public RegistrarPart {
 public:
  /// Parts that it uses. All outlive it.
  struct Uses {
    ViewDesk& views;
    NodeQueryClient& queries;
  };
  struct World {
    /// Whether something reads the checkpoint now.
    std::function<bool(const std::string& path)> is_in_use;
    /// The newest checkpoint of a job is another one.
    std::function<void(const std::string& job)> changed;
  };
  CheckpointDesk(const Common& common, JobTable& jobs, const Uses& uses, World world)
      : RegistrarPart(common), uses_(uses), jobs_(jobs), around_(std::move(world)) {}

  /// Reads the journal.
  /// \error kDataLoss naming a row
  Status Recover();

  void OnSave(const wire::SaveCheckpointRequest& request, const ReplyPtr& reply);
  void OnList(const wire::ListCheckpointsRequest& request, const ReplyPtr& reply);
  void OnDelete(const wire::DeleteCheckpointRequest& request, const ReplyPtr& reply);

  void OnReport(std::int32_t node, const wire::SaveReport& report);
  void OnNodeGone(std::int32_t node, const std::string& why);
  /// Saves a checkpoint of the job if its schedule is due. Called at each step and each second.
  void Consider(const Job& job);
  /// Saves a checkpoint that the program of the job has requested. If another is being saved, it is
  /// saved afterwards. The outcome is an event.
  void OnProgram(const Job& job);
  /// Renews the view of what is being saved, and gives up what makes no progress.
  void Tick();
  /// The job is over. Its checkpoints stay, its schedule does not.
  void Forget(const std::string& job);

  /// Reads the manifest of a complete checkpoint, and checks that its files are there.
  void Look(const std::string& path, std::function<void(Result<checkpoint::Manifest>)> then);
  /// A timeline of the job begins after `step`: what was saved later in the ones before is not of
  /// its past.
  void OnTimeline(const std::string& job, std::int64_t timeline, std::int64_t step);
  /// The newest one of the job's past that can be loaded as far as is known, or nullptr.
  const engine::CheckpointEntry* Newest(const std::string& job) const;
  /// Finds out whether that one is still there. If it is not, another becomes the newest.
  void ExamineNewest(const std::string& job);
  /// It could not be loaded.
  /// \param lasting its bytes are wrong; else it is tried again later
  void NoteProblem(const std::string& path, const std::string& why, bool lasting);
  engine::CheckpointStatus StatusOf(const std::string& job) const;

 private:
  enum class Cause { kRequest, kSchedule, kProgram };
  /// A checkpoint that is being saved.
  struct Saving {
    std::string folder;
    Cause cause = Cause::kRequest;
    ReplyPtr reply;            // of a request
    std::uint64_t number = 0;  // identifies it; views come later
    std::uint64_t view = 0;    // once it is taken, and so are the next
    std::string path = {}, partial = {};
    std::int64_t base_step = 0;  // of the schedule before
    Clock::time_point base_time = {};
    std::int64_t keep = 0;  // of the schedule at that time; it may be off when this one is complete
    checkpoint::Manifest manifest = {};
    std::vector<std::uint64_t> digests = {};  // by tensor
    std::optional<SharedState> state = {};
    std::set<std::int32_t> nodes = {}, waiting = {};
    std::map<std::int32_t, std::pair<std::int64_t, std::int64_t>> progress = {};  // done, total
    Clock::time_point moved = {};  // when it last made progress
    bool is_publishing = false;
  };
  struct Entry {
    std::optional<engine::CheckpointSchedule> schedule;
    std::int64_t base_step = 0;        // of the last one by the schedule, or when that was set
    Clock::time_point base_time = {};  // likewise
    std::optional<Clock::time_point> not_before = {};  // after a failure
    std::optional<Saving> saving = {};
    bool again = false;  // the program has requested one since that began
    std::int64_t failed = 0;
    std::string problem = {};
    Lineage lineage = {};
  };
  struct Known {
    engine::CheckpointEntry entry;
    std::optional<Clock::time_point> not_before = {};  // it could not be reached
  };

  Status SetSchedule(const wire::SaveCheckpointRequest& request, const PendingReply& reply,
                     std::string& text);
  void Begin(const Job& job, std::string folder, Cause cause, const ReplyPtr& reply);
  /// Where checkpoints that the program requests are saved.
  /// \error kFailedPrecondition if there is none, or if this node may not use it
  Result<std::string> FolderFor(const std::string& job) const;
  void OnTaken(const std::string& job, std::uint64_t number, Result<wire::ViewReply> view);
  void Publish(const std::string& job, Entry& entry);
  void Finish(const std::string& job, Entry& entry);
  void Fail(const std::string& job, Entry& entry, const Error& why);
  void SendRelease(std::uint64_t view, const std::set<std::int32_t>& nodes);
  /// Frees the view and forgets the saving.
  void End(Entry& entry);
  /// Whether the cluster knows this checkpoint, and its job is not over.
  bool IsOfThisRun(const std::string& path) const;
  /// Whether it is of the present run of its job, and of its past.
  bool IsOfPast(const engine::CheckpointEntry& entry) const;
  /// Removes what the schedule has saved and does not keep.
  void RemoveOld(const std::string& job, std::int64_t keep);
  /// What is already gone counts as removed.
  void Remove(const std::string& path, std::function<void(Result<wire::CheckpointAnswer>)> then);
  /// Sends a query about folders to this node.
  void Query(wire::CheckpointQuery query, std::function<void(Result<wire::CheckpointAnswer>)> then);

  const Uses uses_;
  JobTable& jobs_;
  const World around_;
  std::map<std::string, Entry> entries_;  // by job
  std::map<std::string, Known> known_;    // by path
  std::set<std::string> left_over_;       // partial ones that are to be removed
  std::uint64_t last_number_ = 0;
};

/// The state that a job with these settings and tensors takes over from a checkpoint.
/// \error kFailedPrecondition naming what does not fit
Result<StoredState> StateFor(const checkpoint::Manifest& manifest, const std::string& place,
                             const engine::JobSettings& settings, const ptc::Collection& collection,
                             bool parameters_only);

}  // namespace tessera::agents
