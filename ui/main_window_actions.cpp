// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Registers the commands of all menus, in the order of the menu bar.

#include "ui/main_window_impl.h"

namespace tessera::ui {

void MainWindow::Impl::addActions() {
  addFileActions();
  addEditActions();
  addViewActions();
  for (const ClusterCommand& command : clusterMenu(context)) {
    actions->add(command.spec, command.run);
  }
  addPlanActions();
  addHistoryActions();
  addLearnActions();
  addHelpActions();
}

}  // namespace tessera::ui
