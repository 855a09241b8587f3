// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Plays the past: moves a time forward, at most 30 times a second.

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <array>

namespace tessera::ui {

class Playback : public QObject {
  Q_OBJECT

 public:
  static constexpr std::array<int, 3> kSpeeds{1, 4, 16};

  explicit Playback(QObject* parent = nullptr);

  /// Plays from `from` until setEnd(). Does nothing at or after the end.
  void play(double from);
  void stop();
  bool isPlaying() const { return m_timer.isActive(); }
  /// Continues from here, because the user moved the playhead.
  void moveTo(double time);
  void setEnd(double end) { m_end = end; }
  /// Seconds of the past per second.
  int speed() const { return kSpeeds[m_speed]; }
  /// Selects the next faster (1) or slower (-1) speed, if there is one.
  void stepSpeed(int direction);
  /// Selects the next faster speed, after the fastest the slowest.
  void cycleSpeed();
  /// Moves the time by these seconds of play.
  void advance(double seconds);

 signals:
  void moved(double time);
  /// It plays, or does not, or at another speed.
  void changed();

 private:
  QTimer m_timer;
  QElapsedTimer m_clock;
  double m_time = 0;
  double m_end = 0;
  std::size_t m_speed = 0;
};

}  // namespace tessera::ui
