// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The visible part of time: everything, the newest seconds, or a range set by the user. A plain
/// value in seconds since 1970.

#include <optional>

#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

class TimeView {
 public:
  /// The known extent of the axis.
  struct Known {
    std::optional<PlotRange> samples = {};  // from the first to the last
    std::optional<double> now = {};         // the cluster's clock
    double lastBandEnd = 0;                 // 0 without bands
  };

  /// Whether the view ends at the newest sample and follows it.
  bool isFollowing() const { return m_isFollowing; }
  /// Shows everything from now on.
  void followAll() { *this = {}; }
  /// Shows the newest `seconds` from now on.
  void followLast(double seconds);

  /// Returns the range to show for this extent; nothing if the view does not change.
  std::optional<PlotRange> follow(const Known& known) const;
  /// Returns the range to show if the user moves to `wanted`: at most a quarter of a view beyond
  /// the samples, and not finer than the samples. Follows if the last sample is visible.
  PlotRange moveTo(const PlotRange& wanted, const Known& known);

 private:
  bool m_isFollowing = true;
  std::optional<double> m_width;  // visible seconds while following; nothing: everything
};

}  // namespace tessera::ui
