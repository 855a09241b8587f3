// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a plan without a cluster says of devices that failed: which state no live device has.

#include <string>

#include "app/commands/json.h"
#include "ptc/layout.h"
#include "ptc/plan/outline.h"

namespace tessera::app {

/// Bytes and tensors of which there is no live copy, and the first of them; that there are none, if
/// so; nothing where no device is lost. Lines as `plan` prints them.
std::string describeLost(const ptc::Outline& outline, const ptc::Layout& from);
/// "devices", "tensors", "bytes" (one copy), "first": a list of "tensor" and "range".
Json lostToJson(const ptc::Outline& outline, const ptc::Layout& from);

}  // namespace tessera::app
