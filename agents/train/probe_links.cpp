// SPDX-License-Identifier: Apache-2.0

/// \file
/// Collectives and messages of ranks that are threads of this process.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "agents/train/comm/shm_group.h"
#include "agents/train/comm/tcp_group.h"
#include "agents/train/comm/thread_rendezvous.h"
#include "agents/train/probe.h"

namespace tessera::agents::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallFloats = 1024, kLargeFloats = 512 * 1024;

/// A group as each of its ranks makes it.
using MakeGroup = std::function<Result<CollectivePtr>(const GroupOptions&)>;
/// What is measured, on the first `floats` floats of a buffer.
using Operation = Status (*)(Collective&, std::size_t floats, std::vector<float>& buffer);

Status Reduce(Collective& group, std::size_t floats, std::vector<float>& buffer) {
  return group.AllReduceSum(std::span(buffer).first(floats));
}
/// Gathers `floats` floats, rounded up to equal shares.
Status Gather(Collective& group, std::size_t floats, std::vector<float>& buffer) {
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::size_t share = (floats + ranks - 1) / ranks;
  const std::vector<float> mine(share, 1.0F);
  return group.AllGather(std::as_bytes(std::span(mine)),
                         std::as_writable_bytes(std::span(buffer).first(share * ranks)));
}
/// There and back: two messages.
Status Exchange(Collective& group, std::size_t floats, std::vector<float>& buffer) {
  const std::span<float> message = std::span(buffer).first(floats);
  if (group.rank() == 0) {
    TESSERA_RETURN_IF_ERROR(group.Send(1, message));
    return group.Receive(1, message);
  }
  TESSERA_RETURN_IF_ERROR(group.Receive(0, message));
  return group.Send(0, message);
}

/// Returns the seconds of `operation` on this rank: the lower quartile, because other load on the
/// machine only ever adds time.
Result<double> Time(Collective& group, Operation operation, std::size_t floats, int times,
                    std::vector<float>& buffer) {
  std::vector<double> seconds;
  for (int i = 0; i <= times; ++i) {
    const auto begin = Clock::now();
    TESSERA_RETURN_IF_ERROR(operation(group, floats, buffer));
    if (i > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto quartile = seconds.begin() + std::ssize(seconds) / 4;
  std::nth_element(seconds.begin(), quartile, seconds.end());
  return *quartile;
}

/// Returns the straight line through the times of two sizes.
Result<engine::LinkCost> Line(Collective& group, Operation operation, std::vector<float>& buffer) {
  constexpr int kSmallTimes = 12, kLargeTimes = 4;
  TESSERA_TRY(const double small, Time(group, operation, kSmallFloats, kSmallTimes, buffer));
  TESSERA_TRY(const double large, Time(group, operation, kLargeFloats, kLargeTimes, buffer));
  constexpr auto kMore = static_cast<double>((kLargeFloats - kSmallFloats) * sizeof(float));
  engine::LinkCost line;
  line.seconds_per_byte = std::max(0.0, (large - small) / kMore);
  line.seconds =
      std::max(0.0, small - line.seconds_per_byte * static_cast<double>(kSmallFloats) * 4);
  return line;
}

struct Lines {
  engine::LinkCost reduce, gather, send;
};

Result<Lines> MeasureAsRank(Collective& group) {
  std::vector<float> buffer(kLargeFloats + static_cast<std::size_t>(group.size()), 1.0F);
  Lines lines;
  TESSERA_TRY(lines.reduce, Line(group, Reduce, buffer));
  TESSERA_TRY(lines.gather, Line(group, Gather, buffer));
  if (group.size() == 2) {
    TESSERA_TRY(lines.send, Line(group, Exchange, buffer));
    lines.send.seconds /= 2;
    lines.send.seconds_per_byte /= 2;
  }
  TESSERA_RETURN_IF_ERROR(group.Barrier());
  return lines;
}

/// Measures a group of `size` threads; the figures of rank 0 count. The groups live until all
/// threads have ended, because a destroyed group loses messages that are not yet received.
Result<Lines> Measure(int size, const MakeGroup& make) {
  std::vector<CollectivePtr> groups(static_cast<std::size_t>(size));
  std::vector<Result<Lines>> results(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        const GroupOptions options{.name = fmt::format("probe-{}", size),
                                   .rank = rank,
                                   .size = size,
                                   .timeout = std::chrono::seconds(20),
                                   .message_floats = size == 2 ? kLargeFloats : 0};
        auto& result = results[static_cast<std::size_t>(rank)];
        auto group = make(options);
        if (!group) {
          result = group.error();
          return;
        }
        groups[static_cast<std::size_t>(rank)] = *group;
        result = MeasureAsRank(**group);
        if (!result) (*group)->Abort();
      });
    }
  }
  for (const auto& result : results) {
    if (!result) return result.error();
  }
  return results.front();
}

Result<Lines> MeasureShared(int size) {
  const int file = ::memfd_create("tessera-probe", MFD_CLOEXEC);
  const std::size_t bytes = ShmGroupBytes(size, size == 2 ? kLargeFloats : 0);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) ::close(file);
    return ResourceExhausted(
        fmt::format("no {} bytes of shared memory: {}", bytes, std::strerror(errno)));
  }
  auto lines = Measure(
      size, [&](const GroupOptions& options) { return MakeShmGroup(options, ::dup(file)); });
  ::close(file);
  return lines;
}

Result<Lines> MeasureNetwork(int size) {
  const auto rendezvous = std::make_shared<ThreadRendezvous>();
  return Measure(size, [&](const GroupOptions& options) {
    return MakeTcpGroup(options, "127.0.0.1", rendezvous);
  });
}

/// Measures groups of 2, 4 and 8 ranks.
Status MeasureSizes(Result<Lines> (*measure)(int), engine::CollectiveCost* reduce,
                    engine::CollectiveCost* gather, engine::LinkCost* send) {
  TESSERA_TRY(const Lines two, measure(2));
  TESSERA_TRY(const Lines four, measure(4));
  TESSERA_TRY(const Lines eight, measure(8));
  *reduce = {two.reduce, four.reduce, eight.reduce};
  *gather = {two.gather, four.gather, eight.gather};
  *send = two.send;
  return OkStatus();
}

}  // namespace

Status ProbeLinks(engine::Calibration* calibration) {
  TESSERA_RETURN_IF_ERROR(MeasureSizes(MeasureShared, &calibration->shared_all_reduce,
                                       &calibration->shared_gather, &calibration->shared_send)
                              .Context("shared memory"));
  return MeasureSizes(MeasureNetwork, &calibration->network_all_reduce,
                      &calibration->network_gather, &calibration->network_send)
      .Context("TCP");
}

}  // namespace tessera::agents::train
