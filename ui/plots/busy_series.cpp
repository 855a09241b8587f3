// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/busy_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::ui {
namespace {

constexpr float kUnseen = std::numeric_limits<float>::quiet_NaN();

double mean(double a, double b, double shareOfB) { return a + (b - a) * shareOfB; }

float mean(float a, float b, double shareOfB) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return static_cast<float>(mean(static_cast<double>(a), static_cast<double>(b), shareOfB));
}

}  // namespace

void BusySeries::clear() {
  m_times.clear();
  m_steps.clear();
  m_afterGap.clear();
  m_counts.clear();
  m_seconds.clear();
}

std::size_t BusySeries::capacity() const {
  const std::size_t share = kMostValues / std::max<std::size_t>(m_seconds.size(), 1);
  return std::clamp(share, kLeastCapacity, kCapacity);
}

bool BusySeries::add(const SampleSeries::Point& sample, const engine::ClusterSnapshot& cluster,
                     const std::string& job) {
  if (!m_times.empty() && sample.time <= m_times.back()) return false;
  std::vector<const engine::DeviceStatus*> seen;
  for (const engine::NodeStatus& node : cluster.nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (device.job == job && device.busy_seconds > 0) seen.push_back(&device);
    }
  }
  if (m_times.empty() && seen.empty()) return false;
  std::size_t kept = m_times.size();
  while (kept > 0 && m_steps[kept - 1] >= sample.step) --kept;
  const bool wentBack = kept < m_times.size();
  m_times.resize(kept);
  m_steps.resize(kept);
  m_afterGap.resize(kept);
  m_counts.resize(kept);
  m_times.push_back(sample.time);
  m_steps.push_back(sample.step);
  m_afterGap.push_back(sample.afterGap || wentBack);
  m_counts.push_back(1);
  for (auto& [device, seconds] : m_seconds) {
    seconds.resize(kept);
    seconds.push_back(kUnseen);
  }
  for (const engine::DeviceStatus* device : seen) {
    std::vector<float>& seconds = m_seconds[device->id];
    seconds.resize(m_times.size(), kUnseen);
    seconds.back() = static_cast<float>(device->busy_seconds);
  }
  if (m_times.size() > capacity()) thin();
  return true;
}

void BusySeries::thin() {
  const std::size_t enough = m_times.size() / 8;
  std::int64_t all = 0;
  for (const std::int64_t count : m_counts) all += count;
  std::size_t gone = 0;
  for (std::int64_t most = 2; gone < enough && most <= 2 * all; most *= 2) gone += merge(most);
  if (gone < enough) drop(0, enough);  // there are gaps everywhere
}

std::size_t BusySeries::merge(std::int64_t most) {
  const std::size_t half = m_times.size() / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < half; ++kept) {
    const std::size_t first = i++;
    const bool isPair = i < half && !m_afterGap[i] && m_counts[first] + m_counts[i] <= most;
    const std::size_t last = isPair ? i++ : first;
    const std::int64_t count = isPair ? m_counts[first] + m_counts[last] : m_counts[first];
    const double share = static_cast<double>(m_counts[last]) / static_cast<double>(count);
    m_times[kept] = mean(m_times[first], m_times[last], share);
    for (auto& [device, seconds] : m_seconds)
      seconds[kept] = mean(seconds[first], seconds[last], share);
    m_steps[kept] = m_steps[last];
    m_afterGap[kept] = m_afterGap[first];
    m_counts[kept] = count;
  }
  drop(kept, half);
  return half - kept;
}

void BusySeries::drop(std::size_t from, std::size_t to) {
  const auto erase = [&](auto& values) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(from),
                 values.begin() + static_cast<std::ptrdiff_t>(to));
  };
  erase(m_times);
  erase(m_steps);
  erase(m_afterGap);
  erase(m_counts);
  for (auto& [device, seconds] : m_seconds) erase(seconds);
}

std::vector<BusySeries::Value> BusySeries::of(ptc::DeviceId device) const {
  std::vector<Value> values;
  const auto found = m_seconds.find(device);
  if (found == m_seconds.end()) return values;
  values.reserve(m_times.size());
  for (std::size_t i = 0; i < m_times.size(); ++i)
    values.push_back({m_times[i], static_cast<double>(found->second[i])});
  return values;
}

}  // namespace tessera::ui
