// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A plot as lines of text.

#include <string>

#include "app/experiment/plot.h"

namespace tessera::app {

enum class PlotStyle {
  Ascii,    // one letter per curve, no colours
  Braille,  // Unicode dots in the terminal's colours, eight per character
};

/// The style for standard output: Braille on a terminal with a UTF-8 locale if NO_COLOR is not set.
PlotStyle plotStyleOfOutput();
/// Columns of the terminal on standard output; 80 if there is none.
int columnsOfOutput();

/// Lines of at most `columns` characters, each with a newline: title, `rows` lines with the curves,
/// axes, legend.
/// \pre columns >= 40, rows >= 4
std::string drawText(const Plot& plot, int columns, int rows, PlotStyle style);

}  // namespace tessera::app
