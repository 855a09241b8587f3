// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the File menu.

#include <QDockWidget>
#include <utility>

#include "ui/actions/menus.h"
#include "ui/dialogs/picture_dialog.h"
#include "ui/main_window_impl.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/views/colour_bar.h"
#include "ui/widgets/legend.h"
#include "ui/window/centre_pane.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/side_pane.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

// The shown view comes first.
std::vector<Picture> MainWindow::Impl::pictures() const {
  std::vector<Picture> all;
  for (View* view : centre->views()) {
    if (!centre->isShown(view->id())) continue;
    Picture picture = pictureOf(view->title(), view->id(), view->picture());
    if (view->usesColours()) {
      picture = withLegend(std::move(picture), colours->legend()->entries(),
                           colours->legend()->isQuantity());
    }
    all.push_back(std::move(picture));
  }
  if (rightDock->isVisible()) {
    all.push_back(
        pictureOf(rightDock->windowTitle(), QStringLiteral("details"), side->currentWidget()));
  }
  JobPlots* const plots = timeline->plots();
  if (plots->isVisible()) {
    all.push_back(
        {.title = tr("Plots"),
         .name = QStringLiteral("plots"),
         .description = plots->accessibleDescription(),
         .size = plots->size(),
         .draw = [plots](QPaintDevice& device) { plots->drawTo(&device, plots->size()); }});
  }
  all.push_back(pictureOf(tr("Whole window"), QStringLiteral("tessera"), &window));
  return all;
}

void MainWindow::Impl::addFileActions() {
  const QString file = Menus::file();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  const auto noConnections = [this] {
    return connections == nullptr ? tr("This panel has no profiles.") : QString();
  };
  actions->add({.id = id("file.connect"),
                .menu = file,
                .text = tr("&Connect…"),
                .statusTip = tr("Test, connect to or add a cluster"),
                .icon = id("live"),
                .shortcuts = Keys{keys("Ctrl+O")},
                .blocked = noConnections},
               [this] { clusters->openDialog(); });
  actions->add({.id = id("file.startLocal"),
                .menu = file,
                .text = tr("Start &Local Cluster"),
                .statusTip = tr(
                    "Start 2 nodes with 4 emulated GPUs each on this machine and connect to them"),
                .icon = id("play"),
                .blocked =
                    [this, noConnections] {
                      return clusters->starting() ? tr("A local cluster is already starting.")
                                                  : noConnections();
                    }},
               [this] { clusters->startLocal(); });
  actions->add({.id = id("file.simulate"),
                .menu = file,
                .text = tr("Simulate a Clus&ter…"),
                .statusTip = tr("Start a simulated cluster of up to 4,096 GPUs and connect to it"),
                .icon = id("play"),
                .blocked =
                    [this, noConnections] {
                      return clusters->starting() ? tr("A cluster is already starting.")
                                                  : noConnections();
                    }},
               [this] { clusters->openSimulate(); });
  actions->add({.id = id("file.openHistory"),
                .menu = file,
                .text = tr("Open &History File…"),
                .statusTip = tr("Show changes, events and plots from a file instead of a cluster"),
                .icon = id("reverse"),
                .shortcuts = Keys{keys("Ctrl+Shift+H")},
                .blocked = noConnections},
               [this] { clusters->chooseHistoryFile(); });
  actions->add({.id = id("file.settings"),
                .menu = file,
                .text = tr("&Settings…"),
                .statusTip = tr("Change colours, size, safety, data and shortcuts"),
                .shortcuts = Keys{keys("Ctrl+,")},
                .separatorBefore = true},
               [this] { dialogs->openSettings(); });
  actions->add({.id = id("file.picture"),
                .menu = file,
                .text = tr("Save &Picture…"),
                .statusTip = tr("Save a view, the plots or the window as a PNG or SVG file"),
                .icon = id("picture"),
                .shortcuts = Keys{keys("Ctrl+Shift+P")}},
               [this] {
                 auto* dialog = new PictureDialog(pictures(), &window);
                 dialog->setAttribute(Qt::WA_DeleteOnClose);
                 QObject::connect(
                     dialog, &PictureDialog::saved, &window,
                     [this](const QString& name) { say(tr("The picture is in %1.").arg(name)); });
                 QObject::connect(dialog, &PictureDialog::failed, &window,
                                  [this](const QString& why) { showError(why); });
                 dialog->open();
               });
  actions->add({.id = id("file.quit"),
                .menu = file,
                .text = tr("&Quit"),
                .statusTip = tr("Close the panel. The job and its cluster keep running"),
                .icon = id("quit"),
                .shortcuts = Keys{keys("Ctrl+Q")},
                .separatorBefore = true},
               [this] { window.close(); });
}

}  // namespace tessera::ui
