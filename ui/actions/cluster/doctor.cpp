// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Checks the nodes.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/doctor_dialog.h"

namespace tessera::ui {

ClusterCommand doctorCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.doctor"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Doctor…"),
           .statusTip = ClusterMenu::tr("Show the problems that the nodes found, with remedies"),
           .submenu = Menus::diagnosis(),
           .icon = QStringLiteral("check"),
           .blocked =
               [&with] {
                 if (with.model.isFile())
                   return ClusterMenu::tr("This is a history file, not a live cluster.");
                 return with.model.link() == LinkState::Connected
                            ? QString()
                            : ClusterMenu::tr("There is no connection to the cluster.");
               }},
          [&with](bool) {
            auto* dialog = new DoctorDialog(
                with.commands, QString::fromStdString(with.model.snapshot().cluster), with.window);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->open();
          }};
}

}  // namespace tessera::ui
