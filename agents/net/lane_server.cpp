// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "engine/copy/checksum.h"
#include "engine/copy/fused.h"

namespace tessera::agents {

namespace {
// A destination has at most a few windows of requests under way. A request of 3 KiB may name so
// many cells that it takes 170 KiB here, so both are counted.
constexpr std::size_t kMostRequests = 256;  // waiting requests per peer
constexpr std::size_t kMostWaitingSegments = 16 * kMaxSegments;
}  // namespace

struct LaneServer::Impl {
  /// The requests of a peer that are not answered yet.
  struct Waiting {
    std::deque<FrameRequest> requests;
    std::size_t segments = 0;  // of all of them

    bool HasRoomFor(const FrameRequest& request) const {
      return requests.size() < kMostRequests &&
             segments + request.segments.size() <= kMostWaitingSegments;
    }
    void Push(FrameRequest request) {
      segments += request.segments.size();
      requests.push_back(std::move(request));
    }
    FrameRequest Pop() {
      FrameRequest request = std::move(requests.front());
      requests.pop_front();
      segments -= request.segments.size();
      return request;
    }
  };

  /// One socket, its loop and its thread.
  struct Lane {
    Lane(Impl& owner, std::size_t number, Socket bound)
        : impl(owner), socket(std::move(bound)), index(number) {}

    Impl& impl;
    Loop loop;
    Socket socket;
    const std::size_t index;
    // The requests of a peer are answered in order: a destination treats a missing answer as lost.
    std::map<std::string, Waiting> waiting;
    std::deque<std::string> turns;  // the peers with waiting requests, one turn each
    bool paced = false;             // the first turn waits for the port
    std::atomic<bool> stopping{false};
    std::jthread thread;

    void Run() {
      loop.Watch(socket, [this] {
        Read();
        Serve();
      });
      loop.Run();
      loop.Unwatch(socket);
    }

    void Read() {
      for (int n = 0; n < 64; ++n) {
        auto message = socket.Receive();
        if (!message || !*message) break;
        if ((*message)->size() != 2) {
          ++impl.counts->malformed;
          continue;
        }
        auto request = DecodeFrameRequest((**message)[1]);
        if (!request) {
          ++impl.counts->malformed;
          continue;
        }
        if (impl.options.admits &&
            !impl.options.admits(request->key, index, request->ticket, (*message)->sender_key())) {
          ++impl.counts->not_admitted;
          continue;
        }
        std::string peer((*message)->Text(0));
        Waiting& own = waiting[peer];
        if (!own.HasRoomFor(*request)) {  // it is requested again, as if it had been lost
          ++impl.counts->dropped;
          continue;
        }
        own.Push(std::move(*request));
        if (own.requests.size() == 1) turns.push_back(std::move(peer));
      }
    }

    void Serve() {
      while (!paced && !turns.empty() && !stopping) {
        const auto wait = PortDelay(waiting[turns.front()].requests.front());
        if (wait.count() > 0) {
          paced = true;
          loop.After(std::chrono::ceil<std::chrono::milliseconds>(wait), [this] {
            paced = false;
            ServeFirst();
            Serve();
          });
          return;
        }
        ServeFirst();
        Read();  // a new peer does not wait until the others have nothing left to request
      }
    }

    static std::int64_t SizeOf(const FrameRequest& request) {
      std::int64_t size = 0;
      for (const LaneSegment& segment : request.segments) size += segment.size;
      return size;
    }

    std::chrono::nanoseconds PortDelay(const FrameRequest& request) {
      if (!impl.options.egress) return std::chrono::nanoseconds(0);
      return impl.options.egress->Take(SizeOf(request), std::chrono::steady_clock::now());
    }

    void ServeFirst() {
      std::string peer = std::move(turns.front());
      turns.pop_front();
      const auto own = waiting.find(peer);
      const FrameRequest request = own->second.Pop();
      if (own->second.requests.empty()) {
        waiting.erase(own);
      } else {
        turns.push_back(peer);
      }
      auto answer = Answer(request);
      if (!answer) {
        const LaneRefusal refusal{request.key, request.sequence, answer.error()};
        answer.emplace();
        answer->push_back(Frame::Of(Encode(LaneReply(refusal))));
      }
      answer->insert(answer->begin(), Frame::Of(std::move(peer)));
      // A peer that is gone needs no answer; after a reconnect it sends the request again.
      static_cast<void>(socket.Send(std::move(*answer)));
    }

    Result<SourceCell> Find(const LaneKey& key, const LaneSegment& segment) {
      TESSERA_TRY(SourceCell cell, impl.resolve(key, segment.cell));
      if (segment.size > cell.cell.size_bytes() - segment.offset) {
        return InvalidArgument(
            ToString(segment.cell) + ": bytes " + std::to_string(segment.offset) + " to " +
            std::to_string(segment.offset + segment.size) + " are outside a cell of " +
            std::to_string(cell.cell.size_bytes()) + " bytes");
      }
      return cell;
    }

    Result<std::vector<Frame>> Answer(const FrameRequest& request) {
      FrameHeader header;
      header.key = request.key;
      header.sequence = request.sequence;
      header.frame = request.frame;
      bool has_digests = request.wants_digests;
      Frame body;
      if (request.segments.size() == 1) {
        const LaneSegment& segment = request.segments[0];
        TESSERA_TRY(SourceCell cell, Find(request.key, segment));
        body.borrowed = cell.cell.InPlace(segment.offset, segment.size);
        has_digests = has_digests && cell.indices;
        if (!body.borrowed.empty() && has_digests) {
          header.digests.push_back(
              engine::DigestPacked(*cell.indices, segment.offset, body.borrowed));
        }
        body.owner = std::move(cell.keep_alive);
      }
      if (body.borrowed.empty()) {
        const auto size = static_cast<std::size_t>(SizeOf(request));
        engine::HostBuffer buffer;
        std::span<std::byte> rest;
        for (const LaneSegment& segment : request.segments) {
          TESSERA_TRY(const SourceCell cell, Find(request.key, segment));
          if (!buffer.owner) {
            TESSERA_TRY(buffer, cell.cell.memory().TakeHostBuffer(size));
            rest = buffer.bytes;
          }
          const auto bytes = rest.first(static_cast<std::size_t>(segment.size));
          has_digests = has_digests && cell.indices;
          const engine::CellView* const indices = has_digests ? &*cell.indices : nullptr;
          TESSERA_TRY(const std::uint64_t digest, cell.cell.Pack(segment.offset, bytes, indices));
          if (has_digests) header.digests.push_back(digest);
          rest = rest.subspan(bytes.size());
        }
        body.borrowed = buffer.bytes;
        body.owner = std::move(buffer.owner);
      }
      if (!has_digests) header.digests.clear();
      header.size = std::ssize(body.borrowed);
      if (request.wants_checksum) header.checksum = engine::Checksum(body.borrowed);
      impl.bytes_sent += header.size;
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(Encode(LaneReply(std::move(header)))));
      frames.push_back(std::move(body));
      return frames;
    }
  };

  LaneServerOptions options;
  Resolve resolve;
  std::vector<std::string> endpoints;
  std::atomic<std::int64_t> bytes_sent{0};
  std::shared_ptr<LaneCounts> counts;
  std::vector<std::unique_ptr<Lane>> lanes;  // last: their threads use all of the above
};

LaneServer::LaneServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<LaneServer>> LaneServer::Start(NetContext& context,
                                                      LaneServerOptions options, Resolve resolve) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->resolve = std::move(resolve);
  impl->counts = impl->options.counts ? impl->options.counts : std::make_shared<LaneCounts>();
  for (const std::string& endpoint : impl->options.endpoints) {
    TESSERA_TRY(Socket socket, Socket::Server(context, SocketKind::kRouter, impl->options.keys));
    TESSERA_TRY(std::string bound, socket.Bind(endpoint));
    impl->endpoints.push_back(std::move(bound));
    impl->lanes.push_back(
        std::make_unique<Impl::Lane>(*impl, impl->lanes.size(), std::move(socket)));
  }
  for (auto& lane : impl->lanes) {
    lane->thread = std::jthread([&lane = *lane] { lane.Run(); });
  }
  return std::unique_ptr<LaneServer>(new LaneServer(std::move(impl)));
}

LaneServer::~LaneServer() {
  for (auto& lane : impl_->lanes) {
    lane->stopping = true;
    lane->loop.Stop();
  }
  for (auto& lane : impl_->lanes) lane->thread.join();
}

const std::vector<std::string>& LaneServer::endpoints() const { return impl_->endpoints; }
std::int64_t LaneServer::bytes_sent() const { return impl_->bytes_sent; }
const LaneCounts& LaneServer::counts() const { return *impl_->counts; }

}  // namespace tessera::agents
