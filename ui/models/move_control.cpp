// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/move_control.h"

#include <QPointer>
#include <QStringList>
#include <chrono>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/models/tuning_text.h"
#include "ui/sentences.h"

namespace tessera::ui {

MoveControl::MoveControl(ClusterModel& model, Draft& draft, DraftPlan& plan,
                         ClusterCommands& commands, QObject* parent)
    : QObject(parent), m_model(model), m_draft(draft), m_plan(plan), m_commands(commands) {
  m_countdown.setSingleShot(true);
  m_relock.setSingleShot(true);
  connect(&m_countdown, &QTimer::timeout, this, [this] { apply(); });
  connect(&m_relock, &QTimer::timeout, this, [this] { setOperating(false); });
  connect(&m_plan, &DraftPlan::changed, this, &MoveControl::onPlanChanged);
  connect(&m_draft, &Draft::changed, this, [this] {
    if (isCountingDown()) stopCountdown();
  });
  connect(&m_model, &ClusterModel::changed, this, &MoveControl::followModel);
}

// A cluster publishes several times a second, and most of it changes nothing here.
void MoveControl::followModel() {
  if (isCountingDown() && !applyBlockedReason().isEmpty()) stopCountdown();
  if (isReadOnly()) setOperating(false);
  QStringList reasons{lockReason(), draftBlockedReason(), unrecordedReason()};
  if (reasons == m_reasons) return;
  m_reasons = std::move(reasons);
  emit changed();
}

void MoveControl::setReadOnly() {
  setOperating(false);
  m_readOnly = true;
  emit changed();
}

void MoveControl::setOnlyLooking(bool on) {
  if (on == m_onlyLooking) return;
  setOperating(false);
  m_onlyLooking = on;
  emit changed();
}

void MoveControl::setRelockMinutes(int minutes) {
  m_relockMinutes = minutes;
  noteInput();
}

void MoveControl::setLookingBack(bool on) {
  if (on == m_lookingBack) return;
  m_lookingBack = on;
  if (on) stopCountdown();
  emit changed();
}

void MoveControl::setInLesson(bool on) {
  if (on == m_inLesson) return;
  m_inLesson = on;
  if (on) stopCountdown();
  emit changed();
}

void MoveControl::setOperating(bool on) {
  if (on == m_operating || (on && isReadOnly())) return;
  m_operating = on;
  if (!on) {
    m_live = false;
    stopCountdown();
  }
  noteInput();
  emit changed();
}

void MoveControl::setLive(bool on) {
  if (on == m_live || (on && !m_operating)) return;
  m_live = on;
  if (!on) stopCountdown();
  emit changed();
}

void MoveControl::noteInput() {
  if (m_operating) {
    m_relock.start(std::chrono::minutes(m_relockMinutes));
  } else {
    m_relock.stop();
  }
}

QString MoveControl::readOnlyReason() const {
  if (m_readOnly) return tr("This panel is read-only.");
  if (m_model.isFile()) return tr("This is a history file, not a live cluster.");
  if (m_onlyLooking) return tr("The profile of this cluster is read-only.");
  if (!m_model.viewerKey().isEmpty()) {
    return tr("Key '%1' is a viewer's: only an operator's key can change this cluster.")
        .arg(m_model.viewerKey());
  }
  return {};
}

QString MoveControl::lockReason() const {
  if (isReadOnly()) return readOnlyReason();
  if (!m_operating) return tr("Monitor mode: switch to Operate first (Ctrl+Shift+O).");
  if (m_model.link() != LinkState::Connected) return tr("There is no connection to the cluster.");
  return pastReason();
}

QString MoveControl::pastReason() const {
  if (m_inLesson) return tr("This is a lesson: return to live first.");
  return m_lookingBack ? tr("This is the past: return to live first.") : QString();
}

QString MoveControl::editBlockedReason() const {
  const QString reason = draftBlockedReason();
  return reason.isEmpty() ? pastReason() : reason;
}

QString MoveControl::draftBlockedReason() const {
  if (m_model.isFile()) return tr("This is a history file, not a live cluster.");
  if (m_draft.job().isEmpty()) return tr("No job is running.");
  if (m_model.runningTxn() != nullptr || m_sending) return tr("A change is in progress.");
  return {};
}

QString MoveControl::applyBlockedReason() const {
  if (const QString reason = lockReason(); !reason.isEmpty()) return reason;
  if (const QString reason = editBlockedReason(); !reason.isEmpty()) return reason;
  switch (m_plan.state()) {
    case DraftPlan::State::None:
      return tr("Change something: drag a GPU or edit an axis.");
    case DraftPlan::State::Planning:
      return tr("Planning…");
    case DraftPlan::State::Invalid:
    case DraftPlan::State::Stale:
    case DraftPlan::State::Failed:
      return m_plan.problem();
    case DraftPlan::State::Ready:
      break;
  }
  const engine::PlanSummary& summary = *m_plan.summary();
  if (summary.to_mesh == summary.from_mesh && summary.to_devices == summary.from_devices &&
      summary.to_options == summary.from_options) {
    return tr("The draft does not change the job.");
  }
  return memoryReason();
}

QString MoveControl::memoryReason() const {
  const auto& overflows = m_plan.overflows();
  if (overflows.empty()) return {};
  QStringList offenders;
  for (const auto& peak : overflows) {
    if (offenders.size() == kNamedOffenders) break;
    offenders << tr("%1 would hold %2")
                     .arg(format::device(peak.device), format::bytesOf(peak.bytes, peak.capacity));
  }
  const QString named = offenders.join(QStringLiteral(", "));
  const auto others = std::ssize(overflows) - offenders.size();
  if (others == 0) return tr("Not enough memory: %1.").arg(named);
  return tr("Not enough memory on %1: %2, and %3 more.")
      .arg(format::gpus(std::ssize(overflows)), named, format::count(others));
}

QString MoveControl::unrecordedReason() const {
  const QString problem = m_model.recordProblem();
  return problem.isEmpty() ? QString()
                           : tr("The change cannot be recorded: %1.").arg(localized(problem));
}

void MoveControl::draftEditedByHand() {
  if (!m_live) return;
  m_countdown.stop();
  m_applyWhenPlanned = !m_draft.isEmpty();
  onPlanChanged();
}

void MoveControl::onPlanChanged() {
  if (isCountingDown() && !applyBlockedReason().isEmpty()) m_countdown.stop();
  if (m_applyWhenPlanned) {
    switch (m_plan.state()) {
      case DraftPlan::State::Planning:
      case DraftPlan::State::Stale:
        break;
      case DraftPlan::State::None:
      case DraftPlan::State::Invalid:
      case DraftPlan::State::Failed:
        m_applyWhenPlanned = false;
        break;
      case DraftPlan::State::Ready:
        m_applyWhenPlanned = false;
        if (!applyBlockedReason().isEmpty()) break;
        if (const QString reason = unrecordedReason(); !reason.isEmpty()) {
          emit failed(tr("Nothing was moved. %1").arg(reason));
        } else if (m_plan.summary()->in_rounds.rounds > 0) {
          emit failed(tr("A change in rounds is not made by a drop: press Apply."));
        } else {
          startCountdown();
        }
        break;
    }
  }
  emit changed();
}

void MoveControl::startCountdown() { m_countdown.start(m_countdownMs); }

bool MoveControl::stopCountdown() {
  const bool was = isCountingDown() || m_applyWhenPlanned;
  m_countdown.stop();
  m_applyWhenPlanned = false;
  if (was) emit changed();
  return was;
}

void MoveControl::apply(Unrecorded unrecorded) {
  m_countdown.stop();
  if (!applyBlockedReason().isEmpty()) {
    emit changed();
    return;
  }
  if (const QString reason = unrecordedReason();
      unrecorded == Unrecorded::Refuse && !reason.isEmpty()) {
    emit failed(tr("Nothing was moved. %1").arg(reason));
    emit changed();
    return;
  }
  m_sending = true;
  const QString hash = QString::fromStdString(m_plan.summary()->hash);
  m_commands.apply(
      m_plan.request(), hash, unrecorded,
      [self = QPointer<MoveControl>(this)](Result<std::int64_t> result) {
        if (!self) return;
        self->m_sending = false;
        if (result) {
          self->m_draft.clear();
          emit self->applied(*result);
        } else {
          emit self->failed(tr("Nothing was moved: %1.").arg(format::error(result.error())));
          self->m_plan.replan();
        }
        emit self->changed();
      });
  emit changed();
}

void MoveControl::cancelMove() {
  const engine::TxnStatus* txn = m_model.runningTxn();
  if (txn == nullptr || !txn->can_cancel || !lockReason().isEmpty()) return;
  emit cancelRequested(txn->id);
  m_commands.cancel(txn->id, [self = QPointer<MoveControl>(this)](Status result) {
    if (self && !result) {
      emit self->failed(tr("The change was not cancelled: %1.").arg(format::error(result.error())));
    }
  });
}

void MoveControl::act(JobAct act) {
  if (!lockReason().isEmpty() || m_draft.job().isEmpty()) return;
  m_commands.jobAct(m_draft.job(), act, reportRefusal());
}

void MoveControl::startJob(const StartRequest& request, ClusterCommands::Done<void> done) {
  if (const QString reason = lockReason(); !reason.isEmpty())
    return done(FailedPrecondition(reason.toStdString()));
  m_commands.startJob(request, std::move(done));
}

void MoveControl::decide(const LossDecision& decision) {
  if (!lockReason().isEmpty() || m_draft.job().isEmpty()) return;
  m_commands.decide(m_draft.job(), decision, reportRefusal());
}

void MoveControl::setOnFailure(engine::OnFailure onFailure) {
  if (!lockReason().isEmpty() || m_draft.job().isEmpty()) return;
  m_commands.setOnFailure(m_draft.job(), onFailure, reportRefusal());
}

void MoveControl::setSnapshots(engine::SnapshotEvery every) {
  if (!lockReason().isEmpty() || m_draft.job().isEmpty()) return;
  m_commands.setSnapshots(m_draft.job(), every, reportRefusal());
}

void MoveControl::saveCheckpoint(const QString& folder) {
  if (!lockReason().isEmpty() || m_draft.job().isEmpty()) return;
  m_commands.saveCheckpoint(
      m_draft.job(), folder, [self = QPointer<MoveControl>(this)](Status result) {
        if (self && !result) {
          emit self->failed(tr("No checkpoint was saved: %1.").arg(format::error(result.error())));
        }
      });
}

ClusterCommands::Done<void> MoveControl::reportRefusal() {
  return [self = QPointer<MoveControl>(this)](Status result) {
    if (self && !result) {
      emit self->failed(tr("The job could not be changed: %1.").arg(format::error(result.error())));
    }
  };
}

void MoveControl::tune(const TuneRequest& request, ClusterCommands::Done<TuneAnswer> done,
                       std::function<void(const TuneAnswer&)> progress) {
  if (m_tuning)
    return done(FailedPrecondition(m_tuning->job.toStdString() + " is being tuned already"));
  if (const QString reason = lockReason(); !reason.isEmpty())
    return done(FailedPrecondition(reason.toStdString()));
  m_tuning = Tuning{QString::fromStdString(request.job)};
  emit changed();
  const QPointer<MoveControl> self(this);
  m_commands.ask(
      request,
      [self, done = std::move(done)](Result<TuneAnswer> answer) {
        if (self) {
          self->m_tuning.reset();
          emit self->changed();
        }
        done(std::move(answer));
      },
      [self, progress = std::move(progress)](const TuneAnswer& part) {
        if (self && self->m_tuning) {
          self->m_tuning->doing = part.doing ? doingText(*part.doing) : QString();
          emit self->changed();
        }
        progress(part);
      });
}

void MoveControl::stopTuning() {
  if (!m_tuning || std::exchange(m_tuning->isStopping, true)) return;
  m_commands.stopRequests();
  emit changed();
}

}  // namespace tessera::ui
