// SPDX-License-Identifier: Apache-2.0
/// \file
/// Rate of the bulk lanes on loopback beside bare ZeroMQ with the same security, the same number of
/// connections and the same frame size. In each round all variants run one after the other; printed
/// are medians and ratios of medians. A move does what `digests` does: requests, packing, one
/// digest on each side, one copy into place. `copy` is the same without checks, `view` reads
/// through LaneReader with checksums. Bare ZeroMQ sends borrowed memory and drops what comes.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "agents/net/lane_reader.h"
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

/// The cells as two dimensions of a tensor: runs of a whole cell.
engine::CellView Indices(std::int64_t cell) {
  const std::vector<ptc::Interval> dims{{cell, cell + 1}, {0, kCellBytes}};
  return {*ptc::Box::Whole({kBytes / kCellBytes, kCellBytes}), *ptc::Box::Make(dims), 1, nullptr};
}

LaneCell Named(std::int64_t cell) {
  return {0, static_cast<std::int32_t>(cell), *ptc::Box::Whole({kCellBytes})};
}

std::unique_ptr<LaneServer> Serve(Ends& ends, Memory& memory, int lanes) {
  LaneServerOptions options;
  options.endpoints.assign(static_cast<std::size_t>(lanes), "tcp://127.0.0.1:*");
  options.keys = ends.keys;
  return Must(LaneServer::Start(
      ends.source, options, [&](const LaneKey&, const LaneCell& cell) -> Result<SourceCell> {
        return SourceCell{View(memory.source.data(), cell.tensor), Indices(cell.tensor), {}};
      }));
}

void MustBeEqual(const Memory& memory) {
  if (memory.destination == memory.source) return;
  std::fprintf(stderr, "bytes differ\n");
  std::exit(1);
}

double LaneRate(Ends& ends, Memory& memory, int lanes, bool digests) {
  std::fill(memory.destination.begin(), memory.destination.end(), std::byte{0});
  const auto server = Serve(ends, memory, lanes);
  LaneClientOptions options;
  options.lanes = lanes;
  options.keys = ends.keys;
  options.checksums = false;
  LaneClient client(ends.destination, options);
  FetchBatch batch;
  batch.endpoints = server->endpoints();
  batch.server_key = ends.keys.public_key;
  for (std::int64_t cell = 0; cell < kBytes / kCellBytes; ++cell) {
    Fetch fetch{cell, Named(cell), View(memory.destination.data(), cell)};
    if (digests) fetch.indices = Indices(cell);
    batch.cells.push_back(std::move(fetch));
  }
  std::promise<Status> done;
  FetchCallbacks callbacks;
  callbacks.done = [&](Status status) { done.set_value(std::move(status)); };
  const auto begin = Loop::Now();  // with the handshakes, as a move has them
  Must(client.Start({"bench", 1, 1}, {batch}, std::move(callbacks)));
  Must(done.get_future().get());
  const double seconds = Seconds(begin);
  MustBeEqual(memory);
  return static_cast<double>(kBytes) / seconds;
}

double ViewRate(Ends& ends, Memory& memory, int lanes) {
  std::fill(memory.destination.begin(), memory.destination.end(), std::byte{0});
  const auto server = Serve(ends, memory, lanes);
  LaneReaderOptions options;
  options.keys = ends.keys;
  const auto begin = Loop::Now();
  const auto reader =
      Must(LaneReader::Open(ends.destination, server->endpoints(), ends.keys.public_key, options));
  std::vector<std::future<Status>> reads;
  for (std::int64_t cell = 0; cell < kBytes / kCellBytes; ++cell) {
    reads.push_back(reader->Read(
        {"bench", 1, kViewAttempt}, {{Named(cell), 0, kCellBytes}},
        [view = View(memory.destination.data(), cell)](
            std::int64_t offset, std::span<const std::byte> bytes) { view.Write(offset, bytes); }));
  }
  for (auto& read : reads) Must(read.get());
  const double seconds = Seconds(begin);
  MustBeEqual(memory);
  return static_cast<double>(kBytes) / seconds;
}

}  // namespace

int main() {
  Memory memory;
  std::printf("lanes beside bare ZeroMQ on loopback, %s\n", tessera::test::Machine().c_str());
  std::printf("%lld MiB in frames of 1 MiB, medians of %d rounds, GB/s; ratios to bare\n",
              static_cast<long long>(kBytes >> 20), kRounds);
  std::printf("%-8s %-5s %7s %7s %6s %8s %6s %7s %6s\n", "security", "lanes", "bare", "copy", "",
              "digests", "", "view", "");
  for (const bool curve : {true, false}) {
    for (const int lanes : {1, 2}) {
      std::vector<double> bare, copy, digests, view;
      for (int round = 0; round < kRounds; ++round) {
        Ends ends(curve ? NewCurveKeys() : CurveKeys{}, lanes);
        bare.push_back(BareRate(ends, memory, lanes));
        copy.push_back(LaneRate(ends, memory, lanes, false));
        digests.push_back(LaneRate(ends, memory, lanes, true));
        view.push_back(ViewRate(ends, memory, lanes));
      }
      const double base = UpperMedian(bare);
      std::printf("%-8s %-5d %7.2f %7.2f %6.2f %8.2f %6.2f %7.2f %6.2f\n",
                  curve ? "curve" : "plain", lanes, base / 1e9, UpperMedian(copy) / 1e9,
                  UpperMedian(copy) / base, UpperMedian(digests) / 1e9, UpperMedian(digests) / base,
                  UpperMedian(view) / 1e9, UpperMedian(view) / base);
    }
  }
  return 0;
}
