// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rate of the bulk lanes on loopback beside bare ZeroMQ with the same security, the same number of
/// connections and the same frame size. In each round all variants run one after the other; printed
/// are medians and the ratio of medians. The lanes do what a move does: requests, packing, one
/// checksum on each side, one copy into place. Bare ZeroMQ sends borrowed memory and drops what
/// comes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

using tessera::UpperMedian;

constexpr std::int64_t kCellBytes = std::int64_t{16} << 20;
constexpr std::int64_t kBytes = std::int64_t{256} << 20;  // above any cache
constexpr int kRounds = 7;

double Seconds(Loop::Clock::time_point begin) {
  return std::chrono::duration<double>(Loop::Now() - begin).count();
}

template <typename T>
T Must(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
  std::exit(1);
}
void Must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().ToString().c_str());
  std::exit(1);
}

struct Memory {
  std::vector<std::byte> source = std::vector<std::byte>(static_cast<std::size_t>(kBytes));
  std::vector<std::byte> destination = std::vector<std::byte>(static_cast<std::size_t>(kBytes));
  Memory() {
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7);
  }
};

/// One contiguous range of bytes as a cell.
engine::CellView View(std::byte* memory, std::int64_t cell) {
  const ptc::Box box = *ptc::Box::Whole({kCellBytes});
  return {box, box, 1, memory + cell * kCellBytes};
}

/// Both ends of the variants: `keys` empty for no encryption.
struct Ends {
  CurveKeys keys;
  NetContext source;
  NetContext destination;
  Ends(CurveKeys k, int lanes) : keys(std::move(k)), source(lanes), destination(lanes) {
    source.SetAllowed({keys.public_key});
    destination.SetAllowed({keys.public_key});
  }
};

double BareRate(Ends& ends, Memory& memory, int connections) {
  std::vector<std::jthread> threads;
  std::vector<std::promise<void>> connected(static_cast<std::size_t>(connections));
  std::promise<void> go;
  const std::shared_future<void> start = go.get_future().share();
  const std::int64_t share = kBytes / connections;
  for (int c = 0; c < connections; ++c) {
    Socket pull = Must(Socket::Server(ends.destination, SocketKind::kPull, ends.keys));
    const std::string endpoint = Must(pull.Bind("tcp://127.0.0.1:*"));
    Socket push =
        Must(Socket::Client(ends.source, SocketKind::kPush, ends.keys, ends.keys.public_key));
    Must(push.Connect(endpoint));
    threads.emplace_back([&, c, push = std::move(push), pull = std::move(pull)]() mutable {
      Loop loop;
      std::int64_t left = 0;
      loop.Watch(pull, [&] {
        for (int n = 0; n < 64; ++n) {
          const auto message = Must(pull.Receive());
          if (!message) return;
          left -= std::ssize((*message)[0]);
          if (left <= 0) return loop.Stop();
        }
      });
      // The handshake is not part of the rate: one empty message first.
      Must(push.Send([] {
        std::vector<Frame> frames;
        frames.push_back(Frame::Of("x"));
        return frames;
      }()));
      while (!Must(pull.Receive())) std::this_thread::yield();
      connected[static_cast<std::size_t>(c)].set_value();
      start.wait();
      left = share;
      for (std::int64_t offset = 0; offset < share; offset += kLaneFrameBytes) {
        std::vector<Frame> frames;
        frames.push_back(Frame{{},
                               std::span<const std::byte>(memory.source)
                                   .subspan(static_cast<std::size_t>(c * share + offset),
                                            static_cast<std::size_t>(kLaneFrameBytes)),
                               {}});
        Must(push.Send(std::move(frames)));
      }
      loop.Run();
    });
  }
  for (auto& each : connected) each.get_future().wait();
  const auto begin = Loop::Now();
  go.set_value();
  threads.clear();
  return static_cast<double>(kBytes) / Seconds(begin);
}

double LaneRate(Ends& ends, Memory& memory, int lanes, int window) {
  LaneServerOptions server_options;
  server_options.endpoints.assign(static_cast<std::size_t>(lanes), "tcp://127.0.0.1:*");
  server_options.keys = ends.keys;
  const auto server = Must(LaneServer::Start(
      ends.source, server_options, [&](const LaneKey&, const LaneCell& cell) -> Result<SourceCell> {
        return SourceCell{View(memory.source.data(), cell.tensor), {}, {}};
      }));
  LaneClientOptions options;
  options.lanes = lanes;
  options.keys = ends.keys;
  options.window = window;
  LaneClient client(ends.destination, options);
  FetchBatch batch;
  batch.endpoints = server->endpoints();
  batch.server_key = ends.keys.public_key;
  for (std::int64_t cell = 0; cell < kBytes / kCellBytes; ++cell) {
    batch.cells.push_back({cell,
                           {0, static_cast<std::int32_t>(cell), *ptc::Box::Whole({kCellBytes})},
                           View(memory.destination.data(), cell),
                           {}});
  }
  std::promise<Status> done;
  FetchCallbacks callbacks;
  callbacks.done = [&](Status status) { done.set_value(std::move(status)); };
  const auto begin = Loop::Now();  // with the handshakes, as a move has them
  Must(client.Start({"bench", 1, 1}, {batch}, std::move(callbacks)));
  Must(done.get_future().get());
  const double seconds = Seconds(begin);
  if (memory.destination != memory.source) {
    std::fprintf(stderr, "bytes differ\n");
    std::exit(1);
  }
  return static_cast<double>(kBytes) / seconds;
}

}  // namespace

int main() {
  Memory memory;
  std::printf("lanes beside bare ZeroMQ on loopback, %s\n", tessera::test::Machine().c_str());
  std::printf("%lld MiB in frames of 1 MiB, medians of %d rounds, GB/s\n",
              static_cast<long long>(kBytes >> 20), kRounds);
  std::printf("%-8s %-6s %-7s %8s %8s %7s\n", "security", "lanes", "window", "bare", "lanes",
              "ratio");
  for (const bool curve : {true, false}) {
    for (const int lanes : {1, 2}) {
      for (const int window : {4, 8}) {
        std::vector<double> bare;
        std::vector<double> ours;
        for (int round = 0; round < kRounds; ++round) {
          Ends ends(curve ? NewCurveKeys() : CurveKeys{}, lanes);
          bare.push_back(BareRate(ends, memory, lanes));
          ours.push_back(LaneRate(ends, memory, lanes, window));
        }
        std::printf("%-8s %-6d %-7d %8.2f %8.2f %7.2f\n", curve ? "curve" : "plain", lanes, window,
                    UpperMedian(bare) / 1e9, UpperMedian(ours) / 1e9,
                    UpperMedian(ours) / UpperMedian(bare));
      }
    }
  }
  return 0;
}
