// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/draft_desk.h"

#include <QUndoStack>
#include <set>
#include <utility>

#include "ui/format.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/move_control.h"
#include "ui/pages/apply_sheet.h"
#include "ui/sentences.h"
#include "ui/settings/settings.h"
#include "ui/views/shown_layout.h"

namespace tessera::ui {
namespace {

std::vector<ptc::DeviceId> toVector(const QList<ptc::DeviceId>& devices) {
  return {devices.begin(), devices.end()};
}

}  // namespace

DraftDesk::DraftDesk(Parts parts, Window window) : m_parts(parts), m_window(std::move(window)) {}

Draft& DraftDesk::shown() const {
  return m_window.isLesson() ? m_parts.lessons.draft() : m_parts.draft;
}

QString DraftDesk::editBlockedReason() const {
  return m_window.isLesson() ? m_parts.lessons.editBlockedReason()
                             : m_parts.control.editBlockedReason();
}

void DraftDesk::followEdit() {
  m_window.setSource(LayoutSource::Draft);
  m_parts.control.draftEditedByHand();
}

void DraftDesk::edit(const QList<ptc::DeviceId>& devices, std::optional<bool> intoMesh) {
  if (m_window.isLesson()) return m_parts.lessons.edit(toVector(devices), intoMesh);
  if (const QString reason = m_parts.control.editBlockedReason(); !reason.isEmpty())
    return m_window.say(reason);
  Draft& draft = m_parts.draft;
  const Draft::Edits before = draft.edits();
  if (!intoMesh) {
    draft.toggle(toVector(devices));
  } else if (*intoMesh) {
    draft.add(toVector(devices));
  } else {
    draft.remove(toVector(devices));
  }
  if (draft.edits() != before) followEdit();
}

void DraftDesk::swap(const QList<ptc::DeviceId>& devices, const QList<ptc::DeviceId>& others) {
  if (m_window.isLesson()) {
    const Status swapped = m_parts.lessons.swap(toVector(devices), toVector(others));
    if (!swapped) m_window.say(localized(swapped.error().message));
    return;
  }
  if (const QString reason = m_parts.control.editBlockedReason(); !reason.isEmpty())
    return m_window.say(reason);
  Draft& draft = m_parts.draft;
  const Draft::Edits before = draft.edits();
  const Status swapped =
      draft.swap(toVector(devices), toVector(others), m_parts.plan.summary().get());
  if (!swapped) return m_window.say(localized(swapped.error().message));
  if (draft.edits() != before) followEdit();
}

void DraftDesk::undo() {
  shown().undoStack()->undo();
  if (!m_window.isLesson()) m_window.setSource(LayoutSource::Draft);
}

void DraftDesk::redo() {
  shown().undoStack()->redo();
  if (!m_window.isLesson()) m_window.setSource(LayoutSource::Draft);
}

QString DraftDesk::dropHint(const QList<ptc::DeviceId>& devices, bool intoMesh) const {
  std::set<ptc::DeviceId> set = shown().deviceSet();
  for (const ptc::DeviceId device : devices) {
    if (intoMesh) {
      set.insert(device);
    } else {
      set.erase(device);
    }
  }
  return tr("%1 in %2 after the drop")
      .arg(format::gpus(static_cast<std::int64_t>(set.size())), shown().job());
}

void DraftDesk::reverse(const engine::HistoryEntry& entry) {
  const auto before = ptc::ParseDeviceMesh(entry.from);
  if (!before) {
    m_window.showError(
        tr("Change %1 cannot be undone: %2.").arg(entry.id).arg(format::error(before.error())));
    return;
  }
  if (QString::fromStdString(entry.job) != m_parts.draft.job()) {
    m_window.showError(tr("Change %1 belongs to job %2, which is not the job shown.")
                           .arg(entry.id)
                           .arg(QString::fromStdString(entry.job)));
    return;
  }
  const engine::JobStatus* job = m_parts.model.job();
  if (job != nullptr && !engine::IsOf(entry, *job)) {
    m_window.showError(tr("Change %1 belongs to an earlier job %2, which has ended.")
                           .arg(entry.id)
                           .arg(QString::fromStdString(entry.job)));
    return;
  }
  replace(before->devices(), before->shape(), entry.from_options,
          tr("undo change %1").arg(entry.id));
}

void DraftDesk::replace(const std::vector<ptc::DeviceId>& devices, const ptc::MeshShape& mesh,
                        const engine::StepOptions& options, const QString& name) {
  if (const QString reason = m_parts.control.editBlockedReason(); !reason.isEmpty())
    return m_window.showError(reason);
  m_parts.draft.replace(devices, mesh, name, options);
  m_window.setSource(LayoutSource::Draft);
}

bool DraftDesk::mustConfirm(const engine::PlanSummary& summary) const {
  const Settings& settings = m_parts.settings;
  if (!m_parts.control.unrecordedReason().isEmpty()) return true;
  if (summary.in_rounds.rounds > 0) return true;
  if (m_parts.control.isLive()) return false;
  if (!summary.rollback || settings.text(Setting::Confirm) == QLatin1String("always")) return true;
  return summary.moved() > (std::int64_t{settings.number(Setting::ConfirmAbove)} << 20);
}

void DraftDesk::requestApply() {
  MoveControl& control = m_parts.control;
  if (const QString reason = control.applyBlockedReason(); !reason.isEmpty())
    return m_window.say(reason);
  control.stopCountdown();
  if (!mustConfirm(*m_parts.plan.summary())) return control.apply();
  auto* sheet = new ApplySheet(m_parts.model, m_parts.plan, control, m_window.widget);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &QDialog::accepted, this, [&control, sheet] {
    control.apply(sheet->isUnrecordedAllowed() ? Unrecorded::Allow : Unrecorded::Refuse);
  });
  sheet->open();
}

void DraftDesk::discard() {
  m_parts.control.stopCountdown();
  m_parts.draft.discard();
  m_window.setSource(LayoutSource::Live);
}

}  // namespace tessera::ui
