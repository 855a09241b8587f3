// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes of lane messages (FORMAT.md): small fixed binary, little-endian, each with a checksum
/// of its own. Bulk bytes follow in a ZeroMQ frame of their own.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/box.h"

namespace tessera::agents {

/// The transfer that a frame belongs to. Frames with another key are dropped.
struct LaneKey {
  std::string job;
  std::int64_t transaction = 0;
  std::int64_t attempt = 0;
  friend auto operator<=>(const LaneKey&, const LaneKey&) = default;
};
/// The `attempt` of keys that name a view of a job's state: `transaction` is then the view's id.
inline constexpr std::int64_t kViewAttempt = -1;
/// The `attempt` of keys that name a hand-in: `transaction` is its number.
inline constexpr std::int64_t kHandInAttempt = -2;
/// "gpt-mini transaction 3 attempt 1".
std::string ToString(const LaneKey& key);

/// A cell by what it is at the source. A source finds it in its own memory, without a plan.
struct LaneCell {
  std::int32_t device = 0;  // index on its node; 0 where the key names no device's memory
  std::int32_t tensor = 0;
  ptc::Box box = ptc::Box::Scalar();
  friend auto operator<=>(const LaneCell&, const LaneCell&) = default;
};
/// "tensor 5 [0:4]".
std::string ToString(const LaneCell& cell);

/// Bytes [offset, offset + size) of the packed cell.
struct LaneSegment {
  LaneCell cell;
  std::int64_t offset = 0;
  std::int64_t size = 0;
  friend bool operator==(const LaneSegment&, const LaneSegment&) = default;
};

inline constexpr std::int64_t kLaneFrameBytes = 1LL << 20;      // unless a link has another size
inline constexpr std::int64_t kMostLaneFrameBytes = 4LL << 20;  // of a frame
inline constexpr std::size_t kMaxSegments = 1024;               // of a frame
inline constexpr std::size_t kMaxJobName = 255;

/// Proves on a lane without encryption that the source's agent permits the request. Zeros where
/// lanes are encrypted.
using LaneTicket = std::array<std::byte, 16>;

// Destination to source.
struct FrameRequest {
  LaneKey key;
  std::uint64_t sequence = 0;  // of the connection; the source answers in this order
  LaneTicket ticket = {};
  std::uint32_t frame = 0;     // only for error texts
  bool wants_digests = false;  // of the segments, as the source's memory has them
  bool wants_checksum = false;
  std::vector<LaneSegment> segments;  // the frame is their bytes, one after another
  friend bool operator==(const FrameRequest&, const FrameRequest&) = default;
};

// Source to destination.
struct FrameHeader {
  LaneKey key;
  std::uint64_t sequence = 0;
  std::uint32_t frame = 0;
  std::int64_t size = 0;                       // of the frame, which follows
  std::optional<std::uint64_t> checksum = {};  // engine::Checksum of the frame
  std::vector<std::uint64_t> digests = {};     // linear32-1 of each segment; empty: none
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};
struct LaneRefusal {
  LaneKey key;
  std::uint64_t sequence = 0;
  Error error;
  friend bool operator==(const LaneRefusal&, const LaneRefusal&) = default;
};
using LaneReply = std::variant<FrameHeader, LaneRefusal>;

std::string Encode(const FrameRequest& request);
std::string Encode(const LaneReply& reply);
/// \error kDataLoss for a wrong checksum; kInvalidArgument for another magic, an unknown kind, a
///     list above its limit, a box that cannot exist, a negative or too large range, missing or
///     surplus bytes
Result<FrameRequest> DecodeFrameRequest(std::span<const std::byte> bytes);
Result<LaneReply> DecodeLaneReply(std::span<const std::byte> bytes);

}  // namespace tessera::agents
