// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/txn_view.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <set>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

using engine::ChangeKind;
using engine::TxnPhase;

struct TxnWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::TxnView)
};

QString cancelCost(const engine::TxnStatus& txn) {
  switch (txn.kind) {
    case ChangeKind::kReconfigure:
      return TxnWords::tr("Until the commit the old layout is intact. Cancelling costs only time.");
    case ChangeKind::kRecover:
      return TxnWords::tr("If it is cancelled, the job stays suspended and keeps its state.");
    case ChangeKind::kLoad:
    case ChangeKind::kHandIn:
      return TxnWords::tr(
          "Until the commit the present state is intact. Cancelling costs only time.");
    case ChangeKind::kBegin:
      return TxnWords::tr("If it is cancelled, the job is not started.");
  }
  return {};
}

/// "2 × 2 × 1 → 4 × 2 × 1", or what differs where the mesh stays.
QString changeOf(const engine::TxnStatus& txn) {
  QString text = format::change(txn.from_mesh, txn.to_mesh);
  if (txn.from_mesh != txn.to_mesh) return text;
  if (txn.from_options != txn.to_options)
    return text + QStringLiteral(", ") + optionsText(txn.to_options);
  return txn.from_devices == txn.to_devices ? text : TxnWords::tr("%1 on other GPUs").arg(text);
}

QString runningHeadline(const engine::TxnStatus& txn, const QString& name) {
  switch (txn.kind) {
    case ChangeKind::kReconfigure:
      return TxnWords::tr("Reconfiguring %1: %2").arg(name, changeOf(txn));
    case ChangeKind::kRecover:
      return TxnWords::tr("Recovering %1: %2").arg(name, changeOf(txn));
    case ChangeKind::kLoad:
      return TxnWords::tr("Loading a checkpoint into %1").arg(name);
    case ChangeKind::kHandIn:
      return TxnWords::tr("Handing state in to %1").arg(name);
    case ChangeKind::kBegin:
      return TxnWords::tr("Starting %1 from a checkpoint").arg(name);
  }
  return {};
}

QString doneHeadline(const engine::TxnStatus& txn, const QString& name) {
  switch (txn.kind) {
    case ChangeKind::kReconfigure:
      return TxnWords::tr("Reconfigured %1: %2").arg(name, changeOf(txn));
    case ChangeKind::kRecover:
      return TxnWords::tr("Recovered %1: %2").arg(name, changeOf(txn));
    case ChangeKind::kLoad:
      return TxnWords::tr("Loaded a checkpoint into %1").arg(name);
    case ChangeKind::kHandIn:
      return TxnWords::tr("Handed state in to %1").arg(name);
    case ChangeKind::kBegin:
      return TxnWords::tr("Started %1 from a checkpoint").arg(name);
  }
  return {};
}

/// What is left after a change that did not commit.
QString keptText(const engine::TxnStatus& txn, const QString& name) {
  switch (txn.kind) {
    case ChangeKind::kReconfigure:
      return TxnWords::tr("%1 keeps its old layout, %2.").arg(name, format::shape(txn.from_mesh));
    case ChangeKind::kRecover:
      return TxnWords::tr("%1 stays suspended and keeps its state.").arg(name);
    case ChangeKind::kLoad:
    case ChangeKind::kHandIn:
      return TxnWords::tr("%1 keeps its state.").arg(name);
    case ChangeKind::kBegin:
      return TxnWords::tr("%1 was not started.").arg(name);
  }
  return {};
}

/// What the job does while a change is prepared.
QString meanwhile(const engine::TxnStatus& txn, const engine::JobStatus* job) {
  using engine::JobState;
  const bool trains = !txn.rests && (job == nullptr || job->state == JobState::kRunning ||
                                     job->state == JobState::kReconfiguring);
  return trains ? TxnWords::tr("Training continues.") : TxnWords::tr("The job does not train.");
}

QString withReason(const QString& sentence, const engine::TxnStatus& txn) {
  if (txn.reason.empty()) return sentence;
  return sentence + QLatin1Char(' ') + TxnWords::tr("Reason: %1.").arg(localized(txn.reason));
}

/// "Opening data: n1 37.5 % of 8.4 GiB."
QString waits(const engine::TxnStatus& txn) {
  return capitalized(localized(txn.reason) + QLatin1Char('.'));
}

int joiners(const engine::TxnStatus& txn) {
  const std::set<ptc::DeviceId> old(txn.from_devices.begin(), txn.from_devices.end());
  return static_cast<int>(
      std::count_if(txn.to_devices.begin(), txn.to_devices.end(),
                    [&](ptc::DeviceId device) { return !old.contains(device); }));
}

double fraction(std::int64_t done, std::int64_t total) {
  return total <= 0 ? 0.0
                    : std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
}

/// "4 s left", or "3 s to 6 s left" if the rate varies much.
QString remainingOf(const engine::TxnStatus& txn) {
  const QString least = format::seconds(txn.eta_least.value_or(*txn.eta));
  const QString most = format::seconds(txn.eta_most.value_or(*txn.eta));
  if (least == most || !txn.eta_least)
    return TxnWords::tr("%1 left").arg(format::seconds(*txn.eta));
  return TxnWords::tr("%1 to %2 left").arg(least, most);
}

QString numbersOf(const engine::TxnStatus& txn, const TxnMemory& memory) {
  if (txn.bytes_total <= 0) return {};
  QStringList parts{format::bytesOf(memory.bytesDone, txn.bytes_total)};
  double rate = 0;
  for (const engine::FlowStatus& flow : txn.flows) rate += flow.bytes_per_second;
  if (rate > 0) parts << format::rate(rate);
  // Early estimates are useless; show them after 2 s or 2 %.
  const bool settled =
      memory.transferAge.value_or(0) >= 2.0 || fraction(memory.bytesDone, txn.bytes_total) >= 0.02;
  if (txn.eta && settled) parts << remainingOf(txn);
  if (txn.throttle > 0)
    parts << TxnWords::tr("limited to %1 per node")
                 .arg(format::rate(static_cast<double>(txn.throttle)));
  return parts.join(QStringLiteral(" · "));
}

QString committedSentence(const engine::TxnStatus& txn, const engine::JobStatus* job) {
  const bool trains = job != nullptr && job->state == engine::JobState::kRunning && txn.step > 0;
  QString sentence =
      trains ? TxnWords::tr("Training resumed after step %1.").arg(format::count(txn.step))
             : TxnWords::tr("The change is committed.");
  QStringList facts{TxnWords::tr("pause %1").arg(format::seconds(txn.paused))};
  if (txn.checksums_equal > 0) {
    facts << TxnWords::tr("%1 checksums equal").arg(format::count(txn.checksums_equal));
  }
  return sentence + QLatin1Char(' ') +
         TxnWords::tr("Moved %1").arg(format::bytes(txn.bytes_total)) + QStringLiteral(", ") +
         facts.join(QStringLiteral(", ")) + QLatin1Char('.');
}

}  // namespace

QString stepName(int step) {
  switch (step) {
    case TxnView::kPrepare:
      return TxnWords::tr("prepare");
    case TxnView::kCopy:
      return TxnWords::tr("copy");
    case TxnView::kPause:
      return TxnWords::tr("pause");
    case TxnView::kTransfer:
      return TxnWords::tr("transfer");
    case TxnView::kVerify:
      return TxnWords::tr("verify");
    case TxnView::kCommit:
      return TxnWords::tr("commit");
    default:
      return TxnWords::tr("resume");
  }
}

std::optional<int> stepOf(TxnPhase phase) {
  switch (phase) {
    case TxnPhase::kPlanned:
    case TxnPhase::kPreparing:
      return TxnView::kPrepare;
    case TxnPhase::kPrecopying:
      return TxnView::kCopy;
    case TxnPhase::kPausing:
      return TxnView::kPause;
    case TxnPhase::kTransferring:
      return TxnView::kTransfer;
    case TxnPhase::kVerifying:
      return TxnView::kVerify;
    case TxnPhase::kCommitting:
      return TxnView::kCommit;
    case TxnPhase::kResuming:
      return TxnView::kResume;
    case TxnPhase::kDone:
      return TxnView::kNumSteps;
    case TxnPhase::kRollingBack:
    case TxnPhase::kRolledBack:
    case TxnPhase::kFailed:
    case TxnPhase::kNeedsDecision:
    case TxnPhase::kInDoubt:
      return std::nullopt;
  }
  return std::nullopt;
}

TxnView viewOf(const engine::TxnStatus& txn, const engine::JobStatus* job,
               const TxnMemory& memory) {
  TxnView view;
  const QString name = QString::fromStdString(txn.job);
  view.headline = runningHeadline(txn, name);
  view.step = stepOf(txn.phase).value_or(memory.reachedStep);
  view.copiesAhead = memory.copiesAhead;
  view.active = true;
  const auto cancellable = [&](const QString& sentence) {
    return txn.can_cancel ? sentence + QLatin1Char(' ') + cancelCost(txn) : sentence;
  };
  switch (txn.phase) {
    case TxnPhase::kPlanned:
      view.sentence = cancellable(TxnWords::tr("The cluster has accepted the plan."));
      break;
    case TxnPhase::kPreparing: {
      const int count = joiners(txn);
      const QString what = (count == 1  ? TxnWords::tr("1 GPU is starting.")
                            : count > 1 ? TxnWords::tr("%1 GPUs are starting.").arg(format::count(count))
                                        : TxnWords::tr("The ranks create their new groups.")) +
                           QLatin1Char(' ') + meanwhile(txn, job);
      view.sentence = cancellable(txn.reason.empty() ? what : what + QLatin1Char(' ') + waits(txn));
      break;
    }
    case TxnPhase::kPrecopying:
      if (!txn.reason.empty()) {
        view.sentence = cancellable(TxnWords::tr("The cluster is prepared.") + QLatin1Char(' ') +
                                    meanwhile(txn, job) + QLatin1Char(' ') + waits(txn));
        break;
      }
      view.progress = fraction(memory.bytesDone, txn.bytes_total);
      view.numbers = numbersOf(txn, memory);
      view.sentence =
          cancellable(job != nullptr && job->step_seconds
                          ? TxnWords::tr("The state is copied while the job trains, at %1 a step.")
                                .arg(format::seconds(*job->step_seconds))
                          : TxnWords::tr("The state is copied while the job trains."));
      if (txn.legs > 1) {
        view.numbers =
            TxnWords::tr("step %1 of %2").arg(format::count(txn.leg), format::count(txn.legs)) +
            QStringLiteral(" · ") + view.numbers;
      }
      break;
    case TxnPhase::kPausing:
      view.sentence = cancellable(
          txn.rests ? meanwhile(txn, job)
          : job == nullptr
              ? TxnWords::tr("Waiting for the current step to end.")
              : TxnWords::tr("Waiting for step %1 to end.").arg(format::count(job->step + 1)));
      break;
    case TxnPhase::kTransferring:
      view.progress = fraction(memory.bytesDone, txn.bytes_total);
      view.numbers = numbersOf(txn, memory);
      view.sentence = txn.can_cancel ? cancelCost(txn) : TxnWords::tr("Transferring the state.");
      if (txn.round > 0) {
        view.sentence =
            TxnWords::tr("Round %1 of %2. The change is decided and can no longer be cancelled.")
                .arg(format::count(txn.round), format::count(txn.rounds));
      }
      break;
    case TxnPhase::kVerifying:
      view.numbers = format::bytesOf(memory.bytesDone, txn.bytes_total);
      view.sentence = cancellable(TxnWords::tr("Comparing checksums: %1 equal so far.")
                                      .arg(format::count(txn.checksums_equal)));
      break;
    case TxnPhase::kCommitting:
      view.sentence = TxnWords::tr(
          "Switching to the new layout. The change is decided and can no longer be cancelled.");
      break;
    case TxnPhase::kResuming:
      view.sentence = TxnWords::tr("The change is committed. The ranks resume.");
      break;
    case TxnPhase::kDone:
      view.active = false;
      view.ended = true;
      view.tone = TxnView::Tone::Good;
      view.headline = doneHeadline(txn, name);
      view.sentence = committedSentence(txn, job);
      break;
    case TxnPhase::kRollingBack:
      view.active = false;
      view.tone = TxnView::Tone::Warning;
      view.headline =
          txn.kind == ChangeKind::kReconfigure
              ? TxnWords::tr("Rolling back %1 to %2").arg(name, format::shape(txn.from_mesh))
              : TxnWords::tr("Rolling back the change of %1").arg(name);
      view.sentence = withReason(txn.kind == ChangeKind::kReconfigure
                                     ? TxnWords::tr("The old layout is intact.")
                                     : keptText(txn, name),
                                 txn);
      break;
    case TxnPhase::kRolledBack:
      view.active = false;
      view.ended = true;
      view.tone = TxnView::Tone::Warning;
      view.headline = memory.rollBack
                          ? TxnWords::tr("Rolled back in %1").arg(format::seconds(*memory.rollBack))
                          : TxnWords::tr("Rolled back");
      view.sentence = withReason(keptText(txn, name), txn);
      break;
    case TxnPhase::kFailed:
      view.active = false;
      view.ended = true;
      view.tone = TxnView::Tone::Bad;
      view.headline = TxnWords::tr("The change of %1 failed").arg(name);
      view.sentence = withReason(QString(), txn).trimmed();
      if (view.sentence.isEmpty()) view.sentence = TxnWords::tr("The cluster gave no reason.");
      break;
    case TxnPhase::kNeedsDecision:
      view.active = false;
      view.tone = TxnView::Tone::Warning;
      view.headline = TxnWords::tr("%1 needs a decision").arg(name);
      view.sentence = withReason(TxnWords::tr("The change is waiting. Nothing is lost."), txn);
      break;
    case TxnPhase::kInDoubt:
      view.active = false;
      view.tone = TxnView::Tone::Bad;
      view.headline = TxnWords::tr("The outcome of the change of %1 is unknown").arg(name);
      view.sentence =
          withReason(TxnWords::tr("Both layouts are kept until the outcome is known."), txn);
      break;
  }
  return view;
}

}  // namespace tessera::ui
