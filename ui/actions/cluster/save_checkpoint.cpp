// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Saves a checkpoint of the job.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/checkpoint_dialog.h"

namespace tessera::ui {

namespace {

void askCheckpointFolder(const CommandContext& with) {
  const engine::JobStatus* job = with.model.job();
  if (job == nullptr) return;
  const engine::CheckpointStatus& known = job->checkpoints;
  QString folder = QString::fromStdString(known.schedule.folder);
  if (folder.isEmpty()) folder = QString::fromStdString(known.path).section(u'/', 0, -2);
  auto* dialog = new CheckpointDialog(with.job(), job->state_bytes, folder, with.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  with.closeWithCluster(dialog);
  QObject::connect(dialog, &QDialog::accepted, dialog,
                   [&with, dialog] { with.control.saveCheckpoint(dialog->path()); });
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
