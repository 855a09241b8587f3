// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the panel and the command line hold of a cluster: one connection to its registrar, with a
/// thread of its own. All callbacks run on that thread; all calls may come from any thread.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agents/net/socket.h"
#include "engine/cluster/snapshot.h"
#include "engine/files/tessera_home.h"
#include "ptc/base/result.h"

namespace tessera::wire {
class Reply;    // agents/wire/tessera/wire/control.proto
class Request;  // likewise
}  // namespace tessera::wire

namespace tessera::agents {

/// Where a cluster is and how to speak to it; kept as JSON under TESSERA_HOME/profiles.
struct Profile {
  std::string name;
  std::string registrar_endpoint;  // tcp://127.0.0.1:40001
  std::string events_endpoint;     // PUB socket of the registrar
  std::string server_key;          // public key of the cluster's agents
  std::string key_file;            // the client's own key pair
  std::string directory;           // a local cluster's folder; empty for others
  std::string calibration = {};    // JSON object of engine::Calibration; empty: never probed
};
/// Reads a profile by name or by path. \error kNotFound naming the file; kInvalidArgument naming
/// file and key (an unknown key is an error).
Result<Profile> LoadProfile(const std::string& name_or_path);
/// Writes TesseraHome()/profiles/NAME.json, making the folders (mode 0700).
/// \error kInvalidArgument for a name that is not [a-z0-9][a-z0-9-]{0,62}; kUnavailable.
Status SaveProfile(const Profile& profile);
/// Where SaveProfile puts it.
std::string ProfilePath(const std::string& name);
using engine::TesseraHome;

/// kRefused: the cluster does not take this key, or speaks another protocol version; `detail` says
/// which. kLost: anything that may pass. Both are tried again.
enum class LinkState { kConnecting, kConnected, kLost, kRefused };

class ClusterClient {
 public:
  /// Each may be empty. Events come in ascending order, each once: after connecting the last 200,
  /// after a reconnect or a gap those that were missed.
  struct Handlers {
    std::function<void(LinkState, std::string detail)> link;
    std::function<void(const engine::ClusterSnapshot&)> snapshot;
    std::function<void(const engine::Event&)> event;
    std::function<void(const engine::Sample&)> sample;
  };
  /// Starts the connection: CURVE handshake, Hello (other protocol versions are refused by name),
  /// then a snapshot and the published stream. Reconnects for ever with back-off 1-2-4…30 s.
  /// A gap in the stream asks for a fresh snapshot.
  static Result<std::unique_ptr<ClusterClient>> Open(const Profile& profile, Handlers handlers);
  /// As Open, without the published stream: for one command.
  static Result<std::unique_ptr<ClusterClient>> OpenForCommands(const Profile& profile);
  /// Ends open calls with kCancelled. \pre not on the client's own thread
  ~ClusterClient();

  /// Sends one request (its `id` is made here, retried with the same id after a reconnect) and
  /// calls `done` exactly once, on the client's thread. An id that is set already is kept.
  /// \error kUnavailable (not connected) / kTimeout (connected, no reply) naming the endpoint and
  ///     the seconds; kFailedPrecondition at once where the link is kRefused; kDataLoss for a reply
  ///     of another kind; kCancelled; an ErrorReply comes as its error.
  void Call(wire::Request request, std::chrono::milliseconds timeout,
            std::function<void(Result<wire::Reply>)> done);
  /// The same, waiting. Not on the client's own thread.
  Result<wire::Reply> CallAndWait(wire::Request request, std::chrono::milliseconds timeout);

 private:
  struct Impl;
  explicit ClusterClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
