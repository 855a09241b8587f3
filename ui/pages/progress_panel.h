// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The card below the canvas while a transaction runs. It shows the outcome for some seconds.

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <optional>

#include "ui/models/cluster_model.h"
#include "ui/models/move_control.h"
#include "ui/models/txn_view.h"

class QLabel;
class QPushButton;

namespace tessera::ui {

class PhaseBar;

class ProgressPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kOutcomeSeconds = 20;

  ProgressPanel(ClusterModel& model, MoveControl& control, QWidget* parent = nullptr);

  /// The view shown; nothing while the card is hidden.
  const std::optional<TxnView>& view() const { return m_view; }
  QString headline() const;
  QString sentence() const;
  QString numbers() const;
  /// Progress in bytes, 0 to 1; 1 only after the commit. Nothing without a transaction.
  std::optional<double> overall() const;
  QPushButton* cancelButton() const { return m_cancel; }
  QPushButton* followButton() const { return m_follow; }
  QPushButton* reportButton() const { return m_report; }
  /// Hides an outcome.
  void dismiss();

 signals:
  /// "Plan an undo…" after a commit, "Plan again…" after a roll back.
  void reverseRequested();
  void againRequested();
  void reportRequested(qint64 txn);
  /// A transaction seen running has ended.
  void ended();
  void viewChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  void refresh();
  void forget();
  void refreshButtons();

  ClusterModel& m_model;
  MoveControl& m_control;
  std::optional<TxnView> m_view;
  bool m_first = true;            // no snapshot received yet
  std::int64_t m_txn = -1;        // the transaction shown
  std::int64_t m_dismissed = -1;  // the transaction whose outcome was closed or that ended before
  std::optional<engine::TxnStatus> m_last;
  TxnMemory m_memory;
  QElapsedTimer m_rollBackClock;
  QElapsedTimer m_transferClock;
  QTimer m_hide;
  PhaseBar* m_bar;
  QLabel* m_headline;
  QLabel* m_numbers;
  QLabel* m_sentence;
  QPushButton* m_cancel;
  QPushButton* m_follow;
  QPushButton* m_report;
  QPushButton* m_close;
};

}  // namespace tessera::ui
