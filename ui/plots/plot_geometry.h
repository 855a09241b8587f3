// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The pixel positions of times and values in the plots, as plain values. Overlays and hit tests
/// need nothing else.

#include <QColor>
#include <QPen>
#include <QRect>

namespace tessera::ui {

struct PlotRange {
  double from = 0;
  double to = 1;
  double size() const { return to - from; }
  double center() const { return (from + to) / 2; }
  bool contains(double value) const { return value >= from && value <= to; }
};

/// Two plots, one above the other, over one axis of time.
struct PlotGeometry {
  static constexpr int kLabelColumn = 14;  // where "loss" and "tokens/s" begin
  static constexpr int kLeftMargin = 104;  // for the axis numbers
  static constexpr int kRightMargin = 20;
  static constexpr int kTopMargin = 16;  // of band labels
  static constexpr int kMarkStrip = 14;  // between both plots
  static constexpr int kTimeStrip = 20;  // clock times below

  QRect loss = {}, tokens = {};
  PlotRange time = {};  // visible, seconds since 1970
  PlotRange lossValues = {}, tokenValues = {};

  double x(double seconds) const {
    return (seconds - time.from) / time.size() * loss.width() + loss.left();
  }
  double timeAt(double pixel) const {
    return (pixel - loss.left()) / loss.width() * time.size() + time.from;
  }
  double lossY(double value) const { return y(loss, lossValues, value); }
  double tokensY(double value) const { return y(tokens, tokenValues, value); }
  /// The middle of the strip of events.
  double markY() const { return loss.bottom() + kMarkStrip / 2.0 + 1; }

  /// Both plots and the strip between them.
  QRect area() const { return loss | tokens; }
  /// The area and the band labels above it.
  QRect labelled() const { return area().adjusted(0, -kTopMargin, 0, 0); }
  /// Where bands, marks and labels may be drawn.
  QRect clip() const { return area().adjusted(0, -kTopMargin, kRightMargin, 0); }

 private:
  static double y(const QRect& rect, const PlotRange& values, double value) {
    return (values.from - value) / values.size() * rect.height() + rect.bottom();
  }
};

/// Returns a pen that is one pixel wide at every scale.
inline QPen hairline(const QColor& color) {
  QPen pen(color, 1);
  pen.setCosmetic(true);
  return pen;
}

}  // namespace tessera::ui
