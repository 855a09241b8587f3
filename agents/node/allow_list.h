// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whose keys a node lets in: those of its configuration and those in its folder of public keys.

#include <string>
#include <vector>

#include "agents/node/config.h"

namespace tessera::agents {

/// \threadsafety One thread.
class AllowList {
 public:
  explicit AllowList(const AgentConfig& config);
  /// Reads the folder again. \return whether the keys differ from those of the last time
  bool Refresh();
  const std::vector<std::string>& keys() const { return keys_; }
  /// Files of the folder that are no public keys, one line each, of the last Refresh.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  const std::vector<std::string> fixed_;
  const std::string folder_;
  std::vector<std::string> keys_;
  std::vector<std::string> problems_;
};

}  // namespace tessera::agents
