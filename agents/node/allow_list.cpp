// SPDX-License-Identifier: Apache-2.0
#include "agents/node/allow_list.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "agents/net/socket.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kTicks = 2;  // seconds
constexpr std::size_t kManyFiles = 256;
constexpr int kLooksAtFolder = 10;  // then at the files too

std::int64_t Now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec;
}

}  // namespace

AllowList::AllowList(const AgentConfig& config) : folder_(config.allowed_folder) { Refresh(); }

AllowList::Stamp AllowList::StampOf(const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return {file.filename().string(), 0, 0, 0, 0};
  return {file.filename().string(), static_cast<std::uint64_t>(info.st_ino), info.st_size,
          info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

// A file may change twice within one tick of the clock that stamps it.
bool AllowList::IsOld(const std::vector<Stamp>& stamps) {
  const std::int64_t now = Now();
  return std::ranges::all_of(stamps, [now](const Stamp& stamp) {
    return stamp.seconds != 0 && stamp.seconds < now - kTicks;
  });
}

bool AllowList::Refresh() {
  // Thousands of files would cost more than the heartbeats of their nodes. A file that comes, goes
  // or is replaced is seen by the folder.
  const Stamp folder = StampOf(folder_);
  const bool is_large = stamps_ && stamps_->size() > kManyFiles;
  if (is_large && folder == folder_stamp_ && ++looks_ % kLooksAtFolder != 0) return false;
  folder_stamp_ = folder.seconds < Now() - kTicks ? folder : Stamp();

  KeyOwners keys;
  std::vector<std::string> problems;
  std::vector<std::filesystem::path> files;
  std::vector<Stamp> stamps;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".pub") files.push_back(entry->path());
  }
  // The keys stay valid if the folder cannot be listed once.
  if (error) {
    stamps_.reset();
    problems_ = {"cannot list " + folder_ + ": " + error.message()};
    return false;
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) stamps.push_back(StampOf(file));
  if (stamps_ == stamps && IsOld(stamps)) return false;
  stamps_ = std::move(stamps);
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
