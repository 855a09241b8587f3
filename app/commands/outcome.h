// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Requests whose reply is lost: whether they change something, and which command shows it then.

#include <optional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// The command that shows whether `request` was carried out, such as "tesseractl status". nullopt
/// for a request that changes nothing that lasts.
std::optional<std::string> whatShows(const wire::Request& request);

/// kOutcomeUnknown: the request may have been carried out although `lost` has happened.
Error lostOutcome(const Error& lost, const std::string& shows);

}  // namespace tessera::app
