// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures how long the event loop of a thread does not run.

#include <QElapsedTimer>
#include <QFile>
#include <QObject>
#include <QTimer>
#include <algorithm>
#include <chrono>

namespace tessera::test {

/// The event loop of the thread that makes it beats every few milliseconds while the object lives.
/// Time for which the thread could run but the processors were taken by others does not count, so
/// that a loaded machine is no failure.
class Heartbeat {
 public:
  /// No call may keep the event loop longer. Tests assert five times this, for slow machines.
  static constexpr std::chrono::milliseconds kMostGap{50};
  static constexpr std::chrono::milliseconds kMostInTests = 5 * kMostGap;

  Heartbeat() {
    m_timer.setTimerType(Qt::PreciseTimer);
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { beat(); });
    m_timer.start(5);
    m_last.start();
    m_waited = waited();
  }

  /// The longest time without a beat, the present one included.
  std::chrono::milliseconds longestGap() {
    beat();
    return m_longest;
  }

 private:
  void beat() {
    const std::chrono::milliseconds gap(m_last.restart());
    const std::chrono::milliseconds total = waited();
    m_longest = std::max(m_longest, gap - (total - m_waited));
    m_waited = total;
  }
  /// How long this thread has waited for a processor (the second number of schedstat, in ns); 0 if
  /// the kernel does not count it.
  static std::chrono::milliseconds waited() {
    QFile file(QStringLiteral("/proc/thread-self/schedstat"));
    if (!file.open(QIODevice::ReadOnly)) return std::chrono::milliseconds(0);
    return std::chrono::milliseconds(file.readAll().split(' ').value(1).toLongLong() / 1'000'000);
  }

  QTimer m_timer;
  QElapsedTimer m_last;
  std::chrono::milliseconds m_waited{0};
  std::chrono::milliseconds m_longest{0};
};

}  // namespace tessera::test

/// Verifies that the event loop was never kept for longer than tests allow.
#define TESSERA_VERIFY_ALIVE(heartbeat)                                                            \
  do {                                                                                             \
    const auto gap = (heartbeat).longestGap();                                                     \
    QVERIFY2(gap <= ::tessera::test::Heartbeat::kMostInTests,                                      \
             qPrintable(QStringLiteral("the event loop stood still for %1 ms").arg(gap.count()))); \
  } while (false)
