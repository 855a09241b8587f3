// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/apply_sheet.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/pages/overlap_row.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

ApplySheet::ApplySheet(const ClusterModel& model, const DraftPlan& plan, MoveControl& control,
                       QWidget* parent)
    : Dialog(parent),
      m_plan(plan),
      m_control(control),
      m_hash(plan.summary()->hash),
      m_job(QString::fromStdString(plan.summary()->job)),
      m_facts(new KeyValues(this)),
      m_unrecordedReason(new QLabel(this)),
      m_unrecorded(new QCheckBox(tr("Apply even though the change cannot be recorded"), this)),
      m_noWayBack(new QLabel(this)),
      m_name(new QLineEdit(this)),
      m_cancel(new QPushButton(tr("Cancel"), this)),
      m_apply(new QPushButton(this)) {
  const engine::PlanSummary& summary = *plan.summary();
  const QString cluster = QString::fromStdString(model.snapshot().cluster);
  const QString& job = m_job;
  setWindowTitle(tr("Apply to %1 · %2").arg(cluster, job));

  auto* title =
      new QLabel(tr("Reconfigure %1: %2 → %3")
                     .arg(job, format::shape(summary.from_mesh), format::shape(summary.to_mesh)),
                 this);
  setRole(title, QStringLiteral("number"));

  std::vector<KeyValues::Row> rows{
      {tr("cluster"), cluster},
      {tr("job"), job},
      {tr("GPUs"), tr("%1 → %2").arg(format::count(std::ssize(summary.from_devices)),
                                     format::count(std::ssize(summary.to_devices)))},
      {tr("bytes to move"), format::bytes(summary.moved())},
      {tr("pause (estimate)"), tr("≈ %1").arg(format::seconds(summary.pause_estimate))}};
  rows.push_back(overlapRow(summary.overlap));
  const auto peak =
      std::max_element(summary.peak_memory.begin(), summary.peak_memory.end(),
                       [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  if (peak != summary.peak_memory.end()) {
    rows.push_back({tr("peak memory"), tr("%1 on %2")
                                           .arg(format::bytesOf(peak->bytes, peak->capacity),
                                                format::device(peak->device))});
  }
  const bool inRounds = summary.in_rounds.rounds > 0;
  if (inRounds) rows.push_back(roundsRow(summary));
  rows.push_back(rollbackRow(summary, QStringLiteral("bad")));
  if (!summary.idle.empty()) rows.push_back({tr("unused"), deviceNames(summary.idle)});
  m_facts->setRows(rows);

  m_apply->setText(
      tr("Move %1, pause ≈ %2")
          .arg(format::bytes(summary.moved()), format::seconds(summary.pause_estimate)));
  m_apply->setProperty("primary", true);
  m_cancel->setDefault(true);
  m_apply->setAccessibleName(m_apply->text());
  m_cancel->setAccessibleName(tr("Cancel. Nothing moves"));

  setRole(m_unrecordedReason, QStringLiteral("warn"));
  m_unrecordedReason->setWordWrap(true);
  m_unrecorded->setAccessibleName(m_unrecorded->text());

  setRole(m_noWayBack, QStringLiteral("warn"));
  m_noWayBack->setWordWrap(true);
  m_noWayBack->setText(
      tr("There is no rollback from the first round on. To apply, type the name of the job: %1")
          .arg(job));
  m_noWayBack->setVisible(inRounds);
  m_name->setAccessibleName(tr("Name of the job"));
  m_name->setVisible(inRounds);
  m_noWayBack->setBuddy(m_name);

  auto* buttons = new QHBoxLayout;
  buttons->addStretch();
  buttons->addWidget(m_cancel);
  buttons->addWidget(m_apply);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 18, 20, 16);
  column->setSpacing(14);
  column->addWidget(title);
  column->addWidget(m_facts);
  column->addWidget(m_unrecordedReason);
  column->addWidget(m_unrecorded);
  column->addWidget(m_noWayBack);
  column->addWidget(m_name);
  column->addLayout(buttons);
  setMinimumWidth(420);
  keepWholeHeight(*this);

  connect(m_cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(m_apply, &QPushButton::clicked, this, &QDialog::accept);
  connect(&m_plan, &DraftPlan::changed, this, &ApplySheet::follow);
  connect(&m_control, &MoveControl::changed, this, &ApplySheet::follow);
  connect(m_unrecorded, &QCheckBox::toggled, this, &ApplySheet::refreshRecord);
  connect(m_name, &QLineEdit::textChanged, this, &ApplySheet::refreshRecord);
  refreshRecord();
  m_cancel->setFocus();
}

// Enter in the field goes on to the button. The default button would cancel.
void ApplySheet::keyPressEvent(QKeyEvent* event) {
  const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!isEnter || focusWidget() != m_name) return Dialog::keyPressEvent(event);
  if (m_apply->isEnabled()) m_apply->setFocus();
}

bool ApplySheet::isUnrecordedAllowed() const {
  return !m_unrecorded->isHidden() && m_unrecorded->isChecked();
}

void ApplySheet::refreshRecord() {
  const QString reason = m_control.unrecordedReason();
  m_unrecordedReason->setText(reason);
  m_unrecordedReason->setVisible(!reason.isEmpty());
  if (reason.isEmpty()) m_unrecorded->setChecked(false);  // must be confirmed again next time
  m_unrecorded->setVisible(!reason.isEmpty());
  const bool isNamed = m_name->isHidden() || m_name->text() == m_job;
  const bool allowed = isNamed && (reason.isEmpty() || m_unrecorded->isChecked());
  m_apply->setEnabled(allowed);
  m_apply->setToolTip(allowed ? QString() : reason);
}

void ApplySheet::follow() {
  if (!isVisible()) return;
  const bool same = m_plan.state() == DraftPlan::State::Ready && m_plan.summary()->hash == m_hash;
  if (!same || !m_control.applyBlockedReason().isEmpty()) reject();
  refreshRecord();
}

}  // namespace tessera::ui
