// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The configurations that a job could run, for `propose`, `plan --candidates` and `job tune`.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/session.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Requests up to `limit` candidates. If the cluster was never probed, first sends it the constants
/// in the profile, if there are any.
Result<engine::Proposal> askProposal(Session& session, const std::string& job,
                                     const std::vector<ptc::DeviceId>& devices, std::int64_t limit);

/// The job of that name.
/// \error kNotFound naming it and the existing jobs
Result<engine::JobStatus> findJob(const engine::ClusterSnapshot& snapshot, const std::string& job);

/// Tokens per step of a built-in model; nullopt for a program of the user.
std::optional<double> tokensOfStep(const engine::JobStatus& job);

/// "survives the loss of any one node: no (n1 would lose 18 MiB)".
std::string describeSurvival(const engine::Survival& survival);

/// A table, the reason for the recommendation, and the source of the constants.
std::string describeProposal(const engine::Proposal& proposal, std::optional<double> tokens);

/// "dp=4,tp=2,pp=1".
std::string configurationOf(const engine::Candidate& candidate);
/// "zero, micro-batch 4"; a dash for the defaults.
std::string optionsOf(const engine::Candidate& candidate);
/// A dash if it is unknown (0).
std::string formatStep(double seconds);

}  // namespace tessera::app
