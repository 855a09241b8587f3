// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Decides whether this panel may change the cluster: Monitor or Operate, live mode with its
/// countdown, apply and cancel. Every command that changes the cluster passes through here.

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <functional>
#include <optional>
#include <utility>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"

namespace tessera::ui {

class MoveControl : public QObject {
  Q_OBJECT

 public:
  /// A panel in Operate mode locks after this time without input.
  static constexpr int kRelockMinutes = 30;  // the default
  /// A reason names this many of the GPUs without enough memory, and counts the others.
  static constexpr int kNamedOffenders = 3;

  /// All arguments must outlive the control.
  MoveControl(ClusterModel& model, Draft& draft, DraftPlan& plan, ClusterCommands& commands,
              QObject* parent = nullptr);

  /// Locks the panel in Monitor mode permanently.
  void setReadOnly();
  /// Locks the panel in Monitor mode while `on`: for a read-only profile.
  void setOnlyLooking(bool on);
  /// Why this panel can only monitor, as one sentence: also where its key is a viewer's. Empty if
  /// it can operate.
  QString readOnlyReason() const;
  bool isReadOnly() const { return !readOnlyReason().isEmpty(); }
  void setOperating(bool on);
  bool isOperating() const { return m_operating; }
  /// Sets live mode, in which a drop applies after the countdown. Requires Operate.
  void setLive(bool on);
  bool isLive() const { return m_live; }
  void setCountdownMs(int milliseconds) { m_countdownMs = milliseconds; }
  int countdownMs() const { return m_countdownMs; }
  void setRelockMinutes(int minutes);
  /// Blocks every change of draft and cluster while an earlier moment is shown.
  void setLookingBack(bool on);
  /// A lesson is shown: nothing may be sent to the cluster until Live is shown again.
  void setInLesson(bool on);
  /// Restarts the relock timer, because the user is active.
  void noteInput();

  /// Returns why this panel may not change the cluster, as one sentence; empty if it may.
  QString lockReason() const;
  /// Returns why the draft cannot be edited now; empty if it can.
  QString editBlockedReason() const;
  /// Returns why there can be no draft, whatever moment is shown; empty if there can be one.
  QString draftBlockedReason() const;
  /// Returns why the draft cannot be applied now; empty if it can.
  QString applyBlockedReason() const;

  /// Returns why a change applied now would not be recorded, as one sentence; empty if it would.
  /// apply() then refuses unless Unrecorded::Allow is given.
  QString unrecordedReason() const;

  /// Call this after a drop or its keyboard equivalent. In live mode the countdown starts as soon
  /// as the plan is ready.
  void draftEditedByHand();
  bool isWaitingForPlan() const { return m_applyWhenPlanned; }
  bool isCountingDown() const { return m_countdown.isActive(); }
  int countdownLeftMs() const { return m_countdown.remainingTime(); }
  /// Stops a countdown or the wait for its plan.
  /// \return whether there was one
  bool stopCountdown();
  bool isSending() const { return m_sending; }

  /// Sends the plan of the draft. Does nothing if applyBlockedReason() is not empty. Emits failed()
  /// if the change cannot be recorded and `unrecorded` does not allow that.
  void apply(Unrecorded unrecorded = Unrecorded::Refuse);
  /// Requests a roll back. Does nothing without a transaction that can be cancelled.
  void cancelMove();
  void act(JobAct act);
  /// Starts a job. `done` is called at once if lockReason() is not empty.
  void startJob(const StartRequest& request, ClusterCommands::Done<void> done);
  /// Decides about the lost GPUs of the job.
  void decide(const LossDecision& decision);
  void setOnFailure(engine::OnFailure onFailure);
  void setSnapshots(engine::SnapshotEvery every);
  /// The snapshot of the cluster shows its progress, an event the result.
  void saveCheckpoint(const QString& folder);
  /// Sends a request that changes the cluster. `done` is called at once if lockReason() is not
  /// empty.
  template <typename R>
  void ask(const R& request, ClusterCommands::Done<typename R::Answer> done,
           std::function<void(const typename R::Answer&)> progress = {}) {
    if (const QString reason = lockReason(); !reason.isEmpty())
      return done(FailedPrecondition(reason.toStdString()));
    m_commands.ask(request, std::move(done), std::move(progress));
  }
  /// Tunes a job, as ask(). It goes on when the dialog that has started it is closed.
  /// \error kFailedPrecondition while a job is being tuned
  void tune(const TuneRequest& request, ClusterCommands::Done<TuneAnswer> done,
            std::function<void(const TuneAnswer&)> progress);
  /// The tuning that this panel has started, until it ends.
  struct Tuning {
    QString job;
    QString doing = {};  // one clause; empty at first
    bool isStopping = false;
    friend bool operator==(const Tuning&, const Tuning&) = default;
  };
  const std::optional<Tuning>& tuning() const { return m_tuning; }
  /// The job returns to the configuration that it had before.
  void stopTuning();

 signals:
  /// Any of the states above changed.
  void changed();
  /// The transaction has started and the draft is cleared.
  void applied(qint64 txn);
  void cancelRequested(qint64 txn);
  /// A command was refused. `message` is one sentence.
  void failed(const QString& message);

 private:
  QString pastReason() const;
  QString memoryReason() const;
  void followModel();
  void onPlanChanged();
  void startCountdown();
  ClusterCommands::Done<void> reportRefusal();

  ClusterModel& m_model;
  Draft& m_draft;
  DraftPlan& m_plan;
  ClusterCommands& m_commands;
  bool m_readOnly = false;
  bool m_onlyLooking = false;
  bool m_lookingBack = false;
  bool m_inLesson = false;
  bool m_operating = false;
  bool m_live = false;
  bool m_applyWhenPlanned = false;
  bool m_sending = false;
  std::optional<Tuning> m_tuning;
  QStringList m_reasons;  // that depend on the model, as they were last
  int m_countdownMs = 3000;
  int m_relockMinutes = kRelockMinutes;
  QTimer m_countdown;
  QTimer m_relock;
};

}  // namespace tessera::ui
