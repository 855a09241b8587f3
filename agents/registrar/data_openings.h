// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of a job are opened before it starts, first on the node of the registrar, then by its
/// ranks. An opening may take any time while it makes progress. It can be stopped, and it fails
/// when it stalls.

#include <map>
#include <string>
#include <vector>

#include "agents/registrar/data_opener.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"

namespace tessera::agents {

/// What this node opens for jobs that start.
class DataOpenings : public RegistrarPart {
 public:
  DataOpenings(const Common& common, JobTable& jobs) : RegistrarPart(common), jobs_(jobs) {}

  /// `then` runs unless the opening is stopped or stalls.
  /// \pre no opening of that name
  void Open(const std::string& name, const engine::JobSettings& settings, const ReplyPtr& reply,
            DataOpener::Done then);
  /// Carries out a request to stop a job whose data are being opened.
  /// \return whether the job was being opened
  bool Stop(const wire::JobRequest& request, const ReplyPtr& reply);
  /// \error kFailedPrecondition with the progress of the opening
  Status CheckNotOpening(const std::string& name) const;
  /// Fails those that have stalled.
  void GiveUp(Clock::time_point now);
  /// Opens the data of a job from the journal, for its row in the snapshot.
  void Describe(const Job& job);
  /// Rows of the snapshot for jobs that are not in the table yet.
  std::vector<engine::JobStatus> Rows() const;

 private:
  /// A job that starts as soon as this node has opened its data.
  struct Opening {
    ReplyPtr reply;
    engine::JobSettings settings;
    RankLoading loading;
    Clock::time_point began, last_progress;
    DataOpener::Id id = 0;
  };
  /// Cancels the opening and fails its start request.
  /// \pre there is one
  void End(const std::string& name, const Error& why);

  JobTable& jobs_;
  std::map<std::string, Opening> openings_;
};

}  // namespace tessera::agents
