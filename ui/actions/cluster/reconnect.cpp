// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Tries to connect at once, and disconnects.

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/connections.h"

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
                 return with.model.link() == LinkState::Connected && !with.model.isSilent()
                            ? ClusterMenu::tr("The panel is already connected.")
                            : QString();
               }},
          [&with](bool) { with.commands.reconnect(); }};
}

ClusterCommand disconnectCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.disconnect"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Disconnect"),
           .statusTip = ClusterMenu::tr("Close the connection. Cluster and jobs continue"),
           .icon = QStringLiteral("close"),
           .blocked =
               [&with] {
                 if (with.connections == nullptr)
                   return ClusterMenu::tr("This panel has no profiles.");
                 return with.model.link() == LinkState::None || with.model.isFile()
                            ? ClusterMenu::tr("No cluster is selected.")
                            : QString();
               }},
          [&with](bool) {
            if (with.connections != nullptr) with.connections->closeConnection();
          }};
}

}  // namespace tessera::ui
