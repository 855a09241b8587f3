// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The status bar: the link to the cluster on the left, the change or the draft on the right.

#include <QCoreApplication>
#include <QString>
#include <optional>

#include "ui/pages/header_bar.h"

class QLabel;
class QProgressBar;
class QStatusBar;

namespace tessera::ui {

/// What the status bar depends on.
struct StatusFacts {
  const ClusterModel& model;
  const Draft& draft;
  const engine::OperatorLease* other = nullptr;  // of another panel that operates the cluster
  std::optional<double> moved = {};              // of the running change, 0 to 1; nothing: none
  struct Lesson {
    int nodes = 0;
    int step = 0;  // counted from 0
    int steps = 0;
    int finished = 0;  // lessons, of `lessons`
    int lessons = 0;
  };
  std::optional<Lesson> lesson = {};  // while one is shown
};

class StatusLine {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Words {
    QString left, right;
    StateDot::Tone tone = StateDot::Tone::Quiet;
  };

  /// Fills `bar`, which owns the parts.
  explicit StatusLine(QStatusBar* bar);
  void refresh(const StatusFacts& facts);
  static Words words(const StatusFacts& facts);

 private:
  static QString linkText(const StatusFacts& facts);
  static QString changeText(const StatusFacts& facts);

  StateDot* m_dot;
  QLabel *m_left, *m_right;
  QProgressBar* m_progress;
};

}  // namespace tessera::ui
