// SPDX-License-Identifier: Apache-2.0

/// \file
/// Times collectives and messages of groups of ranks, which are threads here: shared memory and TCP
/// over the loopback, in turns. Prints medians in milliseconds.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agents/train/comm/shm_group.h"
#include "agents/train/comm/tcp_group.h"
#include "agents/train/comm/thread_rendezvous.h"

namespace {

using namespace tessera;
using namespace tessera::agents::train;

constexpr std::size_t kMessageFloats = std::size_t{3} << 20;

struct Transport {
  std::string name;
  std::function<Result<CollectivePtr>(const GroupOptions&)> make;
};

/// There and back between ranks 0 and 1; other ranks do nothing.
Status PingPong(Collective& group, std::span<float> values) {
  if (group.rank() > 1) return OkStatus();
  if (group.rank() == 0) {
    TESSERA_RETURN_IF_ERROR(group.Send(1, values));
    return group.Receive(1, values);
  }
  TESSERA_RETURN_IF_ERROR(group.Receive(0, values));
  return group.Send(0, values);
}
Status Sum(Collective& group, std::span<float> values) { return group.AllReduceSum(values); }

using Operation = Status (*)(Collective&, std::span<float>);

/// Median milliseconds of `times` runs of an operation, as rank 0 sees it.
double MillisecondsOf(const std::vector<CollectivePtr>& groups, Operation operation,
                      std::size_t floats, int times) {
  std::vector<double> milliseconds;
  std::vector<std::jthread> threads;
  for (const CollectivePtr& group : groups) {
    threads.emplace_back([&, group] {
      std::vector<float> values(floats, 1.0F);
      for (int i = -2; i < times; ++i) {
        if (!group->Barrier()) std::abort();
        std::fill(values.begin(), values.end(), 1.0F);
        const auto begin = std::chrono::steady_clock::now();
        if (!operation(*group, values)) std::abort();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        if (i >= 0 && group->rank() == 0) milliseconds.push_back(took.count());
      }
    });
  }
  threads.clear();
  std::nth_element(milliseconds.begin(), milliseconds.begin() + times / 2, milliseconds.end());
  return milliseconds[static_cast<std::size_t>(times / 2)];
}

std::vector<CollectivePtr> Connect(const Transport& transport, int ranks) {
  std::vector<CollectivePtr> groups(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      auto group = transport.make(
          {.name = "bench", .rank = rank, .size = ranks, .message_floats = kMessageFloats});
      if (group) groups[static_cast<std::size_t>(rank)] = *group;
    });
  }
  threads.clear();
  return groups;
}

}  // namespace

int main() {
  constexpr int kTurns = 3;
  struct Case {
    const char* name;
    Operation operation;
    std::size_t floats;
    int times;
  };
  const Case cases[] = {{"sum of 1 KiB", Sum, 256, 60},
                        {"sum of 512 KiB", Sum, std::size_t{128} << 10, 30},
                        {"sum of 12 MiB", Sum, std::size_t{3} << 20, 10},
                        {"1 KiB there and back", PingPong, 256, 60},
                        {"512 KiB there and back", PingPong, std::size_t{128} << 10, 30},
                        {"12 MiB there and back", PingPong, std::size_t{3} << 20, 10}};
  for (const int ranks : {2, 4, 8}) {
    const int memory = ::memfd_create("bench", MFD_CLOEXEC);
    if (::ftruncate(memory, static_cast<off_t>(ShmGroupBytes(ranks, kMessageFloats))) != 0)
      return 1;
    const auto rendezvous = std::make_shared<ThreadRendezvous>();
    const Transport transports[] = {
        {"shared memory",
         [&](const GroupOptions& options) { return MakeShmGroup(options, ::dup(memory)); }},
        {"TCP",
         [&](const GroupOptions& options) {
           return MakeTcpGroup(options, "127.0.0.1", rendezvous);
         }},
    };
    std::vector<std::vector<CollectivePtr>> groups;
    for (const Transport& transport : transports) groups.push_back(Connect(transport, ranks));
    for (const Case& measured : cases) {
      if (measured.operation == PingPong && ranks > 2) continue;
      for (int turn = 0; turn < kTurns; ++turn) {
        fmt::print("{} ranks, {}:", ranks, measured.name);
        for (std::size_t i = 0; i < groups.size(); ++i) {
          fmt::print(
              "  {} {:.3f}", transports[i].name,
              MillisecondsOf(groups[i], measured.operation, measured.floats, measured.times));
        }
        fmt::print("\n");
        std::fflush(stdout);
      }
    }
    ::close(memory);
  }
  std::fflush(nullptr);
  ::_exit(0);
}
