// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Waits for a job to start, as long as the cluster reports progress with opening its data or with
/// loading its checkpoint.

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

}  // namespace tessera::app
