// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A bounded number of open files over any number of them.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/files/descriptor.h"

namespace tessera::engine {

/// Keeps the files that were used last open; the one that was not used the longest is closed first,
/// once nobody reads from it.
/// \threadsafety Any thread.
class DescriptorPool {
 public:
  explicit DescriptorPool(std::size_t limit) : limit_(limit) {}
  using DescriptorPtr = std::shared_ptr<const Descriptor>;

  std::uint64_t NewId();
  /// The descriptor of `id`, opened for reading where it is not open; not ok() with errno set.
  DescriptorPtr Get(std::uint64_t id, const std::string& path);
  void Close(std::uint64_t id);

 private:
  struct Held {
    DescriptorPtr descriptor;
    std::list<std::uint64_t>::iterator age;
  };
  const std::size_t limit_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::uint64_t next_id_ = 0;
  std::list<std::uint64_t> ages_;  // used last first
  std::unordered_map<std::uint64_t, Held> held_;
};

}  // namespace tessera::engine
