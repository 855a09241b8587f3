// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's connection to its keeper: the arenas, and ranks as child processes of the keeper.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/keeper/keeper_link.h"
#include "agents/keeper/packet.h"
#include "agents/net/loop.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Belongs to a loop: every member is called on the loop's thread, or before Loop::Run(). Handlers
/// run on the loop, never inside a call. The destructor ends no rank.
class KeeperClient : public KeeperLink {
 public:
  /// Takes the descriptor that TESSERA_KEEPER_FD names, removes the variable, and waits for the
  /// keeper's list of arenas and ranks.
  /// \error kFailedPrecondition without a keeper; kTimeout after 5 s; kCancelled if it is gone
  static Result<std::unique_ptr<KeeperClient>> FromEnvironment(Loop& loop, Handlers handlers);
  ~KeeperClient() override;

  const std::vector<Arena>& arenas() const override;
  std::vector<Rank> ranks() const override;
  Result<std::int64_t> Spawn(const SpawnRequest& request) override;
  Status Signal(std::int64_t pid, int signal) override;
  Status Acknowledge(std::int64_t pid) override;
  Status Shutdown() override;
  Status Die() override;

  /// Makes the keeper hold a duplicate of `fd` for later agents of this node. A descriptor that it
  /// holds under the same name is closed.
  /// \error kResourceExhausted if it holds 256; kInvalidArgument for a name that is empty or longer
  ///     than 256 bytes
  Status Keep(const std::string& name, int fd);
  /// Closes what the keeper holds under this name.
  /// \error kNotFound
  Status Drop(const std::string& name);
  /// The descriptors that earlier agents gave to the keeper, by name. Empty after the first call.
  std::map<std::string, UniqueFd> TakeKept();

 private:
  struct Impl;
  explicit KeeperClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
