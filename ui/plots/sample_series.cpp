// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/sample_series.h"

#include <algorithm>

namespace tessera::ui {
namespace {

// Samples arrive with every step, at least 0.1 s apart. Shorter waits are not gaps.
constexpr double kShortestGap = 0.25;

}  // namespace

void SampleSeries::clear() {
  m_points.clear();
  m_interval = 0;
  ++m_revision;
}

bool SampleSeries::add(const engine::Sample& sample) {
  if (!m_points.empty() && sample.time <= m_points.back().time) return false;
  bool wentBack = false;
  while (!m_points.empty() && m_points.back().step >= sample.step) {
    m_points.pop_back();
    wentBack = true;
  }
  if (wentBack) ++m_revision;

  Point point{sample.time, sample.step, sample.loss, sample.tokens_per_second, wentBack};
  if (!m_points.empty()) {
    const double wait = point.time - m_points.back().time;
    if (m_interval == 0) m_interval = wait;
    if (wait > std::max(kShortestGap, kGapIntervals * m_interval)) {
      point.afterGap = true;
      m_interval *= 1.5;  // a job that stays slow must not become a series of gaps
    } else {
      m_interval = wait < m_interval / 4 ? wait : 0.9 * m_interval + 0.1 * wait;
    }
  }
  m_points.push_back(point);
  if (m_points.size() > m_capacity) thin();
  return true;
}

void SampleSeries::thin() {
  const std::size_t half = m_points.size() / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < half;) {
    Point point = m_points[i++];
    if (i < half && !m_points[i].afterGap) {
      const Point& next = m_points[i++];
      point.time = (point.time + next.time) / 2;
      point.loss = (point.loss + next.loss) / 2;
      point.tokensPerSecond = (point.tokensPerSecond + next.tokensPerSecond) / 2;
      point.step = next.step;
    }
    m_points[kept++] = point;
  }
  m_points.erase(m_points.begin() + static_cast<std::ptrdiff_t>(kept),
                 m_points.begin() + static_cast<std::ptrdiff_t>(half));
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
