// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/drawn_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLastPointSeconds = 1;  // seconds after the last point in which it is still shown

auto firstFrom(const std::vector<SampleSeries::Point>& points, double time) {
  return std::lower_bound(points.begin(), points.end(), time,
                          [](const auto& point, double value) { return point.time < value; });
}

}  // namespace

DrawnSamples::Change DrawnSamples::setSeries(const SampleSeries& series) {
  const auto& points = series.points();
  const bool grows = series.revision() == m_revision && points.size() >= m_points.size();
  if (grows && points.size() == m_points.size()) return {};
  m_revision = series.revision();
  if (!grows) return restart(points);
  return {true, false, append(points, m_points.size())};
}

DrawnSamples::Change DrawnSamples::setBands(const std::vector<PlotBand>& bands) {
  std::vector<Pause> pauses;
  for (const PlotBand& band : bands) {
    if (band.pauseEnd <= band.pauseStart) continue;
    pauses.push_back({band.pauseStart, band.pauseEnd, band.outcome != PlotBand::Outcome::Running});
  }
  const auto over = [](std::vector<Pause> all) {
    std::erase_if(all, [](const Pause& pause) { return !pause.isOver; });
    return all;
  };
  const bool same = over(pauses) == over(m_pauses);
  m_pauses = std::move(pauses);
  m_nextPause = std::min(m_nextPause, m_pauses.size());
  if (same) return {};
  return restart(std::exchange(m_points, {}));
}

DrawnSamples::Change DrawnSamples::restart(const std::vector<Point>& source) {
  m_points.clear();
  m_segments = 0;
  m_nextPause = 0;
  return {true, true, append(source, 0)};
}

std::vector<DrawnSamples::Point> DrawnSamples::append(const std::vector<Point>& source,
                                                      std::size_t from) {
  std::vector<Point> added;
  added.reserve(source.size() - from);
  for (std::size_t i = from; i < source.size(); ++i) {
    const Point& point = source[i];
    bool startsSegment = i == 0;
    if (i > 0 && (point.afterGap || isPaused(source[i - 1].time, point.time))) {
      const double middle = (source[i - 1].time + point.time) / 2;
      added.push_back({middle, point.step, kNaN, kNaN, true});
      startsSegment = true;
    }
    m_segments += startsSegment;
    added.push_back(point);
  }
  m_points.insert(m_points.end(), source.begin() + static_cast<std::ptrdiff_t>(from), source.end());
  return added;
}

// Returns whether a pause lies between two samples. Calls must have ascending times.
bool DrawnSamples::isPaused(double after, double until) {
  while (m_nextPause < m_pauses.size() && m_pauses[m_nextPause].end <= after) ++m_nextPause;
  return m_nextPause < m_pauses.size() && m_pauses[m_nextPause].start < until;
}

const DrawnSamples::Point* DrawnSamples::at(double time) const {
  if (m_points.empty()) return nullptr;
  const auto next = firstFrom(m_points, time);
  if (next == m_points.end())
    return time > m_points.back().time + kLastPointSeconds ? nullptr : &m_points.back();
  if (next != m_points.begin() && next->afterGap) return nullptr;
  return &*next;
}

const DrawnSamples::Point* DrawnSamples::before(double time) const {
  const Point* next = at(time);
  if (next == nullptr || next->time <= time || next == &m_points.front()) return next;
  return next - 1;
}

DrawnSamples::Extent DrawnSamples::extentIn(const PlotRange& time) const {
  Extent extent;
  for (auto point = firstFrom(m_points, time.from);
       point != m_points.end() && point->time <= time.to; ++point) {
    ++extent.points;
    if (std::isfinite(point->loss)) {
      if (!extent.loss) extent.loss = PlotRange{point->loss, point->loss};
      extent.loss->from = std::min(extent.loss->from, point->loss);
      extent.loss->to = std::max(extent.loss->to, point->loss);
    }
    if (std::isfinite(point->tokensPerSecond))
      extent.fastest = std::max(extent.fastest, point->tokensPerSecond);
  }
  return extent;
}

}  // namespace tessera::ui
