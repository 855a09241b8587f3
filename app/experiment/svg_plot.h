// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A plot as a picture of lines and text (SVG 1.1), complete in itself.

#include <string>

#include "app/experiment/plot.h"

namespace tessera::app {

/// 860 x 460 units; follows the viewer's light or dark colours. Names may hold any text.
std::string drawSvg(const Plot& plot);

}  // namespace tessera::app
