// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the History menu.

#include <QDockWidget>

#include "ui/actions/menus.h"
#include "ui/main_window_impl.h"
#include "ui/pages/history_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/window/change_reports.h"
#include "ui/window/draft_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/presenter.h"
#include "ui/window/records_pane.h"

namespace tessera::ui {

void MainWindow::Impl::addHistoryActions() {
  const QString historyMenu = Menus::history();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  const auto noCluster = [this] {
    return model.hasSnapshot() ? QString() : tr("There is no cluster to show.");
  };
  const auto editBlocked = [this] { return control.editBlockedReason(); };
  actions->add({.id = id("history.reverse"),
                .menu = historyMenu,
                .text = tr("Draft an &Undo…"),
                .statusTip = tr("Draft an undo of the selected (or latest) change"),
                .icon = id("reverse"),
                .shortcuts = Keys{keys("Ctrl+Shift+R")},
                .blocked =
                    [this, editBlocked] {
                      return history->reversible() == nullptr ? tr("There is no change to undo.")
                                                              : editBlocked();
                    }},
               [this] {
                 if (const auto* entry = history->reversible()) draftDesk->reverse(*entry);
               });
  actions->add({.id = id("history.reload"),
                .menu = historyMenu,
                .text = tr("Re&load"),
                .statusTip = tr("Read the history from the cluster again"),
                .icon = id("refresh"),
                .shortcuts = Keys{keys("F5")},
                .blocked = noCluster},
               [this] { history->reload(); });
  actions->add({.id = id("history.curves"),
                .menu = historyMenu,
                .text = tr("&Curves…"),
                .statusTip = tr("Choose what is drawn over time: loss, speed, and what the program "
                                "logs"),
                .separatorBefore = true},
               [this] {
                 bottomDock->show();
                 records->showPage(timeline);
                 timeline->showCurvesMenu();
               });
  actions->add(
      {.id = id("history.compareMoments"),
       .menu = historyMenu,
       .text = tr("Compare &Moments"),
       .statusTip = tr("Keep the moment shown, and compare it with those shown from now on"),
       .checkable = true,
       .blocked = [this] { return presenter->compareBlockedReason(); },
       .checked = [this] { return presenter->pinned().has_value(); }},
      [this](bool) { momentDesk->setComparing(!presenter->pinned()); });
  actions->add({.id = id("history.exportPlots"),
                .menu = historyMenu,
                .text = tr("E&xport Plots…"),
                .statusTip = tr("Save the plots as PNG or SVG, or their samples as CSV or JSON"),
                .icon = id("picture"),
                .blocked = [this] { return timeline->exportBlockedReason(); }},
               [this] { timeline->exportByHand(); });
  actions->add({.id = id("history.saveReport"),
                .menu = historyMenu,
                .text = tr("&Save Report…"),
                .statusTip = tr("Save the selected (or latest) change as a page with pictures, a "
                                "table or JSON"),
                .shortcuts = Keys{keys("Ctrl+S")},
                .blocked =
                    [this] {
                      return reports->reportable() == nullptr ? tr("There is no finished change.")
                                                              : QString();
                    }},
               [this] {
                 if (const auto* entry = reports->reportable()) reports->save(*entry);
               });
  actions->add({.id = id("history.saveScenario"),
                .menu = historyMenu,
                .text = tr("Save as Sce&nario…"),
                .statusTip = tr("Save what the job has been through as a file that a simulated "
                                "cluster plays"),
                .blocked =
                    [this] {
                      if (model.isFile()) return tr("This is a history file, not a live cluster.");
                      if (model.job() == nullptr) return tr("There is no job.");
                      return reports->reportable() == nullptr ? tr("There is no finished change.")
                                                              : QString();
                    }},
               [this] { reports->saveScenario(); });
}

}  // namespace tessera::ui
