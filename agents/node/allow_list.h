// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The public keys that a node admits, and whose they are: the files NAME.pub of its folder.

#include <string>
#include <vector>

#include "agents/net/key_owner.h"
#include "agents/node/config.h"

namespace tessera::agents {

/// \threadsafety One thread.
class AllowList {
 public:
  explicit AllowList(const AgentConfig& config);
  /// Reads the folder again.
  /// \return whether keys or owners have changed
  bool Refresh();
  const KeyOwners& keys() const { return keys_; }
  /// One line per file of the folder that was not a public key with a role at the last Refresh.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  const std::string folder_;
  KeyOwners keys_;
  std::vector<std::string> problems_;
};

}  // namespace tessera::agents
