// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Tries to connect at once.

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"

namespace tessera::ui {

ClusterCommand reconnectCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.reconnect"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Re&connect Now"),
           .statusTip = ClusterMenu::tr("Try to connect again immediately"),
           .icon = QStringLiteral("refresh"),
           .shortcuts = {QKeySequence(QStringLiteral("Ctrl+R"))},
           .separatorBefore = true,
           .blocked =
               [&with] {
                 if (with.model.link() == LinkState::None)
                   return ClusterMenu::tr("No cluster is selected.");
                 return with.model.link() == LinkState::Connected
                            ? ClusterMenu::tr("The panel is already connected.")
                            : QString();
               }},
          [&with](bool) { with.commands.reconnect(); }};
}

}  // namespace tessera::ui
