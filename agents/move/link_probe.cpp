// SPDX-License-Identifier: Apache-2.0
#include "agents/move/link_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <span>
#include <utility>

#include "agents/net/duration_text.h"
#include "agents/net/lane_ticket.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/copy/cell_view.h"

namespace tessera::agents {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kJob[] = "/links";  // not a valid job name
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kCellBytes = 4 * kMiB;
/// More than the bursts of emulated ports at both ends (node_server.cpp), and time for TCP to speed
/// up.
constexpr std::int64_t kWarmBytes = 4 * kMiB;
constexpr std::int64_t kRunBytes = 8 * kMiB;
constexpr int kRuns = 5;

double SecondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::max(1e-9, std::chrono::duration<double>(end - begin).count());
}

ptc::Box WholeOf(std::int64_t bytes) { return *ptc::Box::Whole({bytes}); }

/// Records how much of one transfer has arrived at which time.
/// \threadsafety Any thread.
class Arrivals {
 public:
  void Add(std::int64_t bytes) {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (bytes_ == 0) first_ = now;
    bytes_ += bytes;
    last_ = now;
    const std::int64_t next = kWarmBytes + std::ssize(marks_) * kRunBytes;
    if (bytes_ >= next) marks_.emplace_back(bytes_, now);
  }
  void End(Status status) {
    const std::lock_guard lock(mutex_);
    ended_ = std::move(status);
    changed_.notify_all();
  }
  /// Waits for the end, at most `longest`.
  /// \return whether it came
  bool WaitEnd(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, longest, [this] { return ended_.has_value(); });
  }
  Status status() const {
    const std::lock_guard lock(mutex_);
    return ended_.value_or(OkStatus());
  }
  /// Without runs if fewer than two frames arrived.
  LinkRuns Runs(const engine::LaneUse& use) const {
    const std::lock_guard lock(mutex_);
    LinkRuns runs{{}, bytes_, use};
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      const auto& [before, begin] = marks_[i - 1];
      const auto& [after, end] = marks_[i];
      runs.bytes_per_second.push_back(static_cast<double>(after - before) /
                                      SecondsBetween(begin, end));
    }
    // The link is too slow for one run. The first frame is not counted, because it arrived before
    // the clock started.
    if (runs.bytes_per_second.empty() && last_ > first_) {
      runs.bytes_per_second.push_back(static_cast<double>(bytes_ - use.frame_bytes) /
                                      SecondsBetween(first_, last_));
    }
    return runs;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t bytes_ = 0;
  Clock::time_point first_, last_;
  std::vector<std::pair<std::int64_t, Clock::time_point>>
      marks_;  // bytes and time at the end of the first part and of each run
  std::optional<Status> ended_;
};

constexpr std::int64_t kProbeBytes = kWarmBytes + kRuns * kRunBytes;

FetchBatch BatchOf(const wire::Peer& source, std::span<std::byte> memory) {
  FetchBatch batch;
  batch.endpoints.assign(source.lanes().begin(), source.lanes().end());
  batch.server_key = source.public_key();
  batch.tickets = TicketsFrom(source.lane_tickets());
  const ptc::Box box = WholeOf(kCellBytes);
  for (std::int64_t i = 0; i < kProbeBytes / kCellBytes; ++i) {
    Fetch cell{i, {0, 0, box}, engine::CellView(box, box, 1, memory.data() + i * kCellBytes)};
    batch.cells.push_back(std::move(cell));
  }
  return batch;
}

}  // namespace

LaneKey LinkProbeKey() { return {kJob, 0, 0}; }
bool IsLinkProbe(const LaneKey& key) { return key.job == kJob; }

SourceCell LinkSource::Cell() {
  std::shared_ptr<std::vector<std::byte>> bytes;
  {
    const std::lock_guard lock(mutex_);
    bytes = bytes_.lock();
    if (!bytes) {
      bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(kCellBytes),
                                                       std::byte{0x5a});
      bytes_ = bytes;
    }
  }
  const ptc::Box box = WholeOf(kCellBytes);
  return {engine::CellView(box, box, 1, bytes->data()), {}, bytes};
}

namespace {

/// As MeasureLink, with this use only.
Result<LinkRuns> MeasureWith(const engine::LaneUse& use, const LinkPort& port,
                             const wire::Peer& source, const std::stop_token& stop) {
  Arrivals arrivals;
  // Its pages are present, so that page faults do not distort the measured bandwidth.
  std::vector<std::byte> memory(static_cast<std::size_t>(kProbeBytes));
  LaneClientOptions options;
  options.keys = port.keys;
  options.ingress = port.ingress;
  options.lanes = use.lanes;
  options.frame_bytes = use.frame_bytes;
  LaneClient client(*port.net, std::move(options));
  FetchCallbacks callbacks;
  callbacks.progress = [&](std::size_t, std::int64_t, std::int64_t bytes) { arrivals.Add(bytes); };
  callbacks.done = [&](Status status) { arrivals.End(std::move(status)); };
  std::vector<FetchBatch> batches;
  batches.push_back(BatchOf(source, memory));
  TESSERA_RETURN_IF_ERROR(client.Start(LinkProbeKey(), std::move(batches), std::move(callbacks)));
  const std::stop_callback cancel(stop, [&client] { client.Cancel(); });
  const bool in_time = arrivals.WaitEnd(port.longest);
  if (!in_time) client.Cancel();
  if (stop.stop_requested()) return Cancelled("the agent ends");
  const Status status = arrivals.status();
  if (in_time && !status) return status.error();
  LinkRuns runs = arrivals.Runs(use);
  if (runs.bytes_per_second.empty()) {
    return Timeout(fmt::format("less than {} MiB arrived within {}", 2 * use.frame_bytes / kMiB,
                               DurationText(port.longest)));
  }
  return runs;
}

}  // namespace

double LinkRuns::median() const {
  return engine::LinkSpeed{.bytes_per_second = bytes_per_second}.median();
}

bool ArePaid(const LinkRuns& changed, const LinkRuns& before) {
  constexpr double kWorth = 1.1;
  return changed.median() >= kWorth * before.median();
}

Result<LinkRuns> MeasureLink(const LinkPort& port, const wire::Peer& source,
                             const std::stop_token& stop) {
  TESSERA_TRY(LinkRuns best, MeasureWith({1, kLaneFrameBytes}, port, source, stop));
  std::int64_t bytes = best.bytes;
  bool is_slow = bytes < kProbeBytes;
  /// \return whether it pays, and is the best now
  const auto attempt = [&](const engine::LaneUse& use) -> Result<bool> {
    TESSERA_TRY(LinkRuns runs, MeasureWith(use, port, source, stop));
    bytes += runs.bytes;
    is_slow = runs.bytes < kProbeBytes;
    if (!ArePaid(runs, best)) return false;
    best = std::move(runs);
    return true;
  };
  for (int lanes = 2; lanes <= source.lanes_size() && !is_slow; lanes *= 2) {
    TESSERA_TRY(const bool pays, attempt({lanes, kLaneFrameBytes}));
    if (!pays) break;
  }
  for (const std::int64_t frame : {kMostLaneFrameBytes, kLaneFrameBytes / 4}) {
    if (is_slow) break;
    TESSERA_TRY(const bool pays, attempt({best.use.lanes, frame}));
    if (pays) break;
  }
  best.bytes = bytes;
  return best;
}

std::vector<double> MeasureMemory() {
  constexpr std::int64_t kBytes = 32 * kMiB;  // more than most caches hold
  std::vector<std::byte> from(static_cast<std::size_t>(kBytes), std::byte{1});
  std::vector<std::byte> to(static_cast<std::size_t>(kBytes));
  const ptc::Box box = WholeOf(kBytes);
  const engine::CellView read(box, box, 1, from.data()), write(box, box, 1, to.data());
  std::vector<double> runs;
  for (int i = 0; i < kRuns; ++i) {
    const auto begin = Clock::now();
    engine::CopyCell(write, read);
    runs.push_back(static_cast<double>(kBytes) / SecondsBetween(begin, Clock::now()));
  }
  return runs;
}

Result<wire::LinksAnswer> MeasureLinks(const LinkPort& port, const wire::LinksQuery& query,
                                       const std::stop_token& stop) {
  wire::LinksAnswer answer;
  const auto add = [&answer](std::int32_t from, const std::vector<double>& runs) {
    auto* link = answer.add_links();
    link->set_from(from);
    link->mutable_bytes_per_second()->Assign(runs.begin(), runs.end());
    return link;
  };
  for (const wire::Peer& source : query.sources()) {
    TESSERA_TRY(const LinkRuns runs,
                MeasureLink(port, source, stop).Context(fmt::format("from n{}", source.node())));
    wire::LaneUse* use = add(source.node(), runs.bytes_per_second)->mutable_use();
    use->set_lanes(runs.use.lanes);
    use->set_frame_bytes(runs.use.frame_bytes);
    answer.set_bytes(answer.bytes() + runs.bytes);
  }
  if (query.memory() && port.measure_memory) {
    TESSERA_TRY(const std::vector<double> runs, port.measure_memory());
    add(query.node(), runs);
  } else if (query.memory()) {
    add(query.node(), MeasureMemory());
  }
  return answer;
}

}  // namespace tessera::agents
