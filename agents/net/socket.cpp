// SPDX-License-Identifier: Apache-2.0
#include "agents/net/socket.h"

#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::agents {
namespace {

// Frames below this are copied: cheaper than an allocation and a callback.
constexpr std::size_t kCopyBytes = 4096;
constexpr int kHeartbeatMs = 500;
constexpr int kHeartbeatTimeoutMs = 1500;
constexpr int kHandshakeMs = 10000;
constexpr int kKeepAliveIdle = 30, kKeepAliveInterval = 10, kKeepAliveCount = 3;  // seconds
constexpr int kReconnectMs = 250;
constexpr int kReconnectMaxMs = 30000;

int TypeOf(SocketKind kind) {
  switch (kind) {
    case SocketKind::kRouter:
      return ZMQ_ROUTER;
    case SocketKind::kDealer:
      return ZMQ_DEALER;
    case SocketKind::kPub:
      return ZMQ_XPUB;
    case SocketKind::kSub:
      return ZMQ_SUB;
    case SocketKind::kPush:
      return ZMQ_PUSH;
    case SocketKind::kPull:
      return ZMQ_PULL;
    case SocketKind::kPair:
      return ZMQ_PAIR;
  }
  return -1;
}

Status CheckKey(const char* what, const std::string& key) {
  std::uint8_t raw[32];
  if (key.size() != 40 || zmq_z85_decode(raw, key.c_str()) == nullptr) {
    return InvalidArgument(std::string(what) + " key of " + std::to_string(key.size()) +
                           " characters is not 40 characters of Z85");
  }
  return OkStatus();
}

Error FromErrno(const std::string& what) {
  const int error = zmq_errno();
  std::string text = what + ": " + zmq_strerror(error);
  const bool wrong = error == EINVAL || error == EPROTONOSUPPORT || error == ENODEV;
  return wrong ? InvalidArgument(std::move(text)) : Unavailable(std::move(text));
}

// ZeroMQ passes a frame's owner to its I/O thread with atomics of its own. ThreadSanitizer sees
// only our code, so these calls repeat the order for it.
#ifdef __SANITIZE_THREAD__
std::atomic<int> g_handed_over{0};
void HandOver() { g_handed_over.fetch_add(1, std::memory_order_release); }
void TakeOver() { static_cast<void>(g_handed_over.load(std::memory_order_acquire)); }
#else
void HandOver() {}
void TakeOver() {}
#endif

template <typename Owner>
void ReleaseOwner(void*, void* hint) {
  TakeOver();
  delete static_cast<Owner*>(hint);
}

/// A zmq_msg_t that closes itself.
class ZmqFrame {
 public:
  ZmqFrame() { zmq_msg_init(&msg_); }
  explicit ZmqFrame(Frame& frame) {
    if (!frame.borrowed.empty()) {
      auto* owner = new std::shared_ptr<void>(std::move(frame.owner));
      HandOver();
      // ZeroMQ does not write through this pointer.
      zmq_msg_init_data(&msg_, const_cast<std::byte*>(frame.borrowed.data()), frame.borrowed.size(),
                        ReleaseOwner<std::shared_ptr<void>>, owner);
    } else if (frame.bytes.size() < kCopyBytes) {
      zmq_msg_init_size(&msg_, frame.bytes.size());
      if (!frame.bytes.empty()) {
        std::memcpy(zmq_msg_data(&msg_), frame.bytes.data(), frame.bytes.size());
      }
    } else {
      auto* text = new std::string(std::move(frame.bytes));
      HandOver();
      zmq_msg_init_data(&msg_, text->data(), text->size(), ReleaseOwner<std::string>, text);
    }
  }
  ZmqFrame(ZmqFrame&& other) noexcept {
    zmq_msg_init(&msg_);
    zmq_msg_move(&msg_, &other.msg_);
  }
  ZmqFrame& operator=(ZmqFrame&& other) noexcept {
    zmq_msg_move(&msg_, &other.msg_);
    return *this;
  }
  ~ZmqFrame() { zmq_msg_close(&msg_); }

  zmq_msg_t* get() { return &msg_; }
  std::span<const std::byte> bytes() const {
    // zmq_msg_data takes no const message but changes nothing.
    auto* msg = const_cast<zmq_msg_t*>(&msg_);
    return {static_cast<const std::byte*>(zmq_msg_data(msg)), zmq_msg_size(&msg_)};
  }

 private:
  zmq_msg_t msg_;
};

struct CloseSocket {
  void operator()(void* handle) const { zmq_close(handle); }
};

}  // namespace

struct Message::Impl {
  std::vector<ZmqFrame> frames;
  Sender sender();
};
Message::Message() : impl_(std::make_unique<Impl>()) {}
Message::~Message() = default;
Message::Message(Message&&) noexcept = default;
Message& Message::operator=(Message&&) noexcept = default;
std::size_t Message::size() const { return impl_->frames.size(); }
std::span<const std::byte> Message::operator[](std::size_t i) const {
  TESSERA_DCHECK(i < size());
  return impl_->frames[i].bytes();
}
std::string_view Message::Text(std::size_t i) const {
  const auto bytes = (*this)[i];
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Sender Message::Impl::sender() {
  if (frames.empty()) return {};
  const char* const user = zmq_msg_gets(frames.back().get(), "User-Id");
  return user == nullptr ? Sender() : ParseUserId(user);
}
std::string_view Message::sender_key() const { return impl_->sender().key; }

struct Socket::Impl {
  std::unique_ptr<void, CloseSocket> handle;
  SocketKind kind = SocketKind::kDealer;
  std::unique_ptr<Socket> monitor;   // of a client
  ConnectionGuard* guard = nullptr;  // of a server
  int door = 0;

  // ZeroMQ's I/O thread sends the events and would block for ever on a missing reader, so the
  // monitor ends before its reader.
  ~Impl() {
    if (monitor || guard != nullptr) zmq_socket_monitor(handle.get(), nullptr, 0);
  }

  Status BeGuarded(NetContext& context, bool has_keys) {
    TESSERA_TRY(door, context.Guard(handle.get(), has_keys));
    guard = &context.connections();
    return OkStatus();
  }
  // Only messages tell whose connection has which descriptor.
  void NoteSender(const Message& message) const {
    if (guard == nullptr) return;
    const int fd = zmq_msg_get(message.impl_->frames.back().get(), ZMQ_SRCFD);
    const Sender sender = message.impl_->sender();
    if (fd >= 0) guard->OnMessage(door, fd, sender.key, sender.ticket);
  }

  Status Set(int option, int value) {
    if (zmq_setsockopt(handle.get(), option, &value, sizeof value) == 0) return OkStatus();
    return FromErrno("cannot set socket option " + std::to_string(option) + " to " +
                     std::to_string(value));
  }
  Status Set(int option, const std::string& value) {
    if (zmq_setsockopt(handle.get(), option, value.data(), value.size()) == 0) return OkStatus();
    return FromErrno("cannot set socket option " + std::to_string(option));
  }
  /// libzmq takes IPv6 addresses only with this option, and then prefers those of a host name.
  Status ChooseFamily(const std::string& endpoint) {
    return Set(ZMQ_IPV6, endpoint.starts_with("tcp://[") ? 1 : 0);
  }
  Status SetCommon() {
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_LINGER, 0));
    if (zmq_setsockopt(handle.get(), ZMQ_MAXMSGSIZE, &kMaxMessageBytes, sizeof kMaxMessageBytes) !=
        0) {
      return FromErrno("cannot limit messages");
    }
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_HEARTBEAT_IVL, kHeartbeatMs));
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_HEARTBEAT_TIMEOUT, kHeartbeatTimeoutMs));
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_HANDSHAKE_IVL, kHandshakeMs));
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_RECONNECT_IVL, kReconnectMs));
    TESSERA_RETURN_IF_ERROR(Set(ZMQ_RECONNECT_IVL_MAX, kReconnectMaxMs));
    if (kind == SocketKind::kRouter) {
      TESSERA_RETURN_IF_ERROR(Set(ZMQ_ROUTER_MANDATORY, 1));
      // A peer that reconnects under its name takes over the route of its dead connection.
      TESSERA_RETURN_IF_ERROR(Set(ZMQ_ROUTER_HANDOVER, 1));
    }
    return OkStatus();
  }
};

Socket::Socket() : impl_(std::make_unique<Impl>()) {}
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;
void* Socket::handle() const { return impl_->handle.get(); }

Result<Socket> Socket::Plain(NetContext& context, SocketKind kind) {
  Socket socket;
  socket.impl_->kind = kind;
  socket.impl_->handle.reset(zmq_socket(context.handle(), TypeOf(kind)));
  if (socket.handle() == nullptr) return FromErrno("cannot make a socket");
  TESSERA_RETURN_IF_ERROR(socket.impl_->SetCommon());
  return socket;
}

Result<Socket> Socket::Server(NetContext& context, SocketKind kind, const CurveKeys& keys) {
  TESSERA_TRY(Socket socket, Plain(context, kind));
  TESSERA_RETURN_IF_ERROR(socket.SetNoHeartbeat());
  // Subscriptions are messages, which tell whose connections they come by.
  if (kind == SocketKind::kPub) TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_XPUB_VERBOSE, 1));
  const bool has_keys = !keys.secret_key.empty() || !keys.public_key.empty();
  TESSERA_RETURN_IF_ERROR(socket.impl_->BeGuarded(context, has_keys));
  if (!has_keys) return socket;
  TESSERA_RETURN_IF_ERROR(CheckKey("secret", keys.secret_key));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_CURVE_SERVER, 1));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_CURVE_SECRETKEY, keys.secret_key));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_ZAP_DOMAIN, "tessera"));
  return socket;
}

Result<Socket> Socket::Client(NetContext& context, SocketKind kind, const CurveKeys& keys,
                              const std::string& server_key) {
  TESSERA_TRY(Socket socket, Plain(context, kind));
  if (keys.secret_key.empty() && keys.public_key.empty()) return socket;
  TESSERA_RETURN_IF_ERROR(CheckKey("public", keys.public_key));
  TESSERA_RETURN_IF_ERROR(CheckKey("secret", keys.secret_key));
  TESSERA_RETURN_IF_ERROR(CheckKey("server", server_key));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_CURVE_PUBLICKEY, keys.public_key));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_CURVE_SECRETKEY, keys.secret_key));
  TESSERA_RETURN_IF_ERROR(socket.impl_->Set(ZMQ_CURVE_SERVERKEY, server_key));
  return socket;
}

Result<std::string> Socket::Bind(const std::string& endpoint) {
  TESSERA_RETURN_IF_ERROR(impl_->ChooseFamily(endpoint));
  if (zmq_bind(handle(), endpoint.c_str()) != 0) {
    if (zmq_errno() == EADDRINUSE) return Unavailable("port in use: " + endpoint);
    return FromErrno("cannot bind " + endpoint);
  }
  char bound[256] = {};
  std::size_t size = sizeof bound;
  if (zmq_getsockopt(handle(), ZMQ_LAST_ENDPOINT, bound, &size) != 0) {
    return FromErrno("cannot read the endpoint of " + endpoint);
  }
  return std::string(bound);
}

Status Socket::Connect(const std::string& endpoint) {
  TESSERA_RETURN_IF_ERROR(impl_->ChooseFamily(endpoint));
  if (zmq_connect(handle(), endpoint.c_str()) == 0) return OkStatus();
  return FromErrno("cannot connect to " + endpoint);
}

Status Socket::SetIdentity(const std::string& identity) {
  return impl_->Set(ZMQ_ROUTING_ID, identity);
}

Status Socket::SetHighWater(int sent, int received) {
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_RCVHWM, received));
  return impl_->Set(ZMQ_SNDHWM, sent);
}

Status Socket::SetNoHeartbeat() {
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_HEARTBEAT_IVL, 0));
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_HEARTBEAT_TIMEOUT, 0));
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_TCP_KEEPALIVE, 1));
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_TCP_KEEPALIVE_IDLE, kKeepAliveIdle));
  TESSERA_RETURN_IF_ERROR(impl_->Set(ZMQ_TCP_KEEPALIVE_INTVL, kKeepAliveInterval));
  return impl_->Set(ZMQ_TCP_KEEPALIVE_CNT, kKeepAliveCount);
}

Status Socket::Subscribe(const std::string& prefix) { return impl_->Set(ZMQ_SUBSCRIBE, prefix); }

Status Socket::Send(std::vector<Frame> frames) {
  TESSERA_DCHECK(!frames.empty());
  Status status;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    ZmqFrame frame(frames[i]);
    const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
    if (zmq_msg_send(frame.get(), handle(), ZMQ_DONTWAIT | more) >= 0) continue;
    if (status) {
      if (zmq_errno() == EAGAIN) {
        status = Unavailable("the queue of the peer is full or the peer is away");
      } else if (zmq_errno() == EHOSTUNREACH) {
        // Without its name: who knows a peer's name can take over its route.
        status = Unavailable("no route to the peer");
      } else {
        status = FromErrno("cannot send");
      }
    }
    // After the first frame ZeroMQ drops the rest of a message whose pipe died, including the last
    // frame. So the remaining frames are still passed to it.
    if (i == 0) break;
  }
  return status;
}

Result<std::optional<Message>> Socket::Receive() {
  Message message;
  for (;;) {
    ZmqFrame frame;
    if (zmq_msg_recv(frame.get(), handle(), ZMQ_DONTWAIT) < 0) {
      if (zmq_errno() == EAGAIN) return std::optional<Message>();
      return FromErrno("cannot receive");
    }
    const bool more = zmq_msg_more(frame.get()) != 0;
    message.impl_->frames.push_back(std::move(frame));
    if (more) continue;
    impl_->NoteSender(message);
    return std::optional<Message>(std::move(message));
  }
}

namespace {
constexpr int kMonitored = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED |
                           ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
                           ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                           ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

std::optional<LinkEvent::Kind> KindOf(std::uint16_t event) {
  switch (event) {
    case ZMQ_EVENT_CONNECTED:
      return LinkEvent::Kind::kConnected;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return LinkEvent::Kind::kReady;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return LinkEvent::Kind::kRefused;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return LinkEvent::Kind::kHandshakeFailed;
    case ZMQ_EVENT_DISCONNECTED:
      return LinkEvent::Kind::kDisconnected;
    case ZMQ_EVENT_CLOSED:
      return LinkEvent::Kind::kUnreachable;
    default:
      return std::nullopt;
  }
}
}  // namespace

Status Socket::Monitor(NetContext& context) {
  static std::atomic<std::uint64_t> next{0};
  const std::string endpoint = "inproc://monitor-" + std::to_string(next++);
  if (zmq_socket_monitor(handle(), endpoint.c_str(), kMonitored) != 0) {
    return FromErrno("cannot monitor a socket");
  }
  TESSERA_TRY(Socket reader, Plain(context, SocketKind::kPair));
  TESSERA_RETURN_IF_ERROR(reader.Connect(endpoint));
  impl_->monitor = std::make_unique<Socket>(std::move(reader));
  return OkStatus();
}

Socket& Socket::monitor() {
  TESSERA_DCHECK(impl_->monitor);
  return *impl_->monitor;
}

std::optional<LinkEvent> Socket::NextLinkEvent() {
  for (;;) {
    const auto message = monitor().Receive();
    if (!message || !*message) return std::nullopt;
    if ((*message)->size() != 2 || (**message)[0].size() < sizeof(std::uint16_t)) continue;
    std::uint16_t event = 0;  // of this process, so in its own byte order
    std::memcpy(&event, (**message)[0].data(), sizeof event);
    if (const auto kind = KindOf(event)) return LinkEvent{*kind, std::string((*message)->Text(1))};
  }
}

}  // namespace tessera::agents
