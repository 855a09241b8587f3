// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The trainer as one process on its own: the reference that clusters are compared with.

#include <cstdio>

#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Trains for settings.max_steps steps in private memory and prints a line a step to `out`: text,
/// or with `json` {"step","loss","grad_norm"}.
Status RunSolo(const engine::JobSettings& settings, bool json, std::FILE* out);

}  // namespace tessera::agents::train
