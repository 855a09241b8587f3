// SPDX-License-Identifier: Apache-2.0
// The ZAP handler (rfc.zeromq.org/spec/27), and the events of the connections that are accepted.
#include "agents/net/net_context.h"

#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";
constexpr std::chrono::seconds kSweepEvery{30};
constexpr int kAccepted = ZMQ_EVENT_ACCEPTED;
constexpr int kClosed = ZMQ_EVENT_DISCONNECTED;
constexpr int kNoDoor = ZMQ_EVENT_MONITOR_STOPPED;

struct CloseHandle {
  void operator()(void* socket) const { zmq_close(socket); }
};
using Handle = std::unique_ptr<void, CloseHandle>;

Handle MakeHandle(void* context, int type) {
  Handle socket(zmq_socket(context, type));
  if (!socket) return socket;
  const int none = 0;
  zmq_setsockopt(socket.get(), ZMQ_LINGER, &none, sizeof none);
  return socket;
}

/// The frames of the next message; none if there is none.
std::vector<std::string> ReceiveAll(void* socket) {
  std::vector<std::string> frames;
  for (;;) {
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&part);
      return {};
    }
    frames.emplace_back(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
    const bool more = zmq_msg_more(&part) != 0;
    zmq_msg_close(&part);
    if (!more) return frames;
  }
}

/// "tcp://127.0.0.1:7400" -> 7400; 0 for another transport.
std::uint16_t PortOf(std::string_view endpoint) {
  const auto colon = endpoint.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos || !endpoint.starts_with("tcp://")) return 0;
  std::from_chars(endpoint.data() + colon + 1, endpoint.data() + endpoint.size(), port);
  return port;
}

/// Lets malloc reuse the memory of received frames. By default it returns blocks of this size to
/// the kernel, and the page faults of the next frame cost more than its copy.
void KeepMemoryOfFrames() {
#ifdef __GLIBC__
  constexpr int kLargestKept = 8 << 20;  // more than the largest frame
  constexpr int kMostKept = 64 << 20;
  [[maybe_unused]] static const bool is_set =
      mallopt(M_MMAP_THRESHOLD, kLargestKept) == 1 && mallopt(M_TRIM_THRESHOLD, kMostKept) == 1;
#endif
}

}  // namespace

std::string UserId(std::string_view key, std::uint64_t ticket) {
  return std::string(key) + ' ' + std::to_string(ticket);
}

Sender ParseUserId(std::string_view text) {
  const auto space = text.find(' ');
  Sender out{text.substr(0, space), 0};
  if (space == std::string_view::npos) return out;
  std::from_chars(text.data() + space + 1, text.data() + text.size(), out.ticket);
  return out;
}

struct NetContext::Impl {
  /// Reads the events of one server's socket.
  struct Monitor {
    int door = 0;
    Handle reader;
  };

  explicit Impl(ConnectionLimits limits)
      : guard(limits, [this](std::string_view key) { return IsAllowed(key); }) {}

  void* context = nullptr;
  ConnectionGuard guard;
  Handle zap;     // REP, made by the constructor, then the thread's
  int wake = -1;  // an eventfd: there is a new monitor, or the thread is to end
  std::atomic<bool> is_ending{false};
  std::atomic<std::int64_t> num_refused{0};
  RefusedKeys refused;
  std::mutex mutex;
  KeyOwners allowed;                  // under `mutex`
  std::vector<Monitor> new_monitors;  // under `mutex`
  std::thread thread;

  std::optional<KeyOwner> OwnerOf(const std::string& key) {
    const std::lock_guard lock(mutex);
    const auto found = allowed.find(key);
    return found == allowed.end() ? std::nullopt : std::optional(found->second);
  }
  bool IsAllowed(std::string_view key) { return OwnerOf(std::string(key)).has_value(); }

  void Wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake, &one, sizeof one));
  }

  // Request: version, id, domain, address, identity, mechanism, credentials.
  void Answer() {
    const std::vector<std::string> request = ReceiveAll(zap.get());
    std::string key;
    if (request.size() == 7 && request[0] == "1.0" && request[5] == "CURVE" &&
        request[6].size() == 32) {
      char text[41] = {};
      zmq_z85_encode(text, reinterpret_cast<const std::uint8_t*>(request[6].data()), 32);
      key = text;
    }
    const bool good = !key.empty() && IsAllowed(key);
    if (!good) {
      ++num_refused;
      refused.Note(key, request.size() > 3 ? request[3] : "", std::chrono::steady_clock::now());
    }
    const std::string id = request.size() > 1 ? request[1] : "";
    const std::string user = good ? UserId(key, guard.NewTicket()) : "";
    const std::string reply[] = {
        "1.0", id, good ? "200" : "400", good ? "OK" : "key is not in the allow-list", user, ""};
    constexpr std::size_t kFrames = std::size(reply);
    for (std::size_t i = 0; i < kFrames; ++i) {
      zmq_send(zap.get(), reply[i].data(), reply[i].size(), i + 1 < kFrames ? ZMQ_SNDMORE : 0);
    }
  }

  /// \return whether the monitor has ended
  bool ReadEvents(Monitor& monitor) {
    for (;;) {
      const auto frames = ReceiveAll(monitor.reader.get());
      if (frames.empty()) return false;
      std::uint16_t event = 0;  // of this process, so in its own byte order
      std::uint32_t value = 0;
      if (frames[0].size() != sizeof event + sizeof value) continue;
      std::memcpy(&event, frames[0].data(), sizeof event);
      std::memcpy(&value, frames[0].data() + sizeof event, sizeof value);
      const int fd = static_cast<int>(value);
      if (event == kAccepted && frames.size() == 2) {
        guard.OnAccepted(monitor.door, fd, PortOf(frames[1]));
      }
      if (event == kClosed) guard.OnClosed(monitor.door, fd);
      if (event == kNoDoor) return true;
    }
  }

  void RunThread() {
    std::vector<Monitor> monitors;
    auto sweep_at = std::chrono::steady_clock::now() + kSweepEvery;
    while (!is_ending) {
      std::vector<zmq_pollitem_t> items{{zap.get(), 0, ZMQ_POLLIN, 0},
                                        {nullptr, wake, ZMQ_POLLIN, 0}};
      for (const Monitor& monitor : monitors) {
        items.push_back({monitor.reader.get(), 0, ZMQ_POLLIN, 0});
      }
      const auto wait =
          std::chrono::ceil<std::chrono::milliseconds>(sweep_at - std::chrono::steady_clock::now());
      if (zmq_poll(items.data(), static_cast<int>(items.size()), std::max<long>(0, wait.count())) <
              0 &&
          zmq_errno() != EINTR) {
        break;
      }
      if (items[1].revents != 0) {
        std::uint64_t count = 0;
        static_cast<void>(!::read(wake, &count, sizeof count));
      }
      {
        const std::lock_guard lock(mutex);
        std::ranges::move(new_monitors, std::back_inserter(monitors));
        new_monitors.clear();
      }
      // Before the answer: no connection is ready that the guard does not know.
      std::erase_if(monitors, [&](Monitor& monitor) {
        const bool has_ended = ReadEvents(monitor);
        if (has_ended) guard.RemoveDoor(monitor.door);
        return has_ended;
      });
      if (items[0].revents != 0) Answer();
      if (std::chrono::steady_clock::now() < sweep_at) continue;
      guard.Sweep();
      sweep_at = std::chrono::steady_clock::now() + kSweepEvery;
    }
    zap.reset();
  }
};

NetContext::NetContext(int io_threads, ConnectionLimits limits)
    : impl_(std::make_unique<Impl>(limits)) {
  KeepMemoryOfFrames();
  Impl& impl = *impl_;
  impl.context = zmq_ctx_new();
  TESSERA_CHECK(impl.context != nullptr);
  zmq_ctx_set(impl.context, ZMQ_IO_THREADS, io_threads);
  impl.zap = MakeHandle(impl.context, ZMQ_REP);
  TESSERA_CHECK(impl.zap && zmq_bind(impl.zap.get(), kZapEndpoint) == 0);
  impl.wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TESSERA_CHECK(impl.wake >= 0);
  impl.thread = std::thread([&impl] { impl.RunThread(); });
}

NetContext::~NetContext() {
  impl_->is_ending = true;
  impl_->Wake();
  impl_->thread.join();
  impl_->new_monitors.clear();
  zmq_ctx_term(impl_->context);
  ::close(impl_->wake);
}

void NetContext::SetOwners(KeyOwners keys) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->allowed.swap(keys);
    impl_->refused.Forget([this](const std::string& key) { return impl_->allowed.contains(key); });
    // `keys` are those of before.
    if (std::ranges::all_of(
            keys, [&](const auto& entry) { return impl_->allowed.contains(entry.first); })) {
      return;
    }
  }
  impl_->guard.CloseRevoked();
}

void NetContext::SetAllowed(const std::vector<std::string>& public_keys) {
  KeyOwners owners;
  for (const std::string& key : public_keys) owners.emplace(key, KeyOwner{});
  SetOwners(std::move(owners));
}

std::optional<KeyOwner> NetContext::OwnerOf(std::string_view public_key) const {
  return impl_->OwnerOf(std::string(public_key));
}

std::int64_t NetContext::num_refused() const { return impl_->num_refused; }
RefusedKeys& NetContext::refused_keys() const { return impl_->refused; }
ConnectionGuard& NetContext::connections() const { return impl_->guard; }
void* NetContext::handle() const { return impl_->context; }

Result<int> NetContext::Guard(void* socket, bool has_keys) {
  static std::atomic<std::uint64_t> next{0};
  const std::string endpoint = "inproc://door-" + std::to_string(next++);
  Handle reader = MakeHandle(impl_->context, ZMQ_PAIR);
  // ZeroMQ's I/O thread waits while the queue of events is full.
  const int unlimited = 0;
  if (!reader || zmq_setsockopt(reader.get(), ZMQ_RCVHWM, &unlimited, sizeof unlimited) != 0 ||
      zmq_socket_monitor(socket, endpoint.c_str(), kAccepted | kClosed | kNoDoor) != 0 ||
      zmq_connect(reader.get(), endpoint.c_str()) != 0) {
    return Internal(std::string("cannot follow the connections of a socket: ") +
                    zmq_strerror(zmq_errno()));
  }
  const int door = impl_->guard.AddDoor(has_keys);
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->new_monitors.push_back({door, std::move(reader)});
  }
  impl_->Wake();
  return door;
}

}  // namespace tessera::agents
