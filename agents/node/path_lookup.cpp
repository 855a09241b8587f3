// SPDX-License-Identifier: Apache-2.0
#include "agents/node/path_lookup.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace tessera::agents {
namespace {

/// Each of those that do not answer has a thread.
constexpr std::size_t kMostLookups = 32;

Error NoAnswer(const std::string& path) {
  return Unavailable(fmt::format("the file system of '{}' does not answer", path));
}

class PathLookups {
 public:
  Result<std::string> Run(const std::string& path, std::chrono::milliseconds patience,
                          const std::function<std::string(const std::string&)>& resolve) {
    std::unique_lock lock(mutex_);
    std::erase_if(running_, [](const auto& entry) { return entry.second->resolved.has_value(); });
    if (running_.contains(path)) return NoAnswer(path);
    if (running_.size() >= kMostLookups) {
      return Unavailable(fmt::format("'{}' cannot be resolved: {} other paths do not answer", path,
                                     running_.size()));
    }
    Lookup& lookup = *(running_[path] = std::make_unique<Lookup>());
    lookup.thread = std::jthread([this, &lookup, path, resolve] {
      std::string resolved = resolve(path);
      const std::lock_guard ended(mutex_);
      lookup.resolved = std::move(resolved);
      changed_.notify_all();
    });
    const bool has_answer =
        changed_.wait_for(lock, patience, [&] { return lookup.resolved.has_value(); });
    if (!has_answer) return NoAnswer(path);
    const auto done = running_.extract(path);
    lock.unlock();  // its thread may still hold the lock
    return std::move(*done.mapped()->resolved);
  }

 private:
  struct Lookup {
    std::optional<std::string> resolved;
    std::jthread thread;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::unique_ptr<Lookup>> running_;  // guarded by mutex_
};

}  // namespace

std::string ResolvePath(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failed);
  return failed ? std::string() : resolved.string();
}

Result<std::string> ResolvePathWithin(
    const std::string& path, std::chrono::milliseconds patience,
    const std::function<std::string(const std::string&)>& resolve) {
  // Never destroyed: the end of the process would wait for file systems that hang.
  static auto* const lookups = new PathLookups;
  return lookups->Run(path, patience, resolve);
}

}  // namespace tessera::agents
