// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/keeper_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "agents/keeper/keeper.h"
#include "agents/keeper/line_splitter.h"
#include "agents/keeper/packet.h"
#include "agents/wire/tessera/wire/keeper.pb.h"
#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

constexpr std::chrono::milliseconds kAnswerLimit{5000};
constexpr int kReadsAtOnce = 16;   // of 4 KiB, per round of the loop
constexpr int kReadsAtExit = 256;  // more than a pipe can hold

struct Incoming {
  wire::KeeperToAgent message;
  UniqueFd fd;
};

}  // namespace

struct KeeperClient::Impl {
  struct Tracked {
    Rank rank;
    UniqueFd output;
    LineSplitter lines;
    bool reported = false;  // to the `exited` handler
  };

  Impl(Loop& l, Handlers h, UniqueFd s) : loop(l), handlers(std::move(h)), socket(std::move(s)) {}
  ~Impl();

  Result<Incoming> Next(Loop::Clock::time_point deadline);
  /// `fd` is sent with the request; -1: none.
  Result<Incoming> Call(wire::AgentToKeeper& request, int fd = -1);
  Status CallForDone(wire::AgentToKeeper& request, int fd = -1);
  Status ReadInventory();
  Tracked& Track(const wire::KeeperRank& rank, UniqueFd output);
  void Later(std::function<void()> task);
  void SocketReady();
  void MarkEnded(std::int64_t pid, int status);
  void Dispatch();
  void Report(std::int64_t pid);
  bool ReadOutput(std::int64_t pid, int reads);

  Loop& loop;
  Handlers handlers;
  UniqueFd socket;
  std::vector<UniqueFd> arena_fds;
  std::vector<Arena> arenas;
  std::map<std::string, UniqueFd> kept;  // by earlier agents; taken once
  std::map<std::int64_t, Tracked> ranks;
  std::deque<std::int64_t> ended;  // exits not yet reported to the handler
  std::uint64_t sequence = 0;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // for tasks posted to the loop
};

KeeperClient::Impl::~Impl() {
  if (socket) loop.UnwatchFd(socket.get());
  for (const auto& [pid, tracked] : ranks) {
    if (tracked.output) loop.UnwatchFd(tracked.output.get());
  }
}

void KeeperClient::Impl::Later(std::function<void()> task) {
  loop.Post([guard = std::weak_ptr<bool>(alive), task = std::move(task)] {
    if (!guard.expired()) task();
  });
}

Result<Incoming> KeeperClient::Impl::Next(Loop::Clock::time_point deadline) {
  while (true) {
    TESSERA_TRY(auto packet, ReceivePacket(socket.get()));
    if (packet) {
      Incoming incoming;
      if (!incoming.message.ParseFromString(packet->bytes)) {
        return DataLoss(fmt::format("keeper: a packet of {} bytes that is not a message",
                                    packet->bytes.size()));
      }
      if (!packet->fds.empty()) incoming.fd = std::move(packet->fds.front());
      return incoming;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Loop::Now()).count();
    if (left <= 0) return Timeout("the keeper gave no answer in 5 s");
    pollfd watched{socket.get(), POLLIN, 0};
    ::poll(&watched, 1, static_cast<int>(left));
  }
}

// Exits that arrive meanwhile are queued, because no handler runs inside a call.
Result<Incoming> KeeperClient::Impl::Call(wire::AgentToKeeper& request, int fd) {
  if (!socket) return Cancelled("the keeper is gone");
  request.set_sequence(++sequence);
  TESSERA_RETURN_IF_ERROR(
      SendPacket(socket.get(), request.SerializeAsString(),
                 fd < 0 ? std::span<const int>() : std::span<const int>(&fd, 1)));
  const auto deadline = Loop::Now() + kAnswerLimit;
  while (true) {
    TESSERA_TRY(Incoming incoming, Next(deadline));
    if (incoming.message.sequence() == sequence) {
      if (incoming.message.has_error()) {
        const auto code = std::min<std::uint32_t>(incoming.message.error().code(),
                                                  static_cast<std::uint32_t>(kLastErrorCode));
        return Error{static_cast<ErrorCode>(code), incoming.message.error().message(), {}};
      }
      return incoming;
    }
    if (incoming.message.has_exited()) {
      MarkEnded(incoming.message.exited().pid(), incoming.message.exited().status());
    } else if (incoming.message.has_rank()) {  // of a spawn that has timed out
      Track(incoming.message.rank(), std::move(incoming.fd));
    }
  }
}

Status KeeperClient::Impl::CallForDone(wire::AgentToKeeper& request, int fd) {
  const auto answer = Call(request, fd);
  if (!answer) return answer.error();
  return OkStatus();
}

KeeperClient::Impl::Tracked& KeeperClient::Impl::Track(const wire::KeeperRank& rank,
                                                       UniqueFd output) {
  const std::int64_t pid = rank.pid();
  Tracked& tracked = ranks[pid];
  if (tracked.output) loop.UnwatchFd(tracked.output.get());
  tracked = Tracked{Rank{pid, rank.tag(), rank.device(), false, 0}, std::move(output), {}};
  if (rank.exited()) {
    MarkEnded(pid, rank.status());
  } else if (tracked.output) {
    loop.WatchFd(tracked.output.get(), POLLIN, [this, pid](short) {
      const auto found = ranks.find(pid);
      if (found == ranks.end() || ReadOutput(pid, kReadsAtOnce)) return;
      loop.UnwatchFd(
          found->second.output.get());  // closed by the rank, whose exit is reported separately
      found->second.output.Reset();
    });
  }
  return tracked;
}

Status KeeperClient::Impl::ReadInventory() {
  const auto deadline = Loop::Now() + kAnswerLimit;
  while (true) {
    TESSERA_TRY(Incoming incoming, Next(deadline));
    const wire::KeeperToAgent& message = incoming.message;
    if (message.has_ready()) break;
    if (message.has_arena()) {
      if (!incoming.fd || message.arena().index() != static_cast<int>(arenas.size())) {
        return DataLoss(fmt::format("keeper: arena {} without a descriptor or out of order",
                                    message.arena().index()));
      }
      arenas.push_back({message.arena().index(), incoming.fd.get(), message.arena().bytes()});
      arena_fds.push_back(std::move(incoming.fd));
    } else if (message.has_rank()) {
      Track(message.rank(), std::move(incoming.fd));
    } else if (message.has_kept() && incoming.fd) {
      kept.emplace(message.kept().name(), std::move(incoming.fd));
    } else if (message.has_exited()) {
      MarkEnded(message.exited().pid(), message.exited().status());
    }
  }
  for (Arena& arena : arenas) {
    const auto memory = kept.extract(MemoryName(arena.index));
    if (memory.empty()) continue;
    arena.memory_fd = memory.mapped().get();
    arena_fds.push_back(std::move(memory.mapped()));
  }
  loop.WatchFd(socket.get(), POLLIN, [this](short) { SocketReady(); });
  return OkStatus();
}

void KeeperClient::Impl::SocketReady() {
  for (int i = 0; i < kReadsAtOnce; ++i) {
    auto packet = ReceivePacket(socket.get());
    if (!packet && packet.error().code == ErrorCode::kCancelled) {
      loop.UnwatchFd(socket.get());
      socket.Reset();
      return;
    }
    if (!packet) continue;
    if (!*packet) break;
    wire::KeeperToAgent message;
    if (!message.ParseFromString((*packet)->bytes)) continue;
    if (message.has_exited()) {
      MarkEnded(message.exited().pid(), message.exited().status());
    } else if (message.has_rank() && !(*packet)->fds.empty()) {
      Track(message.rank(), std::move((*packet)->fds.front()));
    }
  }
}

// Calls the handler from the loop, after the last output.
void KeeperClient::Impl::MarkEnded(std::int64_t pid, int status) {
  const auto found = ranks.find(pid);
  if (found == ranks.end() || found->second.rank.exited) return;
  found->second.rank.exited = true;
  found->second.rank.status = status;
  ended.push_back(pid);
  Later([this] { Dispatch(); });
}

void KeeperClient::Impl::Dispatch() {
  const std::weak_ptr<bool> guard(alive);
  while (!ended.empty()) {
    const std::int64_t pid = ended.front();
    ended.pop_front();
    Report(pid);
    if (guard.expired()) return;  // the handler has destroyed the client
  }
}

void KeeperClient::Impl::Report(std::int64_t pid) {
  const auto found = ranks.find(pid);
  if (found == ranks.end() || found->second.reported) return;
  const std::weak_ptr<bool> guard(alive);
  Tracked& tracked = found->second;
  tracked.reported = true;
  if (tracked.output) {
    ReadOutput(pid, kReadsAtExit);
    if (guard.expired() || !ranks.contains(pid)) return;
    loop.UnwatchFd(tracked.output.get());
    tracked.output.Reset();
  }
  std::vector<std::string> last;
  tracked.lines.Flush([&](std::string line) { last.push_back(std::move(line)); });
  const Rank rank = tracked.rank;  // a copy: the handler may acknowledge it
  for (std::string& line : last) {
    if (!guard.expired() && handlers.stderr_line) handlers.stderr_line(rank, std::move(line));
  }
  if (!guard.expired() && handlers.exited) handlers.exited(rank);
}

// Returns false at the end of the output.
bool KeeperClient::Impl::ReadOutput(std::int64_t pid, int reads) {
  const std::weak_ptr<bool> guard(alive);
  for (int i = 0; i < reads; ++i) {
    const auto found = ranks.find(pid);
    if (found == ranks.end() || !found->second.output) return true;
    Tracked& tracked = found->second;
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(tracked.output.get(), bytes.data(), bytes.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    std::vector<std::string> lines;
    tracked.lines.Add({bytes.data(), static_cast<std::size_t>(got)}, Loop::Now(),
                      [&](std::string line) { lines.push_back(std::move(line)); });
    const Rank rank = tracked.rank;
    for (std::string& line : lines) {
      if (handlers.stderr_line) handlers.stderr_line(rank, std::move(line));
      if (guard.expired()) return true;
    }
  }
  return true;
}

KeeperClient::KeeperClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeeperClient::~KeeperClient() = default;

Result<std::unique_ptr<KeeperClient>> KeeperClient::FromEnvironment(Loop& loop, Handlers handlers) {
  const char* text = std::getenv(kKeeperFdVariable);
  if (text == nullptr) {
    return FailedPrecondition(
        fmt::format("{} is not set: not started by a keeper", kKeeperFdVariable));
  }
  int fd = -1;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, fd).ptr != end || fd < 0 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return FailedPrecondition(
        fmt::format("{}={} is not an open descriptor", kKeeperFdVariable, text));
  }
  ::unsetenv(kKeeperFdVariable);
  auto impl = std::make_unique<Impl>(loop, std::move(handlers), UniqueFd(fd));
  TESSERA_RETURN_IF_ERROR(impl->ReadInventory());
  return std::unique_ptr<KeeperClient>(new KeeperClient(std::move(impl)));
}

const std::vector<KeeperClient::Arena>& KeeperClient::arenas() const { return impl_->arenas; }

std::vector<KeeperClient::Rank> KeeperClient::ranks() const {
  std::vector<Rank> ranks;
  for (const auto& [pid, tracked] : impl_->ranks) ranks.push_back(tracked.rank);
  return ranks;
}

Result<std::int64_t> KeeperClient::Spawn(const SpawnRequest& request) {
  wire::AgentToKeeper message;
  wire::KeeperSpawn* spawn = message.mutable_spawn();
  for (const std::string& arg : request.argv) spawn->add_argv(arg);
  for (const std::string& entry : request.environment) spawn->add_environment(entry);
  spawn->set_device(request.device);
  spawn->set_tag(request.tag);
  TESSERA_TRY(Incoming answer, impl_->Call(message));
  if (!answer.message.has_rank()) return DataLoss("keeper: a spawn was answered without a rank");
  return impl_->Track(answer.message.rank(), std::move(answer.fd)).rank.pid;
}

Status KeeperClient::Signal(std::int64_t pid, int signal) {
  wire::AgentToKeeper message;
  message.mutable_signal()->set_pid(pid);
  message.mutable_signal()->set_signal(signal);
  return impl_->CallForDone(message);
}

Status KeeperClient::Acknowledge(std::int64_t pid) {
  wire::AgentToKeeper message;
  message.mutable_acknowledge()->set_pid(pid);
  TESSERA_RETURN_IF_ERROR(impl_->CallForDone(message));
  if (const auto found = impl_->ranks.find(pid); found != impl_->ranks.end()) {
    if (found->second.output) impl_->loop.UnwatchFd(found->second.output.get());
    impl_->ranks.erase(found);
  }
  return OkStatus();
}

Status KeeperClient::Keep(const std::string& name, int fd) {
  wire::AgentToKeeper message;
  message.mutable_keep()->set_name(name);
  return impl_->CallForDone(message, fd);
}

Status KeeperClient::Drop(const std::string& name) {
  wire::AgentToKeeper message;
  message.mutable_drop()->set_name(name);
  return impl_->CallForDone(message);
}

std::map<std::string, UniqueFd> KeeperClient::TakeKept() { return std::move(impl_->kept); }

Status KeeperClient::Shutdown() {
  wire::AgentToKeeper message;
  message.mutable_shutdown();
  return impl_->CallForDone(message);
}

Status KeeperClient::Die() {
  wire::AgentToKeeper message;
  message.mutable_die();
  return impl_->CallForDone(message);
}

}  // namespace tessera::agents
