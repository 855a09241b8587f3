// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads ranges of bytes of cells of another node over its lanes: small and large reads, many at
/// once, on connections that stay open. (lanes.h fetches whole cells, once, with digests.)

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/net/lane_counts.h"
#include "agents/net/lane_wire.h"
#include "agents/net/socket.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct LaneReaderOptions {
  CurveKeys keys;                            // of this side; empty: unencrypted
  int window = 8;                            // frames requested at a time per connection
  std::chrono::milliseconds silence{10000};  // limit for an answer
  int attempts = 3;                          // how often a frame is requested again
  std::chrono::milliseconds refusal{1000};   // pause after a refused key
  std::shared_ptr<LaneCounts> counts = {};   // shared with other lanes; null: the reader's own
};

/// One source node: a thread with a connection to each of its lanes.
/// \threadsafety Any thread except the reader's own.
class LaneReader {
 public:
  using Write = std::function<void(std::int64_t offset, std::span<const std::byte> bytes)>;

  /// Connects.
  /// \param context outlives the reader
  /// \param server_key of the source's agent
  /// \error kInvalidArgument without endpoints or for a malformed one
  static Result<std::unique_ptr<LaneReader>> Open(NetContext& context,
                                                  const std::vector<std::string>& endpoints,
                                                  const std::string& server_key,
                                                  LaneReaderOptions options);
  /// Ends open reads with kCancelled.
  ~LaneReader();

  /// Reads the segments, which may be larger than a frame. `write` gets all of their bytes, in
  /// ranges and in any order; `offset` counts through the concatenated segments. It runs on the
  /// reader's thread, never after the future is ready.
  /// \param tickets one per lane; empty: lanes are encrypted
  /// \return a future with one of these errors:
  /// \error kUnavailable `source tcp://… silent for 10 s`; kDataLoss for a frame whose checksum
  ///     is wrong each time; kFailedPrecondition `key refused by tcp://…`; kCancelled; or the error
  ///     of the source's Resolve, with the source as context
  /// \pre there are segments, and none has 0 bytes
  std::future<Status> Read(const LaneKey& key, std::vector<LaneSegment> segments, Write write,
                           std::vector<LaneTicket> tickets = {});
  /// Ends current and later reads with kCancelled.
  void Cancel();

 private:
  struct Impl;
  explicit LaneReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
