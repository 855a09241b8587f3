// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step_seconds.h"

#include <QThread>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "ptc/base/median.h"

namespace tessera::test {
namespace {

/// Waits for the end of a step.
/// \return its number
std::int64_t WaitForStepEnd(const LocalCluster& cluster, const QString& job) {
  const std::int64_t before = cluster.Step(job);
  for (;;) {
    const std::int64_t now = cluster.Step(job);
    if (now != before) return now;
    QThread::msleep(10);
  }
}

/// By step: the time of its decision.
std::map<std::int64_t, double> DecisionTimes(const LocalCluster& cluster, const QString& job) {
  std::map<std::int64_t, double> out;
  const QString lines = cluster.Run({"job", "metrics", job, "--json"}).output;
  for (const QString& line : lines.split(u'\n')) {
    const Json json = Json::parse(line.toStdString(), nullptr, false);
    if (json.is_object() && json.contains("step"))
      out[json["step"].get<std::int64_t>()] = json["time"].get<double>();
  }
  return out;
}

}  // namespace

double Slowdown(const LocalCluster& cluster, const QString& job, std::int64_t last, int count,
                int before) {
  const std::map<std::int64_t, double> times = DecisionTimes(cluster, job);
  std::vector<double> usual;
  double slow = 0;
  for (std::int64_t step = last - count - before + 1; step <= last; ++step) {
    const auto end = times.find(step), begin = times.find(step - 1);
    if (end == times.end() || begin == times.end()) return 0;
    const double seconds = end->second - begin->second;
    if (step <= last - count) {
      usual.push_back(seconds);
    } else {
      slow += seconds;
    }
  }
  return slow / count / UpperMedian(usual);
}

double StepSeconds(const LocalCluster& cluster, const QString& job, double seconds) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t first = WaitForStepEnd(cluster, job);
  const auto begin = Clock::now();
  for (;;) {
    const std::int64_t last = WaitForStepEnd(cluster, job);
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (passed.count() >= seconds) return passed.count() / static_cast<double>(last - first);
  }
}

}  // namespace tessera::test
