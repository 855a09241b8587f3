// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_reader.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "agents/net/duration_text.h"
#include "agents/net/loop.h"
#include "engine/copy/checksum.h"

namespace tessera::agents {
namespace {

struct ReadFrame {
  std::int64_t offset = 0;  // of the read
  std::int64_t size = 0;
  std::vector<LaneSegment> segments;
};

/// Cuts segments into frames of at most kLaneFrameBytes.
std::deque<ReadFrame> MakeFrames(const std::vector<LaneSegment>& segments) {
  std::deque<ReadFrame> frames(1);
  for (LaneSegment rest : segments) {
    while (rest.size > 0) {
      if (frames.back().size == kLaneFrameBytes || frames.back().segments.size() == kMaxSegments) {
        frames.push_back({frames.back().offset + frames.back().size, 0, {}});
      }
      ReadFrame& frame = frames.back();
      const std::int64_t take = std::min(rest.size, kLaneFrameBytes - frame.size);
      frame.segments.push_back({rest.cell, rest.offset, take});
      frame.size += take;
      rest.offset += take;
      rest.size -= take;
    }
  }
  return frames;
}

/// One call of Read.
struct OpenRead {
  LaneKey key;
  std::vector<LaneTicket> tickets;  // by lane
  LaneReader::Write write;
  std::deque<ReadFrame> todo;
  std::size_t under_way = 0;
  bool ended = false;
  std::promise<Status> promise;

  LaneTicket TicketOf(std::size_t lane) const {
    return tickets.empty() ? LaneTicket{} : tickets[lane % tickets.size()];
  }
  void End(Status status) {
    if (std::exchange(ended, true)) return;
    todo.clear();
    promise.set_value(std::move(status));
  }
};
using OpenReadPtr = std::shared_ptr<OpenRead>;

/// A requested frame.
struct Asked {
  OpenReadPtr read;
  ReadFrame frame;
  int attempts = 0;
};

}  // namespace

struct LaneReader::Impl {
  /// The connection to one lane.
  struct Connection {
    std::string endpoint;
    std::optional<Socket> socket;
    std::uint64_t last_sequence = 0;
    std::map<std::uint64_t, Asked> asked;  // not answered
    Loop::Clock::time_point last_heard;
    bool was_lost = false;
    std::optional<Loop::Clock::time_point> refused;  // when; it stays closed after that
  };

  NetContext& context;
  const LaneReaderOptions options;
  const std::string server_key;
  Loop loop;
  std::vector<Connection> connections;
  bool cancelled = false;
  std::deque<OpenReadPtr> reads;  // with frames that are not requested yet; taken in turn
  std::jthread thread;            // last: it uses all of the above

  Impl(NetContext& net, LaneReaderOptions chosen, std::string key)
      : context(net), options(std::move(chosen)), server_key(std::move(key)) {}

  Status Connect(const std::vector<std::string>& endpoints) {
    connections.resize(endpoints.size());
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      connections[i].endpoint = endpoints[i];
      TESSERA_RETURN_IF_ERROR(Connect(connections[i]));
    }
    const auto period = std::max(std::chrono::milliseconds(1), options.silence / 8);
    loop.Every(period, [this] { CheckSilence(); });
    return OkStatus();
  }

  Status Connect(Connection& c) {
    TESSERA_TRY(Socket socket,
                Socket::Client(context, SocketKind::kDealer, options.keys, server_key));
    TESSERA_RETURN_IF_ERROR(socket.Monitor(context));
    TESSERA_RETURN_IF_ERROR(socket.Connect(c.endpoint));
    c.socket.emplace(std::move(socket));
    loop.Watch(*c.socket, [this, &c] { ReadSocket(c); });
    loop.Watch(c.socket->monitor(), [this, &c] { ReadMonitor(c); });
    return OkStatus();
  }

  /// Opens a refused connection again: ZeroMQ does not, and the node may know the key by now.
  Status Reconnect(Connection& c) {
    loop.Unwatch(*c.socket);
    loop.Unwatch(c.socket->monitor());
    c.refused = Loop::Now();
    TESSERA_RETURN_IF_ERROR(Connect(c));
    c.refused.reset();
    return OkStatus();
  }

  void Run() {
    loop.Run();
    for (Connection& c : connections) {
      loop.Unwatch(*c.socket);
      loop.Unwatch(c.socket->monitor());
    }
  }

  void EndAll() {
    const Error closed = Cancelled("the reader was closed");
    for (const OpenReadPtr& read : reads) read->End(Status(closed));
    reads.clear();
    for (Connection& c : connections) Fail(c, closed);
  }

  static std::string NameOf(const Connection& c) { return "source " + c.endpoint; }

  void Start(const OpenReadPtr& read) {
    if (cancelled) return read->End(Status(Cancelled("the reader was closed")));
    for (Connection& c : connections) {
      if (!c.refused) continue;
      if (Loop::Now() - *c.refused < options.refusal) return read->End(Status(RefusedBy(c)));
      if (const Status status = Reconnect(c); !status) return read->End(status);
    }
    reads.push_back(read);
    Pump();
  }

  static Error RefusedBy(const Connection& c) {
    return FailedPrecondition("key refused by " + c.endpoint +
                              ": this client's key is not in the node's allow-list");
  }

  /// Requests frames while there is credit, from one read after the other, on the least busy lane.
  void Pump() {
    while (!reads.empty()) {
      const OpenReadPtr read = reads.front();
      reads.pop_front();
      if (read->todo.empty()) continue;
      const auto lane = std::min_element(
          connections.begin(), connections.end(),
          [](const Connection& a, const Connection& b) { return a.asked.size() < b.asked.size(); });
      if (lane->asked.size() >= static_cast<std::size_t>(options.window)) {
        reads.push_front(read);
        return;
      }
      Asked next{read, std::move(read->todo.front()), 0};
      read->todo.pop_front();
      ++read->under_way;
      if (!read->todo.empty()) reads.push_back(read);
      Ask(*lane, std::move(next));
    }
  }

  void Ask(Connection& c, Asked asked) {
    if (c.asked.empty()) c.last_heard = Loop::Now();  // silence counts from the request
    const std::uint64_t sequence = ++c.last_sequence;
    FrameRequest request;
    request.key = asked.read->key;
    request.sequence = sequence;
    request.ticket = asked.read->TicketOf(static_cast<std::size_t>(&c - connections.data()));
    request.wants_checksum = true;
    request.segments = asked.frame.segments;
    c.asked.emplace(sequence, std::move(asked));
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(Encode(request)));
    if (const Status sent = c.socket->Send(std::move(frames)); !sent) {
      Fail(c, sent.error());
    }
  }

  void AskAgain(Connection& c, Asked asked, const std::string& why) {
    if (asked.read->ended) return;
    if (++asked.attempts > options.attempts) {
      return asked.read->End(DataLoss(NameOf(c) + ": " + ToString(asked.frame.segments[0].cell) +
                                      " " + why + " " + std::to_string(asked.attempts) + " times"));
    }
    Ask(c, std::move(asked));
  }

  void ReadSocket(Connection& c) {
    for (int n = 0; n < options.window; ++n) {
      auto message = c.socket->Receive();
      if (!message) {
        Fail(c, message.error());
        break;
      }
      if (!*message) break;
      Take(c, **message);
    }
    Pump();
  }

  void Take(Connection& c, const Message& message) {
    c.last_heard = Loop::Now();
    const auto reply = DecodeLaneReply(message[0]);
    if (!reply) {
      ++options.counts->corrupt;
      return;  // the next answer shows the request as lost; else silence does
    }
    const std::uint64_t sequence = std::visit([](const auto& r) { return r.sequence; }, *reply);
    const auto found = c.asked.find(sequence);
    if (found == c.asked.end()) {
      ++options.counts->dropped;
      return;
    }
    // A source answers in order, so earlier requests are lost.
    std::vector<Asked> lost;
    for (auto it = c.asked.begin(); it != found; it = c.asked.erase(it)) {
      lost.push_back(std::move(it->second));
    }
    Asked answered = std::move(found->second);
    c.asked.erase(found);
    for (Asked& each : lost) AskAgain(c, std::move(each), "did not arrive");
    if (answered.read->ended) return;
    if (const auto* refusal = std::get_if<LaneRefusal>(&*reply)) {
      return answered.read->End(Status(refusal->error).Context(NameOf(c)));
    }
    const auto* header = std::get_if<FrameHeader>(&*reply);
    const ReadFrame& frame = answered.frame;
    if (header == nullptr || !(header->key == answered.read->key) || message.size() != 2 ||
        std::ssize(message[1]) != frame.size || header->checksum != engine::Checksum(message[1])) {
      ++options.counts->corrupt;
      return AskAgain(c, std::move(answered), "came with a wrong checksum");
    }
    answered.read->write(frame.offset, message[1]);
    if (--answered.read->under_way == 0 && answered.read->todo.empty()) {
      answered.read->End(OkStatus());
    }
  }

  void ReadMonitor(Connection& c) {
    while (const auto event = c.socket->NextLinkEvent()) {
      if (event->kind == LinkEvent::Kind::kRefused) {
        c.refused = Loop::Now();
        Fail(c, RefusedBy(c));
      } else if (event->kind == LinkEvent::Kind::kDisconnected) {
        c.was_lost = true;
      } else if (event->kind == LinkEvent::Kind::kReady && c.was_lost) {
        // The answers to all open requests were lost with the old connection.
        c.was_lost = false;
        std::map<std::uint64_t, Asked> lost = std::exchange(c.asked, {});
        for (auto& [sequence, asked] : lost) AskAgain(c, std::move(asked), "did not arrive");
      }
    }
  }

  void CheckSilence() {
    for (Connection& c : connections) {
      if (c.asked.empty() || Loop::Now() - c.last_heard < options.silence) continue;
      Fail(c, Unavailable(NameOf(c) + " silent for " + DurationText(options.silence)));
    }
    Pump();
  }

  /// Ends all reads that wait for this connection.
  void Fail(Connection& c, const Error& error) {
    for (auto& [sequence, asked] : std::exchange(c.asked, {})) asked.read->End(Status(error));
  }
};

LaneReader::LaneReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<LaneReader>> LaneReader::Open(NetContext& context,
                                                     const std::vector<std::string>& endpoints,
                                                     const std::string& server_key,
                                                     LaneReaderOptions options) {
  if (endpoints.empty()) return InvalidArgument("a source without endpoints");
  options.window = std::max(1, options.window);
  if (!options.counts) options.counts = std::make_shared<LaneCounts>();
  auto impl = std::make_unique<Impl>(context, std::move(options), server_key);
  TESSERA_RETURN_IF_ERROR(impl->Connect(endpoints));
  impl->thread = std::jthread([raw = impl.get()] { raw->Run(); });
  return std::unique_ptr<LaneReader>(new LaneReader(std::move(impl)));
}

void LaneReader::Cancel() {
  impl_->loop.Post([raw = impl_.get()] {
    raw->cancelled = true;
    raw->EndAll();
  });
}

LaneReader::~LaneReader() {
  impl_->loop.Post([raw = impl_.get()] {
    raw->EndAll();
    raw->loop.Stop();
  });
  impl_->thread.join();
}

std::future<Status> LaneReader::Read(const LaneKey& key, std::vector<LaneSegment> segments,
                                     Write write, std::vector<LaneTicket> tickets) {
  auto read = std::make_shared<OpenRead>();
  read->key = key;
  read->tickets = std::move(tickets);
  read->write = std::move(write);
  read->todo = MakeFrames(segments);
  std::future<Status> future = read->promise.get_future();
  impl_->loop.Post([raw = impl_.get(), read] { raw->Start(read); });
  return future;
}

}  // namespace tessera::agents
