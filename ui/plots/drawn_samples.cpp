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
  const bool isAmended = series.amendments() != m_amendments;
  if (grows && !isAmended && points.size() == m_points.size()) return {};
  m_revision = series.revision();
  m_amendments = series.amendments();
  // Of those that are drawn, only the last one may have been amended.
  std::size_t from = grows ? m_points.size() : 0;
  if (isAmended && from > 0) --from;
  const Change change = append(points, from);
  takeMetrics(series, from);
  return change;
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
  return append(std::vector<Point>(m_points), 0);
}

DrawnSamples::Change DrawnSamples::append(const std::vector<Point>& source, std::size_t from) {
  for (std::size_t i = from; i < m_points.size(); ++i) m_segments -= m_starts[i];
  m_points.resize(from);
  m_starts.resize(from);
  if (from == 0) m_nextPause = 0;
  for (std::size_t i = from; i < source.size(); ++i) {
    const Point& point = source[i];
    const bool starts = i == 0 || point.afterGap || isPaused(source[i - 1].time, point.time);
    m_segments += starts;
    m_points.push_back(point);
    m_starts.push_back(starts);
  }
  return {true, from};
}

void DrawnSamples::takeMetrics(const SampleSeries& series, std::size_t from) {
  if (from == 0) m_metrics.clear();
  for (const SampleSeries::Metric& metric : series.metrics()) {
    auto at = std::ranges::lower_bound(m_metrics, metric.name, {}, &SampleSeries::Metric::name);
    if (at == m_metrics.end() || at->name != metric.name)
      at = m_metrics.insert(at, {metric.name, {}, {}});
    // A name that is new has no values before.
    const auto first = static_cast<std::ptrdiff_t>(std::min(from, at->values.size()));
    at->values.resize(static_cast<std::size_t>(first));
    at->logged.resize(static_cast<std::size_t>(first));
    at->values.insert(at->values.end(), metric.values.begin() + first, metric.values.end());
    at->logged.insert(at->logged.end(), metric.logged.begin() + first, metric.logged.end());
  }
}

const SampleSeries::Metric* DrawnSamples::metricOf(const PlotCurve& curve) const {
  if (curve.kind != PlotCurve::Kind::Metric) return nullptr;
  const auto at =
      std::ranges::lower_bound(m_metrics, curve.metric, {}, &SampleSeries::Metric::name);
  return at == m_metrics.end() || at->name != curve.metric ? nullptr : &*at;
}

std::optional<double> DrawnSamples::valueOf(const PlotCurve& curve,
                                            const SampleSeries::Metric* metric,
                                            std::size_t point) const {
  switch (curve.kind) {
    case PlotCurve::Kind::Loss:
      return m_points[point].loss;
    case PlotCurve::Kind::Tokens:
      return m_points[point].tokensPerSecond;
    case PlotCurve::Kind::GradNorm:
      return m_points[point].gradNorm;
    case PlotCurve::Kind::StepTime:
      if (m_starts[point] || m_points[point].stepSeconds <= 0) return std::nullopt;
      return m_points[point].stepSeconds;
    case PlotCurve::Kind::Metric:
      if (metric == nullptr || !metric->logged[point]) return std::nullopt;
      return metric->values[point];
  }
  return std::nullopt;
}

std::vector<DrawnSamples::Value> DrawnSamples::line(const PlotCurve& curve,
                                                    std::size_t from) const {
  std::vector<Value> values;
  values.reserve(m_points.size() - from);
  const SampleSeries::Metric* metric = metricOf(curve);
  // Whether the last value before `from` exists, and whether a gap lies after it.
  bool any = false, gap = false;
  for (std::size_t i = from; i > 0 && !any; --i) {
    any = valueOf(curve, metric, i - 1).has_value();
    if (!any) gap |= m_starts[i - 1];
  }
  for (std::size_t i = from; i < m_points.size(); ++i) {
    gap |= m_starts[i];
    const std::optional<double> value = valueOf(curve, metric, i);
    if (!value) continue;
    if (any && gap) values.push_back({(m_points[i - 1].time + m_points[i].time) / 2, kNaN});
    values.push_back({m_points[i].time, *value});
    any = true;
    gap = false;
  }
  return values;
}

std::vector<DrawnSamples::Value> DrawnSamples::line(
    const std::vector<BusySeries::Value>& values) const {
  std::vector<Value> line;
  line.reserve(values.size());
  for (const BusySeries::Value& each : values) {
    if (!line.empty() && isBroken(line.back().time, each.time))
      line.push_back({(line.back().time + each.time) / 2, kNaN});
    line.push_back({each.time, each.seconds});
  }
  return line;
}

bool DrawnSamples::isBroken(double after, double until) const {
  const auto first = std::ranges::upper_bound(m_points, after, {}, &Point::time);
  for (auto i = static_cast<std::size_t>(first - m_points.begin());
       i < m_points.size() && m_points[i].time <= until; ++i) {
    if (m_starts[i]) return true;
  }
  return false;
}

std::optional<DrawnSamples::Value> DrawnSamples::valueAt(const PlotCurve& curve,
                                                         const Point& point) const {
  const SampleSeries::Metric* metric = metricOf(curve);
  auto i = static_cast<std::size_t>(&point - m_points.data());
  for (;; --i) {
    if (const auto value = valueOf(curve, metric, i)) return Value{m_points[i].time, *value};
    if (i == 0 || m_starts[i]) return std::nullopt;
  }
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

DrawnSamples::Extent DrawnSamples::extentOf(const PlotCurve& curve, const PlotRange& time) const {
  Extent extent;
  const SampleSeries::Metric* metric = metricOf(curve);
  auto i = static_cast<std::size_t>(firstFrom(m_points, time.from) - m_points.begin());
  for (; i < m_points.size() && m_points[i].time <= time.to; ++i) {
    const std::optional<double> value = valueOf(curve, metric, i);
    if (!value) continue;
    ++extent.values;
    if (!std::isfinite(*value)) continue;
    if (!extent.range) extent.range = PlotRange{*value, *value};
    extent.range->from = std::min(extent.range->from, *value);
    extent.range->to = std::max(extent.range->to, *value);
  }
  return extent;
}

}  // namespace tessera::ui
