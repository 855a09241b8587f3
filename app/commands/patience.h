// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits for the reply to a request that takes as long as the cluster reports progress with it.

#include <chrono>
#include <functional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/commands/session.h"

namespace tessera::app {

struct Patience {
  /// Since the last report of progress. The registrar gives up after two minutes without progress
  /// and reports the reason, so this is longer.
  std::chrono::milliseconds patience = std::chrono::seconds(150);
  std::chrono::milliseconds poll = std::chrono::seconds(1);
};

struct LongRequest {
  /// What the cluster does for the request; empty: nothing is known.
  std::function<std::string(const engine::ClusterSnapshot&)> doing;
  /// The first words of the error after `patience`, such as "job 'a' did not start within".
  std::string failure;
};

/// Sends the request and returns the reply. Calls `progress` with what the cluster does, and with
/// an empty text at the end.
/// \error as Session::ask; kTimeout, or kOutcomeUnknown if the request changes something, with the
///     last report after `patience` without progress. Session::limit replaces `patience`.
Result<wire::Reply> askPatiently(Session& session, wire::Request request, const LongRequest& what,
                                 const std::function<void(const std::string&)>& progress,
                                 const Patience& limits = {});

}  // namespace tessera::app
