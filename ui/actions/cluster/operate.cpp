// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Operate mode and live moves.

#include "ui/actions/cluster_list.h"

namespace tessera::ui {

ClusterCommand operateCommand(const CommandContext& with) {
  return {
      {.id = QStringLiteral("cluster.operate"),
       .menu = Menus::cluster(),
       .text = ClusterMenu::tr("&Operate"),
       .statusTip = ClusterMenu::tr("Allow this panel to change the cluster until it locks again"),
       .icon = QStringLiteral("operate"),
       .shortcuts = {QKeySequence(QStringLiteral("Ctrl+Shift+O"))},
       .checkable = true,
       .blocked = [&with] { return with.control.readOnlyReason(); },
       .checked = [&with] { return with.control.isOperating(); }},
      [&with](bool on) { with.control.setOperating(on); }};
}

ClusterCommand liveMovesCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.live"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Live Moves"),
           .statusTip = ClusterMenu::tr("A drop starts a change after a countdown. Esc stops it"),
           .shortcuts = {QKeySequence(QStringLiteral("Ctrl+Shift+L"))},
           .checkable = true,
           .blocked = [&with] { return with.control.lockReason(); },
           .checked = [&with] { return with.control.isLive(); }},
          [&with](bool on) { with.control.setLive(on); }};
}

}  // namespace tessera::ui
