// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The client of a cluster: one connection to its registrar, with a thread of its own. All
/// callbacks run on that thread. All calls may come from any thread.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/socket.h"
#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/files/tessera_home.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The addresses and keys of a cluster. Stored as JSON under TESSERA_HOME/profiles.
struct Profile {
  std::string name;
  std::string registrar_endpoint;  // tcp://127.0.0.1:40001
  std::string events_endpoint;     // PUB socket of the registrar
  std::string server_key;          // public key of the cluster's agents
  std::string key_file;            // the client's own key pair
  std::string directory;           // folder of a local cluster; empty for others
  std::string calibration = {};    // JSON object of engine::Calibration; empty: never probed
  std::string cluster = {};        // where its name is not that of the profile; else empty

  /// The name of the cluster. Several profiles may name one cluster, with different keys.
  const std::string& cluster_name() const { return cluster.empty() ? name : cluster; }
};
/// Reads a profile by name or by path.
/// \error kNotFound naming the file; kInvalidArgument naming file and key, also for an unknown key
Result<Profile> LoadProfile(const std::string& name_or_path);
/// Writes TesseraHome()/profiles/NAME.json and makes the folders (mode 0700).
/// \error kInvalidArgument for a name that is not [a-z0-9][a-z0-9-]{0,62}; kUnavailable.
Status SaveProfile(const Profile& profile);
/// The file that SaveProfile writes.
std::string ProfilePath(const std::string& name);
using engine::TesseraHome;

/// kRefused: the cluster does not accept this key, this protocol version or this cluster name;
/// `detail` names the reason. kLost: any failure that may pass. kStopped: a user has stopped the
/// cluster; the state stays until it is started again at the same addresses. All three are retried.
enum class LinkState { kConnecting, kConnected, kLost, kRefused, kStopped };

/// The end of a cluster that a user has stopped.
struct ClusterEnd {
  double time = 0;      // seconds, Unix time; the registrar's clock
  std::string by = {};  // who, as in events; empty: not known
  friend bool operator==(const ClusterEnd&, const ClusterEnd&) = default;
};

/// The time limit of requests that the registrar answers at once.
inline constexpr std::chrono::milliseconds kReplyTimeout{10000};

/// How long a client for commands waits for a process at the registrar's address. An agent that is
/// restarted listens again within a second or two.
inline constexpr std::chrono::milliseconds kListenPatience{3000};

/// What has become of a call. Any thread.
struct CallTrace {
  std::atomic<bool> was_sent{false};
  std::atomic<bool> was_answered{false};

  /// Whether the request may have been carried out although there is no reply.
  bool is_lost() const { return was_sent && !was_answered; }
};
using CallTracePtr = std::shared_ptr<CallTrace>;

class ClusterClient {
 public:
  /// Each may be empty. Events arrive in ascending order, each once: the last 500 after the first
  /// connect and after each change of the incarnation, the missed ones after a reconnect or a gap.
  struct Handlers {
    std::function<void(LinkState, std::string detail)> link;
    /// Which life of the cluster this is, before each kConnected and before `owner`. Another one
    /// than before: the cluster was started anew or has another history, so that events,
    /// transactions and samples from before are not of it, and their numbers are used again.
    std::function<void(const std::string& id)> incarnation;
    /// What the cluster knows of the client's key, before each kConnected.
    std::function<void(const KeyOwner&)> owner;
    /// A user has stopped the cluster, before kStopped.
    std::function<void(const ClusterEnd&)> stopped;
    /// The state of the cluster after each change: a value that stays as it is. Never null.
    std::function<void(std::shared_ptr<const engine::ClusterSnapshot>)> snapshot;
    std::function<void(const engine::Event&)> event;
    std::function<void(const engine::Sample&)> sample;
    /// A message of the registrar was malformed and is ignored: how many so far, and what it was.
    std::function<void(std::int64_t count, const std::string& what)> malformed;
  };
  /// Starts the connection: CURVE handshake, Hello (refuses other protocol versions), then a
  /// snapshot and the published stream. Reconnects without end, with back-off 0.25-0.5-1…30 s.
  /// After a gap in the stream the client requests a new snapshot.
  static Result<std::unique_ptr<ClusterClient>> Open(const Profile& profile, Handlers handlers);
  /// As Open, without the published stream, for single commands. It also refuses (kRefused) what a
  /// wait does not mend: a server with another key, and a registrar that has said that the cluster
  /// goes down. If no connection was made yet and no process listens at the address for
  /// `listen_patience`, open calls fail with kUnavailable. The agent of a local cluster that runs
  /// is started again by its keeper, so there that limit does not apply.
  static Result<std::unique_ptr<ClusterClient>> OpenForCommands(
      const Profile& profile, std::chrono::milliseconds listen_patience = kListenPatience);
  /// Ends open calls with kCancelled.
  /// \pre not on the client's own thread
  ~ClusterClient();

  /// Sends one request and calls `done` exactly once, on the client's thread. The request gets an
  /// `id` unless it has one, and is sent again with that id after a reconnect.
  /// \param trace of this call; may be null
  /// \error kUnavailable (not connected) or kTimeout (connected, no reply), naming endpoint and
  ///     time limit; kFailedPrecondition at once while the link is kRefused, and kUnavailable
  ///     while it is kStopped; kDataLoss for a reply of another kind than the request's;
  ///     kCancelled; the error of an ErrorReply
  void Call(wire::Request request, std::chrono::milliseconds timeout,
            std::function<void(Result<wire::Reply>)> done, CallTracePtr trace = nullptr);
  /// Waits for the reply.
  /// \pre not on the client's own thread
  Result<wire::Reply> CallAndWait(wire::Request request, std::chrono::milliseconds timeout,
                                  CallTracePtr trace = nullptr);

 private:
  struct Impl;
  explicit ClusterClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
