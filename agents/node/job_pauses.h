// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Pauses and resumes the jobs of a node, and reports their pauses.

#include <cstdint>
#include <optional>
#include <string>

#include "agents/move/device_store.h"
#include "agents/node/held_jobs.h"
#include "agents/node/node_links.h"
#include "agents/node/rank_table.h"
#include "agents/node/rendezvous_relay.h"
#include "agents/node/uplink.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// Ranks see a request in the header of their arena and pause after the step that it names. A job
/// is paused here when all its ranks on this node wait after the same step. Requests have growing
/// numbers, and a resume ends all requests up to one number.
/// \threadsafety The loop's thread.
class JobPauses {
 public:
  /// \pre all outlive this part
  JobPauses(DeviceStore& devices, RankTable& ranks, HeldJobs& jobs, RendezvousRelay& rendezvous,
            const NodeLinks& links, const Uplink& uplink)
      : devices_(devices),
        ranks_(ranks),
        jobs_(jobs),
        rendezvous_(rendezvous),
        links_(links),
        uplink_(uplink) {}

  void OnPauseJob(const wire::PauseJob& message);
  void OnResumeJob(const wire::ResumeJob& message);

  /// Notes that a rank waits. A rank that has just started on a state waits after that state's
  /// step.
  void Note(RankTable::Rank& rank, RankTable::Pause pause);
  /// Follows a noted pause while no transaction changes the job: reports it, or resumes the rank if
  /// the request has ended before the rank paused. Ignores a job that is not listed.
  void Follow(RankTable::Rank& rank);

  /// The pause that all ranks of the job on this node share, or nullopt.
  std::optional<RankTable::Pause> AllPaused(const std::string& job) const;
  /// Reports that the job is paused, or ready if it is being started. Does nothing otherwise.
  void Report(const std::string& job);
  /// Reports all paused jobs again: the registrar may have restarted, or ignored the first report.
  void ReportAll();
  /// Reports the jobs that are ready to start again: nothing else repeats that report.
  void RepeatReady();

  /// Writes the request to the arenas of the job.
  void RaiseRequest(const std::string& job, std::uint64_t number, std::int64_t at_step);
  /// Lets ranks go on that wait before the update of a step up to `step`. The request stays.
  void GoOn(const std::string& job, std::int64_t step);
  /// Ends the requests up to `through`. Ranks that could not read their data keep waiting for it.
  /// With `stay_paused`, or while the job is being started, no request ends, and all ranks keep
  /// waiting.
  void EndRequest(const std::string& job, std::uint64_t through, bool stay_paused);

 private:
  /// Clears the request and resumes waiting ranks. `data_too`: also those that could not read their
  /// data.
  void Resume(const HeldJobs::Job& job, bool data_too);
  void SendResume(RankTable::Rank& rank, std::int64_t epoch);

  DeviceStore& devices_;
  RankTable& ranks_;
  HeldJobs& jobs_;
  RendezvousRelay& rendezvous_;
  const NodeLinks& links_;
  const Uplink& uplink_;
};

}  // namespace tessera::agents
