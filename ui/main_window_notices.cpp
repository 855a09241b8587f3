// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// What the window tells beyond itself: notices of the desktop, and the reports of changes.

#include <QFileDialog>

#include "ui/canvas/scene_picture.h"
#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/models/change_report.h"
#include "ui/models/export_text.h"
#include "ui/pages/history_page.h"
#include "ui/pages/progress_panel.h"
#include "ui/sentences.h"

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

void MainWindow::Impl::notify(const DesktopNotice& notice) {
  if (window.isActiveWindow() || !settings.flag(Setting::Notify)) return;
  if (start.notify) {
    start.notify(&window, notice);
  } else {
    notifyDesktop(&window, notice);
  }
}

void MainWindow::Impl::notifyOutcome() {
  if (const auto& view = progress->view()) {
    notify({view->headline, view->sentence, view->tone == TxnView::Tone::Bad});
  }
}

void MainWindow::Impl::notifyDecision() {
  const engine::JobStatus* job = model.job();
  const bool isAsked = job != nullptr && job->decision && !job->decision->chosen;
  const std::string loss = isAsked ? job->name + ": " + job->decision->reason : std::string();
  if (loss == noticedDecision) return;
  noticedDecision = loss;
  if (!isAsked) return;
  notify({tr("%1 needs a decision").arg(QString::fromStdString(job->name)),
          localized(job->decision->reason), true});
}

const engine::HistoryEntry* MainWindow::Impl::reportable() const {
  const auto hasEnded = [](const engine::HistoryEntry& entry) { return !entry.result.empty(); };
  if (const engine::HistoryEntry* chosen = history->chosen(); chosen != nullptr)
    return hasEnded(*chosen) ? chosen : nullptr;
  const engine::HistoryEntry* latest = nullptr;
  for (const engine::HistoryEntry& entry : history->model()->entries()) {
    if (hasEnded(entry) && (latest == nullptr || latest->started < entry.started)) latest = &entry;
  }
  return latest;
}

// By value: the history may be read again while the user chooses a file.
void MainWindow::Impl::saveReport(engine::HistoryEntry entry) {
  const QString name = QFileDialog::getSaveFileName(
      &window, tr("Save the report of change %1").arg(entry.id),
      QStringLiteral("change-%1-%2.html").arg(entry.id).arg(QString::fromStdString(entry.job)),
      tr("Report with pictures (*.html);;Table (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const bool isTable = name.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive) ||
                       name.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
  const engine::ClusterSnapshot& now = model.snapshot();
  const QByteArray bytes =
      isTable ? exportText(std::vector{entry}, exportFormatOf(name))
              : reportHtml(entry, QString::fromStdString(now.cluster),
                           {meshPicture(entry, now, false), meshPicture(entry, now, true),
                            kReportPicture.width()},
                           now.simulation);
  if (const Status written = writeFile(name, bytes); written) {
    say(tr("The report is in %1.").arg(name));
  } else {
    showError(tr("The report was not saved: %1.").arg(format::error(written.error())));
  }
}

void MainWindow::Impl::saveScenario() {
  const QString job = QString::fromStdString(model.job()->name);
  const QString name = QFileDialog::getSaveFileName(&window, tr("Save the past of %1").arg(job),
                                                    job + QStringLiteral("-scenario.json"),
                                                    tr("Scenarios (*.json)"));
  if (name.isEmpty()) return;
  commands.ask(ScenarioRequest{job.toStdString()}, [self = QPointer<Impl>(this),
                                                    name](Result<std::string> text) {
    if (!self) return;
    const Status written =
        text ? writeFile(name, QByteArray::fromStdString(*text)) : Status(text.error());
    if (written) {
      self->say(tr("The scenario is in %1.").arg(name));
    } else {
      self->showError(tr("The scenario was not saved: %1.").arg(format::error(written.error())));
    }
  });
}

}  // namespace tessera::ui
