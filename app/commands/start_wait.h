// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits for a job to start, as long as the cluster reports progress with opening its data.

#include <chrono>
#include <functional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/commands/session.h"

namespace tessera::app {

struct StartPatience {
  /// Since the last report of progress. The registrar ends a start without progress after two
  /// minutes and reports the reason, so this is longer.
  std::chrono::milliseconds patience = std::chrono::seconds(150);
  std::chrono::milliseconds poll = std::chrono::seconds(1);
};

/// Requests the start and returns the reply. Calls `progress` with the progress, such as "opening data:
/// n1 37.5 % of 8.4 GiB", and with an empty text when the data are open.
/// \error as Session::ask; kTimeout with the last report after `patience` without progress
Result<wire::Reply> startJob(Session& session, const wire::StartJobRequest& start,
                             const std::function<void(const std::string&)>& progress,
                             const StartPatience& limits = {});

}  // namespace tessera::app
