// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Hashes values as 64-bit words in a fixed order, so that the hash is equal on every machine.

#include <bit>
#include <cstdint>
#include <vector>

#include "ptc/box.h"
#include "ptc/mesh.h"

namespace tessera::ptc {

/// Collects words and hashes them. ptc/FORMAT.md defines the words of each hash.
class WordHash {
 public:
  void Word(std::int64_t value) { words_.push_back(value); }
  void Word(std::uint64_t value) { words_.push_back(std::bit_cast<std::int64_t>(value)); }
  void Add(DeviceId device) {
    Word(std::int64_t{device.node});
    Word(std::int64_t{device.index});
  }
  void Add(const Box& box) {
    Word(std::int64_t{box.rank()});
    for (int d = 0; d < box.rank(); ++d) {
      Word(box[d].begin);
      Word(box[d].end);
    }
  }
  /// xxh3-64, seed 0.
  std::uint64_t Value() const;

 private:
  std::vector<std::int64_t> words_;
};

}  // namespace tessera::ptc
