// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The public keys that a node admits, and whose they are: the files NAME.pub of its folder.

#include <cstdint>
#include <filesystem>
#include <optional>
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
  /// Says whether a file is another than before.
  struct Stamp {
    std::string name;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // of its last change; 0: it cannot be looked at
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static Stamp StampOf(const std::filesystem::path& file);
  static bool IsOld(const std::vector<Stamp>& stamps);

  const std::string folder_;
  Stamp folder_stamp_;
  int looks_ = 0;
  std::optional<std::vector<Stamp>> stamps_;  // of the files that were read
  KeyOwners keys_;
  std::vector<std::string> problems_;
};

}  // namespace tessera::agents
