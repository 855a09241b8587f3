// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits for a job to start, as long as the cluster reports progress with opening its data or with
/// loading its checkpoint, and then for the first step of a script.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "app/commands/patience.h"
#include "app/commands/session.h"

namespace tessera::app {

/// Requests the start and returns the reply. Calls `progress` with the progress, such as "opening
/// data: n1 37.5 % of 8.4 GiB", and with an empty text when the data are open.
/// \error as askPatiently
Result<wire::Reply> startJob(Session& session, const wire::StartJobRequest& start,
                             const std::function<void(const std::string&)>& progress,
                             const Patience& limits = {});

struct FirstStepWait {
  std::int64_t after = 0;  // the step that the job begins with
  std::chrono::milliseconds limit = std::chrono::minutes(1);
  std::chrono::milliseconds shortest_poll = std::chrono::milliseconds(50);
  /// Whether the user no longer waits.
  std::function<bool()> is_interrupted = [] { return false; };
};

/// Waits until a job has made its first step, or no longer runs.
/// \param job whose ranks have started
/// \return the job, also if it has made no step after `limit` or until the user interrupts
/// \error kNotFound if it was stopped meanwhile; as Session::snapshot
Result<engine::JobStatus> awaitFirstStep(Session& session, engine::JobStatus job,
                                         const FirstStepWait& wait = {});

}  // namespace tessera::app
