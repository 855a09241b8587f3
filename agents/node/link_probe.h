// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures what links carry by the way that bytes of a move take: lanes, their encryption and the
/// buckets of an emulated port. Short and small: at most 44 MiB and 3 s a link.

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "agents/net/lanes.h"
#include "agents/wire/messages_fwd.h"
#include "engine/transfer/token_bucket.h"

namespace tessera::agents {

/// Whether frames belong to a measurement: their job is one that no job can be called.
bool IsLinkProbe(const LaneKey& key);

/// The source side: one piece of memory stands for every cell that is asked for.
/// \threadsafety all members from any thread
class LinkSource {
 public:
  /// The memory exists while cells of it are being sent.
  SourceCell Cell();

 private:
  std::mutex mutex_;
  std::weak_ptr<std::vector<std::byte>> bytes_;  // guarded by mutex_
};

/// What a transfer to this node goes through.
struct LinkPort {
  NetContext* net = nullptr;
  CurveKeys keys = {};
  std::shared_ptr<engine::TokenBucket> ingress = {};
};

/// One link in equal shares of one transfer, behind a first part that only brings it to speed and
/// empties the buckets of an emulated port.
struct LinkRuns {
  std::vector<double> bytes_per_second;  // of each share, in order; what 3 s were enough for
  std::int64_t bytes = 0;                // fetched in all
};
/// \error of the transfer; kTimeout where nothing came; kCancelled
Result<LinkRuns> MeasureLink(const LinkPort& port, const wire::Peer& source,
                             const std::stop_token& stop);
/// Bytes a second from one memory of this machine to another, as each of a few copies saw it.
std::vector<double> MeasureMemory();

/// Everything that `query` asks, one after another. \error naming the source, as MeasureLink
Result<wire::LinksAnswer> MeasureLinks(const LinkPort& port, const wire::LinksQuery& query,
                                       const std::stop_token& stop);

}  // namespace tessera::agents
