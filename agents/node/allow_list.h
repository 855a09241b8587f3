// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The public keys that a node admits: those in its configuration and those in its folder.

#include <string>
#include <vector>

#include "agents/node/config.h"

namespace tessera::agents {

/// \threadsafety One thread.
class AllowList {
 public:
  explicit AllowList(const AgentConfig& config);
  /// Reads the folder again.
  /// \return whether the keys have changed
  bool Refresh();
  const std::vector<std::string>& keys() const { return keys_; }
  /// One line per file of the folder that was not a public key at the last Refresh.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  const std::vector<std::string> fixed_;
  const std::string folder_;
  std::vector<std::string> keys_;
  std::vector<std::string> problems_;
};

}  // namespace tessera::agents
