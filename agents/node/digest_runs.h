// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes digests of the state that a job has on this node, on request of the registrar.

#include <cstdint>
#include <map>
#include <memory>

#include "agents/move/device_store.h"
#include "agents/move/move.h"
#include "agents/node/held_jobs.h"
#include "agents/node/node_world.h"
#include "agents/node/uplink.h"
#include "agents/wire/messages_fwd.h"

namespace tessera::agents {

/// Each run is a transfer that only reads, on the threads of a transfer.
/// \threadsafety The loop's thread.
class DigestRuns {
 public:
  /// \pre all outlive this part
  DigestRuns(const NodeWorld& world, const DeviceStore& devices, const HeldJobs& jobs,
             const Uplink& uplink)
      : world_(world), devices_(devices), jobs_(jobs), uplink_(uplink) {}

  /// Sends the digests when they are computed. Ignores a job that is not listed.
  void Start(const wire::TakeDigests& message);

 private:
  const NodeWorld& world_;
  const DeviceStore& devices_;
  const HeldJobs& jobs_;
  const Uplink& uplink_;
  std::map<std::uint64_t, std::unique_ptr<Move>> runs_;
  std::uint64_t next_run_ = 1;
};

}  // namespace tessera::agents
