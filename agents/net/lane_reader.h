// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads ranges of bytes of cells that another node holds, over its lanes: small reads and large
/// ones, many at once, on connections that stay. (lanes.h brings whole cells, once, with digests.)

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/net/lane_wire.h"
#include "agents/net/socket.h"
#include "ptc/base/result.h"

namespace tessera::agents {

struct LaneReaderOptions {
  CurveKeys keys;                            // of this side; empty: unencrypted
  int window = 8;                            // frames under way on one connection
  std::chrono::milliseconds silence{10000};  // how long a source may say nothing while asked
  int attempts = 3;                          // times a frame is asked for again
  std::chrono::milliseconds refusal{1000};   // how long a refused key is not tried again
};

/// One source node: a thread with a connection to each of its lanes.
/// \threadsafety Any thread but the reader's own.
class LaneReader {
 public:
  using Write = std::function<void(std::int64_t offset, std::span<const std::byte> bytes)>;

  /// Connects. `context` outlives the reader. \param server_key of the source's agent
  /// \error kInvalidArgument for no endpoints or a bad one
  static Result<std::unique_ptr<LaneReader>> Open(NetContext& context,
                                                  const std::vector<std::string>& endpoints,
                                                  const std::string& server_key,
                                                  LaneReaderOptions options);
  /// Ends open reads with kCancelled.
  ~LaneReader();

  /// Brings the segments, which may be larger than a frame. `write` gets all of their bytes, in
  /// pieces and in any order; `offset` counts from the start of the first segment, as if they were
  /// one. It runs on the reader's thread, never after the future is ready. The future gets
  /// \error kUnavailable `source tcp://… silent for 10 s`; kDataLoss for a frame whose checksum
  ///     does not fit, however often it is asked for; kFailedPrecondition `key refused by tcp://…`;
  ///     kCancelled; or what the source's Resolve said, with the source as context
  /// \pre segments are not empty and none is of 0 bytes
  std::future<Status> Read(const LaneKey& key, std::vector<LaneSegment> segments, Write write);
  /// Ends open reads, and what comes later, with kCancelled.
  void Cancel();

 private:
  struct Impl;
  explicit LaneReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
