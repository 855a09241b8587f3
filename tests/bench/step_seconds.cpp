// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step_seconds.h"

#include <QThread>
#include <chrono>

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

}  // namespace

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
