// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/cluster_state.h"

#include "ui/main_window.h"
#include "ui/pages/state_page.h"
#include "ui/sentences.h"

namespace tessera::ui {

void showClusterState(StatePage* page, const ClusterModel& model,
                      const std::optional<QString>& starting, bool canConnect) {
  if (model.hasSnapshot() && !model.isFile()) return;
  if (starting) return page->showStarting(*starting);
  if (model.isFile()) return page->showFile(model.file());
  const QString detail = localized(model.linkDetail());
  switch (model.link()) {
    case LinkState::None:
      return page->showEmpty(canConnect);
    case LinkState::Connecting:
      return page->showConnecting(detail);
    case LinkState::Connected:
      return page->showConnecting(MainWindow::tr("Waiting for the first node to answer."));
    case LinkState::Lost:
      return page->showProblem(MainWindow::tr("The cluster does not answer"), detail, true);
    case LinkState::Refused:
      return page->showProblem(MainWindow::tr("The cluster refused the connection"), detail, true);
  }
}

}  // namespace tessera::ui
