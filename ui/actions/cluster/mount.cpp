// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Mounts the state of the jobs as files on this machine, and ends the mount.

#include "ui/actions/cluster_list.h"
#include "ui/connections.h"
#include "ui/dialogs/mount_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

QString cannotMount(const CommandContext& with) {
  if (with.connections == nullptr) return ClusterMenu::tr("This panel has no profiles.");
  if (const QString reason = with.notConnected(); !reason.isEmpty()) return reason;
  return with.model.snapshot().simulation
             ? ClusterMenu::tr("The state of jobs in a simulated cluster has no bytes to show.")
             : QString();
}

void mount(const CommandContext& with) {
  if (with.connections == nullptr) return;
  if (const auto folder = with.connections->mountPoint()) {
    with.showError(ClusterMenu::tr("%1 is mounted already, at %2.").arg(with.cluster(), *folder));
    return;
  }
  auto* dialog = new MountDialog(with.cluster(), with.window);
  QObject::connect(dialog, &MountDialog::mountRequested, dialog,
                   [&with, dialog](const QString& folder, bool readOnly) {
                     const auto answered = [&with, folder, dialog = QPointer<MountDialog>(dialog),
                                            guard = with.guard()](const Status& done) {
                       if (!guard) return;
                       if (done) {
                         with.say(ClusterMenu::tr("The files are mounted at %1.").arg(folder));
                         if (dialog) dialog->accept();
                       } else if (dialog) {
                         dialog->showFailure(format::error(done.error()));
                       } else {
                         with.showError(ClusterMenu::tr("The files were not mounted: %1.")
                                            .arg(format::error(done.error())));
                       }
                     };
                     with.connections->mount(folder, readOnly, answered);
                   });
  with.open(dialog);
}

void unmount(const CommandContext& with) {
  if (with.connections == nullptr) return;
  const auto folder = with.connections->mountPoint();
  if (!folder) {
    with.showError(ClusterMenu::tr("%1 is not mounted on this machine.").arg(with.cluster()));
    return;
  }
  with.connections->unmount(
      *folder, [&with, folder = *folder, guard = with.guard()](const Status& done) {
        if (!guard) return;
        if (done)
          with.say(ClusterMenu::tr("%1 is no longer mounted.").arg(folder));
        else
          with.showError(
              ClusterMenu::tr("The mount was not ended: %1.").arg(format::error(done.error())));
      });
}

}  // namespace

std::vector<ClusterCommand> mountCommands(const CommandContext& with) {
  const QString submenu = ClusterMenu::tr("Jobs as &Files");
  const auto blocked = [&with] { return cannotMount(with); };
  return {{{.id = QStringLiteral("cluster.mount"),
            .menu = Menus::cluster(),
            .text = ClusterMenu::tr("&Mount…"),
            .statusTip = ClusterMenu::tr("Show the state of all jobs as files on this machine"),
            .submenu = submenu,
            .blocked = blocked},
           [&with](bool) { mount(with); }},
          {{.id = QStringLiteral("cluster.unmount"),
            .menu = Menus::cluster(),
            .text = ClusterMenu::tr("&Unmount"),
            .statusTip = ClusterMenu::tr("Remove the files of the jobs from this machine"),
            .submenu = submenu,
            .blocked = blocked},
           [&with](bool) { unmount(with); }}};
}

}  // namespace tessera::ui
