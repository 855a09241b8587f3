// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

/// Reused buffers of one frame: the page faults of a new buffer cost more than the packing.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  using Buffer = std::vector<std::byte>;

  std::shared_ptr<Buffer> Get() {
    std::unique_ptr<Buffer> buffer;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!buffer) buffer = std::make_unique<Buffer>(static_cast<std::size_t>(kLaneFrameBytes));
    return std::shared_ptr<Buffer>(buffer.release(), [pool = shared_from_this()](Buffer* used) {
      pool->Put(std::unique_ptr<Buffer>(used));
    });
  }

 private:
  static constexpr std::size_t kKept = 32;

  void Put(std::unique_ptr<Buffer> buffer) {
    const std::lock_guard lock(mutex_);
    if (free_.size() < kKept) free_.push_back(std::move(buffer));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> free_;
};

/// The bytes of a segment in place, if they are one contiguous range.
/// \pre inside the cell
std::span<const std::byte> InPlace(const engine::CellView& view, const LaneSegment& segment) {
  const std::int64_t run = segment.offset / view.run_bytes();
  const std::int64_t within = segment.offset % view.run_bytes();
  if (segment.size > view.run_bytes() - within) return {};
  return {view.Run(run) + within, static_cast<std::size_t>(segment.size)};
}

const LaneKey& KeyOf(const LaneRequest& request) {
  return std::visit([](const auto& r) -> const LaneKey& { return r.key; }, request);
}
std::uint64_t SequenceOf(const LaneRequest& request) {
  return std::visit([](const auto& r) { return r.sequence; }, request);
}

}  // namespace

struct LaneServer::Impl {
  /// One socket, its loop and its thread.
  struct Lane {
    Lane(Impl& owner, Socket bound) : impl(owner), socket(std::move(bound)) {}

    Impl& impl;
    Loop loop;
    Socket socket;
    struct Waiting {
      std::string peer;
      LaneRequest request;
    };
    // Answered in order: a destination treats a missing answer as lost.
    std::deque<Waiting> queue;
    bool paced = false;  // the first of `queue` waits for the port
    std::jthread thread;

    void Run() {
      loop.Watch(socket, [this] { Read(); });
      loop.Run();
      loop.Unwatch(socket);
    }

    void Read() {
      for (int n = 0; n < 64; ++n) {
        auto message = socket.Receive();
        if (!message || !*message) break;
        if ((*message)->size() != 2) {
          ++impl.num_malformed;
          continue;
        }
        auto request = DecodeLaneRequest((**message)[1]);
        if (!request) {
          ++impl.num_malformed;
          continue;
        }
        queue.push_back({std::string((*message)->Text(0)), std::move(*request)});
      }
      Serve();
    }

    void Serve() {
      while (!paced && !queue.empty()) {
        const auto wait = PortDelay(queue.front().request);
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
      }
    }

    std::chrono::nanoseconds PortDelay(const LaneRequest& request) {
      const auto* frame = std::get_if<FrameRequest>(&request);
      if (frame == nullptr || !impl.options.egress) return std::chrono::nanoseconds(0);
      std::int64_t size = 0;
      for (const LaneSegment& segment : frame->segments) size += segment.size;
      return impl.options.egress->Take(size, std::chrono::steady_clock::now());
    }

    void ServeFirst() {
      Waiting first = std::move(queue.front());
      queue.pop_front();
      auto answer =
          std::visit([this](const auto& request) { return Answer(request); }, first.request);
      if (!answer) {
        const LaneRefusal refusal{KeyOf(first.request), SequenceOf(first.request), answer.error()};
        answer.emplace();
        answer->push_back(Frame::Of(Encode(LaneReply(refusal))));
      }
      answer->insert(answer->begin(), Frame::Of(std::move(first.peer)));
      // A peer that is gone needs no answer; after a reconnect it sends the request again.
      static_cast<void>(socket.Send(std::move(*answer)));
    }

    Result<SourceCell> Find(const LaneKey& key, const LaneSegment& segment) {
      TESSERA_TRY(SourceCell cell, impl.resolve(key, segment.cell));
      if (segment.size > cell.view.size_bytes() - segment.offset) {
        return InvalidArgument(
            ToString(segment.cell) + ": bytes " + std::to_string(segment.offset) + " to " +
            std::to_string(segment.offset + segment.size) + " are outside a cell of " +
            std::to_string(cell.view.size_bytes()) + " bytes");
      }
      return cell;
    }

    Result<std::vector<Frame>> Answer(const FrameRequest& request) {
      FrameHeader header{request.key, request.sequence, request.message, request.frame, 0, 0};
      Frame body;
      if (request.segments.size() == 1) {
        TESSERA_TRY(SourceCell cell, Find(request.key, request.segments[0]));
        body.borrowed = InPlace(cell.view, request.segments[0]);
        body.owner = std::move(cell.keep_alive);
      }
      if (body.borrowed.empty()) {
        const std::shared_ptr<BufferPool::Buffer> buffer = impl.pool->Get();
        std::span<std::byte> rest(*buffer);
        std::size_t size = 0;
        for (const LaneSegment& segment : request.segments) {
          TESSERA_TRY(const SourceCell cell, Find(request.key, segment));
          const auto bytes = static_cast<std::size_t>(segment.size);
          cell.view.Read(segment.offset, rest.first(bytes));
          rest = rest.subspan(bytes);
          size += bytes;
        }
        body.borrowed = std::span<const std::byte>(*buffer).first(size);
        body.owner = buffer;
      }
      header.size = std::ssize(body.borrowed);
      header.checksum = engine::Checksum(body.borrowed);
      impl.bytes_sent += header.size;
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(Encode(LaneReply(header))));
      frames.push_back(std::move(body));
      return frames;
    }

    Result<std::vector<Frame>> Answer(const TrailerRequest& request) {
      Trailer trailer{request.key, request.sequence, {}};
      for (const LaneCell& wanted : request.cells) {
        TESSERA_TRY(const SourceCell cell, impl.resolve(request.key, wanted));
        trailer.digests.push_back(cell.digest());
      }
      std::vector<Frame> frames;
      frames.push_back(Frame::Of(Encode(LaneReply(std::move(trailer)))));
      return frames;
    }
  };

  LaneServerOptions options;
  Resolve resolve;
  std::vector<std::string> endpoints;
  std::shared_ptr<BufferPool> pool = std::make_shared<BufferPool>();
  std::atomic<std::int64_t> bytes_sent{0};
  std::atomic<std::int64_t> num_malformed{0};
  std::vector<std::unique_ptr<Lane>> lanes;  // last: their threads use all of the above
};

LaneServer::LaneServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<LaneServer>> LaneServer::Start(NetContext& context,
                                                      LaneServerOptions options, Resolve resolve) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  impl->resolve = std::move(resolve);
  for (const std::string& endpoint : impl->options.endpoints) {
    TESSERA_TRY(Socket socket, Socket::Server(context, SocketKind::kRouter, impl->options.keys));
    TESSERA_TRY(std::string bound, socket.Bind(endpoint));
    impl->endpoints.push_back(std::move(bound));
    impl->lanes.push_back(std::make_unique<Impl::Lane>(*impl, std::move(socket)));
  }
  for (auto& lane : impl->lanes) {
    lane->thread = std::jthread([&lane = *lane] { lane.Run(); });
  }
  return std::unique_ptr<LaneServer>(new LaneServer(std::move(impl)));
}

LaneServer::~LaneServer() {
  for (auto& lane : impl_->lanes) lane->loop.Stop();
  for (auto& lane : impl_->lanes) lane->thread.join();
}

const std::vector<std::string>& LaneServer::endpoints() const { return impl_->endpoints; }
std::int64_t LaneServer::bytes_sent() const { return impl_->bytes_sent; }
std::int64_t LaneServer::num_malformed() const { return impl_->num_malformed; }

}  // namespace tessera::agents
