// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the Help menu.

#include "ui/actions/menus.h"
#include "ui/main_window_impl.h"
#include "ui/pages/shortcut_sheet.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

void MainWindow::Impl::addHelpActions() {
  const QString helpMenu = Menus::help();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  actions->add({.id = id("help.guide"),
                .menu = helpMenu,
                .text = tr("&Guide"),
                .statusTip = tr(
                    "Read about the first hour, the mesh, changes, your own job and real clusters"),
                .icon = id("info"),
                .shortcuts = Keys{keys("F1")}},
               [this] { dialogs->openHelp({}); });
  actions->add({.id = id("help.errors"),
                .menu = helpMenu,
                .text = tr("&Troubleshooting"),
                .statusTip = tr("Look up error messages and what to do about them")},
               [this] { dialogs->openHelp(QStringLiteral("troubleshooting.md")); });
  actions->add({.id = id("help.shortcuts"),
                .menu = helpMenu,
                .text = tr("&Shortcuts"),
                .statusTip = tr("List every action and its keys"),
                .icon = id("keyboard"),
                .shortcuts = Keys{keys("?")}},
               [this] {
                 auto* sheet = new ShortcutSheet(*actions, &window);
                 sheet->setAttribute(Qt::WA_DeleteOnClose);
                 sheet->open();
               });
  actions->add({.id = id("help.about"),
                .menu = helpMenu,
                .text = tr("&About Tessera"),
                .statusTip = tr("Show the version and the licences"),
                .icon = id("info")},
               [this] { dialogs->openAbout(); });
}

}  // namespace tessera::ui
