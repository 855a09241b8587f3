// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/change_view.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/format.h"

namespace tessera::ui {
namespace {

struct ChangeWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ChangeView)
};

}  // namespace

QString meshText(const std::string& text) {
  const auto mesh = ptc::ParseDeviceMesh(text);
  return mesh ? format::shape(mesh->shape()) : QString::fromStdString(text);
}

QString changeText(const engine::HistoryEntry& entry) {
  const QString from = meshText(entry.from), to = meshText(entry.to);
  switch (entry.kind) {
    case engine::ChangeKind::kReconfigure:
    case engine::ChangeKind::kRecover:
      break;
    case engine::ChangeKind::kLoad:
      return ChangeWords::tr("%1, checkpoint loaded").arg(to);
    case engine::ChangeKind::kHandIn:
      return ChangeWords::tr("%1, state handed in").arg(to);
    case engine::ChangeKind::kBegin:
      return ChangeWords::tr("%1, begun from a checkpoint").arg(to);
  }
  if (from != to) return from + QStringLiteral(" → ") + to;
  if (entry.from_options != entry.to_options)
    return to + QStringLiteral(", ") + optionsText(entry.to_options);
  return entry.from == entry.to ? to : ChangeWords::tr("%1, other GPUs").arg(to);
}

QString undoBlockedReason(const engine::HistoryEntry& entry) {
  if (entry.result != "committed") return ChangeWords::tr("Only a committed change can be undone.");
  return undoBlockedReason(entry.kind);
}

QString undoBlockedReason(engine::ChangeKind kind) {
  switch (kind) {
    case engine::ChangeKind::kReconfigure:
      return {};
    case engine::ChangeKind::kRecover:
      return ChangeWords::tr("The job has left these GPUs because some of them were lost.");
    case engine::ChangeKind::kLoad:
    case engine::ChangeKind::kHandIn:
    case engine::ChangeKind::kBegin:
      return ChangeWords::tr("The state before this change is gone. A checkpoint brings it back.");
  }
  return {};
}

QString resultText(const engine::HistoryEntry& entry) {
  if (entry.result.empty()) return ChangeWords::tr("running");
  if (entry.result == "committed") return ChangeWords::tr("committed");
  if (entry.result == "rolled_back") return ChangeWords::tr("rolled back");
  if (entry.result == "failed") return ChangeWords::tr("failed");
  if (entry.result == "unknown") return ChangeWords::tr("unknown");
  return QString::fromStdString(entry.result);
}

QString optionsText(const engine::StepOptions& options) {
  QString text = options.zero ? ChangeWords::tr("ZeRO on") : ChangeWords::tr("ZeRO off");
  if (options.micro_batch > 0) {
    text += QStringLiteral(", ") +
            ChangeWords::tr("micro-batch %1").arg(format::count(options.micro_batch));
  }
  return text;
}

QString digestsText(const engine::HistoryEntry& entry) {
  if (entry.digest_before.empty() || entry.digest_after.empty()) {
    return format::orUnknown(std::nullopt);
  }
  return entry.digest_before == entry.digest_after ? ChangeWords::tr("equal")
                                                   : ChangeWords::tr("different");
}

std::int64_t plannedBytes(const engine::HistoryEntry& entry) {
  return entry.kept + entry.device + entry.host + entry.network;
}

bool pausesJob(std::string_view phase) {
  const auto known = engine::ParseTxnPhase(phase);
  if (!known) return false;
  switch (*known) {
    case engine::TxnPhase::kPausing:
    case engine::TxnPhase::kTransferring:
    case engine::TxnPhase::kVerifying:
    case engine::TxnPhase::kCommitting:
    case engine::TxnPhase::kNeedsDecision:
    case engine::TxnPhase::kInDoubt:
      return true;
    default:
      return false;
  }
}

std::vector<PhaseTime> phasesOf(const engine::HistoryEntry& entry) {
  std::vector<PhaseTime> phases;
  for (const auto& [phase, seconds] : entry.phases) {
    const auto known = engine::ParseTxnPhase(phase);
    phases.push_back({phase, known ? format::text(*known) : QString::fromStdString(phase), seconds,
                      pausesJob(phase)});
  }
  const auto order = [](const PhaseTime& phase) {
    const auto known = engine::ParseTxnPhase(phase.phase);
    return known ? static_cast<int>(*known) : 1000;
  };
  std::stable_sort(phases.begin(), phases.end(),
                   [&](const PhaseTime& a, const PhaseTime& b) { return order(a) < order(b); });
  return phases;
}

ChangeTimes timesOf(const engine::HistoryEntry& entry) {
  double whole = 0, before = 0;
  for (const auto& [phase, seconds] : entry.phases) {
    whole += seconds;
    if (!pausesJob(phase)) before += phase == "resuming" ? 0 : seconds;
  }
  ChangeTimes times;
  times.end = entry.started + std::max(whole, entry.pause);
  if (whole > 0 && entry.pause > whole) {  // a loss had paused the job before
    times.end = times.pauseEnd = entry.started + whole;
    times.pauseStart = times.end - entry.pause;
    return times;
  }
  times.pauseStart = std::min(entry.started + before, times.end);
  times.pauseEnd = std::min(times.pauseStart + std::max(0.0, entry.pause), times.end);
  return times;
}

}  // namespace tessera::ui
