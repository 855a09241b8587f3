// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the canvas shows while there is no cluster to draw.

#include <QString>

#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;

namespace tessera::ui {

class StatePage : public Surface {
  Q_OBJECT

 public:
  explicit StatePage(QWidget* parent = nullptr);
  /// No cluster is named: how to start one.
  void showEmpty();
  /// Grey frames until the first node answers.
  void showConnecting(const QString& detail);
  /// The cluster does not answer, or refuses this panel. `detail` is one line.
  void showProblem(const QString& title, const QString& detail, bool canRetry);
  QString title() const;

 signals:
  void retryRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setSkeleton(bool shown);

  QWidget* m_top;  // keeps the words below the skeleton
  QLabel* m_title;
  QLabel* m_detail;
  QLabel* m_command;
  QPushButton* m_copy;
  QPushButton* m_retry;
  bool m_skeleton = false;
};

}  // namespace tessera::ui
