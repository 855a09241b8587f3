// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How long an event loop does not run: while it does not, the window does not react.

#include <QElapsedTimer>
#include <QTimer>
#include <chrono>
#include <functional>

namespace tessera::ui {

/// Measures the event loop of the thread that makes it, every few milliseconds. Time for which the
/// thread could run but the processors were taken by others does not count.
class EventGaps {
 public:
  using Found = std::function<void(std::chrono::milliseconds gap)>;

  EventGaps() : EventGaps(std::chrono::milliseconds::max(), {}) {}
  /// \param found called after each gap above `limit`
  EventGaps(std::chrono::milliseconds limit, Found found);

  /// The longest gap, the present one included.
  std::chrono::milliseconds longest();

 private:
  void beat();

  const std::chrono::milliseconds m_limit;
  const Found m_found;
  QTimer m_timer;
  QElapsedTimer m_last;
  std::chrono::milliseconds m_waited{0};
  std::chrono::milliseconds m_longest{0};
};

}  // namespace tessera::ui
