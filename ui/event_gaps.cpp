// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/event_gaps.h"

#include <QFile>
#include <algorithm>
#include <utility>

namespace tessera::ui {
namespace {

constexpr std::chrono::milliseconds kBeat{5};

/// How long this thread has waited for a processor (the second number of schedstat, in ns); 0 if
/// the kernel does not count it.
std::chrono::milliseconds waitedForProcessors() {
  QFile file(QStringLiteral("/proc/thread-self/schedstat"));
  if (!file.open(QIODevice::ReadOnly)) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(file.readAll().split(' ').value(1).toLongLong() / 1'000'000);
}

}  // namespace

EventGaps::EventGaps(std::chrono::milliseconds limit, Found found)
    : m_limit(limit), m_found(std::move(found)) {
  m_timer.setTimerType(Qt::PreciseTimer);
  QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] { beat(); });
  m_timer.start(kBeat);
  m_last.start();
  m_waited = waitedForProcessors();
}

std::chrono::milliseconds EventGaps::longest() {
  beat();
  return m_longest;
}

void EventGaps::beat() {
  const std::chrono::milliseconds passed(m_last.restart());
  const std::chrono::milliseconds waited = waitedForProcessors();
  const std::chrono::milliseconds gap = passed - (waited - m_waited);
  m_waited = waited;
  m_longest = std::max(m_longest, gap);
  if (gap > m_limit && m_found) m_found(gap);
}

}  // namespace tessera::ui
