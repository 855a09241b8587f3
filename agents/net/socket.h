// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// ZeroMQ sockets with CurveZMQ. A socket belongs to one thread for its life. ZeroMQ itself is seen
/// by this folder only.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// A CurveZMQ key pair, each 40 characters of Z85.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};
CurveKeys NewCurveKeys();
/// File form: two lines `public <z85>` and `secret <z85>`, mode 0600.
Status SaveKeys(const CurveKeys& keys, const std::string& path);
/// \error kNotFound, kInvalidArgument naming file and line.
Result<CurveKeys> LoadKeys(const std::string& path);
/// Whether `text` is 40 characters of Z85.
bool IsPublicKey(std::string_view text);
/// File form: one line `public <z85>`, mode 0644; what may be copied to other machines.
Status SavePublicKey(const std::string& public_key, const std::string& path);
/// Reads what SavePublicKey wrote, or the public half of a key file.
/// \error kNotFound, kInvalidArgument naming file and line.
Result<std::string> LoadPublicKey(const std::string& path);

/// One ZeroMQ context with its ZAP handler: peers whose public key is not in the allow-list are
/// refused. An empty list refuses everybody. Outlives all its sockets.
class NetContext {
 public:
  /// CURVE runs on the I/O threads, and one connection stays on one of them: lanes that encrypt
  /// want a thread each.
  explicit NetContext(int io_threads = 1);
  ~NetContext();
  NetContext(const NetContext&) = delete;
  NetContext& operator=(const NetContext&) = delete;
  /// Any thread.
  void SetAllowed(std::vector<std::string> public_keys);
  /// Handshakes refused so far.
  std::int64_t num_refused() const;
  void* handle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A frame to send; `owner` keeps borrowed bytes alive until ZeroMQ has let go of them.
struct Frame {
  std::string bytes;  // used where `borrowed` is empty
  std::span<const std::byte> borrowed{};
  std::shared_ptr<void> owner;  // may be let go on a thread of ZeroMQ's own
  static Frame Of(std::string text) { return Frame{std::move(text), {}, {}}; }
};
/// A received message: frames are views into ZeroMQ's own buffers, valid as long as the object.
class Message {
 public:
  Message();
  ~Message();
  Message(Message&&) noexcept;
  Message& operator=(Message&&) noexcept;
  std::size_t size() const;
  /// \pre i < size()
  std::span<const std::byte> operator[](std::size_t i) const;
  std::string_view Text(std::size_t i) const;

 private:
  friend class Socket;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::int64_t kMaxMessageBytes = 64LL << 20;

enum class SocketKind { kRouter, kDealer, kPub, kSub, kPush, kPull, kPair };

/// What became of a socket's connections.
struct LinkEvent {
  enum class Kind {
    kConnected,        // TCP stands, the handshake begins
    kReady,            // handshake done, messages flow
    kRefused,          // the peer's allow-list lacks our key; ZeroMQ does not try again
    kHandshakeFailed,  // the peer is no CURVE server with the key we expect, or fell silent
    kDisconnected,
    kUnreachable,  // nobody listens; ZeroMQ tries again by itself
  };
  Kind kind = Kind::kConnected;
  std::string endpoint;
};

class Socket {
 public:
  /// A socket with linger 0, heartbeats (500 ms, timeout 1500 ms) and, where `keys` are given,
  /// CURVE: as a server, or as a client of `server_key`. Empty keys: unencrypted, for one process
  /// or a trusted fabric. A lost connection is tried again after 0.25-0.5-1…30 s, for ever.
  /// Messages above kMaxMessageBytes are refused. A ROUTER refuses to send where no route exists.
  /// \error kInvalidArgument for a key that is not 40 characters of Z85.
  static Result<Socket> Server(NetContext& context, SocketKind kind, const CurveKeys& keys);
  static Result<Socket> Client(NetContext& context, SocketKind kind, const CurveKeys& keys,
                               const std::string& server_key);
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  ~Socket();

  /// Binds "tcp://127.0.0.1:5555", or port * for a free one; returns the endpoint bound.
  /// \error kUnavailable `port in use: tcp://…`; kInvalidArgument naming the endpoint.
  Result<std::string> Bind(const std::string& endpoint);
  /// Begins to report what becomes of connections. Before the first Connect.
  Status Monitor(NetContext& context);
  /// What the socket's loop watches to read events, \pre Monitor() succeeded. Unwatch it as well.
  Socket& monitor();
  /// nullopt: nothing to read. Never blocks. \pre Monitor() succeeded
  std::optional<LinkEvent> NextLinkEvent();
  /// Returns before the connection stands. \error kInvalidArgument naming the endpoint.
  Status Connect(const std::string& endpoint);
  /// Routing id of a DEALER, before Connect.
  Status SetIdentity(const std::string& identity);
  /// Messages queued before a send says kUnavailable (default 1000). Before Bind or Connect.
  Status SetHighWater(int messages);
  Status Subscribe(const std::string& prefix);
  /// Sends one message of one or more frames, whole or not at all. Never blocks.
  /// \error kUnavailable when the queue is full or no route exists.
  Status Send(std::vector<Frame> frames);
  /// nullopt: nothing to read. Never blocks.
  Result<std::optional<Message>> Receive();
  void* handle() const;

 private:
  Socket();
  static Result<Socket> Plain(NetContext& context, SocketKind kind);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
