// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/time_view.h"

#include <algorithm>

namespace tessera::ui {
namespace {

constexpr double kLeastSpan = 0.5;  // minimum visible seconds
constexpr double kFirstSpan = 30;   // visible seconds before the first sample

}  // namespace

void TimeView::followLast(double seconds) {
  m_isFollowing = true;
  m_width = seconds;
}

std::optional<PlotRange> TimeView::follow(const Known& known) const {
  if (!m_isFollowing || (!known.samples && !known.now)) return std::nullopt;
  double end = std::max(known.samples ? known.samples->to : *known.now, known.lastBandEnd);
  if (known.now) end = std::max(end, *known.now);
  const double whole =
      known.samples ? std::max(end - known.samples->from, kFirstSpan / 3) : kFirstSpan;
  const double shown = m_width.value_or(whole);
  const double start = known.samples && !m_width ? known.samples->from : end - shown;
  return PlotRange{start, std::max(end + shown * 0.015, start + kLeastSpan)};
}

PlotRange TimeView::moveTo(const PlotRange& wanted, const Known& known) {
  const double last = known.samples ? known.samples->to : known.now.value_or(wanted.to);
  const double first = known.samples ? known.samples->from : last - kFirstSpan;
  const double most = 4 * std::max(last - first, kFirstSpan);
  const double size = std::clamp(wanted.size(), kLeastSpan, most);
  const double middle = std::clamp(wanted.center(), first - size / 4, last + size / 4);
  const PlotRange range{middle - size / 2, middle + size / 2};
  m_isFollowing = range.to >= last;
  m_width = size;
  return range;
}

}  // namespace tessera::ui
