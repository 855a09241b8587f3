// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The logs of the agents, and what the ranks of the job have printed: filtered, followed, copied.

#include <QTimer>
#include <functional>
#include <vector>

#include "ui/commands.h"
#include "ui/dialogs/dialog.h"
#include "ui/models/cluster_model.h"
#include "ui/models/log_lines.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace tessera::ui {

class CopyLine;

class LogDialog : public Dialog {
  Q_OBJECT

 public:
  static constexpr int kFollowMs = 1000;
  using CommandLine = std::function<QString(const QStringList& words)>;

  /// Shows the log of the first node. `model` and `commands` outlive the dialog.
  LogDialog(const ClusterModel& model, ClusterCommands& commands, CommandLine commandLine,
            QWidget* parent = nullptr);
  /// Shows the output of the rank on this GPU, or the log of its node if it has none.
  void showDevice(ptc::DeviceId device);

  QComboBox* sourceBox() const { return m_source; }
  QComboBox* severityBox() const { return m_severity; }
  QLineEdit* filterEdit() const { return m_filter; }
  QCheckBox* followBox() const { return m_follow; }
  QPlainTextEdit* text() const { return m_text; }
  /// "42 lines", "3 of 42 lines", "Reading the log of n0…", or why there is none.
  QString words() const;
  QString command() const;

 private:
  /// The log of a node, or with `job` the output of a rank.
  struct Source {
    LogRequest request;
    int rank = -1;
    QString name;  // "n0", "rank 3 on n0g3"
  };
  void listSources();
  void choose(int row);
  void ask();
  void take(const Result<LogAnswer>& answer, int question);
  void showLines();
  const Source& source() const { return m_sources[static_cast<std::size_t>(m_chosen)]; }

  const ClusterModel& m_model;
  ClusterCommands& m_commands;
  CommandLine m_commandLine;
  std::vector<Source> m_sources;
  int m_chosen = 0;
  int m_question = 0;  // number of the newest; answers to others are dropped
  bool m_asking = false, m_isRead = false;
  QString m_problem;
  LogLines m_lines;
  QTimer m_timer;
  QComboBox *m_source, *m_severity;
  QLineEdit* m_filter;
  QCheckBox* m_follow;
  QPlainTextEdit* m_text;
  QLabel* m_words;
  CopyLine* m_command;
};

}  // namespace tessera::ui
