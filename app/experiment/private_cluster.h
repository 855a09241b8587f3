// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The cluster of one experiment: requests that a stop token ends, and queries of a job.

#include <chrono>
#include <memory>
#include <stop_token>
#include <vector>

#include "agents/client/cluster_state.h"
#include "app/commands/session.h"
#include "app/experiment/private_home.h"
#include "engine/data/cursor.h"

namespace tessera::app {

/// For one thread.
class PrivateCluster {
 public:
  /// Starts it.
  /// \error as startLocalCluster; kCancelled
  static Result<PrivateCluster> start(const PrivateHome& home, int nodes, int devices,
                                      std::stop_token stop);

  /// \error kCancelled after a stop; else as Session::ask
  Result<wire::Reply> ask(wire::Request request,
                          std::chrono::milliseconds timeout = kAnswerTimeout);
  /// \error kCancelled
  Status pause(std::chrono::milliseconds time) const;

  /// \error kNotFound naming the job
  Result<engine::JobStatus> job(const std::string& name);
  /// The job's samples after a step, ascending.
  Result<std::vector<engine::Sample>> samples(const std::string& job, std::int64_t afterStep);
  Status stopJob(const std::string& name);
  /// The job's state after its last step.
  /// \pre the job is paused
  Result<engine::vfs::StateViewPtr> state(const std::string& job);

 private:
  PrivateCluster(Session session, std::unique_ptr<engine::vfs::StateSource> states,
                 std::stop_token stop)
      : m_session(std::move(session)), m_states(std::move(states)), m_stop(std::move(stop)) {}

  Session m_session;
  std::unique_ptr<engine::vfs::StateSource> m_states;
  std::stop_token m_stop;
};

/// job.cursor of a job's state.
/// \error kNotFound; as StateView::Read
Result<engine::Cursor> cursorOf(const engine::vfs::StateView& state);
/// Writes the model's parameters as a safetensors file.
/// \error as StateView::Read and engine::WriteWholeFile
Status writeParameters(const engine::vfs::StateView& state, const std::string& path);

}  // namespace tessera::app
