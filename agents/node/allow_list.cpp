// SPDX-License-Identifier: Apache-2.0
#include "agents/node/allow_list.h"

#include <algorithm>
#include <filesystem>

#include "agents/net/socket.h"

namespace tessera::agents {

AllowList::AllowList(const AgentConfig& config)
    : fixed_(config.allowed), folder_(config.allowed_folder) {
  Refresh();
}

bool AllowList::Refresh() {
  std::vector<std::string> keys = fixed_;
  std::vector<std::string> problems;
  if (!folder_.empty()) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() != ".pub") continue;
      auto key = LoadPublicKey(entry->path().string());
      if (key) {
        keys.push_back(std::move(*key));
      } else {
        problems.push_back(key.error().message);
      }
    }
    // The keys stay valid if the folder cannot be listed once.
    if (error) {
      problems_ = {"cannot list " + folder_ + ": " + error.message()};
      return false;
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::sort(problems.begin(), problems.end());
  problems_ = std::move(problems);
  if (keys == keys_) return false;
  keys_ = std::move(keys);
  return true;
}

}  // namespace tessera::agents
