// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Saves a checkpoint of the job.

#include <QInputDialog>

#include "ui/actions/cluster_list.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

// The folder is one of the hosts, not of this machine, so there is nothing to browse.
void askCheckpointFolder(const CommandContext& with) {
  const engine::JobStatus* job = with.model.job();
  if (job == nullptr) return;
  auto* dialog = new QInputDialog(with.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(ClusterMenu::tr("Checkpoint of %1").arg(with.job()));
  dialog->setLabelText(
      ClusterMenu::tr("A folder that all hosts see under this path. The checkpoint takes %1 "
                      "there, and as much host memory while it is written.")
          .arg(format::bytes(job->state_bytes)));
  const engine::CheckpointStatus& known = job->checkpoints;
  QString folder = QString::fromStdString(known.schedule.folder);
  if (folder.isEmpty()) folder = QString::fromStdString(known.path).section(u'/', 0, -2);
  dialog->setTextValue(folder);
  dialog->setOkButtonText(ClusterMenu::tr("Save"));
  QObject::connect(dialog, &QInputDialog::textValueSelected, dialog, [&with](const QString& text) {
    const QString given = text.trimmed();
    if (given.startsWith(u'/')) {
      with.control.saveCheckpoint(given);
    } else {
      with.showError(
          ClusterMenu::tr("No checkpoint was saved: '%1' is not an absolute path.").arg(given));
    }
  });
  dialog->open();
}

}  // namespace

ClusterCommand saveCheckpointCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("job.saveCheckpoint"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Sa&ve a Checkpoint…"),
           .statusTip = ClusterMenu::tr(
               "Save the state in a folder that all hosts see, while the job trains"),
           .blocked =
               [&with] {
                 if (const QString reason = with.control.lockReason(); !reason.isEmpty())
                   return reason;
                 const engine::JobStatus* job = with.model.job();
                 if (job == nullptr) return ClusterMenu::tr("There is no job.");
                 return job->checkpoints.is_saving ? ClusterMenu::tr("A checkpoint is being saved.")
                                                   : QString();
               }},
          [&with](bool) { askCheckpointFolder(with); }};
}

}  // namespace tessera::ui
