// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <deque>
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
#include "engine/copy/fused.h"
#include "ptc/base/check.h"
#include "ptc/layout.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kAlign = 8;  // the largest element size: no frame splits an element
constexpr std::int64_t kLeastLaneFrameBytes = 1 << 12;

/// A source whose port is slow may send this many frames to others before it answers.
constexpr std::int64_t kFramesBefore = 64;

/// Ports of a cluster are alike, so that of the destination stands for that of the source.
std::chrono::milliseconds LongestSilence(const LaneClientOptions& options) {
  const std::int64_t rate = options.ingress ? options.ingress->bytes_per_second() : 0;
  if (rate == 0) return options.silence;
  return options.silence + std::chrono::seconds(kFramesBefore * options.frame_bytes / rate);
}

/// Bytes of a cell, to be requested from one of its holders.
struct Slice {
  std::size_t cell = 0;    // index in the run
  std::size_t holder = 0;  // 0: its own source, else others[holder - 1]
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// One request: bytes of one or more cells, at most LaneClientOptions::frame_bytes. Its cells are
/// alike in whether another holder is left, and in whether they have indices.
struct FramePlan {
  std::uint32_t number = 0;
  std::int64_t size = 0;
  bool can_switch = false;
  bool is_digested = false;
  std::vector<Slice> slices;
};

/// A source node, shared by the lanes.
struct NodeSource {
  std::vector<std::string> endpoints;
  std::string server_key;
  std::vector<LaneTicket> tickets;
  std::atomic<bool> is_left{false};  // only cells without another holder are requested from it

  std::mutex mutex;
  std::deque<FramePlan> todo;  // under `mutex`: not requested yet
  std::size_t num_frames = 0;  // before the start; then under `mutex`, ever in `todo`

  std::optional<FramePlan> Take() {
    const std::lock_guard lock(mutex);
    if (todo.empty()) return std::nullopt;
    FramePlan frame = std::move(todo.front());
    todo.pop_front();
    return frame;
  }
};

class Lane;

/// One fetch from Start to `done`: what its lanes share.
struct Run {
  NetContext& context;
  const LaneClientOptions& options;
  LaneCounts& counts;
  LaneKey key;
  FetchCallbacks callbacks;
  std::vector<Fetch> cells;
  std::vector<std::size_t> source_of;                // by cell
  std::vector<std::atomic<std::int64_t>> missing;    // bytes by cell that are not in place yet
  std::vector<std::atomic<std::uint64_t>> digest;    // by cell, of the bytes in place
  std::vector<std::unique_ptr<NodeSource>> sources;  // by batch
  std::atomic<std::size_t> cells_left{0};
  std::vector<std::unique_ptr<Lane>> lanes;
  std::atomic<int> lanes_alive{0};

  std::mutex mutex;
  std::optional<Status> result;                            // under `mutex`: the first one counts
  std::set<std::pair<std::size_t, std::size_t>> reported;  // under `mutex`: pairs in `switched`

  Run(NetContext& net, const LaneClientOptions& chosen, LaneCounts& counted, LaneKey of,
      FetchCallbacks calls, std::vector<FetchBatch> batches);

  std::size_t SourceAt(std::size_t cell, std::size_t holder) const {
    return holder == 0 ? source_of[cell] : cells[cell].others[holder - 1].batch;
  }
  const LaneCell& CellAt(std::size_t cell, std::size_t holder) const {
    return holder == 0 ? cells[cell].cell : cells[cell].others[holder - 1].cell;
  }
  /// The next holder of a slice whose source is not left.
  std::optional<std::size_t> NextHolder(const Slice& slice) const {
    for (std::size_t holder = slice.holder + 1; holder <= cells[slice.cell].others.size();
         ++holder) {
      if (!sources[SourceAt(slice.cell, holder)]->is_left) return holder;
    }
    return std::nullopt;
  }
  bool HasNextHolders(const FramePlan& frame) const {
    return frame.can_switch &&
           std::all_of(frame.slices.begin(), frame.slices.end(),
                       [this](const Slice& slice) { return NextHolder(slice).has_value(); });
  }
  /// Cuts slices into frames at the end of the source's list.
  void Append(std::size_t source, const std::vector<Slice>& slices);
  /// Requests frames from the next holders of their cells. Without one, the fetch ends with `why`.
  void Switch(std::vector<FramePlan> frames, std::size_t from, const Error& why);
  /// Ends all lanes. Any thread.
  void Finish(Status status);
  /// Runs `done` after the last lane has ended.
  void LaneEnded();
};

Run::Run(NetContext& net, const LaneClientOptions& chosen, LaneCounts& counted, LaneKey of,
         FetchCallbacks calls, std::vector<FetchBatch> batches)
    : context(net),
      options(chosen),
      counts(counted),
      key(std::move(of)),
      callbacks(std::move(calls)) {
  std::vector<std::vector<Slice>> slices;
  for (FetchBatch& batch : batches) {
    auto source = std::make_unique<NodeSource>();
    source->endpoints = std::move(batch.endpoints);
    source->server_key = std::move(batch.server_key);
    source->tickets = std::move(batch.tickets);
    std::vector<Slice>& own = slices.emplace_back();
    for (Fetch& cell : batch.cells) {
      own.push_back({cells.size(), 0, 0, cell.destination.size_bytes()});
      source_of.push_back(sources.size());
      cells.push_back(std::move(cell));
    }
    sources.push_back(std::move(source));
  }
  missing = std::vector<std::atomic<std::int64_t>>(cells.size());
  digest = std::vector<std::atomic<std::uint64_t>>(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) missing[i] = cells[i].destination.size_bytes();
  for (std::size_t i = 0; i < sources.size(); ++i) Append(i, slices[i]);
  cells_left = cells.size();
}

void Run::Append(std::size_t source, const std::vector<Slice>& slices) {
  NodeSource& to = *sources[source];
  const std::lock_guard lock(to.mutex);
  FramePlan frame;
  const auto flush = [&] {
    if (frame.slices.empty()) return;
    frame.number = static_cast<std::uint32_t>(to.num_frames++);
    to.todo.push_back(std::exchange(frame, {}));
  };
  for (Slice rest : slices) {
    const bool can_switch = rest.holder < cells[rest.cell].others.size();
    const bool is_digested = cells[rest.cell].indices.has_value();
    if (can_switch != frame.can_switch || is_digested != frame.is_digested) flush();
    while (rest.size > 0) {
      frame.can_switch = can_switch;
      frame.is_digested = is_digested;
      const std::int64_t room = options.frame_bytes - frame.size;
      const std::int64_t take = rest.size <= room ? rest.size : room / kAlign * kAlign;
      if (take == 0 || frame.slices.size() == kMaxSegments) {
        flush();
        continue;
      }
      frame.slices.push_back({rest.cell, rest.holder, rest.offset, take});
      frame.size += take;
      rest.offset += take;
      rest.size -= take;
    }
  }
  flush();
}

/// One thread's connection to one source.
class Connection {
 public:
  Connection(Run& run, Loop& loop, std::size_t source, std::size_t lane)
      : run_(run),
        loop_(loop),
        index_(source),
        lane_(lane),
        source_(*run.sources[source]),
        endpoint_(source_.endpoints[lane % source_.endpoints.size()]),
        ticket_(source_.tickets.empty() ? LaneTicket{}
                                        : source_.tickets[lane % source_.tickets.size()]) {}
  ~Connection() {
    if (!socket_) return;
    loop_.Cancel(timer_);
    loop_.Unwatch(*socket_);
    loop_.Unwatch(socket_->monitor());
  }

  Status Open() {
    const CurveKeys keys = source_.tickets.empty() ? run_.options.keys : CurveKeys{};
    TESSERA_TRY(Socket socket,
                Socket::Client(run_.context, SocketKind::kDealer, keys, source_.server_key));
    TESSERA_RETURN_IF_ERROR(socket.Monitor(run_.context));
    TESSERA_RETURN_IF_ERROR(socket.Connect(endpoint_));
    socket_.emplace(std::move(socket));
    loop_.Watch(*socket_, [this] { Read(); });
    loop_.Watch(socket_->monitor(), [this] { ReadMonitor(); });
    const auto limit = std::min(run_.options.silence, run_.options.patience);
    timer_ =
        loop_.Every(std::max(std::chrono::milliseconds(1), limit / 8), [this] { CheckSilence(); });
    last_heard_ = Loop::Now();
    return OkStatus();
  }

  /// Requests frames while there is credit.
  void Pump() {
    while (!paced_ && frames_under_way_ < run_.options.window) {
      Pending next;
      if (!again_.empty()) {
        next = std::move(again_.front());
        again_.pop_front();
      } else {
        auto frame = source_.Take();
        if (!frame) return;
        next.frame = std::move(*frame);
      }
      ++frames_under_way_;
      if (run_.options.ingress) {
        const auto wait =
            run_.options.ingress->Take(next.frame.size, std::chrono::steady_clock::now());
        if (wait.count() > 0) {
          paced_.emplace(std::move(next));
          loop_.After(std::chrono::ceil<std::chrono::milliseconds>(wait), [this] {
            if (paced_) Ask(*std::exchange(paced_, std::nullopt));
            Pump();
          });
          return;
        }
      }
      Ask(std::move(next));
    }
  }

  /// Gives the frames that other holders can serve to them. The others wait for this source.
  void Leave(const Error& why) {
    std::vector<FramePlan> frames;
    for (auto it = pending_.begin(); it != pending_.end();) {
      if (!run_.HasNextHolders(it->second.frame)) {
        ++it;
        continue;
      }
      frames.push_back(std::move(it->second.frame));
      it = pending_.erase(it);
      --frames_under_way_;
    }
    for (Pending& pending : std::exchange(again_, {})) {
      if (run_.HasNextHolders(pending.frame)) {
        frames.push_back(std::move(pending.frame));
      } else {
        again_.push_back(std::move(pending));
      }
    }
    if (paced_ && run_.HasNextHolders(paced_->frame)) {
      frames.push_back(std::move(paced_->frame));
      paced_.reset();
      --frames_under_way_;
    }
    {
      const std::lock_guard lock(source_.mutex);
      for (FramePlan& frame : std::exchange(source_.todo, {})) {
        const bool moves = run_.HasNextHolders(frame);
        (moves ? frames.emplace_back() : source_.todo.emplace_back()) = std::move(frame);
      }
    }
    run_.Switch(std::move(frames), index_, why);
    Pump();
  }

 private:
  struct Pending {
    FramePlan frame;
    int attempts = 0;
  };

  std::string Name() const { return "source " + endpoint_; }
  std::string NameOf(const Slice& slice) const {
    return ToString(run_.CellAt(slice.cell, slice.holder));
  }

  void Ask(Pending pending) {
    FrameRequest request;
    request.key = run_.key;
    request.sequence = ++last_sequence_;
    request.ticket = ticket_;
    request.frame = pending.frame.number;
    request.wants_digests = pending.frame.is_digested;
    // Digests cover all bytes of a frame.
    request.wants_checksum = !pending.frame.is_digested && run_.options.checksums;
    for (const Slice& slice : pending.frame.slices) {
      request.segments.push_back({run_.CellAt(slice.cell, slice.holder), slice.offset, slice.size});
    }
    if (pending_.empty()) last_heard_ = Loop::Now();  // silence counts from the request
    pending_.emplace(last_sequence_, std::move(pending));
    std::vector<Frame> frames;
    frames.push_back(Frame::Of(Encode(request)));
    if (auto sent = socket_->Send(std::move(frames)); !sent) {
      ReadMonitor();  // has the reason if the peer has refused the key
      const auto still = pending_.find(request.sequence);
      if (still == pending_.end()) return;
      const Status why = std::move(sent).Context(Name());
      LeaveAll(why.error());
      if (pending_.contains(request.sequence)) run_.Finish(why);
    }
  }

  /// Requests a lost or corrupt frame again, up to the limit.
  void AskAgain(Pending pending, const Slice& slice, const std::string& why) {
    --frames_under_way_;
    if (++pending.attempts > run_.options.attempts) {
      run_.Finish(DataLoss(Name() + ": " + NameOf(slice) + " frame " +
                           std::to_string(pending.frame.number) + " " + why + " " +
                           std::to_string(pending.attempts) + " times"));
      return;
    }
    if (run_.callbacks.retried) {
      for (const Slice& each : pending.frame.slices) {
        run_.callbacks.retried(run_.cells[each.cell].id, pending.attempts, run_.options.attempts,
                               why);
      }
    }
    again_.push_back(std::move(pending));
  }

  void Read() {
    for (int n = 0; n < run_.options.window; ++n) {
      auto message = socket_->Receive();
      if (!message) return run_.Finish(std::move(message).error());
      if (!*message) break;
      Take(**message);
      Pump();  // the source has the next request while this lane writes the next frame
    }
  }

  void Take(const Message& message) {
    auto reply = DecodeLaneReply(message[0]);
    if (!reply) {
      if (reply.error().code == ErrorCode::kDataLoss)
        ++run_.counts.corrupt;
      else
        ++run_.counts.dropped;
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
      ++run_.counts.dropped;
      return std::nullopt;
    }
    last_heard_ = Loop::Now();
    Pending match = std::move(found->second);
    std::vector<Pending> lost;
    for (auto it = pending_.begin(); it != found; ++it) lost.push_back(std::move(it->second));
    pending_.erase(pending_.begin(), std::next(found));
    for (Pending& pending : lost) {
      const Slice first = pending.frame.slices[0];
      AskAgain(std::move(pending), first, "was lost");
    }
    return match;
  }

  void Handle(const FrameHeader& header, Pending& pending, const Message& message) {
    const FramePlan& plan = pending.frame;
    const Slice& first = plan.slices[0];
    const auto is_corrupt = [&](const Slice& slice, const std::string& why) {
      ++run_.counts.corrupt;
      AskAgain(std::move(pending), Slice(slice), why);
    };
    if (message.size() != 2 || header.size != plan.size || std::ssize(message[1]) != plan.size) {
      return is_corrupt(first, "came with another size");
    }
    if (plan.is_digested && header.digests.size() != plan.slices.size()) {
      return is_corrupt(first, "came without its digests");
    }
    const bool is_checked = !plan.is_digested && run_.options.checksums;
    if (is_checked && header.checksum != engine::Checksum(message[1])) {
      return is_corrupt(first, "came with a wrong checksum");
    }
    std::span<const std::byte> rest = message[1];
    for (std::size_t i = 0; i < plan.slices.size(); ++i) {
      const Slice& slice = plan.slices[i];
      const Fetch& cell = run_.cells[slice.cell];
      const auto bytes = rest.first(static_cast<std::size_t>(slice.size));
      rest = rest.subspan(bytes.size());
      const auto digest =
          cell.destination.Unpack(slice.offset, bytes, plan.is_digested ? &*cell.indices : nullptr);
      if (!digest) return run_.Finish(digest.error());
      if (plan.is_digested && *digest != header.digests[i]) {
        return is_corrupt(slice, "came with digest " + ptc::Hex16(*digest) + ", at the source " +
                                     ptc::Hex16(header.digests[i]));
      }
    }
    --frames_under_way_;
    for (std::size_t i = 0; i < plan.slices.size(); ++i) {
      Count(plan.slices[i], plan.is_digested ? header.digests[i] : 0);
    }
  }

  /// The bytes of a slice are in place.
  void Count(const Slice& slice, std::uint64_t digest) {
    const std::int64_t id = run_.cells[slice.cell].id;
    if (run_.callbacks.progress) run_.callbacks.progress(index_, id, slice.size);
    run_.digest[slice.cell].fetch_add(digest, std::memory_order_relaxed);
    // Acquire and release: the lane that writes the last byte of a cell sees all other bytes.
    if (run_.missing[slice.cell].fetch_sub(slice.size) != slice.size) return;
    if (run_.callbacks.cell_done) run_.callbacks.cell_done(id, run_.digest[slice.cell]);
    if (--run_.cells_left == 0) run_.Finish(OkStatus());
  }

  void Handle(const LaneRefusal& refusal, Pending& pending, const Message&) {
    --frames_under_way_;
    const Status why = Status(refusal.error).Context(Name());
    std::vector<FramePlan> frames;
    frames.push_back(std::move(pending.frame));
    run_.Switch(std::move(frames), index_, why.error());
  }

  void ReadMonitor() {
    while (const auto event = socket_->NextLinkEvent()) {
      if (event->kind == LinkEvent::Kind::kRefused) {
        const Error why = FailedPrecondition(
            "key refused by " + endpoint_ + ": this agent's key is not in the source's allow-list");
        LeaveAll(why);
        if (!pending_.empty()) run_.Finish(why);
      } else if (event->kind == LinkEvent::Kind::kDisconnected) {
        was_lost_ = true;
        is_up_ = false;
      } else if (event->kind == LinkEvent::Kind::kReady) {
        is_up_ = true;
        if (!std::exchange(was_lost_, false)) continue;
        // The answers to all open requests were lost with the old connection.
        std::map<std::uint64_t, Pending> lost = std::exchange(pending_, {});
        for (auto& [sequence, pending] : lost) Ask(std::move(pending));
      }
    }
  }

  // A connection that is up has heartbeats: the source lives, and may only be slow.
  void CheckSilence() {
    if (pending_.empty()) return;
    // Without a connection, no other destination keeps the source from answering.
    const auto longest = is_up_ ? LongestSilence(run_.options) : run_.options.silence;
    const auto silence = Loop::Now() - last_heard_;
    const auto limit = is_up_ ? longest : std::min(longest, run_.options.patience);
    if (silence < limit) return;
    const bool has_next = std::any_of(pending_.begin(), pending_.end(), [&](const auto& entry) {
      return run_.HasNextHolders(entry.second.frame);
    });
    if (has_next) LeaveAll(Unavailable(Name() + " silent for " + DurationText(limit)));
    if (silence < longest || pending_.empty()) return;
    run_.Finish(Unavailable(Name() + " silent for " + DurationText(longest)));
  }

  /// All lanes leave the source.
  void LeaveAll(const Error& why);

  Run& run_;
  Loop& loop_;
  const std::size_t index_;  // of the source
  const std::size_t lane_;   // whose thread this is
  NodeSource& source_;
  const std::string endpoint_;
  const LaneTicket ticket_;
  std::optional<Socket> socket_;
  Loop::TimerId timer_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::map<std::uint64_t, Pending> pending_;  // requested, not answered
  std::deque<Pending> again_;                 // to be requested again, before new frames
  int frames_under_way_ = 0;
  std::optional<Pending> paced_;  // waits for the port
  bool was_lost_ = false;
  bool is_up_ = false;
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
  /// \pre it was started by this thread, or this is its own
  bool OnThread() const { return thread_.get_id() == std::this_thread::get_id(); }
  /// The source has new frames. Any thread.
  void Wake(std::size_t source) {
    loop_.Post([this, source] { Serve(source); });
  }
  /// The source is left. Any thread.
  void Leave(std::size_t source, const Error& why) {
    loop_.Post([this, source, why] {
      const auto found = connections_.find(source);
      if (found != connections_.end()) found->second->Leave(why);
    });
  }

 private:
  void Main() {
    for (std::size_t s = 0; s < run_.sources.size(); ++s) {
      // Not more lanes than frames. A frame that another lane has taken is counted, too.
      const std::lock_guard lock(run_.sources[s]->mutex);
      if (index_ < run_.sources[s]->num_frames) Wake(s);
    }
    loop_.Run();
    connections_.clear();
  }

  void Serve(std::size_t source) {
    auto& connection = connections_[source];
    if (!connection) {
      connection = std::make_unique<Connection>(run_, loop_, source, index_);
      if (auto opened = connection->Open(); !opened) return run_.Finish(std::move(opened));
    }
    connection->Pump();
  }

  Run& run_;
  const std::size_t index_;
  Loop loop_;
  std::map<std::size_t, std::unique_ptr<Connection>> connections_;  // by source
  std::jthread thread_;
};

void Connection::LeaveAll(const Error& why) {
  if (source_.is_left.exchange(true)) return Leave(why);
  for (std::size_t i = 0; i < run_.lanes.size(); ++i) {
    if (i != lane_) run_.lanes[i]->Leave(index_, why);
  }
  Leave(why);
}

void Run::Switch(std::vector<FramePlan> frames, std::size_t from, const Error& why) {
  std::map<std::size_t, std::vector<Slice>> slices;  // by the source that is next
  for (const FramePlan& frame : frames) {
    for (Slice slice : frame.slices) {
      const auto next = NextHolder(slice);
      if (!next) return Finish(why);
      slice.holder = *next;
      slices[SourceAt(slice.cell, slice.holder)].push_back(slice);
    }
  }
  counts.switched += std::ssize(frames);
  for (const auto& [to, own] : slices) {
    Append(to, own);
    bool is_new = false;
    {
      const std::lock_guard lock(mutex);
      is_new = reported.emplace(from, to).second;
    }
    if (is_new && callbacks.switched) callbacks.switched(from, to, why);
    if (callbacks.replaced) {
      for (const Slice& slice : own) callbacks.replaced(cells[slice.cell].id, from, to, why);
    }
    for (auto& lane : lanes) lane->Wake(to);
  }
}

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

Status CheckBatches(const std::vector<FetchBatch>& batches) {
  std::set<std::int64_t> ids;
  for (const FetchBatch& batch : batches) {
    if (batch.endpoints.empty()) return InvalidArgument("a source without endpoints");
    for (const Fetch& cell : batch.cells) {
      if (!ids.insert(cell.id).second) {
        return InvalidArgument("two fetches have the id " + std::to_string(cell.id));
      }
      for (const OtherHolder& other : cell.others) {
        if (other.batch < batches.size()) continue;
        return InvalidArgument(ToString(cell.cell) + " has holder " + std::to_string(other.batch) +
                               " of " + std::to_string(batches.size()));
      }
    }
  }
  return OkStatus();
}

}  // namespace

int DefaultLanes() {
  constexpr unsigned kCoresPerLane = 2;
  constexpr unsigned kMost = 4;
  return static_cast<int>(
      std::clamp(std::thread::hardware_concurrency() / kCoresPerLane, 1U, kMost));
}

struct LaneClient::Impl {
  NetContext& context;
  LaneClientOptions options;
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
    : impl_(new Impl{context, std::move(options), {}}) {
  impl_->options.lanes = std::max(1, impl_->options.lanes);
  impl_->options.window = std::max(1, impl_->options.window);
  impl_->options.frame_bytes =
      std::clamp(impl_->options.frame_bytes, kLeastLaneFrameBytes, kMostLaneFrameBytes);
  if (!impl_->options.counts) impl_->options.counts = std::make_shared<LaneCounts>();
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
  TESSERA_RETURN_IF_ERROR(CheckBatches(batches));
  impl_->Join();
  impl_->run = std::make_unique<Run>(impl_->context, impl_->options, *impl_->options.counts, key,
                                     std::move(callbacks), std::move(batches));
  Run& run = *impl_->run;
  const bool is_empty = run.cells.empty();
  if (is_empty) run.result = OkStatus();
  // A second connection to the same lane of a source would only add threads.
  std::size_t most = 1;
  for (const auto& source : run.sources) most = std::max(most, source->endpoints.size());
  const int num_lanes = std::min(impl_->options.lanes, static_cast<int>(most));
  for (int i = 0; i < num_lanes; ++i) {
    run.lanes.push_back(std::make_unique<Lane>(run, static_cast<std::size_t>(i)));
    if (is_empty) run.lanes.back()->Stop();
  }
  run.lanes_alive = num_lanes;
  for (auto& lane : run.lanes) lane->Start();
  return OkStatus();
}

void LaneClient::Cancel() {
  if (!impl_->run) return;
  impl_->run->Finish(Cancelled("fetch of " + ToString(impl_->run->key) + " was cancelled"));
  impl_->Join();
}

const LaneCounts& LaneClient::counts() const { return *impl_->options.counts; }

}  // namespace tessera::agents
