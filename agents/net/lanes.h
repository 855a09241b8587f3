// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bulk transfer between nodes. The destination requests frames of cells from a source, writes them
/// into the destination cells and compares their digests with those of the source. A source keeps
/// no state about destinations, so a frame can be requested again at any time, and from another
/// node that holds the same cells. A frame (at most 4 MiB) is the unit of schedule, wire and
/// checksum. FORMAT.md has the bytes, DESIGN.md the threads.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/net/lane_counts.h"
#include "agents/net/lane_wire.h"
#include "agents/net/socket.h"
#include "engine/copy/cell_view.h"
#include "engine/copy/device_memory.h"
#include "engine/transfer/token_bucket.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A cell in the memory of its source.
struct SourceCell {
  engine::DeviceCell cell;                       // not written to
  std::optional<engine::CellView> indices = {};  // engine::IndicesOf; without: no digests
  std::shared_ptr<void> keep_alive = {};         // held until the last byte has been sent
};

struct LaneServerOptions {
  std::vector<std::string> endpoints;           // one per lane; port *: any free one
  CurveKeys keys;                               // of the agents; empty: unencrypted
  std::shared_ptr<engine::TokenBucket> egress;  // of the node's port; null: no limit
  /// Whether a request with this ticket, or from the owner of this public key, may be answered on
  /// lane `lane`; null: all may. Other requests are dropped and counted. Called on lane threads,
  /// several at once.
  std::function<bool(const LaneKey& key, std::size_t lane, const LaneTicket& ticket,
                     std::string_view sender_key)>
      admits = {};
  std::shared_ptr<LaneCounts> counts = {};  // shared with other lanes; null: the server's own
};

/// The source side: one ROUTER socket and one thread per lane. The peers of a lane are served in
/// turn, one frame each.
class LaneServer {
 public:
  /// Finds a cell. Called on lane threads, several at once, with cells that peers name: `cell` may
  /// be any. An error ends the fetch that requested the cell, with this error.
  using Resolve = std::function<Result<SourceCell>(const LaneKey& key, const LaneCell& cell)>;

  /// \error as Socket::Server and Socket::Bind
  static Result<std::unique_ptr<LaneServer>> Start(NetContext& context, LaneServerOptions options,
                                                   Resolve resolve);
  /// Waits for the lane threads. Cells that ZeroMQ still holds are released with the context.
  ~LaneServer();

  /// The bound endpoints, one per lane.
  const std::vector<std::string>& endpoints() const;
  /// Payload bytes passed to ZeroMQ. Any thread.
  std::int64_t bytes_sent() const;
  const LaneCounts& counts() const;

 private:
  struct Impl;
  explicit LaneServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Another place that holds the bytes of a cell.
struct OtherHolder {
  std::size_t batch = 0;  // index in Start
  LaneCell cell;          // there; of the same size
};
/// One cell to fetch.
struct Fetch {
  std::int64_t id = 0;  // the caller's, passed to its callbacks
  LaneCell cell;        // at the source
  engine::DeviceCell destination;
  /// engine::IndicesOf the cell. If present, the bytes in place are compared with the digests of
  /// the source, else frames with their checksums.
  std::optional<engine::CellView> indices = {};
  std::vector<OtherHolder> others = {};  // in the order in which they are tried
};
/// Cells that one source node holds. Without cells it is only the holder of cells of others.
struct FetchBatch {
  std::vector<std::string> endpoints;    // the source's lanes
  std::string server_key = {};           // its public key; used only if the client has keys
  std::vector<LaneTicket> tickets = {};  // one per lane; empty: lanes are encrypted
  std::vector<Fetch> cells;
};

/// All callbacks run on lane threads, several at once.
struct FetchCallbacks {
  /// `bytes` more of the cell `id` are in place; `batch` is the index in Start of the source.
  std::function<void(std::size_t batch, std::int64_t id, std::int64_t bytes)> progress;
  /// All bytes of the cell `id` are in place. `digest` is that of the source and of the bytes in
  /// place; 0 without `indices`.
  std::function<void(std::int64_t id, std::uint64_t digest)> cell_done;
  /// Cells of `from` are now requested from `to`, because of `why`. Once per pair.
  std::function<void(std::size_t from, std::size_t to, const Error& why)> switched;
  /// A frame with bytes of the cell `id` is requested again for the `attempt`th time of `most`.
  std::function<void(std::int64_t id, int attempt, int most, const std::string& why)> retried;
  /// Bytes of the cell `id` are now requested from `to` instead of `from`.
  std::function<void(std::int64_t id, std::size_t from, std::size_t to, const Error& why)> replaced;
  /// The last callback, called exactly once. No lane writes after it.
  std::function<void(Status)> done;
};

/// How many lanes a transfer uses on this machine. A lane keeps about four threads busy, those of
/// both ends and of ZeroMQ. With more lanes than cores for them, the rate falls (DESIGN.md).
int DefaultLanes();

struct LaneClientOptions {
  /// Threads, each with a connection to every source; at most as many as a source has lanes.
  int lanes = DefaultLanes();
  CurveKeys keys;                              // of the agents; empty: unencrypted
  int window = 4;                              // frames requested at a time per connection
  std::int64_t frame_bytes = kLaneFrameBytes;  // of a frame at most; up to kMostLaneFrameBytes
  /// Limit for an answer. At a slow port a source serves many others first: there it is longer.
  std::chrono::milliseconds silence{10000};
  /// The same without a connection, for cells that others hold, too.
  std::chrono::milliseconds patience{3000};
  int attempts = 3;                              // how often a frame is requested again
  bool checksums = true;                         // of frames of cells without `indices`
  std::shared_ptr<engine::TokenBucket> ingress;  // of the node's port; null: no limit
  std::shared_ptr<LaneCounts> counts = {};       // shared with other lanes; null: the client's own
};

/// The destination side. One fetch at a time.
class LaneClient {
 public:
  LaneClient(NetContext& context, LaneClientOptions options);
  /// As Cancel().
  ~LaneClient();
  LaneClient(const LaneClient&) = delete;
  LaneClient& operator=(const LaneClient&) = delete;

  /// Starts to fetch the cells of all batches. The memory of the destinations belongs to the lanes
  /// until `done` runs. `done` gets one of these errors:
  /// \error kUnavailable `source tcp://… silent for 10 s`; kDataLoss naming source, cell, frame and
  ///     both digests; kFailedPrecondition `key refused by tcp://…`; kCancelled; or the error of
  ///     the source's Resolve, with the source as context. If a source is silent or refuses, its
  ///     cells are first requested from their other holders
  /// After an error, destinations may contain bytes that differ from their sources.
  /// Start itself returns one of these, and `done` never runs:
  /// \error kFailedPrecondition while a fetch runs; kInvalidArgument for a source without
  ///     endpoints, for a holder that is no batch, or for an id that is used twice
  /// \pre not on a lane thread
  Status Start(const LaneKey& key, std::vector<FetchBatch> batches, FetchCallbacks callbacks);
  /// Ends a running fetch with kCancelled and waits for its `done`.
  /// \pre not on a lane thread
  void Cancel();

  const LaneCounts& counts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
