// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// For a plan without a cluster: state that only failed devices held.

#include <string>

#include "app/commands/json.h"
#include "ptc/layout.h"
#include "ptc/plan/outline.h"

namespace tessera::app {

/// Lines for `plan`: bytes and tensors without a live copy and the first of them, or that there are
/// none. Empty if no device is lost.
std::string describeLost(const ptc::Outline& outline, const ptc::Layout& from);
/// "devices", "tensors", "bytes" (one copy), "first": a list of "tensor" and "range".
Json lostToJson(const ptc::Outline& outline, const ptc::Layout& from);

}  // namespace tessera::app
