// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The logs of nodes and ranks.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/log_dialog.h"

namespace tessera::ui {

ClusterCommand logsCommand(const CommandContext& with) {
  return {
      {.id = QStringLiteral("cluster.logs"),
       .menu = Menus::cluster(),
       .text = ClusterMenu::tr("Lo&gs…"),
       .statusTip =
           ClusterMenu::tr("Show the log of a node's agent, or what a rank of the job has printed"),
       .submenu = Menus::diagnosis(),
       .shortcuts = {QKeySequence(QStringLiteral("Ctrl+Shift+G"))},
       .blocked = [&with] { return with.notConnected(); }},
      [&with](bool) {
        with.open(new LogDialog(
            with.model, with.commands,
            [&with](const QStringList& words) { return with.commandLine(words); }, with.window));
      }};
}

}  // namespace tessera::ui
