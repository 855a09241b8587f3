// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks that the event loop of a test's thread is never kept for long.

#include <chrono>

#include "ui/event_gaps.h"

namespace tessera::test {

/// Measures while it lives. A loaded machine is no failure.
class Heartbeat {
 public:
  /// No call may keep the event loop longer. Tests assert five times this, for slow machines.
  static constexpr std::chrono::milliseconds kMostGap{50};
  static constexpr std::chrono::milliseconds kMostInTests = 5 * kMostGap;

  /// The longest time without a beat, the present one included.
  std::chrono::milliseconds longestGap() { return m_gaps.longest(); }

 private:
  ui::EventGaps m_gaps;
};

}  // namespace tessera::test

/// Verifies that the event loop was never kept for longer than tests allow.
#define TESSERA_VERIFY_ALIVE(heartbeat)                                                            \
  do {                                                                                             \
    const auto gap = (heartbeat).longestGap();                                                     \
    QVERIFY2(gap <= ::tessera::test::Heartbeat::kMostInTests,                                      \
             qPrintable(QStringLiteral("the event loop stood still for %1 ms").arg(gap.count()))); \
  } while (false)
