// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of lane messages (FORMAT.md): small fixed binary, little-endian, each with a checksum
/// of its own. Bulk bytes follow in a ZeroMQ frame of their own.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// The transfer that a frame belongs to. Frames with another key are dropped.
struct LaneKey {
  std::string job;
  std::int64_t transaction = 0;
  std::int64_t attempt = 0;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};
/// The `attempt` of keys that name a view of a job's state: `transaction` is then the view's id,
/// and a move is a cell of the view.
inline constexpr std::int64_t kViewAttempt = -1;
/// The `attempt` of keys that name a hand-in: `transaction` is its number, and a move is a read of
/// ptc::RefillPlan.
inline constexpr std::int64_t kHandInAttempt = -2;
/// "gpt-mini transaction 3 attempt 1".
std::string ToString(const LaneKey& key);

/// Bytes [offset, offset + size) of the packed cell of one move.
struct LaneSegment {
  std::int64_t move = 0;  // index into the plan's moves
  std::int64_t offset = 0;
  std::int64_t size = 0;
  friend bool operator==(const LaneSegment&, const LaneSegment&) = default;
};

inline constexpr std::int64_t kLaneFrameBytes = 1LL << 20;  // unit of wire and checksum
inline constexpr std::size_t kMaxSegments = 1024;           // of a frame; also cells of a trailer
inline constexpr std::size_t kMaxJobName = 255;

// Destination to source.
struct FrameRequest {
  LaneKey key;
  std::uint64_t sequence = 0;  // of the connection; the source answers in this order
  std::uint32_t message = 0;   // unit of schedule, and frame within it; only for error texts
  std::uint32_t frame = 0;
  std::vector<LaneSegment> segments;  // the frame is their bytes, one after another
  friend bool operator==(const FrameRequest&, const FrameRequest&) = default;
};
struct TrailerRequest {
  LaneKey key;
  std::uint64_t sequence = 0;
  std::vector<std::int64_t> moves;
  friend bool operator==(const TrailerRequest&, const TrailerRequest&) = default;
};
using LaneRequest = std::variant<FrameRequest, TrailerRequest>;

// Source to destination.
struct FrameHeader {
  LaneKey key;
  std::uint64_t sequence = 0;
  std::uint32_t message = 0;
  std::uint32_t frame = 0;
  std::int64_t move = 0;       // of the first segment
  std::int64_t offset = 0;     // of the first segment
  std::int64_t size = 0;       // of the whole frame, which follows
  std::uint64_t checksum = 0;  // engine::Checksum of the frame
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};
struct Trailer {
  LaneKey key;
  std::uint64_t sequence = 0;
  std::vector<std::pair<std::int64_t, std::uint64_t>> digests;  // move, digest at the source
  friend bool operator==(const Trailer&, const Trailer&) = default;
};
struct LaneRefusal {
  LaneKey key;
  std::uint64_t sequence = 0;
  Error error;
  friend bool operator==(const LaneRefusal&, const LaneRefusal&) = default;
};
using LaneReply = std::variant<FrameHeader, Trailer, LaneRefusal>;

std::string Encode(const LaneRequest& request);
std::string Encode(const LaneReply& reply);
/// \error kDataLoss for a wrong checksum; kInvalidArgument for another magic, an unknown kind, a
///     list above its limit, a negative or too large range, missing or surplus bytes
Result<LaneRequest> DecodeLaneRequest(std::span<const std::byte> bytes);
Result<LaneReply> DecodeLaneReply(std::span<const std::byte> bytes);

}  // namespace tessera::agents
