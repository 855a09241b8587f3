// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One step of a job as a line of text.

#include <string>

#include "engine/history/history.h"

namespace tessera::app {

/// "14:02:31  step     12  loss  2.314000  grad norm  0.812000     5800 tokens/s  accuracy 0.5".
/// A rate that was not measured is "-".
std::string sampleText(const engine::Sample& sample);

}  // namespace tessera::app
