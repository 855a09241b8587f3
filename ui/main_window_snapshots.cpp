// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// How often copies of the job's state are taken: the submenu that shows and sets it. Also the act
/// that saves one to disk.

#include <QInputDialog>
#include <algorithm>
#include <utility>
#include <vector>

#include "ui/format.h"
#include "ui/main_window_impl.h"

namespace tessera::ui {
namespace {

struct Interval {
  const char* id;
  engine::SnapshotEvery every;
};
constexpr Interval kIntervals[] = {{"job.snapshotsOff", {0, 0}},
                                   {"job.snapshots10Steps", {10, 0}},
                                   {"job.snapshots100Steps", {100, 0}},
                                   {"job.snapshots1Minute", {0, 60}},
                                   {"job.snapshots10Minutes", {0, 600}}};
constexpr char kOther[] = "job.snapshotsOther";

bool isListed(engine::SnapshotEvery every) {
  return std::ranges::any_of(kIntervals, [&](const Interval& i) { return i.every == every; });
}

}  // namespace

void MainWindow::Impl::addSnapshotActions(const QString& menu) {
  const QString submenu = tr("S&napshots");
  const QString cost =
      tr("Copy the state into the memory of two hosts while the job trains. It takes twice the "
         "state, and as much again while the next copy is made");
  const auto blocked = [this] {
    if (const QString reason = control.lockReason(); !reason.isEmpty()) return reason;
    return model.job() == nullptr ? tr("There is no job.") : QString();
  };
  const QString texts[] = {tr("N&o Snapshots"), tr("Snapshot Every 1&0 Steps"),
                           tr("Snapshot Every &100 Steps"), tr("Snapshot Every &Minute"),
                           tr("Snapshot Every 10 M&inutes")};
  for (std::size_t i = 0; i < std::size(kIntervals); ++i) {
    const Interval& interval = kIntervals[i];
    actions->add(
        {.id = QString::fromLatin1(interval.id),
         .menu = menu,
         .text = texts[i],
         .statusTip =
             interval.every.is_on() ? cost : tr("Take no further copies, and free the newest one"),
         .submenu = submenu,
         .checkable = true,
         .blocked = blocked},
        [this, every = interval.every] {
          control.setSnapshots(every);
          refreshSnapshotActions();  // the mark follows the cluster, not the click
        });
  }
  actions->add({.id = QString::fromLatin1(kOther),
                .menu = menu,
                .text = tr("Snapshot Every…"),
                .statusTip = cost,
                .submenu = submenu,
                .checkable = true,
                .separatorBefore = true,
                .blocked = blocked},
               [this] {
                 askSnapshots();
                 refreshSnapshotActions();
               });
}

void MainWindow::Impl::refreshSnapshotActions() {
  const engine::JobStatus* job = model.job();
  const auto mark = [this](const char* id, bool on) {
    actions->find(QString::fromLatin1(id))->setChecked(on);
  };
  for (const Interval& interval : kIntervals) {
    mark(interval.id, job != nullptr && job->snapshots.every == interval.every);
  }
  mark(kOther, job != nullptr && !isListed(job->snapshots.every));
}

void MainWindow::Impl::askSnapshots() {
  const engine::JobStatus* job = model.job();
  if (job == nullptr) return;
  auto* dialog = new QInputDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Snapshots of %1").arg(draft.job()));
  dialog->setLabelText(tr("A number of steps, or a time such as 30s, 5m or 1h. Each takes %1 of "
                          "host memory, and the next one as much again while it is taken.")
                           .arg(format::bytes(2 * job->state_bytes)));
  dialog->setTextValue(QString::fromStdString(engine::ToString(job->snapshots.every)));
  dialog->setOkButtonText(tr("Set the interval"));
  connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
    const auto every = engine::ParseSnapshotEvery(text.trimmed().toStdString());
    if (!every)
      return showError(tr("The interval was not set: %1.").arg(format::error(every.error())));
    control.setSnapshots(*every);
  });
  dialog->open();
}

void MainWindow::Impl::addCheckpointAction(const QString& menu) {
  actions->add({.id = QStringLiteral("job.saveCheckpoint"),
                .menu = menu,
                .text = tr("Sa&ve a Checkpoint…"),
                .statusTip = tr("Save the state in a folder that all hosts see, while the job "
                                "trains"),
                .blocked =
                    [this] {
                      if (const QString reason = control.lockReason(); !reason.isEmpty())
                        return reason;
                      const engine::JobStatus* job = model.job();
                      if (job == nullptr) return tr("There is no job.");
                      return job->checkpoints.is_saving ? tr("A checkpoint is being saved.")
                                                        : QString();
                    }},
               [this] { askCheckpointFolder(); });
}

// The folder is one of the hosts, not of this machine, so there is nothing to browse.
void MainWindow::Impl::askCheckpointFolder() {
  const engine::JobStatus* job = model.job();
  if (job == nullptr) return;
  auto* dialog = new QInputDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(tr("Checkpoint of %1").arg(draft.job()));
  dialog->setLabelText(tr("A folder that all hosts see under this path. The checkpoint takes %1 "
                          "there, and as much host memory while it is written.")
                           .arg(format::bytes(job->state_bytes)));
  const engine::CheckpointStatus& known = job->checkpoints;
  QString folder = QString::fromStdString(known.schedule.folder);
  if (folder.isEmpty()) folder = QString::fromStdString(known.path).section(u'/', 0, -2);
  dialog->setTextValue(folder);
  dialog->setOkButtonText(tr("Save"));
  connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
    const QString given = text.trimmed();
    if (!given.startsWith(u'/'))
      return showError(tr("No checkpoint was saved: '%1' is not an absolute path.").arg(given));
    control.saveCheckpoint(given);
  });
  dialog->open();
}

}  // namespace tessera::ui
