// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The journal rows of a job: one of each agent, a longer one of the registrar. Both are JSON.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "agents/node/remains.h"
#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// What an agent keeps of a job with ranks on its node.
struct JobRow {
  std::string settings;  // JSON of engine::JobSettings
  ptc::Layout layout;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  /// Differs between jobs of one name. 0: unknown.
  std::uint64_t origin = 0;
  std::int64_t micro_batch = 0;  // as of engine::StepOptions
};

/// Where a job ran before its last change.
struct EarlierMesh {
  ptc::DeviceMesh mesh;
  engine::StepOptions options;
  std::int64_t step = 0;  // the last one that was made there
  bool operator==(const EarlierMesh&) const = default;
};

/// What the registrar keeps of a job.
struct JobTableRow {
  JobRow job;
  engine::StepOptions options = {};
  std::int64_t slot = 1;  // of the next decision
  engine::JobState state = engine::JobState::kStarting;
  std::string reason = {};
  std::int64_t step = 0;
  engine::OnFailure on_failure = engine::OnFailure::kAsk;
  bool stays_paused = false;  // while it is suspended: once it is started again
  bool restarts = true;       // while it is suspended: by itself
  std::int64_t attempt = 0;   // of its ranks; exits of earlier attempts do not count
  bool waits = false;         // someone chose to wait for its lost devices
  double usual_step_seconds = 1;
  engine::SnapshotEvery snapshots = {};
  // As of agents::Job.
  std::optional<Remains> remains = {};
  std::map<std::int64_t, int> given_up = {};
  std::optional<EarlierMesh> earlier = {};
  bool keeps_snapshots = false;
  bool finished = false;
  std::string owner = {};  // who started it; empty: not known
  std::string start_request = {};  // while it starts: the id of the client's request
};

std::string ToText(const JobRow& row);
std::string ToText(const JobTableRow& row);
/// `key` names the row in errors. A JobTableRow can be parsed as a JobRow.
/// \error kDataLoss naming the row and what is wrong with it
Result<JobRow> ParseJobRow(const std::string& key, const std::string& text);
Result<JobTableRow> ParseJobTableRow(const std::string& key, const std::string& text);

}  // namespace tessera::agents
