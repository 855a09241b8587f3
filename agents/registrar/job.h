// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A job of the cluster, as the registrar knows it.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/node/job_row.h"
#include "agents/node/remains.h"
#include "agents/node/repetition.h"
#include "agents/registrar/crash_guard.h"
#include "agents/registrar/membership.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/recovery_planner.h"
#include "agents/registrar/start_watch.h"
#include "engine/cluster/holding.h"
#include "engine/cluster/snapshot.h"
#include "engine/cluster/survival.h"
#include "engine/history/history.h"
#include "engine/model/gpt.h"
#include "engine/recovery/consistent_cut.h"
#include "engine/recovery/stragglers.h"
#include "engine/search/exposure.h"
#include "ptc/layout.h"

namespace tessera::agents {

using JobClock = std::chrono::steady_clock;

/// Whether the name is of the form [a-z0-9][a-z0-9-]{0,62}.
bool IsJobName(const std::string& name);

/// Lost devices of a suspended job.
struct DeviceLoss {
  std::vector<ptc::DeviceId> lost;
  engine::ConsistentCut cut;
  Remaining remaining;                                // when the way out was looked for
  std::optional<std::uint64_t> snapshot;              // to which the job could return then
  std::optional<UsableCheckpoint> checkpoint = {};    // that it could load then
  std::optional<std::uint64_t> failed_snapshot = {};  // the last one that could not be loaded
  int snapshot_failures = 0;                          // of that one
  static constexpr int kMostSnapshotFailures = 2;     // then a checkpoint is tried first
  bool is_looking = false;        // for the files of that checkpoint, to begin with it
  std::uint64_t search = 0;       // identifies that search
  std::optional<WayOut> way_out;  // that was found last
  bool is_current = false;        // by that search, not by one before
  std::optional<bool> announced;  // whether the job could continue, as was said last
  std::optional<engine::LossChoice> chosen;
  /// The source that a user has chosen; nullopt: the first way.
  std::optional<engine::RecoverySource> wanted = {};
  /// The steps that the user gives up by the choice; nullopt: as many as it takes.
  std::optional<std::int64_t> accepted_steps = {};
  std::optional<JobClock::time_point> decide_at;  // it continues then if nobody has chosen
  int failures = 0;                               // of recoveries; after kMostFailures it waits
  static constexpr int kMostFailures = 3;
  std::optional<JobClock::time_point> not_before;  // of the next attempt, after a failure
  bool can_continue() const { return way_out && way_out->status.can_continue(); }
  bool has_given_up() const { return failures >= kMostFailures; }
};

/// A job with the data of all parts of the registrar about it.
struct Job {
  Job(std::string job_name, engine::JobSettings job_settings, ptc::Layout job_layout)
      : name(std::move(job_name)),
        settings(std::move(job_settings)),
        layout(std::move(job_layout)) {}
  std::string name;
  engine::JobSettings settings;
  ptc::Layout layout;
  /// Present while its state moves in rounds, and after rounds that could not be ended: the state
  /// does not lie as in `layout`.
  std::optional<Remains> remains;
  /// The changes whose rounds were given up, and how many of these count. A node that was out of
  /// reach then still asks.
  std::map<std::int64_t, int> given_up;
  engine::StepOptions options;
  /// Where it ran before its last change; absent if it was suspended then. A later step shows that
  /// the job runs on its mesh, so nothing has to be written for the first one.
  std::optional<EarlierMesh> earlier;
  bool has_tried_return = false;  // to `earlier`
  engine::DataStatus data = {};   // empty until the data are open
  std::int64_t epoch = 1;
  std::int64_t timeline = 0;
  std::int64_t slot = 1;  // of the next decision
  engine::JobState state = engine::JobState::kStarting;
  std::string reason;
  std::int64_t step = 0;
  std::optional<double> loss, tokens_per_second;
  engine::Metrics metrics = {};     // the last value of each
  std::deque<double> step_seconds;  // the last steps of this configuration
  double usual_step_seconds = 1;    // of the last configuration that ran
  JobClock::time_point last_step;   // when a later step than before was reported by any node
  /// The gap between the steps around the last change, until it is in the history.
  struct Gap {
    std::int64_t transaction = 0;
    JobClock::time_point before;                 // when the step before it was reported
    std::optional<JobClock::time_point> first;   // the same of the step after it
    std::optional<double> seconds;               // HistoryEntry::gap
  };
  std::optional<Gap> gap;
  std::optional<JobClock::time_point> newest_step;  // when `step` was reported, on this registrar
  std::int64_t heard_step = 0;      // the latest step in an arena, by heartbeats
  std::int64_t recorded = 0;        // the last step that is in the history, or waits to be written
  std::optional<engine::Sample> newest;  // of step `recorded`, if this registrar knows it
  std::int64_t checkpoint_step = 0;      // at which the program last requested one, or later
  std::map<std::int64_t, engine::Sample>
      ahead;  // samples that arrived before that of an earlier step
  std::optional<JobClock::time_point> gap_since;      // the step after `recorded` is missing
  JobClock::time_point gap_asked;                     // when the nodes were last asked for it
  std::set<std::int32_t> gap_answers;                 // nodes that have repeated what they know
  ReplyPtr starting;                                  // answered once all ranks are ready
  std::string start_request;                          // its id, until then
  bool lost_start = false;  // an earlier registrar has begun the start, and died before its end
  std::optional<StartWatch> start_watch;              // until all ranks are ready
  std::string start_note;                             // for that reply: why this mesh was chosen
  std::set<std::int32_t> not_ready;                   // nodes whose ranks are not all ready
  std::shared_ptr<const wire::ToNode> start_message;  // that they have been sent
  Repetition start_repeats;                           // of it
  std::uint64_t start = 0;  // identifies this start of a job with this name
  /// Whether state of this origin can be the job's. 0: rows of earlier versions do not name it.
  bool MayOwn(std::uint64_t origin) const { return origin == 0 || start == 0 || origin == start; }
  std::int64_t attempt = 0;  // of its last start again; ranks of earlier attempts do not count
  CrashGuard crashes;
  std::vector<engine::SlowRank> slow;
  bool restarts = true;   // while suspended: it is started again as soon as possible
  std::string waits_for;  // what stands in the way of that
  /// Nodes whose last report is older than the suspension.
  std::set<std::int32_t> unreported;
  int finishes = 0;  // of devices one step behind, since the suspension
  std::optional<DeviceLoss> device_loss;
  bool waits = false;  // someone chose to wait for lost devices
  engine::OnFailure on_failure = engine::OnFailure::kAsk;
  engine::SnapshotEvery snapshots;
  /// The row was restored from nodes, which do not know whether snapshots are on: those that they
  /// hold stay until somebody decides about snapshots.
  bool keeps_snapshots = false;
  /// Its own program has made all of its steps on this timeline. Ranks that join later do not know
  /// that if the program has decided it in its loop.
  bool finished = false;
  std::string owner;          // who started it; empty: the row was restored from nodes
  bool stays_paused = false;  // after it is started again
  ReplyPtr restarting;        // answered once it is started again, or cannot be
  std::optional<JobClock::time_point> suspended_since;
  /// A node whose ranks all wait at a step boundary.
  struct PausedNode {
    std::int64_t step = 0;
    std::uint64_t request = 0;
    std::string reason;  // why a rank cannot read its data; else empty
  };
  std::map<std::int32_t, PausedNode> paused_nodes;
  std::map<std::int32_t, PausedNode> resumed;  // paused_nodes at the last resume
  /// What each rank holds; computed once per layout.
  const std::vector<engine::Holding>& Holdings() const {
    if (holdings_layout != layout.hash()) {
      holdings = engine::HoldingsOf(layout);
      survival = engine::SurvivalOf(layout);
      holdings_layout = layout.hash();
    }
    return holdings;
  }
  /// What the layout loses with a node; computed once per layout.
  const engine::Survival& Survival() const {
    static_cast<void>(Holdings());
    return survival;
  }
  mutable std::vector<engine::Holding> holdings;
  mutable engine::Survival survival;
  mutable std::optional<std::uint64_t> holdings_layout;
};

/// The nodes that have one of `devices` which is not in `lost`.
std::set<std::int32_t> NodesOf(const std::vector<ptc::DeviceId>& devices,
                               const std::vector<ptc::DeviceId>& lost);
/// The same of the devices of `mesh`.
std::set<std::int32_t> NodesOf(const ptc::DeviceMesh& mesh,
                               const std::vector<ptc::DeviceId>& lost = {});
/// The devices that the state of the job lies on.
const std::vector<ptc::DeviceId>& HeldDevices(const Job& job);
/// These and the devices of its layout.
std::vector<ptc::DeviceId> AllDevices(const Job& job);
/// Whether the device is one of AllDevices.
bool Has(const Job& job, ptc::DeviceId device);
/// The nodes with such devices, and whether a node is one of them.
std::set<std::int32_t> NodesOf(const Job& job);
bool HasNode(const Job& job, std::int32_t node);
/// Whether a device of the node is one of them. Called for each heartbeat, so it does not look at
/// the other nodes.
bool IsOn(const Membership::Node& node, const Job& job);
/// Of the present configuration; nullopt before it has made a few steps.
std::optional<double> MedianStepSeconds(const Job& job);
/// For deadlines: the length of recent steps, of any configuration. `estimate`: of the present one,
/// for a job that has made few.
double UsualStepSeconds(const Job& job, std::optional<double> estimate = {});
/// How long the job may take to its next step boundary, or to that of `at_step`. `estimate` as
/// above.
std::chrono::milliseconds PauseDeadline(const Job& job, std::int64_t at_step,
                                        std::optional<double> estimate = {});
/// "data: web.bin at byte 96: …" if the ranks wait because of unreadable data, else empty.
std::string DataProblem(const Job& job);
/// \error kFailedPrecondition with the state of the job
Status CheckPausedOrRunning(const Job& job);

}  // namespace tessera::agents
