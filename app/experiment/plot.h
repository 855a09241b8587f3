// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Curves over one axis.

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::app {

struct PlotCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // ascending x; all finite
};

struct Plot {
  std::string title;
  std::string xLabel, yLabel;  // with units
  std::vector<PlotCurve> curves;
  std::optional<double> mark;  // an x to mark with a line
  std::string markLabel = {};
};

/// Marks on an axis: multiples of 1, 2 or 5 times a power of ten, all inside the range.
struct Ticks {
  std::vector<double> values;
  int decimals = 0;  // needed to distinguish them
};
/// About `count` of them; at least one where `high` > `low`.
/// \pre count >= 2
Ticks ticksOf(double low, double high, int count);
std::string tickText(double value, int decimals);

/// The ranges of the axes: those of all curves, with a margin above and below.
struct PlotSpan {
  double left = 0, right = 1, low = 0, high = 1;
};
PlotSpan spanOf(const Plot& plot);

}  // namespace tessera::app
