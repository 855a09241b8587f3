// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "agents/wire/tessera/wire/rank.pb.h"
#include "agents/wire/wall_clock.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstBackoff{50};
constexpr milliseconds kLastBackoff{1000};
constexpr milliseconds kFarewell{200};
constexpr std::size_t kMaxStoreBytes = kMaxPacketBytes - 1024;  // of key and value

Error Abandoned(Attempt attempt) {
  return Cancelled(fmt::format("epoch {} attempt {} is abandoned", attempt.epoch, attempt.attempt));
}

UniqueFd ConnectTo(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return UniqueFd();
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return UniqueFd();
  }
  return socket;
}

}  // namespace

RankSession::RankSession(std::string socket_path, RankId id, std::int64_t epoch)
    : socket_path_(std::move(socket_path)),
      id_(std::move(id)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      epoch_(epoch) {
  TESSERA_CHECK(wake_);
  // The job's own threads handle the signals of the process.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RankSession::~RankSession() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  Wake();
  thread_.join();
}

void RankSession::Run() {
  milliseconds backoff = kFirstBackoff;
  Clock::time_point attached_at;
  std::optional<Clock::time_point> farewell;
  while (true) {
    {
      const Lock lock(mutex_);
      if (stopping_ && !farewell) farewell = Clock::now() + kFarewell;
      if (stopping_ && (!socket_ || outbox_.empty() || Clock::now() >= *farewell)) return;
    }
    if (!socket_) {
      if (Attach()) {
        attached_at = Clock::now();
        continue;
      }
      Lock lock(mutex_);
      changed_.wait_for(lock, backoff, [&] { return stopping_; });
      backoff = std::min(2 * backoff, kLastBackoff);
      continue;
    }
    bool wants_room = false;
    {
      const Lock lock(mutex_);
      wants_room = !outbox_.empty();
    }
    std::array<pollfd, 2> watched{};
    watched[0] = {socket_.get(), static_cast<short>(wants_room ? POLLIN | POLLOUT : POLLIN), 0};
    watched[1] = {wake_.get(), POLLIN, 0};
    ::poll(watched.data(), watched.size(), farewell ? 10 : -1);
    std::uint64_t count = 0;
    if (watched[1].revents != 0 && ::read(wake_.get(), &count, sizeof count) < 0) count = 0;
    const bool alive = Receive() && Flush();
    if (alive) continue;
    Lock lock(mutex_);
    connected_ = false;
    socket_.Reset();
    if (Clock::now() - attached_at > kLastBackoff) {
      backoff = kFirstBackoff;
      continue;
    }
    // Without a pause an agent that accepts and drops connections would be called without end.
    changed_.wait_for(lock, backoff, [&] { return stopping_; });
    backoff = std::min(2 * backoff, kLastBackoff);
  }
}

bool RankSession::Attach() {
  socket_ = ConnectTo(socket_path_);
  if (!socket_) return false;
  const Lock lock(mutex_);
  connected_ = true;
  Rebuild(lock);
  attached_before_ = true;
  return true;
}

// A new agent knows nothing. The state is sent before anything else, in the order of FORMAT.md.
void RankSession::Rebuild(const Lock& lock) {
  // The unsent decisions are the newest. The previous agent may not have passed on those that it
  // had read, so recent ones are sent again.
  std::deque<Outgoing> decided;
  for (Outgoing& old : outbox_) {
    if (old.decided) decided.push_back(std::move(old));
  }
  outbox_.clear();
  const std::size_t waiting = std::min(decided.size(), recent_.size());
  for (std::size_t i = recent_.size() - waiting; i > 0; --i) {
    decided.push_front({recent_[i - 1], UniqueFd(), true});
  }

  wire::RankToAgent message;
  wire::RankAttach* attach = message.mutable_attach();
  attach->set_protocol(kRankProtocol);
  attach->set_job(id_.job);
  attach->set_node(id_.device.node);
  attach->set_device(id_.device.index);
  attach->set_epoch(epoch_);
  attach->set_again(attached_before_);
  Send(lock, message);
  if (loading_) SendLoading(lock);
  for (const auto& [key, fd] : held_) {
    wire::RankToAgent held;
    held.mutable_shared_memory_held()->set_epoch(key.first.epoch);
    held.mutable_shared_memory_held()->set_attempt(key.first.attempt);
    held.mutable_shared_memory_held()->set_key(key.second);
    Send(lock, held, fd.Duplicate());
  }
  for (const auto& [key, value] : sets_) SendSet(lock, key, value);
  check_.reset();  // the answer is for an agent that is gone
  awaited_check_.reset();
  num_decided_ = decided.size();
  std::move(decided.begin(), decided.end(), std::back_inserter(outbox_));
  for (const auto& [attempt, status] : results_) SendConnected(lock, attempt, status);
  if (paused_ && !command_) SendPaused(lock);
  if (adopted_ && go_ != adopted_) SendAdopted(lock);
  for (const auto& [id, get] : gets_) {
    if (!get.answered) SendGet(lock, id, get);
  }
  for (const auto& [id, share] : shares_) {
    if (!share.answered) SendShare(lock, id, share);
  }
}

bool RankSession::Receive() {
  while (true) {
    auto packet = ReceivePacket(socket_.get());
    if (!packet && packet.error().code == ErrorCode::kCancelled) return false;
    if (!packet) continue;
    if (!*packet) return true;
    wire::AgentToRank message;
    if (!message.ParseFromString((*packet)->bytes)) {
      std::fprintf(stderr, "tessera: dropped a packet of %zu bytes that is not a message\n",
                   (*packet)->bytes.size());
      continue;
    }
    const Lock lock(mutex_);
    Handle(lock, message, std::move((*packet)->fds));
    changed_.notify_all();
  }
}

bool RankSession::Flush() {
  const Lock lock(mutex_);
  while (!outbox_.empty()) {
    const Outgoing& next = outbox_.front();
    const int fd = next.fd.get();
    const Status sent = SendPacket(socket_.get(), next.bytes,
                                   fd < 0 ? std::span<const int>() : std::span<const int>(&fd, 1));
    if (!sent && sent.error().code == ErrorCode::kUnavailable) return true;
    if (!sent && sent.error().code == ErrorCode::kCancelled) return false;
    if (next.decided) --num_decided_;
    outbox_.pop_front();
  }
  return true;
}

void RankSession::Handle(const Lock& lock, wire::AgentToRank& message, std::vector<UniqueFd> fds) {
  switch (message.body_case()) {
    case wire::AgentToRank::kConnect: {
      const wire::RankView& wanted = message.connect().view();
      const Attempt attempt{wanted.epoch(), wanted.attempt()};
      if (const auto known = results_.find(attempt); known != results_.end()) {
        return SendConnected(lock, attempt, known->second);
      }
      const auto view = FromWire(wanted);
      if (!view) return SendConnected(lock, attempt, view.error());
      if (abandoned_.contains(attempt)) return SendConnected(lock, attempt, Abandoned(attempt));
      const bool known = connecting_ == attempt ||
                         std::any_of(connects_.begin(), connects_.end(), [&](const RankView& v) {
                           return Attempt{v.epoch, v.attempt} == attempt;
                         });
      if (!known) connects_.push_back(*view);
      return;
    }
    case wire::AgentToRank::kAbandon:
      return Abandon(lock, {message.abandon().epoch(), message.abandon().attempt()});
    case wire::AgentToRank::kCheck: {
      const wire::RankCheck& wanted = message.check();
      if (!takes_checks_) {
        return SendChecked(lock, wanted.id(),
                           Error{ErrorCode::kUnimplemented, "the program checks no meshes", {}});
      }
      MeshCheck check{wanted.id(), {}};
      if (wanted.axis_size_size() != ptc::kNumAxes) {
        return SendChecked(lock, wanted.id(), InvalidArgument("a mesh with other axes"));
      }
      std::ranges::copy(wanted.axis_size(), check.axis_size.begin());
      check_ = check;
      awaited_check_ = check.id;
      return;
    }
    case wire::AgentToRank::kCommand: {
      const wire::RankCommand& command = message.command();
      // An answer to an earlier pause, or a second answer to this one, has no effect.
      if (!paused_ || command_ || command.wait() != wait_) return;
      if (command.act() < wire::RankCommand::RESUME || command.act() > wire::RankCommand::LEAVE)
        return;
      Command taken{static_cast<RankCommand>(command.act()), command.epoch(), std::nullopt};
      if (taken.act == RankCommand::kAdopt) {
        const auto view = FromWire(command.view());
        if (!view || view->epoch != taken.epoch) {
          std::fprintf(stderr, "tessera: dropped a command to adopt epoch %lld: %s\n",
                       static_cast<long long>(taken.epoch),
                       view ? "its view is of another epoch" : view.error().ToString().c_str());
          return;
        }
        taken.view = *view;
      }
      command_ = std::move(taken);
      return;
    }
    case wire::AgentToRank::kGo:
      go_ = message.go().epoch();
      stay_paused_ = message.go().stay_paused();
      return;
    case wire::AgentToRank::kStoreValue: {
      const auto found = gets_.find(message.store_value().id());
      if (found == gets_.end()) return;
      found->second.answered = true;
      if (message.store_value().found()) found->second.value = message.store_value().value();
      return;
    }
    case wire::AgentToRank::kSharedMemory: {
      const auto found = shares_.find(message.shared_memory().id());
      if (found == shares_.end()) return;
      found->second.answered = true;
      found->second.error = message.shared_memory().error();
      if (!fds.empty()) found->second.fd = std::move(fds.front());
      return;
    }
    case wire::AgentToRank::kRefused:
      std::fprintf(stderr, "tessera: the agent refuses this rank: %s\n",
                   message.refused().reason().c_str());
      return;
    case wire::AgentToRank::BODY_NOT_SET:
      return;
  }
}

void RankSession::Abandon(const Lock&, Attempt attempt) {
  abandoned_.insert(attempt);
  results_.erase(attempt);
  std::erase_if(connects_, [&](const RankView& v) {
    return Attempt{v.epoch, v.attempt} == attempt;
  });
  std::erase_if(sets_, [&](const auto& entry) { return entry.first.first == attempt; });
  std::erase_if(held_, [&](const auto& entry) { return entry.first.first == attempt; });
}

void RankSession::Send(const Lock&, const wire::RankToAgent& message, UniqueFd fd) {
  if (!connected_) return;  // Rebuild sends the state later
  outbox_.push_back({message.SerializeAsString(), std::move(fd), false});
  Wake();
}

void RankSession::Wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

void RankSession::SendConnected(const Lock& lock, Attempt attempt, const Status& status) {
  wire::RankToAgent message;
  wire::RankConnected* body = message.mutable_connected();
  body->set_epoch(attempt.epoch);
  body->set_attempt(attempt.attempt);
  body->set_code(CodeToWire(status));
  if (!status) body->set_message(status.error().ToString());
  Send(lock, message);
}

void RankSession::SendChecked(const Lock& lock, std::uint64_t id, const Status& status) {
  wire::RankToAgent message;
  wire::RankChecked* body = message.mutable_checked();
  body->set_id(id);
  body->set_code(CodeToWire(status));
  if (!status) body->set_message(status.error().message);
  Send(lock, message);
}

void RankSession::SendLoading(const Lock& lock) {
  wire::RankToAgent message;
  message.mutable_loading()->set_done(loading_->done);
  message.mutable_loading()->set_total(loading_->total);
  Send(lock, message);
}

void RankSession::SendPaused(const Lock& lock) {
  wire::RankToAgent message;
  message.mutable_paused()->set_step(paused_->step);
  message.mutable_paused()->set_request(paused_->request);
  message.mutable_paused()->set_reason(paused_->reason);
  message.mutable_paused()->set_wait(wait_);
  Send(lock, message);
}

void RankSession::SendAdopted(const Lock& lock) {
  wire::RankToAgent message;
  message.mutable_adopted()->set_epoch(*adopted_);
  Send(lock, message);
}

void RankSession::SendSet(const Lock& lock, const Key& key, const std::string& value) {
  wire::RankToAgent message;
  wire::RankStoreSet* body = message.mutable_store_set();
  body->set_epoch(key.first.epoch);
  body->set_attempt(key.first.attempt);
  body->set_key(key.second);
  body->set_value(value);
  Send(lock, message);
}

void RankSession::SendGet(const Lock& lock, std::uint64_t id, const Get& get) {
  wire::RankToAgent message;
  wire::RankStoreGet* body = message.mutable_store_get();
  body->set_id(id);
  body->set_epoch(get.key.first.epoch);
  body->set_attempt(get.key.first.attempt);
  body->set_key(get.key.second);
  Send(lock, message);
}

void RankSession::SendShare(const Lock& lock, std::uint64_t id, const Share& share) {
  wire::RankToAgent message;
  wire::RankSharedMemory* body = message.mutable_shared_memory();
  body->set_id(id);
  body->set_epoch(share.key.first.epoch);
  body->set_attempt(share.key.first.attempt);
  body->set_key(share.key.second);
  body->set_bytes(share.bytes);
  Send(lock, message);
}

void RankSession::ForgetDecided() {
  const Lock lock(mutex_);
  recent_.clear();
}

void RankSession::ReportDecided(const RankDecision& decision) {
  wire::RankToAgent message;
  wire::RankDecided* body = message.mutable_decided();
  body->set_step(decision.step);
  body->set_loss(decision.loss);
  body->set_norm2(decision.norm2);
  body->set_tokens(decision.tokens);
  body->set_clip(decision.clip);
  body->set_skip(decision.skip);
  body->set_pause(decision.pause);
  body->set_seconds(decision.seconds);
  body->set_time(WallClock());
  body->set_busy(decision.busy);
  body->mutable_metrics()->insert(decision.metrics.begin(), decision.metrics.end());
  body->set_checkpoint(decision.checkpoint);
  const Lock lock(mutex_);
  if (num_decided_ >= kMaxDecided) {
    const auto oldest = std::find_if(outbox_.begin(), outbox_.end(),
                                     [](const Outgoing& message_) { return message_.decided; });
    outbox_.erase(oldest);
    --num_decided_;
    ++dropped_;
  }
  body->set_dropped(dropped_);
  recent_.push_back(message.SerializeAsString());
  if (recent_.size() > kMaxRepeated) recent_.pop_front();
  outbox_.push_back({recent_.back(), UniqueFd(), true});
  ++num_decided_;
  if (connected_) Wake();
}

void RankSession::ReportLoading(const RankLoading& loading) {
  const Lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  loading_ = loading;
  if (!loading.is_over() && now - loading_sent_ < kLoadingPeriod) return;
  loading_sent_ = now;
  SendLoading(lock);
}

Result<RankSession::Command> RankSession::Wait(std::int64_t step, std::uint64_t request,
                                               std::string reason) {
  if (reason.size() > kMaxReason) reason.resize(kMaxReason);
  Lock lock(mutex_);
  ++wait_;
  loading_.reset();
  paused_ = {step, request, std::move(reason)};
  command_.reset();
  SendPaused(lock);
  changed_.wait(lock, [&] { return command_.has_value(); });
  paused_.reset();
  if (command_->act == RankCommand::kResume) {
    std::erase_if(results_, [&](const auto& entry) { return entry.first.epoch <= epoch_; });
  }
  return *std::exchange(command_, std::nullopt);
}

bool RankSession::WaitForGo(std::int64_t epoch) {
  Lock lock(mutex_);
  epoch_ = epoch;
  adopted_ = epoch;
  SendAdopted(lock);
  changed_.wait(lock, [&] { return go_ == epoch; });
  adopted_.reset();
  const auto earlier = [&](const auto& entry) { return entry.first.first.epoch < epoch; };
  std::erase_if(sets_, earlier);
  std::erase_if(held_, earlier);
  std::erase_if(results_, [&](const auto& entry) { return entry.first.epoch <= epoch; });
  std::erase_if(abandoned_, [&](const Attempt& attempt) { return attempt.epoch < epoch; });
  return stay_paused_;
}

void RankSession::QueueConnect(const RankView& view) {
  const Lock lock(mutex_);
  connects_.push_front(view);
  changed_.notify_all();
}

std::optional<RankView> RankSession::NextConnect() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return connects_ended_ || !connects_.empty(); });
  if (connects_ended_) return std::nullopt;
  RankView view = std::move(connects_.front());
  connects_.pop_front();
  connecting_ = Attempt{view.epoch, view.attempt};
  return view;
}

void RankSession::EndConnects() {
  const Lock lock(mutex_);
  connects_ended_ = true;
  changed_.notify_all();
}

void RankSession::ReportConnected(Attempt attempt, const Status& status) {
  const Lock lock(mutex_);
  connecting_.reset();
  const bool wanted = !abandoned_.contains(attempt);
  if (wanted) results_.insert_or_assign(attempt, status);
  SendConnected(lock, attempt, wanted ? status : Status(Abandoned(attempt)));
  changed_.notify_all();
}

Status RankSession::WaitConnected(Attempt attempt) {
  Lock lock(mutex_);
  changed_.wait(lock, [&] {
    return results_.contains(attempt) || (abandoned_.contains(attempt) && connecting_ != attempt);
  });
  const auto found = results_.find(attempt);
  return found == results_.end() ? Status(Abandoned(attempt)) : found->second;
}

bool RankSession::IsAbandoned(Attempt attempt) const {
  const Lock lock(mutex_);
  return abandoned_.contains(attempt);
}

void RankSession::TakeChecks() {
  const Lock lock(mutex_);
  takes_checks_ = true;
}

std::optional<RankSession::MeshCheck> RankSession::NextCheck() {
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return connects_ended_ || check_; });
  if (connects_ended_) return std::nullopt;
  return std::exchange(check_, std::nullopt);
}

bool RankSession::IsCheckAbandoned(std::uint64_t id) const {
  const Lock lock(mutex_);
  return connects_ended_ || awaited_check_ != id || connecting_ || !connects_.empty();
}

void RankSession::ReportChecked(std::uint64_t id, const Status& status) {
  const Lock lock(mutex_);
  if (awaited_check_ != id) return;
  awaited_check_.reset();
  SendChecked(lock, id, status);
}

Status RankSession::StoreSet(Attempt attempt, const std::string& key, std::string value) {
  if (key.size() + value.size() > kMaxStoreBytes) {
    return InvalidArgument(fmt::format("rendezvous key '{}': {} bytes, at most {} are possible",
                                       key, key.size() + value.size(), kMaxStoreBytes));
  }
  const Lock lock(mutex_);
  if (abandoned_.contains(attempt)) return Abandoned(attempt);
  std::string& kept = sets_[{attempt, key}];
  kept = std::move(value);
  SendSet(lock, {attempt, key}, kept);
  return OkStatus();
}

Result<std::string> RankSession::StoreGet(Attempt attempt, const std::string& key,
                                          std::chrono::milliseconds timeout) {
  Lock lock(mutex_);
  const std::uint64_t id = next_request_++;
  Get& get = gets_[id];
  get.key = {attempt, key};
  SendGet(lock, id, get);
  changed_.wait_for(lock, timeout, [&] { return get.answered || abandoned_.contains(attempt); });
  const Get got = std::move(get);
  gets_.erase(id);
  if (got.value) return *got.value;
  if (got.answered || abandoned_.contains(attempt)) return Abandoned(attempt);
  return Timeout(fmt::format("rendezvous key '{}' was not set within {} ms", key, timeout.count()));
}

Result<UniqueFd> RankSession::SharedMemory(Attempt attempt, const std::string& key,
                                           std::int64_t bytes) {
  Lock lock(mutex_);
  if (abandoned_.contains(attempt)) return Abandoned(attempt);
  const std::uint64_t id = next_request_++;
  Share& share = shares_[id];
  share.key = {attempt, key};
  share.bytes = bytes;
  SendShare(lock, id, share);
  changed_.wait(lock, [&] { return share.answered || abandoned_.contains(attempt); });
  Share got = std::move(share);
  shares_.erase(id);
  if (abandoned_.contains(attempt)) return Abandoned(attempt);
  if (!got.fd)
    return Unavailable(got.error.empty() ? "shared memory without a descriptor" : got.error);
  held_[{attempt, key}] = got.fd.Duplicate();
  return std::move(got.fd);
}

}  // namespace tessera::agents
