// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The card below the canvas while a job lacks GPUs: what was lost, what is left, what each choice
/// costs, and what happens by itself.

#include <QWidget>

#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace tessera::ui {

class DecisionPanel : public QWidget {
  Q_OBJECT

 public:
  DecisionPanel(ClusterModel& model, MoveControl& control, QWidget* parent = nullptr);

  QString headline() const;
  QString sentence() const;
  /// When the job continues by itself; may be empty.
  QString countdown() const;
  /// The rows of the choices, each as one text.
  QStringList choices() const;
  QPushButton* continueButton() const { return m_continue; }
  QPushButton* waitButton() const { return m_wait; }
  QComboBox* laterBox() const { return m_later; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Row {
    QLabel *name, *mesh, *cost, *remark;
  };
  Row addRow(QGridLayout& grid, int row);
  void refresh();
  void showChoices(const engine::JobStatus& job);
  void refreshButtons();

  ClusterModel& m_model;
  MoveControl& m_control;
  QLabel *m_headline, *m_countdown, *m_sentence;
  Row m_goOn, m_stay;
  QPushButton *m_continue, *m_wait;
  QComboBox* m_later;
};

}  // namespace tessera::ui
