// SPDX-License-Identifier: Apache-2.0
/// \file
/// An emulated libnccl.so.2: ranks of several processes that send over TCP of the loopback, on the
/// streams of the emulated driver. As in NCCL, what is sent is matched by the order of the calls of
/// a pair, calls of a group are carried out at the same time, and a peer that ends or stops leaves
/// the stream waiting until the communicator is aborted.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "agents/gpu/nccl_api.h"
#include "tests/support/cuda_emulation/settings.h"

namespace cuda = tessera::agents::cuda;
namespace nccl = tessera::agents::nccl;

// Of the emulated driver.
extern "C" cuda::Code tessera_cuda_emulation_add(cuda::Stream stream,
                                                 cuda::Code (*work)(void* context, int device),
                                                 void* context);
extern "C" void* tessera_cuda_emulation_find(int device, cuda::DevicePointer address,
                                             std::size_t size);

namespace tessera::test::cuda_emulation {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLongestMeeting = std::chrono::seconds(60);
constexpr int kPollMilliseconds = 5;

struct Descriptor {
  Descriptor() = default;
  explicit Descriptor(int opened) : fd(opened) {}
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int fd = -1;
};

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Descriptor Listen(std::uint16_t* port) {
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener.fd, 128) != 0 ||
      ::getsockname(listener.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return {};
  }
  *port = ntohs(address.sin_port);
  return listener;
}

Descriptor Connect(std::uint16_t port) {
  Descriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  const bool is_connected =
      ::connect(connection.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return is_connected ? std::move(connection) : Descriptor();
}

/// Waits until something can be read, the time is over, or `ends`.
bool WaitToRead(int fd, Clock::time_point until, const std::atomic<bool>& ends) {
  while (!ends && Clock::now() < until) {
    pollfd poller{fd, POLLIN, 0};
    if (::poll(&poller, 1, kPollMilliseconds) > 0) return true;
  }
  return false;
}

template <typename Value>
bool ReadValue(int fd, Value& value, Clock::time_point until, const std::atomic<bool>& ends) {
  auto* to = reinterpret_cast<char*>(&value);
  for (std::size_t left = sizeof value; left > 0;) {
    if (!WaitToRead(fd, until, ends)) return false;
    const ssize_t got = ::recv(fd, to, left, 0);
    if (got <= 0) return false;
    to += got;
    left -= static_cast<std::size_t>(got);
  }
  return true;
}
template <typename Value>
bool WriteValue(int fd, const Value& value) {
  return ::send(fd, &value, sizeof value, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof value);
}

struct Hello {
  std::int32_t rank, num_ranks;
  std::uint16_t port;  // at which the others reach it
};

/// Collects the ports of all ranks and tells them to all.
void Meet(Descriptor listener) {
  const auto until = Clock::now() + kLongestMeeting;
  const std::atomic<bool> ends = false;
  std::map<std::int32_t, std::pair<Descriptor, std::uint16_t>> ranks;
  while (true) {
    if (!WaitToRead(listener.fd, until, ends)) return;
    Descriptor connection(::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
    Hello hello{};
    if (!ReadValue(connection.fd, hello, until, ends)) continue;
    ranks[hello.rank] = {std::move(connection), hello.port};
    if (std::ssize(ranks) < hello.num_ranks) continue;
    for (const auto& [rank, to] : ranks) {
      for (const auto& [other, of] : ranks) WriteValue(to.first.fd, of.second);
    }
    return;
  }
}

struct Operation {
  bool is_send;
  cuda::DevicePointer address;
  std::size_t size;
  int peer;
};

}  // namespace
}  // namespace tessera::test::cuda_emulation

namespace emulation = tessera::test::cuda_emulation;
using emulation::Operation;

/// ncclComm_t
struct tessera::agents::nccl::CommunicatorObject {
  CommunicatorObject(int own_rank, int ranks) : rank(own_rank), num_ranks(ranks) {}

  void Join(std::uint16_t meeting) {
    const auto until = emulation::Clock::now() + emulation::kLongestMeeting;
    std::uint16_t port = 0;
    const emulation::Descriptor listener = emulation::Listen(&port);
    const emulation::Descriptor root = emulation::Connect(meeting);
    if (listener.fd < 0 || root.fd < 0 ||
        !emulation::WriteValue(root.fd, emulation::Hello{rank, num_ranks, port})) {
      state = kRemoteError;
      return;
    }
    std::vector<std::uint16_t> ports(static_cast<std::size_t>(num_ranks));
    for (std::uint16_t& each : ports) {
      if (!emulation::ReadValue(root.fd, each, until, ends)) {
        state = kRemoteError;
        return;
      }
    }
    for (int other = 0; other < rank; ++other) {
      emulation::Descriptor peer = emulation::Connect(ports[static_cast<std::size_t>(other)]);
      if (peer.fd < 0 || !emulation::WriteValue(peer.fd, rank)) state = kRemoteError;
      peers[other] = std::move(peer);
    }
    for (int i = rank + 1; i < num_ranks; ++i) {
      int other = -1;
      if (!emulation::WaitToRead(listener.fd, until, ends)) {
        state = kRemoteError;
        return;
      }
      emulation::Descriptor peer(::accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC));
      if (!emulation::ReadValue(peer.fd, other, until, ends)) state = kRemoteError;
      peers[other] = std::move(peer);
    }
    if (state == kInProgress) state = kSuccess;
  }

  /// Carries out the calls of one group, on the thread of a stream.
  void Exchange(const std::vector<Operation>& operations, int device);
  /// As work on a GPU does whose peer has gone.
  void WaitForAbort() const {
    while (!ends) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  const int rank, num_ranks;
  std::map<int, emulation::Descriptor> peers;
  std::atomic<Code> state = kInProgress;
  std::atomic<bool> ends = false;
  int groups = 0;
  std::thread joining;
};

namespace tessera::test::cuda_emulation {
namespace {

using Communicator = nccl::CommunicatorObject;

const Settings& TheSettings() {
  static const Settings settings = ReadSettings(std::getenv("TESSERA_CUDA_EMULATION"));
  return settings;
}

struct Group {
  int depth = 0;
  std::map<std::pair<Communicator*, cuda::Stream>, std::vector<Operation>> operations;
};
thread_local Group group;

struct Launch {
  std::shared_ptr<Communicator> communicator;  // may have been aborted
  std::vector<Operation> operations;
};

/// Those that were not aborted.
std::map<Communicator*, std::shared_ptr<Communicator>> live;
std::mutex live_mutex;
std::shared_ptr<Communicator> Find(Communicator* communicator) {
  const std::lock_guard lock(live_mutex);
  const auto found = live.find(communicator);
  return found == live.end() ? nullptr : found->second;
}

std::string failed;  // the call that the settings let fail; under live_mutex

/// What each call begins with: the error that the settings ask for.
nccl::Code Begin(std::string_view symbol) {
  static std::atomic<std::int64_t> calls = 0;  // of that function
  const auto& failure = TheSettings().failure;
  if (!failure || failure->symbol != symbol || ++calls != failure->call) return nccl::kSuccess;
  const std::lock_guard lock(live_mutex);
  failed = symbol;
  return failure->code;
}

/// Is destroyed before what it describes.
struct Report {
  Report() { TheSettings(); }  // which are then destroyed later
  ~Report() {
    if (TheSettings().report.empty()) return;
    if (std::FILE* file = std::fopen(TheSettings().report.c_str(), "a")) {
      std::fprintf(file, "communicators=%zu failed=%s\n", live.size(), failed.c_str());
      std::fclose(file);
    }
  }
} report;

cuda::Code Carry(void* context, int device) {
  const std::unique_ptr<Launch> launch(static_cast<Launch*>(context));
  if (!launch->communicator->ends) launch->communicator->Exchange(launch->operations, device);
  return cuda::kSuccess;
}

nccl::Code LaunchAll() {
  for (auto& [key, operations] : group.operations) {
    const auto& [communicator, stream] = key;
    auto* launch = new Launch{Find(communicator), std::move(operations)};
    if (tessera_cuda_emulation_add(stream, Carry, launch) != cuda::kSuccess) {
      delete launch;
      return nccl::kInvalidArgument;
    }
  }
  group.operations.clear();
  return nccl::kSuccess;
}

nccl::Code Add(Communicator* communicator, cuda::Stream stream, const Operation& operation) {
  if (communicator == nullptr || operation.peer < 0 || operation.peer >= communicator->num_ranks) {
    return nccl::kInvalidArgument;
  }
  if (communicator->state != nccl::kSuccess) return nccl::kInvalidUsage;
  // NCCL would let the streams wait for each other.
  const bool is_on_another = std::ranges::any_of(group.operations, [&](const auto& entry) {
    return entry.first.first == communicator && entry.first.second != stream;
  });
  if (is_on_another) return nccl::kInvalidUsage;
  group.operations[{communicator, stream}].push_back(operation);
  return group.depth > 0 ? nccl::kSuccess : LaunchAll();
}

/// The operations of a pair in one direction, of which one is under way.
struct Lane {
  std::deque<std::pair<std::byte*, std::size_t>> left;
};

}  // namespace
}  // namespace tessera::test::cuda_emulation

void tessera::agents::nccl::CommunicatorObject::Exchange(const std::vector<Operation>& operations,
                                                         int device) {
  ++groups;
  const auto& stop = emulation::TheSettings().nccl_stop;
  const bool stops = stop && stop->rank == rank && stop->group == groups;
  std::map<std::pair<int, bool>, emulation::Lane> lanes;  // by peer, is_send
  std::size_t most = 0;
  for (const Operation& operation : operations) {
    auto* const found = static_cast<std::byte*>(
        tessera_cuda_emulation_find(device, operation.address, operation.size));
    if (found == nullptr) {
      state = kInvalidArgument;
      return;
    }
    lanes[{operation.peer, operation.is_send}].left.emplace_back(found, operation.size);
    if (operation.is_send) most += operation.size;
  }
  std::size_t sent = 0;
  // To itself.
  auto& out = lanes[{rank, true}].left;
  auto& in = lanes[{rank, false}].left;
  while (!out.empty() && !in.empty()) {
    std::memmove(in.front().first, out.front().first,
                 std::min(in.front().second, out.front().second));
    out.pop_front();
    in.pop_front();
  }
  std::erase_if(lanes, [this](const auto& lane) { return lane.first.first == rank; });
  while (!lanes.empty() && !ends) {
    if (stops && sent >= most / 2) return WaitForAbort();
    std::vector<pollfd> pollers;
    std::vector<std::pair<int, bool>> keys;
    for (const auto& [key, lane] : lanes) {
      pollers.push_back(
          {peers.at(key.first).fd, static_cast<short>(key.second ? POLLOUT : POLLIN), 0});
      keys.push_back(key);
    }
    ::poll(pollers.data(), pollers.size(), emulation::kPollMilliseconds);
    for (std::size_t i = 0; i < pollers.size(); ++i) {
      if (pollers[i].revents == 0) continue;
      auto& left = lanes.at(keys[i]).left;
      auto& [address, size] = left.front();
      std::size_t some = std::min<std::size_t>(size, 64 << 10);
      if (stops && keys[i].second) some = std::min(some, most / 2 - std::min(sent, most / 2));
      if (some == 0 && size > 0) continue;
      const ssize_t done = keys[i].second
                               ? ::send(pollers[i].fd, address, some, MSG_NOSIGNAL | MSG_DONTWAIT)
                               : ::recv(pollers[i].fd, address, some, MSG_DONTWAIT);
      if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
      if (done <= 0 && some > 0) {
        state = kRemoteError;
        return WaitForAbort();
      }
      address += done;
      size -= static_cast<std::size_t>(done);
      if (keys[i].second) sent += static_cast<std::size_t>(done);
      if (size == 0) left.pop_front();
    }
    std::erase_if(lanes, [](const auto& lane) { return lane.second.left.empty(); });
  }
}

using namespace tessera::test::cuda_emulation;  // NOLINT(google-build-using-namespace)

#define TESSERA_BEGIN(symbol) \
  if (const nccl::Code code = Begin(symbol); code != nccl::kSuccess) return code

#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))

TESSERA_EXPORT void tessera_nccl_emulation() {}

TESSERA_EXPORT nccl::Code ncclGetVersion(int* out) {
  TESSERA_BEGIN("ncclGetVersion");
  *out = TheSettings().nccl_version;
  return nccl::kSuccess;
}

TESSERA_EXPORT const char* ncclGetErrorString(nccl::Code code) {
  switch (code) {
    case nccl::kSuccess:
      return "no error";
    case nccl::kInvalidArgument:
      return "invalid argument";
    case nccl::kInvalidUsage:
      return "invalid usage";
    case nccl::kRemoteError:
      return "remote process exited or there was a network error";
    case nccl::kInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

TESSERA_EXPORT nccl::Code ncclGetUniqueId(nccl::UniqueId* out) {
  TESSERA_BEGIN("ncclGetUniqueId");
  std::uint16_t port = 0;
  Descriptor listener = Listen(&port);
  if (listener.fd < 0) return nccl::kRemoteError;
  *out = {};
  std::memcpy(out->internal, &port, sizeof port);
  std::thread(Meet, std::move(listener)).detach();
  return nccl::kSuccess;
}

TESSERA_EXPORT nccl::Code ncclCommInitRankConfig(nccl::Communicator* out, int num_ranks,
                                                 nccl::UniqueId id, int rank,
                                                 nccl::Config* config) {
  TESSERA_BEGIN("ncclCommInitRankConfig");
  if (rank < 0 || rank >= num_ranks || config == nullptr || config->magic != 0xcafebeef ||
      config->blocking != 0 || config->size != sizeof *config ||
      config->cga_cluster_size != INT_MIN) {
    return nccl::kInvalidArgument;
  }
  std::uint16_t meeting = 0;
  std::memcpy(&meeting, id.internal, sizeof meeting);
  const auto communicator = std::make_shared<Communicator>(rank, num_ranks);
  communicator->joining = std::thread([of = communicator.get(), meeting] { of->Join(meeting); });
  const std::lock_guard lock(live_mutex);
  live.emplace(communicator.get(), communicator);
  *out = communicator.get();
  return nccl::kInProgress;
}

TESSERA_EXPORT nccl::Code ncclCommGetAsyncError(nccl::Communicator communicator, nccl::Code* out) {
  TESSERA_BEGIN("ncclCommGetAsyncError");
  if (communicator == nullptr) return nccl::kInvalidArgument;
  *out = communicator->state;
  return nccl::kSuccess;
}

TESSERA_EXPORT nccl::Code ncclCommAbort(nccl::Communicator communicator) {
  const std::shared_ptr<Communicator> found = Find(communicator);
  if (!found) return nccl::kInvalidArgument;
  found->ends = true;
  found->joining.join();
  const nccl::Code code = Begin("ncclCommAbort");
  const std::lock_guard lock(live_mutex);
  live.erase(communicator);
  return code;
}

TESSERA_EXPORT nccl::Code ncclGroupStart() {
  TESSERA_BEGIN("ncclGroupStart");
  ++group.depth;
  return nccl::kSuccess;
}

TESSERA_EXPORT nccl::Code ncclGroupEnd() {
  if (group.depth == 0) return nccl::kInvalidUsage;
  --group.depth;
  if (const nccl::Code code = Begin("ncclGroupEnd"); code != nccl::kSuccess) {
    group.operations.clear();
    return code;
  }
  return group.depth == 0 ? LaunchAll() : nccl::kSuccess;
}

TESSERA_EXPORT nccl::Code ncclSend(const void* from, std::size_t count, nccl::DataType type,
                                   int peer, nccl::Communicator communicator, cuda::Stream stream) {
  TESSERA_BEGIN("ncclSend");
  if (type != nccl::kByte) return nccl::kInvalidArgument;
  return Add(communicator, stream,
             {true, reinterpret_cast<cuda::DevicePointer>(from), count, peer});
}

TESSERA_EXPORT nccl::Code ncclRecv(void* to, std::size_t count, nccl::DataType type, int peer,
                                   nccl::Communicator communicator, cuda::Stream stream) {
  TESSERA_BEGIN("ncclRecv");
  if (type != nccl::kByte) return nccl::kInvalidArgument;
  return Add(communicator, stream, {false, reinterpret_cast<cuda::DevicePointer>(to), count, peer});
}
