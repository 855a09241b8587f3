// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which part of time is in sight: everything, the newest seconds, or where the user went. A plain
/// value; seconds since 1970.

#include <optional>

#include "ui/plots/plot_geometry.h"

namespace tessera::ui {

class TimeView {
 public:
  /// What there is on the axis.
  struct Known {
    std::optional<PlotRange> samples = {};  // from the first to the last
    std::optional<double> now = {};         // the cluster's clock
    double lastBandEnd = 0;                 // 0 without bands
  };

  /// Whether the right end is the newest there is.
  bool isFollowing() const { return m_isFollowing; }
  /// Everything from now on.
  void followAll() { *this = {}; }
  /// The newest `seconds` from now on.
  void followLast(double seconds);

  /// What to show now that this is known; nothing where the view stays as it is.
  std::optional<PlotRange> follow(const Known& known) const;
  /// The user went to `wanted`: what to show for it, never further than a quarter of a view beyond
  /// the samples, nor finer than they are. Follows where the last sample is in sight.
  PlotRange moveTo(const PlotRange& wanted, const Known& known);

 private:
  bool m_isFollowing = true;
  std::optional<double> m_width;  // seconds in sight while following; nothing: everything
};

}  // namespace tessera::ui
