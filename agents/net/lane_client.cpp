// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "agents/net/duration_text.h"
#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "engine/copy/checksum.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kMessageBytes = 8LL << 20;
constexpr std::int64_t kAlign = 8;  // the largest element size: no frame splits an element

/// One request: bytes of one or more cells, at most kLaneFrameBytes.
struct FramePlan {
  std::uint32_t message = 0;
  std::uint32_t frame = 0;  // within the message
  std::int64_t size = 0;
  struct Slice {
    std::size_t cell = 0;  // index in the batch
    std::int64_t offset = 0;
    std::int64_t size = 0;
  };
  std::vector<Slice> slices;
};

/// The concatenated cells cut into frames, and the frames grouped into messages.
struct Schedule {
  std::vector<FramePlan> frames;
  std::vector<std::size_t> message_begin;  // first frame of each message, and the end
};

Schedule MakeSchedule(const std::vector<Fetch>& cells) {
  Schedule schedule;
  FramePlan frame;
  std::int64_t message_bytes = 0;
  const auto flush = [&] {
    if (frame.slices.empty()) return;
    if (schedule.message_begin.empty() || message_bytes + frame.size > kMessageBytes) {
      schedule.message_begin.push_back(schedule.frames.size());
      message_bytes = 0;
    }
    message_bytes += frame.size;
    frame.message = static_cast<std::uint32_t>(schedule.message_begin.size() - 1);
    frame.frame =
        static_cast<std::uint32_t>(schedule.frames.size() - schedule.message_begin.back());
    schedule.frames.push_back(std::exchange(frame, {}));
  };
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::int64_t size = cells[cell].destination.size_bytes();
    for (std::int64_t offset = 0; offset < size;) {
      const std::int64_t room = kLaneFrameBytes - frame.size;
      const std::int64_t take = size - offset <= room ? size - offset : room / kAlign * kAlign;
      if (take == 0 || frame.slices.size() == kMaxSegments) {
        flush();
        continue;
      }
      frame.slices.push_back({cell, offset, take});
      frame.size += take;
      offset += take;
    }
  }
  flush();
  schedule.message_begin.push_back(schedule.frames.size());
  return schedule;
}

/// Cells from one source, shared by the lanes.
struct Batch {
  std::size_t index = 0;
  FetchBatch fetch;
  Schedule schedule;
  std::atomic<std::size_t> next_message{0};
  std::vector<std::atomic<std::int64_t>> missing;  // bytes of each cell that are not in place yet

  Batch(std::size_t number, FetchBatch what)
      : index(number),
        fetch(std::move(what)),
        schedule(MakeSchedule(fetch.cells)),
        missing(fetch.cells.size()) {
    for (std::size_t i = 0; i < missing.size(); ++i) {
      missing[i] = fetch.cells[i].destination.size_bytes();
    }
  }
  std::size_t num_messages() const { return schedule.message_begin.size() - 1; }
  /// The frames of a message that no lane has taken yet: [begin, end), empty when none is left.
  std::pair<std::size_t, std::size_t> TakeMessage() {
    const std::size_t message = next_message++;
    if (message >= num_messages()) return {0, 0};
    return {schedule.message_begin[message], schedule.message_begin[message + 1]};
  }
};

struct Counters {
  std::atomic<std::int64_t> dropped{0};
  std::atomic<std::int64_t> corrupt{0};
};

class Lane;

/// One fetch from Start to `done`: what its lanes share.
struct Run {
  NetContext& context;
  const LaneClientOptions& options;
  Counters& counters;
  LaneKey key;
  FetchCallbacks callbacks;
  std::vector<std::unique_ptr<Batch>> batches;
  std::atomic<std::size_t> cells_left{0};
  std::vector<std::unique_ptr<Lane>> lanes;
  std::atomic<int> lanes_alive{0};

  std::mutex mutex;
  std::optional<Status> result;  // under `mutex`: the first result counts

  /// Ends all lanes. Any thread.
  void Finish(Status status);
  /// Runs `done` after the last lane has ended.
  void LaneEnded();
};

/// One thread's connection to one source.
class Connection {
 public:
  Connection(Run& run, Loop& loop, Batch& batch, std::size_t lane)
      : run_(run),
        loop_(loop),
        batch_(batch),
        endpoint_(batch.fetch.endpoints[lane % batch.fetch.endpoints.size()]) {}
  ~Connection() {
    if (!socket_) return;
    loop_.Unwatch(*socket_);
    loop_.Unwatch(socket_->monitor());
  }

  Status Open() {
    TESSERA_TRY(Socket socket, Socket::Client(run_.context, SocketKind::kDealer, run_.options.keys,
                                              batch_.fetch.server_key));
    TESSERA_RETURN_IF_ERROR(socket.Monitor(run_.context));
    TESSERA_RETURN_IF_ERROR(socket.Connect(endpoint_));
    socket_.emplace(std::move(socket));
    loop_.Watch(*socket_, [this] { Read(); });
    loop_.Watch(socket_->monitor(), [this] { ReadMonitor(); });
    loop_.Every(std::max(std::chrono::milliseconds(1), run_.options.silence / 8),
                [this] { CheckSilence(); });
    last_heard_ = Loop::Now();
    Pump();
    return OkStatus();
  }

 private:
  struct Pending {
    std::size_t frame = 0;  // index in the schedule
    int attempts = 0;
    std::vector<std::size_t> trailer;  // not empty: a request for the digests of these cells
  };

  std::string Name() const { return "source " + endpoint_; }
  const Fetch& CellAt(std::size_t index) const { return batch_.fetch.cells[index]; }

  /// Requests frames while there is credit.
  void Pump() {
    while (!paced_ && frames_under_way_ < run_.options.window) {
      Pending next;
      if (!again_.empty()) {
        next = again_.front();
        again_.pop_front();
      } else {
        if (begin_ == end_) std::tie(begin_, end_) = batch_.TakeMessage();
        if (begin_ == end_) return;
        next.frame = begin_++;
      }
      ++frames_under_way_;
      if (run_.options.ingress) {
        const auto wait = run_.options.ingress->Take(batch_.schedule.frames[next.frame].size,
                                                     std::chrono::steady_clock::now());
        if (wait.count() > 0) {
          paced_ = true;
          loop_.After(std::chrono::ceil<std::chrono::milliseconds>(wait), [this, next] {
            paced_ = false;
            Ask(next);
            Pump();
          });
          return;
        }
      }
      Ask(next);
    }
  }

  void Ask(Pending pending) {
    const std::uint64_t sequence = ++last_sequence_;
    LaneRequest request;
    if (!pending.trailer.empty()) {
      TrailerRequest trailer{run_.key, sequence, {}};
      for (const std::size_t cell : pending.trailer) trailer.cells.push_back(CellAt(cell).cell);
      request = std::move(trailer);
    } else {
      const FramePlan& plan = batch_.schedule.frames[pending.frame];
      FrameRequest frame{run_.key, sequence, plan.message, plan.frame, {}};
      for (const FramePlan::Slice& slice : plan.slices) {
        frame.segments.push_back({CellAt(slice.cell).cell, slice.offset, slice.size});
      }
      request = std::move(frame);
    }
    if (pending_.empty()) last_heard_ = Loop::Now();  // silence counts from the request
    pending_.emplace(sequence, std::move(pending));
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(Encode(request)));
    if (auto sent = socket_->Send(std::move(frames)); !sent) {
      ReadMonitor();  // has the reason if the peer has refused the key
      run_.Finish(std::move(sent).Context(Name()));
    }
  }

  /// Requests a lost or corrupt reply again, up to the limit.
  void AskAgain(Pending pending, const std::string& why) {
    const bool trailer = !pending.trailer.empty();
    if (!trailer) --frames_under_way_;
    if (++pending.attempts > run_.options.attempts) {
      std::string what;
      if (trailer) {
        what = "digest of " + ToString(CellAt(pending.trailer[0]).cell);
      } else {
        const FramePlan& plan = batch_.schedule.frames[pending.frame];
        what = ToString(CellAt(plan.slices[0].cell).cell) + " message " +
               std::to_string(plan.message) + " frame " + std::to_string(plan.frame);
      }
      run_.Finish(DataLoss(Name() + ": " + what + " " + why + " " +
                           std::to_string(pending.attempts) + " times"));
      return;
    }
    if (trailer) {
      Ask(std::move(pending));
    } else {
      again_.push_back(std::move(pending));
    }
  }

  void Read() {
    for (int n = 0; n < run_.options.window; ++n) {
      auto message = socket_->Receive();
      if (!message) return run_.Finish(std::move(message).error());
      if (!*message) break;
      Take(**message);
    }
    if (!finished_.empty()) AskForDigests();
    Pump();
  }

  void Take(const Message& message) {
    auto reply = DecodeLaneReply(message[0]);
    if (!reply) {
      if (reply.error().code == ErrorCode::kDataLoss)
        ++run_.counters.corrupt;
      else
        ++run_.counters.dropped;
      return;  // the next answer shows the request as lost; else silence does
    }
    std::visit(
        [&](auto& body) {
          auto pending = Match(body.key, body.sequence);
          if (pending) Handle(body, *pending, message);
        },
        *reply);
  }

  /// The request that the reply answers. A source answers in order, so older requests are lost.
  std::optional<Pending> Match(const LaneKey& key, std::uint64_t sequence) {
    const auto found = pending_.find(sequence);
    if (key != run_.key || found == pending_.end()) {
      ++run_.counters.dropped;
      return std::nullopt;
    }
    last_heard_ = Loop::Now();
    Pending match = std::move(found->second);
    std::vector<Pending> lost;
    for (auto it = pending_.begin(); it != found; ++it) lost.push_back(std::move(it->second));
    pending_.erase(pending_.begin(), std::next(found));
    for (Pending& pending : lost) AskAgain(std::move(pending), "was lost");
    return match;
  }

  void Handle(const FrameHeader& header, Pending& pending, const Message& message) {
    const FramePlan* plan =
        pending.trailer.empty() ? &batch_.schedule.frames[pending.frame] : nullptr;
    const bool fits = plan != nullptr && message.size() == 2 && header.size == plan->size &&
                      std::ssize(message[1]) == plan->size;
    if (!fits || engine::Checksum(message[1]) != header.checksum) {
      ++run_.counters.corrupt;
      return AskAgain(std::move(pending), "came with a wrong checksum");
    }
    --frames_under_way_;
    std::span<const std::byte> rest = message[1];
    for (const FramePlan::Slice& slice : plan->slices) {
      const Fetch& cell = CellAt(slice.cell);
      const auto bytes = rest.first(static_cast<std::size_t>(slice.size));
      rest = rest.subspan(bytes.size());
      if (cell.write) {
        cell.write(slice.offset, bytes);
      } else {
        cell.destination.Write(slice.offset, bytes);
      }
      if (run_.callbacks.progress) run_.callbacks.progress(batch_.index, cell.id, slice.size);
      // Acquire and release: the lane that writes the last byte of a cell sees all other bytes.
      if (batch_.missing[slice.cell].fetch_sub(slice.size) == slice.size) {
        finished_.push_back(slice.cell);
      }
    }
  }

  void Handle(const Trailer& trailer, Pending& pending, const Message&) {
    if (trailer.digests.size() != pending.trailer.size()) {
      ++run_.counters.corrupt;
      return AskAgain(std::move(pending), "did not arrive");
    }
    for (std::size_t i = 0; i < trailer.digests.size(); ++i) {
      if (run_.callbacks.cell_done) {
        run_.callbacks.cell_done(CellAt(pending.trailer[i]).id, trailer.digests[i]);
      }
      if (--run_.cells_left == 0) run_.Finish(OkStatus());
    }
  }

  void Handle(const LaneRefusal& refusal, Pending&, const Message&) {
    run_.Finish(Status(refusal.error).Context(Name()));
  }

  void AskForDigests() {
    for (std::size_t begin = 0; begin < finished_.size(); begin += kMaxSegments) {
      const auto first = finished_.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t count = std::min(kMaxSegments, finished_.size() - begin);
      Pending pending;
      pending.trailer.assign(first, first + static_cast<std::ptrdiff_t>(count));
      Ask(std::move(pending));
    }
    finished_.clear();
  }

  void ReadMonitor() {
    while (const auto event = socket_->NextLinkEvent()) {
      if (event->kind == LinkEvent::Kind::kRefused) {
        run_.Finish(FailedPrecondition("key refused by " + endpoint_ +
                                       ": this agent's key is not in the source's allow-list"));
      } else if (event->kind == LinkEvent::Kind::kDisconnected) {
        was_lost_ = true;
      } else if (event->kind == LinkEvent::Kind::kReady && was_lost_) {
        // The answers to all open requests were lost with the old connection.
        was_lost_ = false;
        std::map<std::uint64_t, Pending> lost = std::exchange(pending_, {});
        for (auto& [sequence, pending] : lost) Ask(std::move(pending));
      }
    }
  }

  void CheckSilence() {
    if (pending_.empty() || Loop::Now() - last_heard_ < run_.options.silence) return;
    run_.Finish(Unavailable(Name() + " silent for " + DurationText(run_.options.silence)));
  }

  Run& run_;
  Loop& loop_;
  Batch& batch_;
  const std::string endpoint_;
  std::optional<Socket> socket_;
  std::uint64_t last_sequence_ = 0;
  std::map<std::uint64_t, Pending> pending_;  // requested, not answered
  std::deque<Pending> again_;                 // to be requested again, before new frames
  std::size_t begin_ = 0, end_ = 0;           // frames left of the current message
  int frames_under_way_ = 0;
  bool paced_ = false;  // the next request waits for the port
  bool was_lost_ = false;
  std::vector<std::size_t> finished_;  // complete cells whose digest is not requested yet
  Loop::Clock::time_point last_heard_;
};

/// One thread with a connection to every source that has work for it.
class Lane {
 public:
  Lane(Run& run, std::size_t index) : run_(run), index_(index) {}
  void Start() {
    thread_ = std::jthread([this] {
      Main();
      run_.LaneEnded();
    });
  }
  void Stop() { loop_.Stop(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  bool OnThread() const { return thread_.get_id() == std::this_thread::get_id(); }

 private:
  void Main() {
    std::vector<std::unique_ptr<Connection>> connections;
    for (auto& batch : run_.batches) {
      if (index_ >= batch->num_messages()) continue;  // fewer messages than lanes
      connections.push_back(std::make_unique<Connection>(run_, loop_, *batch, index_));
      if (auto opened = connections.back()->Open(); !opened) run_.Finish(std::move(opened));
    }
    loop_.Run();
  }

  Run& run_;
  const std::size_t index_;
  Loop loop_;
  std::jthread thread_;
};

void Run::Finish(Status status) {
  {
    const std::lock_guard lock(mutex);
    if (result) return;
    result = std::move(status);
  }
  for (auto& lane : lanes) lane->Stop();
}

void Run::LaneEnded() {
  if (--lanes_alive > 0) return;
  Status status;
  {
    const std::lock_guard lock(mutex);
    status = result.value_or(Status(Internal("all lanes ended by themselves")));
  }
  if (callbacks.done) callbacks.done(std::move(status));
}

}  // namespace

struct LaneClient::Impl {
  NetContext& context;
  LaneClientOptions options;
  Counters counters;
  std::unique_ptr<Run> run;  // the last one started

  void Join() {
    if (!run) return;
    for (auto& lane : run->lanes) {
      TESSERA_CHECK(!lane->OnThread());
      lane->Join();
    }
    run.reset();
  }
};

LaneClient::LaneClient(NetContext& context, LaneClientOptions options)
    : impl_(new Impl{context, std::move(options), {}, {}}) {
  impl_->options.lanes = std::max(1, impl_->options.lanes);
  impl_->options.window = std::max(1, impl_->options.window);
}

LaneClient::~LaneClient() { Cancel(); }

Status LaneClient::Start(const LaneKey& key, std::vector<FetchBatch> batches,
                         FetchCallbacks callbacks) {
  if (impl_->run && impl_->run->lanes_alive > 0) {
    return FailedPrecondition("a fetch of " + ToString(impl_->run->key) + " is running");
  }
  if (key.job.size() > kMaxJobName) {
    return InvalidArgument("job name of " + std::to_string(key.job.size()) +
                           " characters is above the limit of " + std::to_string(kMaxJobName));
  }
  std::set<std::int64_t> ids;
  for (const FetchBatch& batch : batches) {
    if (batch.endpoints.empty()) return InvalidArgument("a source without endpoints");
    for (const Fetch& cell : batch.cells) {
      if (!ids.insert(cell.id).second) {
        return InvalidArgument("two fetches have the id " + std::to_string(cell.id));
      }
    }
  }
  impl_->Join();
  impl_->run.reset(new Run{impl_->context,
                           impl_->options,
                           impl_->counters,
                           key,
                           std::move(callbacks),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}});
  Run& run = *impl_->run;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    run.batches.push_back(std::make_unique<Batch>(i, std::move(batches[i])));
  }
  run.cells_left = ids.size();
  if (ids.empty()) run.result = OkStatus();
  for (int i = 0; i < impl_->options.lanes; ++i) {
    run.lanes.push_back(std::make_unique<Lane>(run, static_cast<std::size_t>(i)));
    if (ids.empty()) run.lanes.back()->Stop();
  }
  run.lanes_alive = impl_->options.lanes;
  for (auto& lane : run.lanes) lane->Start();
  return OkStatus();
}

void LaneClient::Cancel() {
  if (!impl_->run) return;
  impl_->run->Finish(Cancelled("fetch of " + ToString(impl_->run->key) + " was cancelled"));
  impl_->Join();
}

std::int64_t LaneClient::num_dropped() const { return impl_->counters.dropped; }
std::int64_t LaneClient::num_corrupt() const { return impl_->counters.corrupt; }

}  // namespace tessera::agents
