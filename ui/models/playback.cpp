// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/playback.h"

#include <algorithm>

namespace tessera::ui {
namespace {

constexpr int kPlayPeriodMs = 34;  // below 30 moves per second

}  // namespace

Playback::Playback(QObject* parent) : QObject(parent) {
  m_timer.setInterval(kPlayPeriodMs);
  connect(&m_timer, &QTimer::timeout, this,
          [this] { advance(static_cast<double>(m_clock.restart()) / 1000); });
}

void Playback::play(double from) {
  if (from >= m_end) return;
  m_time = from;
  m_clock.start();
  m_timer.start();
  emit changed();
}

void Playback::stop() {
  if (!isPlaying()) return;
  m_timer.stop();
  emit changed();
}

void Playback::moveTo(double time) { m_time = time; }

void Playback::stepSpeed(int direction) {
  const auto last = static_cast<int>(kSpeeds.size()) - 1;
  const int next = std::clamp(static_cast<int>(m_speed) + direction, 0, last);
  if (next == static_cast<int>(m_speed)) return;
  m_speed = static_cast<std::size_t>(next);
  emit changed();
}

void Playback::cycleSpeed() {
  m_speed = (m_speed + 1) % kSpeeds.size();
  emit changed();
}

void Playback::advance(double seconds) {
  m_time = std::min(m_time + seconds * speed(), m_end);
  const bool ended = m_time >= m_end;
  emit moved(m_time);
  if (ended) stop();
}

}  // namespace tessera::ui
