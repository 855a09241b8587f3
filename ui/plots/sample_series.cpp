// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/sample_series.h"

#include <algorithm>
#include <cmath>

namespace tessera::ui {
namespace {

// Samples arrive with every step, at least 0.1 s apart. Shorter waits are not gaps.
constexpr double kShortestGap = 0.25;

bool isSameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void SampleSeries::clear() {
  m_points.clear();
  m_metrics.clear();
  m_interval = 0;
  ++m_revision;
}

bool SampleSeries::add(const engine::Sample& sample) {
  if (!m_points.empty() && sample.time <= m_points.back().time) {
    const Point& last = m_points.back();
    const bool again = sample.time == last.time && sample.step == last.step;
    if (!again || !setMetrics(sample.metrics)) return false;
    ++m_amendments;
    return true;
  }
  bool wentBack = false;
  while (!m_points.empty() && m_points.back().step >= sample.step) {
    m_points.pop_back();
    wentBack = true;
  }
  if (wentBack) ++m_revision;

  Point point{sample.time, sample.step,     sample.loss, sample.tokens_per_second,
              wentBack,    sample.grad_norm};
  if (!m_points.empty()) {
    const double wait = point.time - m_points.back().time;
    if (m_interval == 0) m_interval = wait;
    if (wait > std::max(kShortestGap, kGapIntervals * m_interval)) {
      point.afterGap = true;
      m_interval *= 1.5;  // a job that stays slow must not become a series of gaps
    } else {
      m_interval = wait < m_interval / 4 ? wait : 0.9 * m_interval + 0.1 * wait;
    }
    if (!point.afterGap)
      point.stepSeconds = wait / static_cast<double>(point.step - m_points.back().step);
  }
  m_points.push_back(point);
  for (Metric& metric : m_metrics) {
    metric.values.resize(m_points.size() - 1);
    metric.logged.resize(m_points.size() - 1);
    metric.values.push_back(0);
    metric.logged.push_back(false);
  }
  setMetrics(sample.metrics);
  if (m_points.size() > m_capacity) thin();
  return true;
}

SampleSeries::Metric* SampleSeries::metricNamed(const std::string& name) {
  const auto at = std::ranges::lower_bound(m_metrics, name, {}, &Metric::name);
  if (at != m_metrics.end() && at->name == name) return &*at;
  if (m_metrics.size() >= kMaxNames) return nullptr;
  const std::size_t size = m_points.size();
  return &*m_metrics.insert(at,
                            {name, std::vector<double>(size, 0), std::vector<bool>(size, false)});
}

bool SampleSeries::setMetrics(const engine::Metrics& metrics) {
  bool differs = false;
  for (const auto& [name, value] : metrics) {
    Metric* metric = metricNamed(name);
    if (metric == nullptr) continue;
    if (metric->logged.back() && isSameNumber(metric->values.back(), value)) continue;
    metric->values.back() = value;
    metric->logged.back() = true;
    differs = true;
  }
  return differs;
}

engine::Metrics SampleSeries::metricsAt(const Point& point) const {
  engine::Metrics metrics;
  const auto last = static_cast<std::size_t>(&point - m_points.data());
  for (const Metric& metric : m_metrics) {
    std::size_t i = last + 1;
    while (i > 0 && !metric.logged[i - 1]) --i;
    if (i > 0) metrics[metric.name] = metric.values[i - 1];
  }
  return metrics;
}

engine::Sample SampleSeries::sampleOf(const std::string& job, std::size_t index) const {
  const Point& point = m_points[index];
  engine::Sample sample;
  sample.job = job;
  sample.step = point.step;
  sample.time = point.time;
  sample.loss = point.loss;
  sample.grad_norm = point.gradNorm;
  sample.tokens_per_second = point.tokensPerSecond;
  for (const Metric& metric : m_metrics) {
    if (metric.logged[index]) sample.metrics[metric.name] = metric.values[index];
  }
  return sample;
}

void SampleSeries::thin() {
  const std::size_t half = m_points.size() / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < half;) {
    const std::size_t first = i++;
    Point point = m_points[first];
    const bool isPair = i < half && !m_points[i].afterGap;
    if (isPair) {
      const Point& next = m_points[i++];
      point.time = (point.time + next.time) / 2;
      point.loss = (point.loss + next.loss) / 2;
      point.gradNorm = (point.gradNorm + next.gradNorm) / 2;
      // A step after a pause has no rate; its neighbour has one.
      point.tokensPerSecond =
          std::isfinite(point.tokensPerSecond) && std::isfinite(next.tokensPerSecond)
              ? (point.tokensPerSecond + next.tokensPerSecond) / 2
              : std::fmax(point.tokensPerSecond, next.tokensPerSecond);
      point.stepSeconds =
          point.stepSeconds > 0 ? (point.stepSeconds + next.stepSeconds) / 2 : next.stepSeconds;
      point.step = next.step;
    }
    for (Metric& metric : m_metrics) {
      const bool second = isPair && metric.logged[first + 1];
      double value = metric.values[first];
      if (second)
        value = metric.logged[first] ? (value + metric.values[first + 1]) / 2
                                     : metric.values[first + 1];
      metric.values[kept] = value;
      metric.logged[kept] = metric.logged[first] || second;
    }
    m_points[kept++] = point;
  }
  const auto gone = [&](auto& values) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept),
                 values.begin() + static_cast<std::ptrdiff_t>(half));
  };
  gone(m_points);
  for (Metric& metric : m_metrics) {
    gone(metric.values);
    gone(metric.logged);
  }
  ++m_revision;
}

const SampleSeries::Point* SampleSeries::nearest(double time) const {
  if (m_points.empty()) return nullptr;
  const auto after =
      std::lower_bound(m_points.begin(), m_points.end(), time,
                       [](const Point& point, double value) { return point.time < value; });
  if (after == m_points.begin()) return &*after;
  if (after == m_points.end()) return &m_points.back();
  const auto before = after - 1;
  return time - before->time <= after->time - time ? &*before : &*after;
}

const SampleSeries::Point* SampleSeries::lastBefore(double time) const {
  const auto after = std::ranges::upper_bound(m_points, time, {}, &Point::time);
  return after == m_points.begin() ? nullptr : &*(after - 1);
}

}  // namespace tessera::ui
