// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/job/rank_protocol.h"
#include "agents/keeper/packet.h"
#include "agents/wire/tessera/wire/rank.pb.h"

namespace tessera::agents {
namespace {

constexpr int kPacketsAtOnce = 64;        // of one rank per round
constexpr std::size_t kMaxQueued = 4096;  // messages for a rank that does not read
constexpr std::chrono::milliseconds kAcceptPause{500};

struct Outgoing {
  std::string bytes;
  UniqueFd fd;
};

struct Connection {
  UniqueFd fd;
  std::optional<RankId> rank;  // once attached
  RankPort::State state;
  std::uint64_t wait = 0;  // of the last RankPaused
  std::deque<Outgoing> queue;
  bool watches_room = false;              // for POLLOUT, while the queue is not empty
  std::map<std::uint64_t, Attempt> gets;  // by request id
};

}  // namespace

struct RankPort::Impl {
  using SharedKey = std::tuple<std::string, std::int64_t, std::int64_t, std::string>;
  struct Shared {
    UniqueFd fd;
    std::int64_t bytes = 0;
  };
  struct Deferred {
    std::uint64_t connection = 0;
    wire::RankSharedMemory request;
  };

  Impl(Loop& l, Handlers h) : loop(l), handlers(std::move(h)) {}
  ~Impl();

  Status Listen(const std::string& path, std::chrono::milliseconds grace_time);
  void Accept();
  void Watch(std::uint64_t id);
  void Ready(std::uint64_t id, short events);
  void Close(std::uint64_t id);
  void Refuse(std::uint64_t id, const std::string& reason);
  Status Send(std::uint64_t id, const wire::AgentToRank& message, int fd = -1);
  Status SendTo(const RankId& rank, const wire::AgentToRank& message);
  bool Flush(std::uint64_t id);
  void Handle(std::uint64_t id, wire::RankToAgent& message, std::vector<UniqueFd> fds);
  void Attach(std::uint64_t id, const wire::RankAttach& attach);
  void StoreGet(std::uint64_t id, const wire::RankStoreGet& get);
  void GiveSharedMemory(std::uint64_t id, const wire::RankSharedMemory& request);
  void TakeSharedMemory(std::uint64_t id, const wire::RankSharedMemoryHeld& held, UniqueFd fd);
  void ServeDeferred();
  void Problem(const std::string& text) const {
    if (handlers.problem) handlers.problem(text);
  }
  Connection* Find(std::uint64_t id) {
    const auto found = connections.find(id);
    return found == connections.end() ? nullptr : &found->second;
  }

  Loop& loop;
  Handlers handlers;
  UniqueFd listener;
  std::uint64_t next_id = 1;
  std::map<std::uint64_t, Connection> connections;
  std::map<RankId, std::uint64_t> by_rank;
  std::map<SharedKey, Shared> shared;
  std::map<std::string, std::set<Attempt>> abandoned;  // by job
  std::vector<Deferred> deferred;  // requests for shared memory during the grace
  bool grace = false;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
};

RankPort::Impl::~Impl() {
  if (listener) loop.UnwatchFd(listener.get());
  for (const auto& [id, connection] : connections) loop.UnwatchFd(connection.fd.get());
}

Status RankPort::Impl::Listen(const std::string& path, std::chrono::milliseconds grace_time) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return InvalidArgument(fmt::format("rank socket '{}': {} characters, at most {} are possible",
                                       path, path.size(), sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // An existing socket belonged to an earlier agent, whose ranks may be about to reconnect.
  struct stat old {};
  if (::lstat(path.c_str(), &old) == 0 && S_ISSOCK(old.st_mode)) {
    ::unlink(path.c_str());
    grace = true;
    loop.After(grace_time, [this, guard = std::weak_ptr<bool>(alive)] {
      if (guard.expired()) return;
      grace = false;
      ServeDeferred();
    });
  }
  listener.Reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener.get(), 128) != 0) {
    return Unavailable(fmt::format("rank socket '{}': {}", path, std::strerror(errno)));
  }
  loop.WatchFd(listener.get(), POLLIN, [this](short) { Accept(); });
  return OkStatus();
}

void RankPort::Impl::Accept() {
  while (true) {
    UniqueFd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!fd && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (!fd) {  // no descriptors left; watching on would wake the loop without end
      Problem(fmt::format("rank socket: {}", std::strerror(errno)));
      loop.UnwatchFd(listener.get());
      loop.After(kAcceptPause, [this, guard = std::weak_ptr<bool>(alive)] {
        if (!guard.expired()) loop.WatchFd(listener.get(), POLLIN, [this](short) { Accept(); });
      });
      return;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        peer.uid != ::geteuid()) {
      Problem(fmt::format("rank socket: refused process {} of user {}", peer.pid, peer.uid));
      continue;
    }
    const std::uint64_t id = next_id++;
    Connection& connection = connections[id];
    connection.fd = std::move(fd);
    connection.state.pid = peer.pid;
    Watch(id);
  }
}

void RankPort::Impl::Watch(std::uint64_t id) {
  Connection* connection = Find(id);
  connection->watches_room = !connection->queue.empty();
  const auto events = static_cast<short>(connection->watches_room ? POLLIN | POLLOUT : POLLIN);
  loop.WatchFd(connection->fd.get(), events, [this, id](short ready) { Ready(id, ready); });
}

void RankPort::Impl::Ready(std::uint64_t id, short events) {
  if ((events & POLLOUT) != 0 && !Flush(id)) return;
  for (int i = 0; i < kPacketsAtOnce; ++i) {
    Connection* connection = Find(id);  // each time, because a handler may have closed it
    if (connection == nullptr) return;
    auto packet = ReceivePacket(connection->fd.get());
    if (!packet && packet.error().code == ErrorCode::kCancelled) return Close(id);
    if (packet && !*packet) return;
    wire::RankToAgent message;
    const bool good = packet && message.ParseFromString((*packet)->bytes) &&
                      message.body_case() != wire::RankToAgent::BODY_NOT_SET;
    if (!good) {
      const std::string sender = connection->rank
                                     ? ToString(*connection->rank)
                                     : fmt::format("process {}", connection->state.pid);
      Problem(fmt::format("{}: dropped {}", sender,
                          packet ? fmt::format("a packet of {} bytes that is not a message",
                                               (*packet)->bytes.size())
                                 : packet.error().ToString()));
      if (!connection->rank) return Close(id);
      continue;
    }
    Handle(id, message, std::move((*packet)->fds));
  }
}

void RankPort::Impl::Close(std::uint64_t id) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  loop.UnwatchFd(found->second.fd.get());
  const std::optional<RankId> rank = std::move(found->second.rank);
  connections.erase(found);
  if (!rank) return;
  const auto current = by_rank.find(*rank);
  if (current == by_rank.end() || current->second != id) return;
  by_rank.erase(current);
  if (handlers.gone) handlers.gone(*rank);
}

void RankPort::Impl::Refuse(std::uint64_t id, const std::string& reason) {
  Problem(fmt::format("refused process {}: {}", Find(id)->state.pid, reason));
  wire::AgentToRank message;
  message.mutable_refused()->set_reason(reason);
  // If the queue is full, the message is lost with the connection.
  if (Send(id, message)) Flush(id);
  Close(id);
}

Status RankPort::Impl::Send(std::uint64_t id, const wire::AgentToRank& message, int fd) {
  Connection* connection = Find(id);
  if (connection == nullptr) return Unavailable("rank: not attached");
  std::string bytes = message.SerializeAsString();
  if (bytes.size() > kMaxPacketBytes) {
    return InvalidArgument(fmt::format("message to a rank: {} bytes, at most {} are possible",
                                       bytes.size(), kMaxPacketBytes));
  }
  if (connection->queue.size() >= kMaxQueued) {
    // Once it reads again, it attaches again and repeats its state.
    Problem(fmt::format("process {} does not read: {} messages are queued", connection->state.pid,
                        kMaxQueued));
    loop.Post([this, id, guard = std::weak_ptr<bool>(alive)] {
      if (!guard.expired()) Close(id);
    });
    return Unavailable("rank does not read");
  }
  const bool was_empty = connection->queue.empty();
  connection->queue.push_back(
      {std::move(bytes), UniqueFd(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0))});
  if (was_empty) Flush(id);
  return OkStatus();
}

Status RankPort::Impl::SendTo(const RankId& rank, const wire::AgentToRank& message) {
  const auto found = by_rank.find(rank);
  if (found == by_rank.end()) return Unavailable(ToString(rank) + ": not attached");
  return Send(found->second, message).Context(ToString(rank));
}

// Returns false if the connection is gone. Only the next read notices a closed peer, so no handler
// runs inside a call.
bool RankPort::Impl::Flush(std::uint64_t id) {
  Connection* connection = Find(id);
  if (connection == nullptr) return false;
  while (!connection->queue.empty()) {
    const Outgoing& next = connection->queue.front();
    const int fd = next.fd.get();
    const Status sent = SendPacket(connection->fd.get(), next.bytes,
                                   fd < 0 ? std::span<const int>() : std::span<const int>(&fd, 1));
    if (!sent && sent.error().code == ErrorCode::kUnavailable) break;
    connection->queue.pop_front();
  }
  if (connection->watches_room == connection->queue.empty()) Watch(id);
  return true;
}

void RankPort::Impl::Handle(std::uint64_t id, wire::RankToAgent& message,
                            std::vector<UniqueFd> fds) {
  Connection& connection = *Find(id);
  if (message.has_attach() != !connection.rank) {
    return Refuse(id,
                  message.has_attach() ? "attached twice" : "its first packet is not an attach");
  }
  if (message.has_attach()) return Attach(id, message.attach());
  const RankId rank = *connection.rank;  // a copy: handlers may close the connection
  switch (message.body_case()) {
    case wire::RankToAgent::kConnected: {
      const wire::RankConnected& c = message.connected();
      if (handlers.connected) {
        handlers.connected(rank, c.epoch(), c.attempt(), StatusFromWire(c.code(), c.message()));
      }
      break;
    }
    case wire::RankToAgent::kChecked: {
      const wire::RankChecked& c = message.checked();
      if (handlers.checked) {
        handlers.checked(rank, c.id(), StatusFromWire(c.code(), c.message()));
      }
      break;
    }
    case wire::RankToAgent::kLoading: {
      const RankLoading loading{message.loading().done(), message.loading().total()};
      if (loading.done < 0 || loading.total < loading.done) {
        Problem(fmt::format("{}: reports that it has read {} of {} bytes", ToString(rank),
                            loading.done, loading.total));
      } else if (handlers.loading) {
        handlers.loading(rank, loading);
      }
      break;
    }
    case wire::RankToAgent::kDecided: {
      const wire::RankDecided& d = message.decided();
      RankDecision decision{d.step(),  d.loss(),    d.norm2(),   d.tokens(), d.clip(), d.skip(),
                            d.pause(), d.seconds(), d.dropped(), d.time(),   d.busy()};
      decision.metrics.insert(d.metrics().begin(), d.metrics().end());
      decision.checkpoint = d.checkpoint();
      if (const Status good = engine::CheckMetrics(decision.metrics); !good) {
        Problem(fmt::format("{}: step {}: {}", ToString(rank), d.step(), good.error().message));
        decision.metrics.clear();
      }
      if (handlers.decided) handlers.decided(rank, decision);
      break;
    }
    case wire::RankToAgent::kPaused:
      connection.wait = message.paused().wait();
      connection.state.waits = true;
      if (handlers.paused) {
        handlers.paused(rank, message.paused().step(), message.paused().request(),
                        message.paused().reason());
      }
      break;
    case wire::RankToAgent::kAdopted:
      connection.state.adopted = true;
      connection.state.epoch = message.adopted().epoch();
      if (handlers.adopted) handlers.adopted(rank, message.adopted().epoch());
      break;
    case wire::RankToAgent::kStoreSet: {
      const wire::RankStoreSet& set = message.store_set();
      if (abandoned[rank.job].contains({set.epoch(), set.attempt()})) break;
      if (handlers.store_set)
        handlers.store_set(rank, set.epoch(), set.attempt(), set.key(), set.value());
      break;
    }
    case wire::RankToAgent::kStoreGet:
      StoreGet(id, message.store_get());
      break;
    case wire::RankToAgent::kSharedMemory:
      GiveSharedMemory(id, message.shared_memory());
      break;
    case wire::RankToAgent::kSharedMemoryHeld:
      if (fds.empty()) {
        Problem(ToString(rank) + ": shared memory without a descriptor");
      } else {
        TakeSharedMemory(id, message.shared_memory_held(), std::move(fds.front()));
      }
      break;
    case wire::RankToAgent::kAttach:
    case wire::RankToAgent::BODY_NOT_SET:
      break;  // handled above
  }
}

void RankPort::Impl::Attach(std::uint64_t id, const wire::RankAttach& attach) {
  if (attach.protocol() != kRankProtocol) {
    return Refuse(id, fmt::format("rank protocol {}, this agent speaks {}", attach.protocol(),
                                  kRankProtocol));
  }
  if (attach.job().empty() || attach.node() < 0 || attach.device() < 0) {
    return Refuse(id, fmt::format("job '{}' on n{}g{} names no rank", attach.job(), attach.node(),
                                  attach.device()));
  }
  const RankId rank{attach.job(), {attach.node(), attach.device()}};
  if (handlers.expects && !handlers.expects(rank, Find(id)->state.pid)) {
    return Refuse(id, fmt::format("it is not the process of {}", ToString(rank)));
  }
  if (const auto old = by_rank.find(rank); old != by_rank.end()) {
    // The same process after a lost connection, or its successor: the newer connection counts.
    const std::uint64_t old_id = old->second;
    if (Find(old_id)->state.pid == Find(id)->state.pid) by_rank.erase(old);
    Close(old_id);
    if (Find(id) == nullptr) return;
  }
  Connection& connection = *Find(id);
  connection.rank = rank;
  connection.state.epoch = attach.epoch();
  by_rank[rank] = id;
  for (const Attempt& attempt : abandoned[rank.job]) {
    wire::AgentToRank message;
    message.mutable_abandon()->set_epoch(attempt.epoch);
    message.mutable_abandon()->set_attempt(attempt.attempt);
    if (!Send(id, message)) break;
  }
  if (handlers.attached) handlers.attached(rank, connection.state.pid);
}

void RankPort::Impl::StoreGet(std::uint64_t id, const wire::RankStoreGet& get) {
  Connection& connection = *Find(id);
  const RankId rank = *connection.rank;
  const Attempt attempt{get.epoch(), get.attempt()};
  connection.gets[get.id()] = attempt;
  const auto reply = [this, id, request = get.id(),
                      guard = std::weak_ptr<bool>(alive)](std::optional<std::string> value) {
    if (guard.expired()) return;
    Connection* to = Find(id);
    if (to == nullptr || to->gets.erase(request) == 0) return;
    wire::AgentToRank message;
    message.mutable_store_value()->set_id(request);
    message.mutable_store_value()->set_found(value.has_value());
    if (value) message.mutable_store_value()->set_value(*value);
    if (const Status sent = Send(id, message); !sent) Problem(sent.error().ToString());
  };
  if (abandoned[rank.job].contains(attempt) || !handlers.store_get) return reply(std::nullopt);
  handlers.store_get(rank, attempt.epoch, attempt.attempt, get.key(), reply);
}

void RankPort::Impl::GiveSharedMemory(std::uint64_t id, const wire::RankSharedMemory& request) {
  const std::string job = Find(id)->rank->job;
  wire::AgentToRank message;
  wire::RankSharedMemoryGiven* given = message.mutable_shared_memory();
  given->set_id(request.id());
  const auto answer = [&](const std::string& error, int fd) {
    given->set_error(error);
    if (const Status sent = Send(id, message, fd); !sent) Problem(sent.error().ToString());
  };
  if (abandoned[job].contains({request.epoch(), request.attempt()})) return answer("abandoned", -1);
  const SharedKey key{job, request.epoch(), request.attempt(), request.key()};
  auto found = shared.find(key);
  if (found == shared.end()) {
    if (grace) {
      deferred.push_back({id, request});
      return;
    }
    const std::string name =
        fmt::format("tessera-group-{}-{}-{}", job, request.epoch(), request.attempt());
    UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd || request.bytes() <= 0 || ::ftruncate(fd.get(), request.bytes()) != 0) {
      return answer(
          fmt::format("shared memory of {} bytes: {}", request.bytes(),
                      request.bytes() <= 0 ? "at least 1 is needed" : std::strerror(errno)),
          -1);
    }
    ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    found = shared.emplace(key, Shared{std::move(fd), request.bytes()}).first;
  }
  if (request.bytes() > found->second.bytes) {
    return answer(fmt::format("shared memory: {} bytes requested, the first request made {}",
                              request.bytes(), found->second.bytes),
                  -1);
  }
  answer("", found->second.fd.get());
}

void RankPort::Impl::TakeSharedMemory(std::uint64_t id, const wire::RankSharedMemoryHeld& held,
                                      UniqueFd fd) {
  const RankId rank = *Find(id)->rank;
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || status.st_size <= 0) {
    return Problem(ToString(rank) + ": sent shared memory without a size");
  }
  if (abandoned[rank.job].contains({held.epoch(), held.attempt()})) return;
  const auto [found, is_new] =
      shared.try_emplace({rank.job, held.epoch(), held.attempt(), held.key()});
  if (is_new) {
    found->second = Shared{std::move(fd), status.st_size};
    return ServeDeferred();
  }
  struct stat kept {};
  if (::fstat(found->second.fd.get(), &kept) == 0 && kept.st_ino != status.st_ino) {
    Problem(fmt::format("{}: sent other shared memory than its group has (epoch {}, attempt {})",
                        ToString(rank), held.epoch(), held.attempt()));
  }
}

void RankPort::Impl::ServeDeferred() {
  std::vector<Deferred> waiting = std::exchange(deferred, {});
  for (const Deferred& request : waiting) {
    if (Find(request.connection) != nullptr) GiveSharedMemory(request.connection, request.request);
  }
}

RankPort::RankPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RankPort::~RankPort() = default;

Result<std::unique_ptr<RankPort>> RankPort::Listen(Loop& loop, const std::string& path,
                                                   Handlers handlers,
                                                   std::chrono::milliseconds grace) {
  auto impl = std::make_unique<Impl>(loop, std::move(handlers));
  TESSERA_RETURN_IF_ERROR(impl->Listen(path, grace));
  return std::unique_ptr<RankPort>(new RankPort(std::move(impl)));
}

Status RankPort::SendConnect(const RankId& id, const RankView& view) {
  wire::AgentToRank message;
  ToWire(view, message.mutable_connect()->mutable_view());
  return impl_->SendTo(id, message);
}

Status RankPort::SendCheck(const RankId& id, std::uint64_t check, const ptc::MeshShape& mesh) {
  wire::AgentToRank message;
  message.mutable_check()->set_id(check);
  for (const ptc::Axis axis : ptc::kAxes) message.mutable_check()->add_axis_size(mesh[axis]);
  return impl_->SendTo(id, message);
}

void RankPort::Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt) {
  impl_->abandoned[job].insert({epoch, attempt});
  std::erase_if(impl_->shared, [&](const auto& entry) {
    const auto& [of_job, of_epoch, of_attempt, key] = entry.first;
    return of_job == job && of_epoch == epoch && of_attempt == attempt;
  });
  wire::AgentToRank message;
  message.mutable_abandon()->set_epoch(epoch);
  message.mutable_abandon()->set_attempt(attempt);
  for (const auto& [rank, id] : impl_->by_rank) {
    if (rank.job != job) continue;
    // The rank ends its waiting calls when it reads this message.
    std::erase_if(impl_->Find(id)->gets, [&](const auto& get) {
      return get.second == Attempt{epoch, attempt};
    });
    if (const Status sent = impl_->Send(id, message); !sent)
      impl_->Problem(sent.error().ToString());
  }
  impl_->ServeDeferred();  // requests of this attempt fail, the others keep waiting
}

Status RankPort::SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                             const RankView* view) {
  const auto found = impl_->by_rank.find(id);
  if (found == impl_->by_rank.end()) return Unavailable(ToString(id) + ": not attached");
  Connection& connection = *impl_->Find(found->second);
  if (!connection.state.waits)
    return FailedPrecondition(ToString(id) + ": does not wait for a command");
  if (command == RankCommand::kAdopt && view == nullptr) {
    return FailedPrecondition(
        fmt::format("{}: adopt epoch {} without a view", ToString(id), epoch));
  }
  wire::AgentToRank message;
  wire::RankCommand* body = message.mutable_command();
  body->set_act(static_cast<wire::RankCommand::Act>(command));
  body->set_epoch(epoch);
  body->set_wait(connection.wait);
  if (view != nullptr) ToWire(*view, body->mutable_view());
  TESSERA_RETURN_IF_ERROR(impl_->SendTo(id, message));
  connection.state.waits = false;
  return OkStatus();
}

Status RankPort::SendGo(const RankId& id, std::int64_t epoch, bool stay_paused) {
  std::erase_if(impl_->shared, [&](const auto& entry) {
    return std::get<0>(entry.first) == id.job && std::get<1>(entry.first) < epoch;
  });
  std::erase_if(impl_->abandoned[id.job], [&](const Attempt& a) { return a.epoch < epoch; });
  wire::AgentToRank message;
  message.mutable_go()->set_epoch(epoch);
  message.mutable_go()->set_stay_paused(stay_paused);
  TESSERA_RETURN_IF_ERROR(impl_->SendTo(id, message));
  impl_->Find(impl_->by_rank.at(id))->state.adopted = false;
  return OkStatus();
}

void RankPort::Forget(const std::string& job) {
  std::erase_if(impl_->shared, [&](const auto& entry) { return std::get<0>(entry.first) == job; });
  impl_->abandoned.erase(job);
}

bool RankPort::IsAttached(const RankId& id) const { return impl_->by_rank.contains(id); }

std::optional<RankPort::State> RankPort::Find(const RankId& id) const {
  const auto found = impl_->by_rank.find(id);
  if (found == impl_->by_rank.end()) return std::nullopt;
  return impl_->Find(found->second)->state;
}

}  // namespace tessera::agents
