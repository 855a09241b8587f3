// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of a simulated device: a real arena with its control page and piece tables, in which
/// the pieces of an epoch stand for one number, the version of the state.

#include <array>
#include <cstdint>
#include <string>

#include "agents/keeper/packet.h"
#include "engine/store/arena.h"

namespace tessera::agents::sim {

/// What the pieces of one epoch contain. Training is deterministic, so the state after step n is
/// the same however often it is computed; n is its version.
struct Content {
  static constexpr std::int64_t kNothing = -1;
  static constexpr std::int64_t kRubbish = -2;  // pieces of unequal versions
  std::string job;
  std::int64_t epoch = 0;
  std::int64_t version = kNothing;
  bool is_torn = false;  // an update has begun and not ended

  /// kRubbish if an update is half made.
  std::int64_t readable() const { return is_torn ? kRubbish : version; }
};

struct DeviceMemory {
  UniqueFd fd;
  engine::Arena arena;
  std::array<Content, 2> contents;  // by epoch & 1, as the arena's slots
  std::int64_t saved_step = 0;      // whose gradients are kept

  engine::ArenaHeader& header() const { return arena.header(); }
  Content& at(std::int64_t epoch) { return contents[static_cast<std::size_t>(epoch & 1)]; }
  /// The version of the state of `epoch`, or kNothing.
  std::int64_t VersionOf(const std::string& job, std::int64_t epoch) {
    const Content& content = at(epoch);
    return content.job == job && content.epoch == epoch ? content.readable() : Content::kNothing;
  }
};

}  // namespace tessera::agents::sim
