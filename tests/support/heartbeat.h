// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks that the event loop of a test's thread is never kept for long.

#include <chrono>

#include "tests/support/work.h"
#include "ui/event_gaps.h"

namespace tessera::test {

/// Measures while it lives. A loaded machine is no failure.
class Heartbeat {
 public:
  /// Returns the longest time without a beat that tests allow: 250 units of work. A unit is about
  /// a millisecond on an idle machine; no call of the panel may keep the event loop for 50 of them.
  static std::chrono::milliseconds mostInTests() {
    constexpr double kUnits = 250;
    const std::chrono::duration<double> most(kUnits * WorkUnit());
    return std::chrono::ceil<std::chrono::milliseconds>(most);
  }

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
    const auto most = ::tessera::test::Heartbeat::mostInTests();                                   \
    QVERIFY2(gap <= most, qPrintable(QStringLiteral("the event loop stood still for %1 ms, which " \
                                                    "is longer than %2 ms")                        \
                                         .arg(gap.count())                                         \
                                         .arg(most.count())));                                     \
  } while (false)
