// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// How often copies of the job's state are taken: the submenu that shows and sets it.

#include <QInputDialog>
#include <algorithm>

#include "ui/actions/cluster_list.h"
#include "ui/format.h"

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

bool isListed(engine::SnapshotEvery every) {
  return std::ranges::any_of(kIntervals, [&](const Interval& i) { return i.every == every; });
}

void askInterval(const CommandContext& with) {
  const engine::JobStatus* job = with.model.job();
  if (job == nullptr) return;
  auto* dialog = new QInputDialog(with.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(ClusterMenu::tr("Snapshots of %1").arg(with.job()));
  dialog->setLabelText(
      ClusterMenu::tr("A number of steps, or a time such as 30s, 5m or 1h. Each takes %1 of host "
                      "memory, and the next one as much again while it is taken.")
          .arg(format::bytes(2 * job->state_bytes)));
  dialog->setTextValue(QString::fromStdString(engine::ToString(job->snapshots.every)));
  dialog->setOkButtonText(ClusterMenu::tr("Set the interval"));
  QObject::connect(dialog, &QInputDialog::textValueSelected, dialog, [&with](const QString& text) {
    const auto every = engine::ParseSnapshotEvery(text.trimmed().toStdString());
    if (!every) {
      with.showError(
          ClusterMenu::tr("The interval was not set: %1.").arg(format::error(every.error())));
    } else {
      with.control.setSnapshots(*every);
    }
  });
  dialog->open();
}

}  // namespace

std::vector<ClusterCommand> snapshotCommands(const CommandContext& with) {
  const QString cost = ClusterMenu::tr(
      "Copy the state into the memory of two hosts while the job trains. It takes twice the "
      "state, and as much again while the next copy is made");
  const auto blocked = [&with] {
    if (const QString reason = with.control.lockReason(); !reason.isEmpty()) return reason;
    return with.model.job() == nullptr ? ClusterMenu::tr("There is no job.") : QString();
  };
  const QString texts[] = {
      ClusterMenu::tr("N&o Snapshots"), ClusterMenu::tr("Snapshot Every 1&0 Steps"),
      ClusterMenu::tr("Snapshot Every &100 Steps"), ClusterMenu::tr("Snapshot Every &Minute"),
      ClusterMenu::tr("Snapshot Every 10 M&inutes")};
  std::vector<ClusterCommand> commands;
  for (std::size_t i = 0; i < std::size(kIntervals); ++i) {
    const engine::SnapshotEvery every = kIntervals[i].every;
    commands.push_back(
        {{.id = QString::fromLatin1(kIntervals[i].id),
          .menu = Menus::cluster(),
          .text = texts[i],
          .statusTip = every.is_on()
                           ? cost
                           : ClusterMenu::tr("Take no further copies, and free the newest one"),
          .submenu = ClusterMenu::tr("S&napshots"),
          .checkable = true,
          .blocked = blocked,
          .checked =
              [&with, every] {  // the mark follows the cluster, not the click
                return with.model.job() != nullptr && with.model.job()->snapshots.every == every;
              }},
         [&with, every](bool) { with.control.setSnapshots(every); }});
  }
  commands.push_back({{.id = QStringLiteral("job.snapshotsOther"),
                       .menu = Menus::cluster(),
                       .text = ClusterMenu::tr("Snapshot Every…"),
                       .statusTip = cost,
                       .submenu = ClusterMenu::tr("S&napshots"),
                       .checkable = true,
                       .separatorBefore = true,
                       .blocked = blocked,
                       .checked =
                           [&with] {
                             return with.model.job() != nullptr &&
                                    !isListed(with.model.job()->snapshots.every);
                           }},
                      [&with](bool) { askInterval(with); }});
  return commands;
}

}  // namespace tessera::ui
