// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The connection that one command holds: which cluster is meant, and one request at a time.

#include <chrono>
#include <memory>
#include <string>

#include "agents/client/cluster.h"
#include "app/commands/command.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// How long a command waits for the registrar's answer.
inline constexpr std::chrono::seconds kAnswerTimeout{10};
/// What may take a job as long as its slowest step: pause, digest, stop.
inline constexpr std::chrono::seconds kJobTimeout{120};

/// The profile that a command means: chosenCluster(named) by name or file, else the only profile,
/// else `local`.
/// \error kNotFound with what to do
Result<agents::Profile> findProfile(const std::string& named);

/// The kind of a reply.
using ReplyKind = wire::Reply::BodyCase;

struct Session {
  agents::Profile profile;
  std::unique_ptr<agents::ClusterClient> client;

  /// \error also kInternal for a reply of another kind than `expected`.
  Result<wire::Reply> ask(wire::Request request, ReplyKind expected,
                          std::chrono::milliseconds timeout = kAnswerTimeout);
  Result<engine::ClusterSnapshot> snapshot(std::chrono::milliseconds timeout = kAnswerTimeout);
};

/// Connects to the cluster that the call names. \error also kUnavailable where a local cluster of
/// that name is known but stopped.
Result<Session> openSession(const Invocation& call);

/// openSession and one `ask`, for a command that needs no more.
Result<wire::Reply> askOnce(const Invocation& call, wire::Request request, ReplyKind expected,
                            std::chrono::milliseconds timeout = kAnswerTimeout);

/// `reply` if it is of the kind `expected`.
Result<wire::Reply> checkKind(wire::Reply reply, ReplyKind expected);

}  // namespace tessera::app
