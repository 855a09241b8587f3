// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The configurations that a job could run, as `propose`, `plan --candidates` and `job tune` ask
/// for and print them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/session.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Asks for up to `limit` candidates. A cluster that was never probed is first given the constants
/// of the profile, where it has some.
Result<engine::Proposal> askProposal(Session& session, const std::string& job,
                                     const std::vector<ptc::DeviceId>& devices, std::int64_t limit);

/// The job of that name. \error kNotFound naming it and those there are
Result<engine::JobStatus> findJob(const engine::ClusterSnapshot& snapshot, const std::string& job);

/// Tokens of one step of a built-in model; nullopt of an own program.
std::optional<double> tokensOfStep(const engine::JobStatus& job);

/// A table, the sentence, and where the constants come from.
std::string describeProposal(const engine::Proposal& proposal, std::optional<double> tokens);

/// "dp=4,tp=2,pp=1".
std::string configurationOf(const engine::Candidate& candidate);
/// "zero, micro-batch 4"; a dash for the defaults.
std::string optionsOf(const engine::Candidate& candidate);
/// A dash where it is unknown (0).
std::string formatStep(double seconds);

}  // namespace tessera::app
