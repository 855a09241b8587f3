// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The self-checks of the nodes of the connected cluster, with a remedy for each finding.

#include "ui/commands.h"
#include "ui/dialogs/dialog.h"
#include "ui/models/check_table_model.h"

class QLabel;
class QPushButton;
class QTableView;

namespace tessera::ui {

class Spinner;

class DoctorDialog : public Dialog {
  Q_OBJECT

 public:
  /// Starts the checks at once. `commands` must outlive the dialog.
  DoctorDialog(ClusterCommands& commands, const QString& cluster, QWidget* parent = nullptr);
  /// Checks every node again. Previous findings stay visible, dimmed, until the answer arrives.
  void ask();

  bool isAsking() const { return m_asking; }
  /// "4 findings, 2 need attention.", "Checking every node…", or why there is no answer.
  QString words() const;
  const CheckTableModel& model() const { return m_model; }
  QTableView* table() const { return m_table; }
  QPushButton* copyButton() const { return m_copy; }
  QPushButton* againButton() const { return m_again; }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void take(Result<std::vector<engine::Check>> result);
  void refresh();
  /// Copies the selected rows, or all rows if none is selected.
  void copy();

  ClusterCommands& m_commands;
  QString m_cluster;
  QString m_problem;
  bool m_asking = false;
  CheckTableModel m_model;
  QLabel* m_words;
  Spinner* m_spinner;
  QTableView* m_table;
  QPushButton* m_copy;
  QPushButton* m_again;
};

}  // namespace tessera::ui
