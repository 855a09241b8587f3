// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Starts the processes of ranks.

#include <cstdint>
#include <string>

#include "agents/node/config.h"
#include "agents/node/node_links.h"
#include "agents/node/node_world.h"
#include "agents/node/rank_table.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// How the ranks of one epoch are started.
struct Launch {
  std::string job;
  std::string settings;  // JSON of engine::JobSettings
  ptc::Layout layout;
  std::int64_t epoch = 0;
  std::int64_t attempt = 0;
  std::int64_t micro_batch = 0;
  google::protobuf::RepeatedPtrField<wire::Peer> peers = {};
  bool initialise = false;     // the process makes the first state of the job
  bool finish_update = false;  // the process makes one update and ends
};

/// \threadsafety The loop's thread.
class RankStarter {
 public:
  /// \pre all outlive the starter
  RankStarter(const AgentConfig& config, const NodeWorld& world, const NodeLinks& links,
              RankTable& ranks)
      : config_(config), world_(world), links_(links), ranks_(ranks) {}

  /// Starts rank `rank` of the layout, which is on this node, and lists it.
  /// \error kFailedPrecondition if a rank of its device still runs; as CheckLimits,
  ///     engine::ParseJobSettings and KeeperLink::Spawn
  Status Start(const Launch& launch, int rank);

 private:
  const AgentConfig& config_;
  const NodeWorld& world_;
  const NodeLinks& links_;
  RankTable& ranks_;
};

}  // namespace tessera::agents
