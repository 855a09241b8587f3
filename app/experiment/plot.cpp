// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::app {

Ticks ticksOf(double low, double high, int count) {
  Ticks ticks;
  if (!(high > low)) return ticks;
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  const double step = (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10) * power;
  ticks.decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  // By index, so that rounding errors do not accumulate.
  const double slack = 1e-9 * (high - low);
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; ++i)
    ticks.values.push_back(i * step);
  if (ticks.values.empty()) ticks.values.push_back(low);
  return ticks;
}

std::string tickText(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? fmt::format("{:.{}f}", 0.0, decimals)
                                                            : text;
}

PlotSpan spanOf(const Plot& plot) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  PlotSpan span{kEndless, -kEndless, kEndless, -kEndless};
  for (const PlotCurve& curve : plot.curves) {
    for (const auto& [x, y] : curve.points) {
      span.left = std::min(span.left, x);
      span.right = std::max(span.right, x);
      span.low = std::min(span.low, y);
      span.high = std::max(span.high, y);
    }
  }
  if (!(span.right >= span.left)) return {};
  if (span.right == span.left) span.right += 1;
  const double room = span.high > span.low ? (span.high - span.low) * 0.05 : 0.5;
  span.low -= room;
  span.high += room;
  return span;
}

}  // namespace tessera::app
