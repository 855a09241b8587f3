// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The connection of one command: chooses the cluster and sends one request at a time.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agents/client/cluster.h"
#include "app/commands/command.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// Timeout of a request to the registrar.
inline constexpr std::chrono::seconds kAnswerTimeout{10};
/// Timeout of requests that wait for the current step of a job: pause, digest, stop.
inline constexpr std::chrono::seconds kJobTimeout{120};

/// The profile of clusterOf(named).
/// \error kNotFound with a remedy; kUnavailable if it is a stopped cluster of `up`
Result<agents::Profile> findProfile(const std::string& named);

/// Whether `up` has made a cluster of this name, which may be stopped.
bool hasFolder(const std::string& name);

/// How another process names the profile that findProfile(named) has found: by its name, or by the
/// whole path of its file.
std::string nameElsewhere(const std::string& named, const agents::Profile& found);

struct Session {
  agents::Profile profile;
  std::unique_ptr<agents::ClusterClient> client;
  std::optional<std::chrono::milliseconds> limit = {};  // --timeout; nullopt: that of the request
  bool noted = false;  // whose panel operates the cluster

  /// Prints a note, once, if another user's panel operates the cluster. `limit` replaces a
  /// `timeout` of kAnswerTimeout or more, and bounds the shorter ones, which are those of polls.
  /// \error as ClusterClient::Call; kOutcomeUnknown if the request changes something and was sent,
  ///     but has no reply
  Result<wire::Reply> ask(wire::Request request,
                          std::chrono::milliseconds timeout = kAnswerTimeout);
  Result<engine::ClusterSnapshot> snapshot(std::chrono::milliseconds timeout = kAnswerTimeout);
};

/// Connects to the cluster of the call.
/// \error also kUnavailable if it is a local cluster that is stopped
Result<Session> openSession(const Invocation& call);

/// The same for a profile that is read already.
Result<Session> openSession(agents::Profile profile,
                            std::optional<std::chrono::milliseconds> limit = {});

/// openSession and one `ask`, for a command that needs no more.
Result<wire::Reply> askOnce(const Invocation& call, wire::Request request,
                            std::chrono::milliseconds timeout = kAnswerTimeout);

}  // namespace tessera::app
