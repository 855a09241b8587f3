// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Trains in one process without an agent. Tests and experiments compare clusters with it.

#include <cstdio>

#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Trains for settings.max_steps steps in private memory and prints a line per step to `out`: text,
/// or with `json` {"step","loss","grad_norm"}.
Status RunSolo(const engine::JobSettings& settings, bool json, std::FILE* out);

}  // namespace tessera::agents::train
