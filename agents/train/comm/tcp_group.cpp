// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/tcp_group.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "agents/keeper/packet.h"
#include "ptc/base/check.h"

namespace tessera::agents::train {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How long a rank sleeps between looks at the flags.
constexpr milliseconds kTcpGroupSlice{20};
/// Up to here every rank sends everything to every other: one exchange instead of two.
constexpr std::size_t kTcpGroupDirectFloats = 4 * 1024;

/// What a rank publishes, and what who connects says first.
struct Endpoint {
  sockaddr_storage address;
  std::uint32_t address_bytes;
  std::uint32_t rank;
  std::uint64_t secret;  // of the group's rank that listens
};
struct Greeting {
  std::uint64_t secret;
  std::uint32_t rank;
  std::uint32_t size;
};

/// What goes to one peer and comes from it in one exchange.
struct Part {
  std::span<const std::byte> out;
  std::span<std::byte> in;
};

/// The deadline and the flags of one operation.
class Patience {
 public:
  Patience(const GroupOptions& options, const std::atomic<bool>& aborted)
      : options_(options), aborted_(aborted), deadline_(steady_clock::now() + options.timeout) {}
  Status Check() const {
    if (aborted_) return Cancelled(fmt::format("group {} was aborted", options_.name));
    if (options_.abandoned && options_.abandoned()) {
      return Cancelled(fmt::format("group {} is no longer wanted", options_.name));
    }
    if (steady_clock::now() >= deadline_) {
      return Timeout(fmt::format("a rank of group {} did not come within {} ms", options_.name,
                                 options_.timeout.count()));
    }
    return OkStatus();
  }

 private:
  const GroupOptions& options_;
  const std::atomic<bool>& aborted_;
  const steady_clock::time_point deadline_;
};

Error SocketFailed(const GroupOptions& options, const char* what) {
  return Unavailable(fmt::format("group {}: {}: {}", options.name, what, std::strerror(errno)));
}

/// Moves all parts, indexed by peer, both ways at once, so that no order of ranks can block.
Status Exchange(const std::vector<UniqueFd>& peers, std::vector<Part> parts,
                const GroupOptions& options, const Patience& patience) {
  std::vector<pollfd> watched;
  std::vector<std::size_t> peer_of;
  while (true) {
    watched.clear();
    peer_of.clear();
    for (std::size_t p = 0; p < peers.size(); ++p) {
      const int events = (parts[p].out.empty() ? 0 : POLLOUT) | (parts[p].in.empty() ? 0 : POLLIN);
      if (events == 0) continue;
      watched.push_back({peers[p].get(), static_cast<short>(events), 0});
      peer_of.push_back(p);
    }
    if (watched.empty()) return OkStatus();
    TESSERA_RETURN_IF_ERROR(patience.Check());
    if (::poll(watched.data(), watched.size(), static_cast<int>(kTcpGroupSlice.count())) <= 0) continue;
    for (std::size_t w = 0; w < watched.size(); ++w) {
      Part& part = parts[peer_of[w]];
      const int fd = watched[w].fd;
      const auto failed = [&](ssize_t moved) {
        return moved < 0 && errno != EAGAIN && errno != EINTR;
      };
      if ((watched[w].revents & POLLOUT) != 0) {
        const ssize_t sent = ::send(fd, part.out.data(), part.out.size(), MSG_NOSIGNAL);
        if (failed(sent)) return SocketFailed(options, "send");
        if (sent > 0) part.out = part.out.subspan(static_cast<std::size_t>(sent));
      }
      if ((watched[w].revents & ~POLLOUT) != 0) {
        // A peer that is gone also when nothing is expected from it: to_read is then empty.
        std::byte nothing{};
        const bool expects = !part.in.empty();
        const ssize_t received = expects ? ::recv(fd, part.in.data(), part.in.size(), 0)
                                         : ::recv(fd, &nothing, 1, MSG_PEEK);
        if (failed(received)) return SocketFailed(options, "receive");
        if (received == 0) {
          return Unavailable(fmt::format("group {}: rank {} is gone", options.name, peer_of[w]));
        }
        if (expects && received > 0) part.in = part.in.subspan(static_cast<std::size_t>(received));
      }
    }
  }
}

class TcpGroup final : public Collective {
 public:
  TcpGroup(const GroupOptions& options, std::vector<UniqueFd> peers)
      : Collective(options.rank, options.size), options_(options), peers_(std::move(peers)) {}

  Status AllReduceSum(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a + b; });
  }
  Status AllReduceMax(std::span<float> values) override {
    return AllReduce(values, [](float a, float b) { return a < b ? b : a; });
  }

  Status AllGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    TESSERA_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    std::vector<Part> parts(peers_.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (p == Mine()) continue;
      parts[p] = {mine, all.subspan(p * mine.size(), mine.size())};
    }
    TESSERA_RETURN_IF_ERROR(Run(std::move(parts)));
    std::copy(mine.begin(), mine.end(),
              all.begin() + static_cast<std::ptrdiff_t>(Mine() * mine.size()));
    return OkStatus();
  }

  Status Send(int, std::span<const float>) override { return NoMessages(); }
  Status Receive(int, std::span<float>) override { return NoMessages(); }
  void Abort() override { aborted_ = true; }

 private:
  std::size_t Mine() const { return static_cast<std::size_t>(rank()); }
  Status NoMessages() const {
    return InvalidArgument(fmt::format("group {} was made without messages", options_.name));
  }

  template <typename Operation>
  Status AllReduce(std::span<float> values, Operation operation) {
    // Each rank adds up its share of the elements, or all of a few.
    const std::size_t ranks = peers_.size();
    const bool direct = values.size() <= kTcpGroupDirectFloats;
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
    std::vector<Part> parts(ranks);
    for (std::size_t p = 0; p < ranks; ++p) {
      if (p == Mine()) continue;
      parts[p] = {std::as_bytes(share(p)), std::as_writable_bytes(from(p))};
    }
    TESSERA_RETURN_IF_ERROR(Run(parts));
    std::copy(mine.begin(), mine.end(), from(Mine()).begin());
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = staging_[i];
    for (std::size_t r = 1; r < ranks; ++r) {
      const std::span<const float> next = from(r);
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = operation(mine[i], next[i]);
    }
    if (direct) return OkStatus();
    for (std::size_t p = 0; p < ranks; ++p) {
      if (p == Mine()) continue;
      parts[p] = {std::as_bytes(mine), std::as_writable_bytes(share(p))};
    }
    return Run(std::move(parts));
  }

  Status Run(std::vector<Part> parts) {
    const Patience patience(options_, aborted_);
    TESSERA_RETURN_IF_ERROR(patience.Check());
    Status status = Exchange(peers_, std::move(parts), options_, patience);
    if (status) return status;
    aborted_ = true;
    // Those who wait for this rank are to know it at once.
    for (const UniqueFd& peer : peers_) {
      if (peer) ::shutdown(peer.get(), SHUT_RDWR);
    }
    return status;
  }

  const GroupOptions options_;
  std::vector<UniqueFd> peers_;  // by rank; none for the own
  std::vector<float> staging_;
  std::atomic<bool> aborted_ = false;
};

/// Connects the ranks of one group. Everyone listens; higher ranks connect to lower ones.
class Connector {
 public:
  Connector(const GroupOptions& options, std::shared_ptr<Rendezvous> rendezvous)
      : options_(options),
        rendezvous_(std::move(rendezvous)),
        patience_(options_, never_),
        peers_(static_cast<std::size_t>(options.size)) {}

  Result<std::vector<UniqueFd>> Connect(const std::string& address) {
    TESSERA_TRY(const Endpoint mine, Listen(address));
    TESSERA_RETURN_IF_ERROR(
        rendezvous_->Set(Key(options_.rank), std::as_bytes(std::span(&mine, 1))));
    for (int rank = 0; rank < options_.rank; ++rank) TESSERA_RETURN_IF_ERROR(ConnectTo(rank));
    TESSERA_RETURN_IF_ERROR(AcceptOthers(mine.secret));
    return std::move(peers_);
  }

 private:
  std::string Key(int rank) const { return fmt::format("{}/tcp/{}", options_.name, rank); }
  UniqueFd& Peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }

  Result<Endpoint> Listen(const std::string& address) {
    addrinfo hints{};
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
      return InvalidArgument(
          fmt::format("group {}: '{}' is not a network address", options_.name, address));
    }
    listener_.Reset(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    Endpoint mine{};
    socklen_t bytes = sizeof mine.address;
    const bool listens =
        listener_ && ::bind(listener_.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        ::listen(listener_.get(), options_.size) == 0 &&
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
    Endpoint endpoint{};
    if (value.size() != sizeof endpoint) {
      return Error{ErrorCode::kDataLoss,
                   fmt::format("group {}: the address of rank {} has {} bytes, not {}",
                               options_.name, rank, value.size(), sizeof endpoint),
                   {}};
    }
    std::memcpy(&endpoint, value.data(), sizeof endpoint);
    UniqueFd& peer = Peer(rank);
    peer.Reset(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!peer) return SocketFailed(options_, "socket");
    if (::connect(peer.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                  endpoint.address_bytes) != 0 &&
        errno != EINPROGRESS) {
      return SocketFailed(options_, "connect");
    }
    const Greeting greeting{endpoint.secret, static_cast<std::uint32_t>(options_.rank),
                            static_cast<std::uint32_t>(options_.size)};
    std::vector<Part> parts(peers_.size());
    parts[static_cast<std::size_t>(rank)].out = std::as_bytes(std::span(&greeting, 1));
    TESSERA_RETURN_IF_ERROR(Exchange(peers_, std::move(parts), options_, patience_));
    return Prepare(peer);
  }

  Status AcceptOthers(std::uint64_t secret) {
    int missing = options_.size - options_.rank - 1;
    while (missing > 0) {
      TESSERA_RETURN_IF_ERROR(patience_.Check());
      pollfd watched{listener_.get(), POLLIN, 0};
      if (::poll(&watched, 1, static_cast<int>(kTcpGroupSlice.count())) <= 0) continue;
      std::vector<UniqueFd> caller(1);
      caller[0].Reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!caller[0]) continue;
      // Who does not know the secret is not of the group, nor who says nothing.
      Greeting greeting{};
      GroupOptions soon = options_;
      soon.timeout = std::min(options_.timeout, milliseconds(2000));
      const Status greeted =
          Exchange(caller, {{{}, std::as_writable_bytes(std::span(&greeting, 1))}}, soon,
                   Patience(soon, never_));
      const auto rank = static_cast<int>(greeting.rank);
      if (!greeted || greeting.secret != secret || rank <= options_.rank || rank >= options_.size ||
          Peer(rank)) {
        continue;
      }
      TESSERA_RETURN_IF_ERROR(Prepare(caller[0]));
      Peer(rank) = std::move(caller[0]);
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
  const Patience patience_;
  UniqueFd listener_;
  std::vector<UniqueFd> peers_;
};

}  // namespace

Result<CollectivePtr> MakeTcpGroup(const GroupOptions& options, const std::string& address,
                                   std::shared_ptr<Rendezvous> rendezvous) {
  TESSERA_CHECK(options.message_floats == 0);
  Connector connector(options, std::move(rendezvous));
  TESSERA_TRY(std::vector<UniqueFd> peers, connector.Connect(address));
  return CollectivePtr(std::make_shared<TcpGroup>(options, std::move(peers)));
}

}  // namespace tessera::agents::train
