// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits for a job to start: for as long as the cluster goes through its data, and not much longer.

#include <chrono>
#include <functional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/commands/session.h"

namespace tessera::app {

struct StartPatience {
  /// Since the cluster said the last time that it goes through data. It gives up starts that stand
  /// for two minutes, and says why; before this is over.
  std::chrono::milliseconds patience = std::chrono::seconds(150);
  std::chrono::milliseconds poll = std::chrono::seconds(1);
};

/// Asks for the start and returns the answer. `told` hears what the job's ranks do: "opening data:
/// n1 37.5 % of 8.4 GiB", and an empty text once that is over.
/// \error as Session::ask; kTimeout naming what was heard last, once the patience is over
Result<wire::Reply> startJob(Session& session, const wire::StartJobRequest& start,
                             const std::function<void(const std::string&)>& told,
                             const StartPatience& limits = {});

}  // namespace tessera::app
