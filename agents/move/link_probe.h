// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures the bandwidth of links over the same path as a transfer: lanes, encryption and the
/// token buckets of an emulated port. Also finds the number of lanes and the size of frames that
/// make it fastest. Takes at most 44 MiB and 3 s per link and use.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "agents/net/lanes.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/link_speeds.h"
#include "engine/transfer/token_bucket.h"

namespace tessera::agents {

/// The key of all measurements.
LaneKey LinkProbeKey();
/// Whether `key` belongs to a measurement. Its job name is not valid for a job.
bool IsLinkProbe(const LaneKey& key);

/// The source side: serves the same block of memory for every requested cell.
/// \threadsafety Any thread.
class LinkSource {
 public:
  /// The memory is freed when the last cell has been sent.
  SourceCell Cell();

 private:
  std::mutex mutex_;
  std::weak_ptr<std::vector<std::byte>> bytes_;  // guarded by mutex_
};

/// The receiving end of a transfer to this node.
struct LinkPort {
  NetContext* net = nullptr;
  CurveKeys keys = {};
  std::shared_ptr<engine::TokenBucket> ingress = {};
  std::chrono::milliseconds longest{3000};  // time limit of one link
  /// Instead of MeasureMemory, for a node whose state is not in memory of the host.
  std::function<Result<std::vector<double>>()> measure_memory = {};
};

/// The bandwidth of one link. One transfer is measured in runs of equal size, after a first part
/// that brings TCP to speed and drains the buckets of an emulated port.
struct LinkRuns {
  std::vector<double> bytes_per_second;  // of each run that ended within the limit, in order
  std::int64_t bytes = 0;                // fetched in all
  engine::LaneUse use = {};              // with which these runs were made
  /// \pre there are runs
  double median() const;
};
/// Whether a link is faster with another use by more than noise, and by so much that the threads of
/// more lanes pay. Each lane keeps about four of them busy.
bool ArePaid(const LinkRuns& changed, const LinkRuns& before);
/// Measures with 1, 2, 4, … lanes, as long as more of them pay, then with larger frames, and if
/// these do not pay, with smaller ones. Returns the best runs. A link that is too slow for all runs
/// within the limit is measured with one lane only.
/// \error that of the transfer; kTimeout if less than two frames arrived; kCancelled
Result<LinkRuns> MeasureLink(const LinkPort& port, const wire::Peer& source,
                             const std::stop_token& stop);
/// Bytes per second of copies within the memory of this machine, one value per copy.
std::vector<double> MeasureMemory();

/// Measures all links of `query`, one after another.
/// \error as MeasureLink, naming the source; of measure_memory
Result<wire::LinksAnswer> MeasureLinks(const LinkPort& port, const wire::LinksQuery& query,
                                       const std::stop_token& stop);

}  // namespace tessera::agents
