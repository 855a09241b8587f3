// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The pixel positions of times and values in the plots, as plain values. Overlays and hit tests
/// need nothing else.

#include <QColor>
#include <QPen>
#include <QRect>
#include <vector>

#include "ui/plots/plot_curve.h"

namespace tessera::ui {

struct PlotRange {
  double from = 0;
  double to = 1;
  double size() const { return to - from; }
  double center() const { return (from + to) / 2; }
  bool contains(double value) const { return value >= from && value <= to; }
};

/// The plot of one curve.
struct PlotStrip {
  PlotCurve curve = {};
  QRect rect = {};
  PlotRange values = {};

  double y(double value) const {
    return (values.from - value) / values.size() * rect.height() + rect.bottom();
  }
};

/// Plots, one above the other, over one axis of time.
struct PlotGeometry {
  static constexpr int kLabelColumn = 14;  // where "loss" and "tokens/s" begin
  static constexpr int kLeftMargin = 104;  // for the axis numbers
  static constexpr int kRightMargin = 20;
  static constexpr int kTopMargin = 16;  // of band labels
  static constexpr int kMarkStrip = 14;  // below the first plot
  static constexpr int kGap = 8;         // between the others
  static constexpr int kTimeStrip = 20;  // clock times below
  static constexpr int kLeastStrip = 34;

  std::vector<PlotStrip> strips = {};  // at least one, from above
  PlotRange time = {};                 // visible, seconds since 1970

  double x(double seconds) const {
    const QRect& rect = strips.front().rect;
    return (seconds - time.from) / time.size() * rect.width() + rect.left();
  }
  double timeAt(double pixel) const {
    const QRect& rect = strips.front().rect;
    return (pixel - rect.left()) / rect.width() * time.size() + time.from;
  }
  /// The middle of the strip of events.
  double markY() const { return strips.front().rect.bottom() + kMarkStrip / 2.0 + 1; }

  /// All plots and what is between them.
  QRect area() const { return strips.front().rect | strips.back().rect; }
  /// The area and the band labels above it.
  QRect labelled() const { return area().adjusted(0, -kTopMargin, 0, 0); }
  /// Where bands, marks and labels may be drawn.
  QRect clip() const { return area().adjusted(0, -kTopMargin, kRightMargin, 0); }
};

/// Returns a pen that is one pixel wide at every scale.
inline QPen hairline(const QColor& color) {
  QPen pen(color, 1);
  pen.setCosmetic(true);
  return pen;
}

}  // namespace tessera::ui
