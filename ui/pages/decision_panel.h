// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The card below the canvas while a job lacks GPUs: what was lost, what is left, what each choice
/// costs, and what happens by itself.

#include <QList>
#include <QWidget>
#include <array>
#include <cstdint>
#include <optional>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"

class QBoxLayout;
class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QRadioButton;

namespace tessera::ui {

class ButtonRow;

class DecisionPanel : public QWidget {
  Q_OBJECT

 public:
  DecisionPanel(ClusterModel& model, MoveControl& control, QWidget* parent = nullptr);

  /// Whether this panel can start nodes that have ended: of a cluster on this machine.
  void setStartsNodes(bool can);

  QString headline() const;
  QString sentence() const;
  /// What happens without a choice.
  QString countdown() const;
  /// The rows of the choices, each as one text.
  QStringList choices() const;
  /// The same as buttons.
  QList<QRadioButton*> rows() const;
  QPushButton* actButton() const { return m_act; }
  QPushButton* startNodesButton() const { return m_startNodes; }
  QPushButton* startOverButton() const { return m_startOver; }
  QPushButton* stopButton() const { return m_stop; }
  QComboBox* laterBox() const { return m_later; }

 signals:
  /// The job is to lose steps: its name has to be typed first.
  void goBackRequested(const tessera::engine::RecoveryWay& way);
  void startNodesRequested(const QList<qint32>& nodes);
  void startOverRequested();
  void stopRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// One way for each source, and waiting.
  static constexpr std::size_t kMostRows = 4;
  struct Row {
    QRadioButton* name;
    QLabel *mesh, *cost, *remark;
    LossDecision choice = {};
  };
  Row makeRow(std::size_t index);
  void layOut();
  /// Gives a narrow card a line of its own for each cost, and for the buttons.
  void arrange();
  void showRows();
  void refresh();
  void showLoss(const engine::JobStatus& job);
  void showChoices(const engine::JobStatus& job);
  void showWay(Row& row, const engine::RecoveryWay& way, const engine::JobStatus& job);
  void showWait(Row& row, const engine::JobStatus& job);
  void refreshButtons();
  void act();
  /// The row that is chosen in the card; null without any.
  const Row* selected() const;
  /// The way of a row; null for waiting.
  static const engine::RecoveryWay* wayOf(const Row& row, const engine::DecisionStatus& decision);

  ClusterModel& m_model;
  MoveControl& m_control;
  bool m_startsNodes = false;
  QLabel *m_headline, *m_countdown, *m_sentence;
  std::array<Row, kMostRows> m_rows{};
  std::size_t m_shown = 0;  // of the rows
  /// What the user has marked; nothing: the row of what happens by itself is marked.
  std::optional<LossDecision> m_marked;
  std::string m_loss;  // for which it was marked
  QGridLayout* m_grid;
  QBoxLayout* m_bottom;
  ButtonRow* m_buttons;
  std::optional<bool> m_isWide;  // as arranged
  QPushButton *m_startNodes, *m_startOver, *m_stop, *m_act;
  QComboBox* m_later;
};

}  // namespace tessera::ui
