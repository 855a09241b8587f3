// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// ZeroMQ sockets with CurveZMQ. A socket belongs to one thread from its first use on. Only this
/// folder includes ZeroMQ.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/net/key_owner.h"
#include "agents/net/net_context.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A CurveZMQ key pair, each 40 characters of Z85.
struct CurveKeys {
  std::string public_key;
  std::string secret_key;
};
CurveKeys NewCurveKeys();
/// Writes a file of two lines, `public <z85>` and `secret <z85>`, mode 0600.
Status SaveKeys(const CurveKeys& keys, const std::string& path);
/// \error kNotFound; kInvalidArgument naming file and line; kPermissionDenied if others than the
///     owner of the file can read it
Result<CurveKeys> LoadKeys(const std::string& path);
/// Whether a file exists that others than its owner can read or change.
bool CanOthersRead(const std::string& path);
/// Whether `text` is 40 characters of Z85.
bool IsPublicKey(std::string_view text);
/// Writes a file of the line `public <z85>` and, with a role, `role <role>`, mode 0644. It may be
/// copied to other machines.
/// \param role as RoleText returns it
Status SavePublicKey(const std::string& public_key, const std::string& path,
                     const std::string& role = {});
/// Reads a file of SavePublicKey, or the public half of a file of SaveKeys.
/// \error kNotFound; kInvalidArgument naming file and line
Result<std::string> LoadPublicKey(const std::string& path);
/// A public key with the owner that its file gives it. The owner has the name of the file, and
/// without a role in the file no more rights than a viewer.
struct OwnedKey {
  std::string public_key;
  KeyOwner owner;
  bool has_role = false;
};
/// \error as LoadPublicKey; kInvalidArgument naming file and role
Result<OwnedKey> LoadOwnedKey(const std::string& path);

/// A frame to send. `owner` keeps borrowed bytes alive until ZeroMQ has released them.
struct Frame {
  std::string bytes;  // used if `borrowed` is empty
  std::span<const std::byte> borrowed{};
  std::shared_ptr<void> owner;  // may be released on a thread of ZeroMQ
  static Frame Of(std::string text) { return Frame{std::move(text), {}, {}}; }
};
/// A received message. Its frames are views into ZeroMQ's buffers, valid as long as the object.
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
  /// The public key with which the sender has proved itself; empty without encryption.
  std::string_view sender_key() const;

 private:
  friend class Socket;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::int64_t kMaxMessageBytes = 64LL << 20;

/// The owner of a kPub also receives: subscriptions, which it may ignore.
enum class SocketKind { kRouter, kDealer, kPub, kSub, kPush, kPull, kPair };

/// A change of one of a socket's connections.
struct LinkEvent {
  enum class Kind {
    kConnected,        // TCP is connected, the handshake begins
    kReady,            // the handshake is done, messages flow
    kRefused,          // the peer's allow-list lacks our key; ZeroMQ does not try again
    kHandshakeFailed,  // no CURVE server with the expected key, or a silent peer
    kDisconnected,
    kUnreachable,  // no listener; ZeroMQ tries again
  };
  Kind kind = Kind::kConnected;
  std::string endpoint;
};

class Socket {
 public:
  /// Makes a socket with linger 0 and, if `keys` are not empty, CURVE: as a server, or as a client
  /// of `server_key`. Clients send heartbeats (500 ms, timeout 1500 ms); servers answer them, and
  /// send none (SetNoHeartbeat). Empty keys mean no encryption, for
  /// one process or a trusted fabric. A lost connection is tried again after 0.25-0.5-1…30 s,
  /// without end. Messages above kMaxMessageBytes are refused. A ROUTER refuses to send without a
  /// route. The context bounds the connections of a server.
  /// \error kInvalidArgument for a key that is not 40 characters of Z85
  static Result<Socket> Server(NetContext& context, SocketKind kind, const CurveKeys& keys);
  static Result<Socket> Client(NetContext& context, SocketKind kind, const CurveKeys& keys,
                               const std::string& server_key);
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  ~Socket();

  /// Binds "tcp://127.0.0.1:5555"; port * means any free one.
  /// \return the bound endpoint
  /// \error kUnavailable `port in use: tcp://…`; kInvalidArgument naming the endpoint
  Result<std::string> Bind(const std::string& endpoint);
  /// Starts to report link events.
  /// \pre before the first Connect
  Status Monitor(NetContext& context);
  /// The socket that a loop watches to read link events. Unwatch it as well.
  /// \pre Monitor() succeeded
  Socket& monitor();
  /// The next link event; nullopt if there is none. Never blocks.
  /// \pre Monitor() succeeded
  std::optional<LinkEvent> NextLinkEvent();
  /// Starts to connect and returns at once.
  /// \error kInvalidArgument naming the endpoint
  Status Connect(const std::string& endpoint);
  /// Sets the routing id of a DEALER.
  /// \pre before Connect
  Status SetIdentity(const std::string& identity);
  /// Sets how many messages may queue per peer before Send fails with kUnavailable, and how many
  /// before no more are taken from it (default 1000 each).
  /// \pre before Bind or Connect
  Status SetHighWater(int messages) { return SetHighWater(messages, messages); }
  Status SetHighWater(int sent, int received);
  /// Connections send no heartbeats of ZeroMQ, and only answer those of their peer. The kernel
  /// notices after a minute that a peer's machine is gone. Each heartbeat costs a server time in
  /// proportion to its connections (libzmq searches its timers one by one). And where a peer hangs
  /// up while its messages wait unread, the next heartbeat aborts the process (libzmq 4.3.4, issue
  /// 4364). So servers send none.
  /// \pre before Bind or Connect
  Status SetNoHeartbeat();
  Status Subscribe(const std::string& prefix);
  /// Sends one message of one or more frames, whole or not at all. Never blocks.
  /// \error kUnavailable if the queue is full or there is no route
  Status Send(std::vector<Frame> frames);
  /// The next message; nullopt if there is none. Never blocks.
  Result<std::optional<Message>> Receive();
  void* handle() const;

 private:
  Socket();
  static Result<Socket> Plain(NetContext& context, SocketKind kind);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
