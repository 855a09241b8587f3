// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Simulation of colour vision deficiencies.

#include <QColor>

namespace tessera::ui {

enum class ColourVision { Normal, Deutan, Protan, Tritan };

/// Returns `color` as seen with this vision at severity 1: Machado, Oliveira, Fernandes, "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009,
/// table of matrices; applied to linear sRGB. Alpha is kept.
QColor asSeen(const QColor& color, ColourVision vision);

/// Returns the CIEDE2000 difference (Sharma, Wu, Dalal, 2005), D65. Alpha is ignored.
double colourDifference(const QColor& a, const QColor& b);

}  // namespace tessera::ui
