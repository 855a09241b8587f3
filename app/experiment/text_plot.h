// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A plot as lines of text.

#include <string>

#include "app/experiment/plot.h"

namespace tessera::app {

enum class PlotStyle {
  Ascii,    // a letter a curve, no colours
  Braille,  // dots of Unicode in the terminal's colours: eight a character
};

/// What standard output can show: Braille at a terminal whose locale is UTF-8 and where NO_COLOR is
/// not set.
PlotStyle plotStyleOfOutput();
/// Columns of the terminal that standard output is; 80 where it is none.
int columnsOfOutput();

/// Lines of at most `columns` characters, the last with a newline: title, `rows` lines with the
/// curves, axes, legend. \pre columns >= 40, rows >= 4
std::string drawText(const Plot& plot, int columns, int rows, PlotStyle style);

}  // namespace tessera::app
