// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/tcp_group.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "agents/keeper/packet.h"
#include "agents/train/comm/waiting.h"
#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

using std::chrono::milliseconds;

/// How long a waiting rank sleeps before it checks again for an abort or abandonment.
constexpr milliseconds kLongestPoll{20};
/// Up to this size every rank sends all values to every other: one exchange instead of two.
constexpr std::size_t kMostFloatsToAll = 4 * 1024;

/// Two ranks have a connection for collectives and, in a group with messages, one for these: a
/// message that is not yet received must not hold up a collective.
enum class TcpChannel : std::uint32_t { kCollectives, kMessages };

/// What a rank publishes in the rendezvous.
struct TcpEndpoint {
  sockaddr_storage address;
  std::uint32_t address_bytes;
  std::uint32_t rank;
  std::uint64_t secret;  // of the listening rank
};
/// The first bytes on a connection, from the rank that connects.
struct TcpGreeting {
  std::uint64_t secret;
  std::uint32_t rank;
  std::uint32_t size;
  TcpChannel channel;
  std::uint32_t reserved;
};

/// What one exchange sends to one peer and receives from it.
struct PeerTransfer {
  std::span<const std::byte> out;
  std::span<std::byte> in;
};

/// Ends the wait of one operation: by its deadline, an abort or abandonment.
class TcpPatience {
 public:
  TcpPatience(const GroupOptions& options, const std::atomic<bool>& aborted)
      : TcpPatience(options, aborted, options.limit()) {}
  TcpPatience(const GroupOptions& options, const std::atomic<bool>& aborted, milliseconds limit)
      : options_(options), aborted_(aborted), waiting_(limit) {}
  Status Check() {
    if (aborted_) return Cancelled(fmt::format("group {} was aborted", options_.name));
    if (options_.abandoned && options_.abandoned()) {
      return Cancelled(fmt::format("group {} is no longer wanted", options_.name));
    }
    if (waiting_.IsOver()) {
      return Timeout(fmt::format("a rank of group {} did not join within {} ms", options_.name,
                                 waiting_.limit().count()));
    }
    return OkStatus();
  }

 private:
  const GroupOptions& options_;
  const std::atomic<bool>& aborted_;
  Waiting waiting_;
};

Error SocketFailed(const GroupOptions& options, const char* what) {
  return Unavailable(fmt::format("group {}: {}: {}", options.name, what, std::strerror(errno)));
}

bool IsFailure(ssize_t moved) { return moved < 0 && errno != EAGAIN && errno != EINTR; }

/// Runs all transfers, indexed by peer, at the same time, so that no order of ranks can block.
Status Exchange(const std::vector<UniqueFd>& peers, std::vector<PeerTransfer> transfers,
                const GroupOptions& options, TcpPatience& patience) {
  std::vector<pollfd> watched;
  std::vector<std::size_t> peer_of;
  while (true) {
    watched.clear();
    peer_of.clear();
    for (std::size_t p = 0; p < peers.size(); ++p) {
      const int events =
          (transfers[p].out.empty() ? 0 : POLLOUT) | (transfers[p].in.empty() ? 0 : POLLIN);
      if (events == 0) continue;
      watched.push_back({peers[p].get(), static_cast<short>(events), 0});
      peer_of.push_back(p);
    }
    if (watched.empty()) return OkStatus();
    TESSERA_RETURN_IF_ERROR(patience.Check());
    if (::poll(watched.data(), watched.size(), static_cast<int>(kLongestPoll.count())) <= 0)
      continue;
    for (std::size_t w = 0; w < watched.size(); ++w) {
      PeerTransfer& transfer = transfers[peer_of[w]];
      const int fd = watched[w].fd;
      if ((watched[w].revents & POLLOUT) != 0) {
        const ssize_t sent = ::send(fd, transfer.out.data(), transfer.out.size(), MSG_NOSIGNAL);
        if (IsFailure(sent)) return SocketFailed(options, "send");
        if (sent > 0) transfer.out = transfer.out.subspan(static_cast<std::size_t>(sent));
      }
      if ((watched[w].revents & ~POLLOUT) != 0) {
        // A peer that has closed its end is found even where nothing is expected from it.
        std::byte nothing{};
        const bool expects = !transfer.in.empty();
        const ssize_t received = expects ? ::recv(fd, transfer.in.data(), transfer.in.size(), 0)
                                         : ::recv(fd, &nothing, 1, MSG_PEEK);
        if (IsFailure(received)) return SocketFailed(options, "receive");
        if (received == 0) {
          return Unavailable(fmt::format("group {}: rank {} is gone", options.name, peer_of[w]));
        }
        if (expects && received > 0) {
          transfer.in = transfer.in.subspan(static_cast<std::size_t>(received));
        }
      }
    }
  }
}

/// Sends messages on a thread of its own: the sender computes on, or waits in another group for
/// ranks that need its message, while the receiver is not ready.
/// \threadsafety One thread calls Send.
class MessageSender {
 public:
  /// `peers` and `options` outlive the sender.
  MessageSender(const std::vector<UniqueFd>& peers, const GroupOptions& options)
      : peers_(peers),
        options_(options),
        queues_(peers.size()),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        thread_([this] { Run(); }) {}
  ~MessageSender() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    Wake();
    thread_.join();
  }
  MessageSender(const MessageSender&) = delete;
  MessageSender& operator=(const MessageSender&) = delete;

  /// Copies what the connection does not take at once. Waits while kMaxInFlight messages to the
  /// rank are queued.
  Status Send(std::size_t to, std::span<const std::byte> message, TcpPatience& patience) {
    std::unique_lock lock(mutex_);
    std::deque<QueuedMessage>& queue = queues_[to];
    const auto has_room = [&] {
      return queue.size() < static_cast<std::size_t>(Collective::kMaxInFlight) || !status_;
    };
    while (!changed_.wait_for(lock, kLongestPoll, has_room)) {
      TESSERA_RETURN_IF_ERROR(patience.Check());
    }
    TESSERA_RETURN_IF_ERROR(status_);
    if (queue.empty()) {
      const ssize_t sent = ::send(peers_[to].get(), message.data(), message.size(), MSG_NOSIGNAL);
      if (IsFailure(sent)) return SocketFailed(options_, "send");
      if (sent > 0) message = message.subspan(static_cast<std::size_t>(sent));
      if (message.empty()) return OkStatus();
    }
    queue.push_back({std::vector<std::byte>(message.begin(), message.end())});
    lock.unlock();
    Wake();
    return OkStatus();
  }

 private:
  struct QueuedMessage {
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  };

  void Wake() {
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake_.get(), &one, sizeof one));
  }

  void Run() {
    sigset_t all;  // signals of the process are handled on its main thread
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::vector<pollfd> watched;
    std::vector<std::size_t> peer_of;
    std::unique_lock lock(mutex_);
    while (!is_stopping_) {
      watched.assign(1, {wake_.get(), POLLIN, 0});
      peer_of.assign(1, 0);
      for (std::size_t p = 0; p < queues_.size(); ++p) {
        if (queues_[p].empty() || !status_) continue;
        watched.push_back({peers_[p].get(), POLLOUT, 0});
        peer_of.push_back(p);
      }
      lock.unlock();
      ::poll(watched.data(), watched.size(), -1);
      std::uint64_t ignored = 0;
      if (watched[0].revents != 0) static_cast<void>(::read(wake_.get(), &ignored, sizeof ignored));
      lock.lock();
      for (std::size_t w = 1; w < watched.size() && status_; ++w) {
        if (watched[w].revents != 0) SendSome(peer_of[w]);
      }
    }
  }

  /// Sends from the front of a queue until the connection takes no more.
  void SendSome(std::size_t to) {
    std::deque<QueuedMessage>& queue = queues_[to];
    while (!queue.empty()) {
      QueuedMessage& message = queue.front();
      const auto left = std::span<const std::byte>(message.bytes).subspan(message.sent);
      const ssize_t sent = ::send(peers_[to].get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (IsFailure(sent)) status_ = SocketFailed(options_, "send");
      if (sent <= 0) break;
      message.sent += static_cast<std::size_t>(sent);
      if (message.sent < message.bytes.size()) continue;
      queue.pop_front();
      changed_.notify_all();
    }
    if (!status_) changed_.notify_all();
  }

  const std::vector<UniqueFd>& peers_;
  const GroupOptions& options_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::vector<std::deque<QueuedMessage>> queues_;  // by rank
  Status status_ = OkStatus();                     // the first error of the thread
  bool is_stopping_ = false;
  const UniqueFd wake_;
  std::thread thread_;  // last: it uses the others
};

/// The connections of a rank, by rank of the peer; none for the rank itself.
struct TcpPeers {
  std::vector<UniqueFd> collectives;
  std::vector<UniqueFd> messages;  // empty in a group without messages
};

class TcpGroup final : public Collective {
 public:
  TcpGroup(const GroupOptions& options, TcpPeers peers)
      : Collective(options.rank, options.size),
        options_(options),
        peers_(std::move(peers.collectives)),
        message_peers_(std::move(peers.messages)) {
    if (!message_peers_.empty()) sender_.emplace(message_peers_, options_);
  }

  Status AllReduceSum(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a + b; });
  }
  Status AllReduceMax(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a < b ? b : a; });
  }

  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    TESSERA_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    std::vector<PeerTransfer> transfers(peers_.size());
    for (std::size_t p = 0; p < transfers.size(); ++p) {
      if (p == Mine()) continue;
      transfers[p] = {mine, all.subspan(p * mine.size(), mine.size())};
    }
    TESSERA_RETURN_IF_ERROR(Run(peers_, std::move(transfers)));
    std::copy(mine.begin(), mine.end(),
              all.begin() + static_cast<std::ptrdiff_t>(Mine() * mine.size()));
    return OkStatus();
  }

  Status Send(int to, std::span<const float> values) override {
    TESSERA_CHECK(to != rank() && sender_);
    TcpPatience patience(options_, aborted_);
    TESSERA_RETURN_IF_ERROR(patience.Check());
    return Finish(sender_->Send(static_cast<std::size_t>(to), std::as_bytes(values), patience));
  }

  Status Receive(int from, std::span<float> values) override {
    TESSERA_CHECK(from != rank() && sender_);
    std::vector<PeerTransfer> transfers(message_peers_.size());
    transfers.at(static_cast<std::size_t>(from)).in = std::as_writable_bytes(values);
    return Run(message_peers_, std::move(transfers));
  }

  void Abort() override { aborted_ = true; }

 private:
  std::size_t Mine() const { return static_cast<std::size_t>(rank()); }

  template <typename Operation>
  Status AllReduce(std::span<float> values, Operation operation) {
    // Each rank adds up its share of many elements, or all of a few.
    const std::size_t ranks = peers_.size();
    const bool direct = values.size() <= kMostFloatsToAll;
    const auto share = [&](std::size_t r) {
      if (direct) return values;
      const std::size_t begin = values.size() * r / ranks, end = values.size() * (r + 1) / ranks;
      return values.subspan(begin, end - begin);
    };
    const std::span<float> mine = share(Mine());
    staging_.resize(mine.size() * ranks);
    const auto from = [&](std::size_t r) {
      return std::span(staging_).subspan(r * mine.size(), mine.size());
    };
    std::vector<PeerTransfer> transfers(ranks);
    for (std::size_t p = 0; p < ranks; ++p) {
      if (p == Mine()) continue;
      transfers[p] = {std::as_bytes(share(p)), std::as_writable_bytes(from(p))};
    }
    TESSERA_RETURN_IF_ERROR(Run(peers_, transfers));
    std::copy(mine.begin(), mine.end(), from(Mine()).begin());
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = staging_[i];
    for (std::size_t r = 1; r < ranks; ++r) {
      const std::span<const float> next = from(r);
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = operation(mine[i], next[i]);
    }
    if (direct) return OkStatus();
    for (std::size_t p = 0; p < ranks; ++p) {
      if (p == Mine()) continue;
      transfers[p] = {std::as_bytes(mine), std::as_writable_bytes(share(p))};
    }
    return Run(peers_, std::move(transfers));
  }

  Status Run(const std::vector<UniqueFd>& peers, std::vector<PeerTransfer> transfers) {
    TcpPatience patience(options_, aborted_);
    TESSERA_RETURN_IF_ERROR(patience.Check());
    return Finish(Exchange(peers, std::move(transfers), options_, patience));
  }

  /// An error breaks the group, also for the ranks that wait for this one.
  Status Finish(Status status) {
    if (status) return status;
    aborted_ = true;
    for (const auto* peers : {&peers_, &message_peers_}) {
      for (const UniqueFd& peer : *peers) {
        if (peer) ::shutdown(peer.get(), SHUT_RDWR);
      }
    }
    return status;
  }

  const GroupOptions options_;
  const std::vector<UniqueFd> peers_, message_peers_;
  std::vector<float> staging_;
  std::atomic<bool> aborted_ = false;
  std::optional<MessageSender> sender_;  // in a group with messages
};

/// Connects the ranks of one group. Every rank listens; higher ranks connect to lower ones.
class TcpConnector {
 public:
  TcpConnector(const GroupOptions& options, std::shared_ptr<Rendezvous> rendezvous)
      : options_(options),
        rendezvous_(std::move(rendezvous)),
        patience_(options_, never_, options_.timeout) {
    const auto size = static_cast<std::size_t>(options.size);
    peers_.collectives.resize(size);
    if (options.message_floats > 0) peers_.messages.resize(size);
  }

  Result<TcpPeers> Connect(const std::string& address) {
    TESSERA_TRY(const TcpEndpoint mine, Listen(address));
    TESSERA_RETURN_IF_ERROR(
        rendezvous_->Set(Key(options_.rank), std::as_bytes(std::span(&mine, 1))));
    for (int rank = 0; rank < options_.rank; ++rank) TESSERA_RETURN_IF_ERROR(ConnectTo(rank));
    TESSERA_RETURN_IF_ERROR(AcceptOthers(mine.secret));
    return std::move(peers_);
  }

 private:
  std::string Key(int rank) const { return fmt::format("{}/tcp/{}", options_.name, rank); }
  std::vector<UniqueFd>& Peers(TcpChannel channel) {
    return channel == TcpChannel::kMessages ? peers_.messages : peers_.collectives;
  }

  Result<TcpEndpoint> Listen(const std::string& address) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
      return InvalidArgument(
          fmt::format("group {}: '{}' is not a network address", options_.name, address));
    }
    listener_.Reset(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    TcpEndpoint mine{};
    socklen_t bytes = sizeof mine.address;
    const bool listens =
        listener_ && ::bind(listener_.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        ::listen(listener_.get(), 2 * options_.size) == 0 &&
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&mine.address), &bytes) == 0;
    const int error = errno;
    ::freeaddrinfo(found);
    errno = error;
    if (!listens) return SocketFailed(options_, address.c_str());
    mine.address_bytes = bytes;
    mine.rank = static_cast<std::uint32_t>(options_.rank);
    if (::getrandom(&mine.secret, sizeof mine.secret, 0) != sizeof mine.secret) {
      return SocketFailed(options_, "getrandom");
    }
    return mine;
  }

  Status ConnectTo(int rank) {
    TESSERA_TRY(const std::vector<std::byte> value, rendezvous_->Get(Key(rank), options_.timeout));
    TcpEndpoint endpoint{};
    if (value.size() != sizeof endpoint) {
      return Error{ErrorCode::kDataLoss,
                   fmt::format("group {}: the address of rank {} has {} bytes, not {}",
                               options_.name, rank, value.size(), sizeof endpoint),
                   {}};
    }
    std::memcpy(&endpoint, value.data(), sizeof endpoint);
    TESSERA_RETURN_IF_ERROR(OpenChannel(rank, endpoint, TcpChannel::kCollectives));
    if (peers_.messages.empty()) return OkStatus();
    return OpenChannel(rank, endpoint, TcpChannel::kMessages);
  }

  Status OpenChannel(int rank, const TcpEndpoint& endpoint, TcpChannel channel) {
    std::vector<UniqueFd>& peers = Peers(channel);
    UniqueFd& peer = peers[static_cast<std::size_t>(rank)];
    peer.Reset(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!peer) return SocketFailed(options_, "socket");
    if (::connect(peer.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                  endpoint.address_bytes) != 0 &&
        errno != EINPROGRESS) {
      return SocketFailed(options_, "connect");
    }
    const TcpGreeting greeting{endpoint.secret, static_cast<std::uint32_t>(options_.rank),
                               static_cast<std::uint32_t>(options_.size), channel, 0};
    std::vector<PeerTransfer> transfers(peers.size());
    transfers[static_cast<std::size_t>(rank)].out = std::as_bytes(std::span(&greeting, 1));
    TESSERA_RETURN_IF_ERROR(Exchange(peers, std::move(transfers), options_, patience_));
    return Prepare(peer);
  }

  Status AcceptOthers(std::uint64_t secret) {
    const int channels = peers_.messages.empty() ? 1 : 2;
    int missing = channels * (options_.size - options_.rank - 1);
    while (missing > 0) {
      TESSERA_RETURN_IF_ERROR(patience_.Check());
      pollfd watched{listener_.get(), POLLIN, 0};
      if (::poll(&watched, 1, static_cast<int>(kLongestPoll.count())) <= 0) continue;
      std::vector<UniqueFd> caller(1);
      caller[0].Reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!caller[0]) continue;
      // A caller that does not send the secret within 2 s is not of the group.
      TcpGreeting greeting{};
      GroupOptions soon = options_;
      soon.timeout = std::min(options_.timeout, milliseconds(2000));
      TcpPatience patience(soon, never_, soon.timeout);
      const Status greeted =
          Exchange(caller, {{{}, std::as_writable_bytes(std::span(&greeting, 1))}}, soon, patience);
      const auto rank = static_cast<int>(greeting.rank);
      if (!greeted || greeting.secret != secret || rank <= options_.rank || rank >= options_.size ||
          (greeting.channel != TcpChannel::kCollectives && channels == 1)) {
        continue;
      }
      UniqueFd& peer = Peers(greeting.channel)[static_cast<std::size_t>(rank)];
      if (peer) continue;
      TESSERA_RETURN_IF_ERROR(Prepare(caller[0]));
      peer = std::move(caller[0]);
      --missing;
    }
    return OkStatus();
  }

  Status Prepare(const UniqueFd& peer) const {
    const int on = 1;
    if (::setsockopt(peer.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
      return SocketFailed(options_, "TCP_NODELAY");
    }
    return OkStatus();
  }

  const GroupOptions options_;
  const std::shared_ptr<Rendezvous> rendezvous_;
  const std::atomic<bool> never_ = false;
  TcpPatience patience_;
  UniqueFd listener_;
  TcpPeers peers_;
};

}  // namespace

Result<CollectivePtr> MakeTcpGroup(const GroupOptions& options, const std::string& address,
                                   std::shared_ptr<Rendezvous> rendezvous) {
  TcpConnector connector(options, std::move(rendezvous));
  TESSERA_TRY(TcpPeers peers, connector.Connect(address));
  return CollectivePtr(std::make_shared<TcpGroup>(options, std::move(peers)));
}

}  // namespace tessera::agents::train
