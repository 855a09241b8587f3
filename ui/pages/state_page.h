// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The page shown instead of the canvas while there is no cluster to draw.

#include <QString>
#include <cstdint>
#include <vector>

#include "ui/widgets/surface.h"

class QCheckBox;
class QLabel;
class QPushButton;

namespace tessera::ui {

class Spinner;

class StatePage : public Surface {
  Q_OBJECT

 public:
  /// Bytes per second of the port of a node, with which a move takes long enough to be watched.
  static constexpr std::int64_t kSlowLink = 100'000'000;

  explicit StatePage(QWidget* parent = nullptr);
  /// No cluster is selected: offers to start one, to connect, or to open a file. Without
  /// `canConnect` it shows only the command that starts a cluster.
  void showEmpty(bool canConnect);
  /// A local cluster is starting; `doing` is the current activity.
  void showStarting(const QString& doing);
  /// A history file is shown in the other panes.
  void showFile(const QString& file);
  /// Shows grey frames until the first node answers.
  void showConnecting(const QString& detail);
  /// The cluster does not answer or refused the connection. `detail` is one line.
  void showProblem(const QString& title, const QString& detail, bool canRetry);
  /// A user has stopped the cluster. `detail` is a few sentences.
  void showStopped(const QString& title, const QString& detail, bool canStart, bool hasHistory,
                   bool canConnect);
  QString title() const;
  QString detail() const;
  QPushButton* startButton() const { return m_start; }
  QPushButton* simulateButton() const { return m_simulate; }
  QPushButton* connectButton() const { return m_connect; }
  QPushButton* openButton() const { return m_open; }
  QPushButton* learnButton() const { return m_learn; }
  QPushButton* demoButton() const { return m_demo; }
  QCheckBox* slowLinksBox() const { return m_slowLinks; }
  /// The command that the start button runs.
  QString command() const;
  QPushButton* startAgainButton() const { return m_again; }
  QPushButton* historyButton() const { return m_history; }

 signals:
  void retryRequested();
  void startRequested(bool slowLinks);
  /// The first lessons.
  void learnRequested();
  /// A cluster on which a change can be watched at once.
  void demoRequested();
  void simulateRequested();
  void connectRequested();
  void openRequested();
  /// The cluster that was stopped is to be started, or its history to be shown.
  void startAgainRequested();
  void historyRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void setSkeleton(bool shown);
  void refreshCommand();
  /// Shows the texts and only these other parts.
  void say(const QString& title, const QString& detail, const std::vector<QWidget*>& parts);

  QWidget* m_top;  // keeps the text below the skeleton
  QLabel* m_title;
  QLabel* m_detail;
  QLabel* m_command;
  QPushButton* m_copy;
  QPushButton* m_retry;
  QPushButton *m_again, *m_history;
  QPushButton *m_start, *m_simulate, *m_connect, *m_open, *m_learn, *m_demo;
  QCheckBox* m_slowLinks;
  Spinner* m_spinner;
  bool m_skeleton = false;
};

}  // namespace tessera::ui
