// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "agents/keeper/child.h"
#include "agents/keeper/keeper_link.h"
#include "agents/keeper/memory_progress.h"
#include "agents/keeper/packet.h"
#include "agents/keeper/service_manager.h"
#include "agents/wire/tessera/wire/keeper.pb.h"
#include "engine/store/arena.h"

namespace tessera::agents {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kFirstBackoff{100};
constexpr milliseconds kLastBackoff{5000};
constexpr milliseconds kLivedLongEnough{3000};
constexpr milliseconds kAgentGrace{2000};  // between SIGTERM and SIGKILL
constexpr milliseconds kReapLimit{10000};  // for all descendants to be gone
constexpr milliseconds kDrainPeriod{250};
constexpr std::chrono::seconds kStartExtension{30};  // longer than a report of progress takes
constexpr milliseconds kMemoryReportPeriod{1000};
constexpr int kPipeBytes = 256 << 10;
constexpr std::size_t kMostKept = 256;
constexpr std::size_t kLongestName = 256;

class Keeper {
 public:
  explicit Keeper(const KeeperOptions& options) : options_(options) {}
  int Run();

 private:
  struct Arena {
    UniqueFd fd;
    std::int64_t bytes;
  };
  struct Rank {
    std::string tag;
    int device = 0;
    UniqueFd output;  // read end of stdout and stderr; held here, so a rank never gets SIGPIPE
    bool exited = false;
    int status = 0;
  };
  struct Outgoing {
    std::string bytes;
    UniqueFd fd;
  };

  Status Begin();
  Status LockDirectory();
  Status MakeArenas();
  Status MakeSparseArenas();
  void StartAgent();
  void AgentEnded(int status);
  void Send(const wire::KeeperToAgent& message, int fd = -1);
  void Flush();
  void ReadAgent();
  /// `received`: the descriptor that came with the request, if any.
  void Handle(const wire::AgentToKeeper& request, UniqueFd received);
  Status Keep(const std::string& name, UniqueFd fd);
  Result<std::int64_t> Spawn(const wire::KeeperSpawn& spawn);
  Status Signal(std::int64_t pid, int signal);
  Status Acknowledge(std::int64_t pid);
  wire::KeeperToAgent Describe(std::int64_t pid, const Rank& rank) const;
  void ReadSignals();
  void Reap();
  void DrainFullPipes();
  int PollTimeout() const;
  void End();

  const KeeperOptions& options_;
  ServiceManager service_ = ServiceManager::FromEnvironment();
  UniqueFd lock_;
  UniqueFd signals_;
  std::vector<Arena> arenas_;
  std::map<std::string, UniqueFd> kept_;  // for later agents
  std::map<std::int64_t, Rank> ranks_;    // alive, or with an exit that is not acknowledged

  pid_t agent_ = -1;
  UniqueFd agent_socket_;
  std::deque<Outgoing> outbox_;
  Clock::time_point agent_started_;
  std::optional<Clock::time_point> restart_at_;
  milliseconds backoff_ = kFirstBackoff;
  Clock::time_point next_drain_ = Clock::now();
  bool ending_ = false;
};

void Say(const std::string& text) { std::fprintf(stderr, "keeper: %s\n", text.c_str()); }

std::vector<std::string> OwnEnvironmentWith(const char* name, int value) {
  std::vector<std::string> environment;
  const std::string key = std::string(name) + "=";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, key.c_str(), key.size()) != 0) environment.emplace_back(*entry);
  }
  environment.push_back(key + std::to_string(value));
  return environment;
}

Status Keeper::LockDirectory() {
  if (options_.directory.empty()) return OkStatus();
  const std::string path = options_.directory + "/keeper.lock";
  lock_.Reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) return Unavailable(fmt::format("{}: {}", path, std::strerror(errno)));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    return AlreadyExists(fmt::format("{}: another keeper runs node n{}", path, options_.node));
  }
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock_.get(), 0) != 0 ||
      ::pwrite(lock_.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return Unavailable(fmt::format("{}: {}", path, std::strerror(errno)));
  }
  return OkStatus();
}

Status Keeper::Begin() {
  if (options_.agent_argv.empty()) return InvalidArgument("no agent to run");
  if (options_.devices < 1) {
    return InvalidArgument(fmt::format("{} devices: at least 1 is needed", options_.devices));
  }
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_.Reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return Unavailable(fmt::format("signalfd: {}", std::strerror(errno)));
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
    return Unavailable(fmt::format("cannot become subreaper: {}", std::strerror(errno)));
  }
  TESSERA_RETURN_IF_ERROR(LockDirectory());
  return MakeArenas();
}

Status Keeper::MakeArenas() {
  if (options_.memory_kind != engine::MemoryKind::kHost) return MakeSparseArenas();
  const auto devices = static_cast<std::size_t>(options_.devices);
  const std::int64_t total_bytes = options_.devices * options_.device_bytes;
  std::atomic<std::int64_t> made_bytes = 0;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t num_done = 0;                                 // under `mutex`
  std::vector<Result<int>> made(devices, Result<int>(-1));  // of a device: its thread, until done
  const auto make = [&] {
    for (std::size_t device = next++; device < devices; device = next++) {
      made[device] = engine::Arena::CreateMemfd(
          fmt::format("{}n{}g{}", options_.name_prefix, options_.node, device),
          options_.device_bytes, [&](std::int64_t bytes) { made_bytes += bytes; });
      const std::lock_guard lock(mutex);
      ++num_done;
      changed.notify_one();
    }
  };
  const auto report = [&] {
    const std::int64_t bytes = made_bytes;
    if (!options_.directory.empty()) WriteMemoryProgress(options_.directory, {bytes, total_bytes});
    const std::string text =
        fmt::format("{} of {} MiB of device memory are made", bytes >> 20, total_bytes >> 20);
    Say(text);
    service_.Status(text);
    service_.ExtendStart(kStartExtension);
  };
  report();
  {
    // The threads end before the first child is started.
    std::vector<std::jthread> threads;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < std::min(devices, cores); ++i) threads.emplace_back(make);
    for (std::unique_lock lock(mutex); num_done < devices;) {
      if (changed.wait_for(lock, kMemoryReportPeriod, [&] { return num_done == devices; })) break;
      lock.unlock();
      report();
      lock.lock();
    }
  }
  report();
  for (const Result<int>& fd : made) {
    if (!fd) return fd.error();
    arenas_.push_back({UniqueFd(*fd), options_.device_bytes});
  }
  return OkStatus();
}

// The devices have memory of their own.
Status Keeper::MakeSparseArenas() {
  for (int device = 0; device < options_.devices; ++device) {
    TESSERA_TRY(const int fd,
                engine::Arena::CreateSparse(
                    fmt::format("{}n{}g{}", options_.name_prefix, options_.node, device),
                    options_.device_bytes, options_.memory_kind));
    arenas_.push_back({UniqueFd(fd), options_.device_bytes});
  }
  if (!options_.directory.empty()) WriteMemoryProgress(options_.directory, {0, 0});
  return OkStatus();
}

int Keeper::Run() {
  if (const Status begun = Begin(); !begun) {
    Say(begun.error().ToString());
    return 1;
  }
  StartAgent();
  service_.Ready();
  while (!ending_) {
    service_.Watchdog();
    std::array<pollfd, 2> watched{};
    watched[0] = {signals_.get(), POLLIN, 0};
    watched[1] = {agent_socket_.get(),
                  static_cast<short>(outbox_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    ::poll(watched.data(), watched.size(), PollTimeout());  // a negative descriptor is ignored
    if (watched[0].revents != 0) ReadSignals();
    if (watched[1].revents != 0 && agent_socket_) ReadAgent();
    if (agent_socket_) Flush();
    if (restart_at_ && Clock::now() >= *restart_at_ && !ending_) StartAgent();
    DrainFullPipes();
  }
  service_.Stopping();
  End();
  return 0;
}

int Keeper::PollTimeout() const {
  auto until = Clock::time_point::max();
  if (restart_at_) until = *restart_at_;
  const bool any_alive = std::any_of(ranks_.begin(), ranks_.end(),
                                     [](const auto& entry) { return !entry.second.exited; });
  if (any_alive) until = std::min(until, next_drain_);
  if (const auto pause = service_.watchdog_pause()) until = std::min(until, Clock::now() + *pause);
  if (until == Clock::time_point::max()) return -1;
  const auto wait = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(wait, 0, 60000));
}

void Keeper::StartAgent() {
  restart_at_.reset();
  agent_started_ = Clock::now();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    Say(fmt::format("no socket pair for the agent: {}", std::strerror(errno)));
    restart_at_ = agent_started_ + kLastBackoff;
    return;
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const auto pid =
      StartChild({.argv = options_.agent_argv,
                  .environment = OwnEnvironmentWith(kKeeperFdVariable, kChildDescriptor),
                  .output = -1,
                  .descriptors = {theirs.get()}});
  if (!pid) {
    Say(pid.error().ToString());
    restart_at_ = agent_started_ + backoff_;
    backoff_ = std::min(2 * backoff_, kLastBackoff);
    return;
  }
  agent_ = *pid;
  agent_socket_ = std::move(ours);
  for (std::size_t d = 0; d < arenas_.size(); ++d) {
    wire::KeeperToAgent message;
    message.mutable_arena()->set_index(static_cast<int>(d));
    message.mutable_arena()->set_bytes(arenas_[d].bytes);
    Send(message, arenas_[d].fd.get());
  }
  for (const auto& [rank_pid, rank] : ranks_) Send(Describe(rank_pid, rank), rank.output.get());
  for (const auto& [name, fd] : kept_) {
    wire::KeeperToAgent message;
    message.mutable_kept()->set_name(name);
    Send(message, fd.get());
  }
  wire::KeeperToAgent ready;
  ready.mutable_ready();
  Send(ready);
}

void Keeper::AgentEnded(int status) {
  agent_ = -1;
  agent_socket_.Reset();
  outbox_.clear();
  if (ending_) return;
  if (Clock::now() - agent_started_ >= kLivedLongEnough) backoff_ = kFirstBackoff;
  Say(fmt::format("the agent {}, starting it again in {} ms", DescribeExit(status),
                  backoff_.count()));
  restart_at_ = Clock::now() + backoff_;
  backoff_ = std::min(2 * backoff_, kLastBackoff);
}

wire::KeeperToAgent Keeper::Describe(std::int64_t pid, const Rank& rank) const {
  wire::KeeperToAgent message;
  wire::KeeperRank* body = message.mutable_rank();
  body->set_pid(pid);
  body->set_tag(rank.tag);
  body->set_device(rank.device);
  body->set_exited(rank.exited);
  body->set_status(rank.status);
  return message;
}

void Keeper::Send(const wire::KeeperToAgent& message, int fd) {
  if (!agent_socket_) return;
  // A duplicate, because the rank may be forgotten before a slow agent reads.
  outbox_.push_back(
      {message.SerializeAsString(), UniqueFd(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0))});
  Flush();
}

void Keeper::Flush() {
  while (!outbox_.empty()) {
    const Outgoing& next = outbox_.front();
    const int fd = next.fd.get();
    const auto sent = SendPacket(agent_socket_.get(), next.bytes,
                                 fd < 0 ? std::span<const int>() : std::span<const int>(&fd, 1));
    if (!sent && sent.error().code == ErrorCode::kUnavailable) return;
    if (!sent && sent.error().code != ErrorCode::kCancelled) Say(sent.error().ToString());
    outbox_.pop_front();
  }
}

void Keeper::ReadAgent() {
  while (agent_socket_) {
    auto packet = ReceivePacket(agent_socket_.get());
    if (!packet) {
      if (packet.error().code != ErrorCode::kCancelled) {
        Say(fmt::format("agent: {}", packet.error().ToString()));
        continue;
      }
      // An agent without its socket is of no use. It is killed, and reaped like any dead agent.
      agent_socket_.Reset();
      outbox_.clear();
      if (agent_ > 0) ::kill(agent_, SIGKILL);
      return;
    }
    if (!*packet) return;
    wire::AgentToKeeper request;
    if (!request.ParseFromString((*packet)->bytes)) {
      Say(fmt::format("agent: a packet of {} bytes that is not a request",
                      (*packet)->bytes.size()));
      continue;
    }
    Handle(request, (*packet)->fds.empty() ? UniqueFd() : std::move((*packet)->fds.front()));
  }
}

void Keeper::Handle(const wire::AgentToKeeper& request, UniqueFd received) {
  wire::KeeperToAgent reply;
  int fd = -1;
  Status done = OkStatus();
  switch (request.body_case()) {
    case wire::AgentToKeeper::kSpawn: {
      const auto pid = Spawn(request.spawn());
      if (pid) {
        reply = Describe(*pid, ranks_[*pid]);
        fd = ranks_[*pid].output.get();
      } else {
        done = pid.error();
      }
      break;
    }
    case wire::AgentToKeeper::kSignal:
      done = Signal(request.signal().pid(), request.signal().signal());
      break;
    case wire::AgentToKeeper::kAcknowledge:
      done = Acknowledge(request.acknowledge().pid());
      break;
    case wire::AgentToKeeper::kKeep:
      done = Keep(request.keep().name(), std::move(received));
      break;
    case wire::AgentToKeeper::kDrop:
      if (kept_.erase(request.drop().name()) == 0) {
        done = NotFound(fmt::format("nothing is kept as '{}'", request.drop().name()));
      }
      break;
    case wire::AgentToKeeper::kShutdown:
      ending_ = true;
      break;
    case wire::AgentToKeeper::kDie:
      ::kill(::getpid(), SIGKILL);
      return;
    case wire::AgentToKeeper::BODY_NOT_SET:
      done = InvalidArgument("request without a body");
      break;
  }
  if (!done) {
    reply.mutable_error()->set_code(static_cast<std::uint32_t>(done.error().code));
    reply.mutable_error()->set_message(done.error().ToString());
  } else if (reply.body_case() == wire::KeeperToAgent::BODY_NOT_SET) {
    reply.mutable_done();
  }
  reply.set_sequence(request.sequence());
  Send(reply, fd);
}

Result<std::int64_t> Keeper::Spawn(const wire::KeeperSpawn& spawn) {
  if (spawn.device() < 0 || spawn.device() >= options_.devices) {
    return InvalidArgument(
        fmt::format("device {}: node n{} has {}", spawn.device(), options_.node, options_.devices));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Unavailable(fmt::format("no pipe for a rank's output: {}", std::strerror(errno)));
  }
  UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(read_end.get(), F_SETPIPE_SZ, kPipeBytes);  // on failure the default size remains
  ChildSpec child{.argv = {spawn.argv().begin(), spawn.argv().end()},
                  .environment = {spawn.environment().begin(), spawn.environment().end()},
                  .output = write_end.get(),
                  .descriptors = {arenas_[static_cast<std::size_t>(spawn.device())].fd.get()}};
  child.environment.push_back(fmt::format("{}={}", kArenaFdVariable, kChildDescriptor));
  if (const auto memory = kept_.find(MemoryName(spawn.device())); memory != kept_.end()) {
    child.environment.push_back(fmt::format("{}={}", kMemoryFdVariable, kChildDescriptor + 1));
    child.descriptors.push_back(memory->second.get());
  }
  TESSERA_TRY(const pid_t pid, StartChild(child));
  if (ranks_.contains(pid)) {  // the pid was reused before the exit was acknowledged
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return Unavailable(fmt::format("process {}: its predecessor's exit is not acknowledged", pid));
  }
  ranks_[pid] = Rank{spawn.tag(), spawn.device(), std::move(read_end)};
  return pid;
}

Status Keeper::Signal(std::int64_t pid, int signal) {
  const auto found = ranks_.find(pid);
  if (found == ranks_.end()) return NotFound(fmt::format("process {} is not a rank", pid));
  if (found->second.exited) return FailedPrecondition(fmt::format("process {} has ended", pid));
  // To the process group of the rank, which includes the processes that it has started.
  if (::kill(-static_cast<pid_t>(pid), signal) != 0) {
    return InvalidArgument(
        fmt::format("signal {} to process {}: {}", signal, pid, std::strerror(errno)));
  }
  return OkStatus();
}

Status Keeper::Acknowledge(std::int64_t pid) {
  const auto found = ranks_.find(pid);
  if (found == ranks_.end()) return NotFound(fmt::format("process {} is not a rank", pid));
  if (!found->second.exited)
    return FailedPrecondition(fmt::format("process {} has not ended", pid));
  ranks_.erase(found);
  return OkStatus();
}

Status Keeper::Keep(const std::string& name, UniqueFd fd) {
  if (!fd) return InvalidArgument(fmt::format("'{}' comes without a descriptor", name));
  if (name.empty() || name.size() > kLongestName) {
    return InvalidArgument(
        fmt::format("a name of {} bytes: from 1 to {} are taken", name.size(), kLongestName));
  }
  if (kept_.size() >= kMostKept && !kept_.contains(name)) {
    return ResourceExhausted(fmt::format("{} descriptors are kept already", kMostKept));
  }
  kept_.insert_or_assign(name, std::move(fd));
  return OkStatus();
}

void Keeper::ReadSignals() {
  signalfd_siginfo info{};
  bool child = false;
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo == SIGCHLD) child = true;
    if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) ending_ = true;
  }
  if (child) Reap();
}

void Keeper::Reap() {
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    const pid_t pid = info.si_pid;
    const auto found = ranks_.find(pid);
    const bool is_rank = found != ranks_.end() && !found->second.exited;
    // Processes that the rank has left behind. Its group id cannot be reused until it is reaped.
    if (is_rank) ::kill(-pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (pid == agent_) AgentEnded(status);
    if (!is_rank) continue;  // the agent, or an orphan of agent or rank
    found->second.exited = true;
    found->second.status = status;
    wire::KeeperToAgent message;
    message.mutable_exited()->set_pid(pid);
    message.mutable_exited()->set_status(status);
    Send(message);
  }
}

// While no agent reads, a full pipe would block the rank in a write.
void Keeper::DrainFullPipes() {
  if (Clock::now() < next_drain_) return;
  next_drain_ = Clock::now() + kDrainPeriod;
  for (const auto& [pid, rank] : ranks_) {
    int waiting = 0;
    if (rank.exited || ::ioctl(rank.output.get(), FIONREAD, &waiting) != 0) continue;
    const int capacity = ::fcntl(rank.output.get(), F_GETPIPE_SZ);
    if (capacity <= 0 || waiting < capacity / 4 * 3) continue;
    std::array<char, 4096> oldest;
    for (int dropped = 0; dropped < capacity / 2;) {
      const auto got = ::read(rank.output.get(), oldest.data(), oldest.size());
      if (got <= 0) break;
      dropped += static_cast<int>(got);
    }
  }
}

// Ends the ranks at once, the agent after its grace, then all processes that they left behind.
void Keeper::End() {
  for (const auto& [pid, rank] : ranks_) {
    if (!rank.exited) ::kill(-static_cast<pid_t>(pid), SIGKILL);
  }
  if (agent_ > 0) ::kill(agent_, SIGTERM);
  const auto began = Clock::now();
  const std::string children = fmt::format("/proc/self/task/{}/children", ::getpid());
  while (Clock::now() - began < kReapLimit) {
    Reap();
    const bool spare_agent = agent_ > 0 && Clock::now() - began < kAgentGrace;
    std::ifstream list(children);
    for (pid_t pid = 0; list >> pid;) {
      if (pid != agent_ || !spare_agent) ::kill(pid, SIGKILL);
    }
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) break;
    pollfd signals{signals_.get(), POLLIN, 0};
    ::poll(&signals, 1, 20);
    signalfd_siginfo drop{};
    while (::read(signals_.get(), &drop, sizeof drop) > 0) {
    }
  }
  if (lock_ && ::ftruncate(lock_.get(), 0) != 0) Say("cannot clear keeper.lock");
}

}  // namespace

int RunKeeper(const KeeperOptions& options) { return Keeper(options).Run(); }

}  // namespace tessera::agents
