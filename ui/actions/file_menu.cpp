// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the File menu.

#include <QFileDialog>

#include "ui/actions/menus.h"
#include "ui/main_window_impl.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

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
                .statusTip = tr("Save the window as a PNG file"),
                .icon = id("picture"),
                .shortcuts = Keys{keys("Ctrl+Shift+P")}},
               [this] {
                 const QString name = QFileDialog::getSaveFileName(&window, tr("Save picture"),
                                                                   QStringLiteral("tessera.png"),
                                                                   tr("PNG pictures (*.png)"));
                 if (!name.isEmpty() && !window.grabTo(name)) {
                   showError(tr("The picture could not be written to %1.").arg(name));
                 }
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
