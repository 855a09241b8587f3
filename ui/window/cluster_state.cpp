// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/cluster_state.h"

#include "ui/connections.h"
#include "ui/format.h"
#include "ui/main_window.h"
#include "ui/pages/state_page.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

void showStop(StatePage* page, const ClusterModel& model, const StateFacts& facts) {
  const ClusterStop stop = *model.stopped();
  const StoppedCluster known = facts.stopped == nullptr ? StoppedCluster() : *facts.stopped;
  const QString name =
      known.name.isEmpty() ? QString::fromStdString(model.snapshot().cluster) : known.name;
  const QString time = format::minuteClock(stop.time);
  const QString title = name.isEmpty() ? MainWindow::tr("The cluster was stopped at %1").arg(time)
                                       : MainWindow::tr("%1 was stopped at %2").arg(name, time);
  QStringList says;
  if (!stop.by.isEmpty()) says << MainWindow::tr("By %1.").arg(format::requester(stop.by.toStdString()));
  says << MainWindow::tr(
      "Its jobs have ended, and their state in memory is gone. History, logs and "
      "checkpoints stay on the disk.");
  if (facts.canConnect && !known.canStart)
    says << MainWindow::tr(
        "The panel cannot start it: `tesseractl up` does, where it was started.");
  page->showStopped(title, says.join(u' '), known.canStart, !known.history.isEmpty(),
                    facts.canConnect);
}

}  // namespace

bool isClusterDrawn(const ClusterModel& model) {
  return model.hasSnapshot() && !model.isFile() && model.link() != LinkState::Stopped;
}

void showClusterState(StatePage* page, const ClusterModel& model, const StateFacts& facts) {
  if (isClusterDrawn(model)) return;
  if (facts.starting) return page->showStarting(*facts.starting);
  if (model.isFile()) return page->showFile(model.file());
  const QString detail = localized(model.linkDetail());
  switch (model.link()) {
    case LinkState::None:
      return page->showEmpty(facts.canConnect);
    case LinkState::Connecting:
      return page->showConnecting(detail);
    case LinkState::Connected:
      return page->showConnecting(MainWindow::tr("Waiting for the first node to answer."));
    case LinkState::Lost:
      return page->showProblem(MainWindow::tr("The cluster does not answer"), detail, true);
    case LinkState::Refused:
      return page->showProblem(MainWindow::tr("The cluster refused the connection"), detail, true);
    case LinkState::Stopped:
      return showStop(page, model, facts);
  }
}

}  // namespace tessera::ui
