// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens files on demand and keeps a bounded number of them open.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/files/descriptor.h"

namespace tessera::engine {

/// The least recently used file is closed first, once no thread reads from it.
/// \threadsafety Any thread.
class DescriptorPool {
 public:
  explicit DescriptorPool(std::size_t limit) : limit_(limit) {}
  using DescriptorPtr = std::shared_ptr<const Descriptor>;

  std::uint64_t NewId();
  /// Returns the descriptor of `id`, and opens it for reading if need be. On failure it is not ok()
  /// and errno is set.
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
  std::list<std::uint64_t> ages_;  // most recently used first
  std::unordered_map<std::uint64_t, Held> held_;
};

}  // namespace tessera::engine
