// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Starts a job.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/start_job_dialog.h"

namespace tessera::ui {

// The dialog stays beside the window, because the user may have to switch to Operate first.
ClusterCommand startJobCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.startJob"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Start a &Job…"),
           .statusTip = ClusterMenu::tr("Choose a model, its data and its GPUs, and start it"),
           .icon = QStringLiteral("play"),
           .shortcuts = {QKeySequence(QStringLiteral("Ctrl+N"))},
           .separatorBefore = true,
           .blocked = [&with] { return with.notConnected(); }},
          [&with](bool) {
            auto* dialog = with.window->findChild<StartJobDialog*>();
            if (dialog == nullptr) {
              dialog = new StartJobDialog(with.model, with.control, with.commands, with.cluster(),
                                          with.window);
              QObject::connect(dialog, &QDialog::finished, dialog, &QObject::deleteLater);
            }
            dialog->show();
            dialog->raise();
            dialog->activateWindow();
          }};
}

}  // namespace tessera::ui
