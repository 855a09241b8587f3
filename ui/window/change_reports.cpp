// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/change_reports.h"

#include <QFileDialog>
#include <QPointer>
#include <utility>
#include <vector>

#include "ui/canvas/scene_picture.h"
#include "ui/format.h"
#include "ui/models/change_report.h"
#include "ui/models/cluster_model.h"
#include "ui/models/export_text.h"
#include "ui/pages/history_page.h"

namespace tessera::ui {
namespace {

constexpr QSize kReportPicture(760, 420);

QByteArray meshPicture(const engine::HistoryEntry& entry, const engine::ClusterSnapshot& now,
                       bool isAfter) {
  const auto cluster = clusterOfChange(entry, now, isAfter);
  if (!cluster) return {};
  MeshScene scene = makeScene(*cluster, entry.job);
  colourScene(&scene, ColourBy::Piece);
  return scenePicture(scene, kReportPicture);
}

}  // namespace

ChangeReports::ChangeReports(Parts parts, QWidget* window)
    : m_parts(std::move(parts)), m_window(window) {}

const engine::HistoryEntry* ChangeReports::reportable() const {
  const auto hasEnded = [](const engine::HistoryEntry& entry) { return !entry.result.empty(); };
  if (const engine::HistoryEntry* chosen = m_parts.history.chosen(); chosen != nullptr)
    return hasEnded(*chosen) ? chosen : nullptr;
  const engine::HistoryEntry* latest = nullptr;
  for (const engine::HistoryEntry& entry : m_parts.history.model()->entries()) {
    if (hasEnded(entry) && (latest == nullptr || latest->started < entry.started)) latest = &entry;
  }
  return latest;
}

void ChangeReports::saveOf(qint64 txn) {
  const HistoryTableModel& changes = *m_parts.history.model();
  if (const engine::HistoryEntry* entry = changes.entry(changes.rowOf(txn)); entry != nullptr) {
    save(*entry);
  } else {
    m_parts.showError(tr("Change %1 is not in the history yet.").arg(txn));
  }
}

void ChangeReports::save(engine::HistoryEntry entry) {
  const QString name = QFileDialog::getSaveFileName(
      m_window, tr("Save the report of change %1").arg(entry.id),
      QStringLiteral("change-%1-%2.html").arg(entry.id).arg(QString::fromStdString(entry.job)),
      tr("Report with pictures (*.html);;Table (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const bool isTable = name.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive) ||
                       name.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
  const engine::ClusterSnapshot& now = m_parts.model.snapshot();
  const QByteArray bytes = isTable
                               ? exportText(std::vector{entry}, exportFormatOf(name))
                               : reportHtml(entry, QString::fromStdString(now.cluster),
                                            {meshPicture(entry, now, false),
                                             meshPicture(entry, now, true), kReportPicture.width()},
                                            now.simulation);
  if (const Status written = writeFile(name, bytes); written) {
    m_parts.say(tr("The report is in %1.").arg(name));
  } else {
    m_parts.showError(tr("The report was not saved: %1.").arg(format::error(written.error())));
  }
}

void ChangeReports::saveScenario() {
  const QString job = QString::fromStdString(m_parts.model.job()->name);
  const QString name = QFileDialog::getSaveFileName(m_window, tr("Save the past of %1").arg(job),
                                                    job + QStringLiteral("-scenario.json"),
                                                    tr("Scenarios (*.json)"));
  if (name.isEmpty()) return;
  m_parts.commands.ask(ScenarioRequest{job.toStdString()}, [self = QPointer<ChangeReports>(this),
                                                            name](Result<std::string> text) {
    if (!self) return;
    const Status written =
        text ? writeFile(name, QByteArray::fromStdString(*text)) : Status(text.error());
    if (written) {
      self->m_parts.say(tr("The scenario is in %1.").arg(name));
    } else {
      self->m_parts.showError(
          tr("The scenario was not saved: %1.").arg(format::error(written.error())));
    }
  });
}

}  // namespace tessera::ui
