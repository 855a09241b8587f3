// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Who may move bytes, and when: Monitor or Operate, live mode with its countdown, apply, cancel.
/// Every command that changes the cluster goes through here.

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"

namespace tessera::ui {

class MoveControl : public QObject {
  Q_OBJECT

 public:
  /// Armed panels lock again after this long without input.
  static constexpr int kRelockMinutes = 30;  // where nothing else is set

  /// All of them outlive the control.
  MoveControl(ClusterModel& model, Draft& draft, DraftPlan& plan, ClusterCommands& commands,
              QObject* parent = nullptr);

  /// Monitor for good.
  void setReadOnly();
  /// Monitor as long as this holds: the cluster's profile, or a file, is only looked at.
  void setOnlyLooking(bool on);
  bool isReadOnly() const { return m_readOnly || m_onlyLooking; }
  void setOperating(bool on);
  bool isOperating() const { return m_operating; }
  /// A drop applies after the countdown. Needs Operate.
  void setLive(bool on);
  bool isLive() const { return m_live; }
  void setCountdownMs(int milliseconds) { m_countdownMs = milliseconds; }
  int countdownMs() const { return m_countdownMs; }
  void setRelockMinutes(int minutes);
  /// The user is here: starts the time to the relock anew.
  void noteInput();

  /// Why nothing in this panel may change the cluster, one sentence; empty if it may.
  QString lockReason() const;
  /// Why the draft cannot be edited now; empty if it can.
  QString editBlockedReason() const;
  /// Why the draft cannot be applied now; empty if it can.
  QString applyBlockedReason() const;

  /// Why the move that is applied now would leave no record, one sentence; empty where it is
  /// recorded. It refuses what is not told to go on all the same.
  QString unrecordedReason() const;

  /// A drop or its keyboard equivalent was made: in live mode the countdown starts as soon as the
  /// plan is there.
  void draftEditedByHand();
  bool isWaitingForPlan() const { return m_applyWhenPlanned; }
  bool isCountingDown() const { return m_countdown.isActive(); }
  int countdownLeftMs() const { return m_countdown.remainingTime(); }
  /// Stops a countdown or the wait for its plan. \return whether there was one
  bool stopCountdown();
  bool isSending() const { return m_sending; }

  /// Sends the plan of the draft. Does nothing where applyBlockedReason says why; fails with
  /// unrecordedReason where there is one and it is not allowed.
  void apply(Unrecorded unrecorded = Unrecorded::Refuse);
  /// Asks for a roll back. Does nothing without a transaction that can be cancelled.
  void cancelMove();
  void act(JobAct act);

 signals:
  /// Any of the above changed.
  void changed();
  /// The transaction runs; the draft is cleared.
  void applied(qint64 txn);
  void cancelRequested(qint64 txn);
  /// A command was refused; one sentence.
  void failed(const QString& message);

 private:
  void onPlanChanged();
  void startCountdown();

  ClusterModel& m_model;
  Draft& m_draft;
  DraftPlan& m_plan;
  ClusterCommands& m_commands;
  bool m_readOnly = false;
  bool m_onlyLooking = false;
  bool m_operating = false;
  bool m_live = false;
  bool m_applyWhenPlanned = false;
  bool m_sending = false;
  int m_countdownMs = 3000;
  int m_relockMinutes = kRelockMinutes;
  QTimer m_countdown;
  QTimer m_relock;
};

}  // namespace tessera::ui
