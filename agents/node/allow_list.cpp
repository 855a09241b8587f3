// SPDX-License-Identifier: Apache-2.0
#include "agents/node/allow_list.h"

#include <algorithm>
#include <filesystem>

#include "agents/net/socket.h"

namespace tessera::agents {

AllowList::AllowList(const AgentConfig& config) : folder_(config.allowed_folder) { Refresh(); }

bool AllowList::Refresh() {
  KeyOwners keys;
  std::vector<std::string> problems;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".pub") files.push_back(entry->path());
  }
  // The keys stay valid if the folder cannot be listed once.
  if (error) {
    problems_ = {"cannot list " + folder_ + ": " + error.message()};
    return false;
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    auto key = LoadOwnedKey(file.string());
    if (!key) {
      problems.push_back(key.error().message);
      continue;
    }
    if (!key->has_role) {
      problems.push_back(file.string() +
                         ": no role, so it is a viewer's; add `role operator` or `role node N`");
    }
    const auto [same, is_new] = keys.try_emplace(key->public_key, key->owner);
    if (is_new || same->second.role == key->owner.role) continue;
    problems.push_back(file.string() + ": the same key as " + same->second.name +
                       ".pub, which decides: " + RoleText(same->second));
  }
  problems_ = std::move(problems);
  if (keys == keys_) return false;
  keys_ = std::move(keys);
  return true;
}

}  // namespace tessera::agents
