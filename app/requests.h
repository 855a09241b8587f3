// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's requests (ui/requests.h) as messages, and the ones that take several messages.

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/session.h"
#include "ptc/base/result.h"
#include "ui/requests.h"

namespace tessera::app {

/// One message to the registrar and what its answer means.
struct OneMessage {
  wire::Request message;
  std::chrono::milliseconds timeout = kAnswerTimeout;
  std::function<Result<ui::Answer>(const wire::Reply&)> read;
};

/// The message that carries `request` out; nullopt if no single one does (carryOut).
/// \error kFailedPrecondition for a fault in a cluster that is not emulated
Result<std::optional<OneMessage>> messageOf(const ui::Request& request,
                                            const agents::Profile& profile);

/// Whether carrying `request` out takes minutes or more, so that others must not wait for it.
bool takesLong(const ui::Request& request);

/// Carries out a request that takes no message or several, as tesseractl does. Blocks, for minutes.
/// \param stop ends a request that takes long; the others end by themselves
/// \param progress receives partial answers on the calling thread
Result<ui::Answer> carryOut(const ui::Request& request, const agents::Profile& profile,
                            const std::stop_token& stop,
                            const std::function<void(const ui::Answer&)>& progress);

}  // namespace tessera::app
