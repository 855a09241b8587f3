// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the View menu.

#include <QActionGroup>
#include <QDockWidget>
#include <QLineEdit>
#include <QTableView>
#include <iterator>
#include <tuple>
#include <utility>

#include "ui/actions/menus.h"
#include "ui/main_window_impl.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/views/colour_bar.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/centre_pane.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/projector.h"
#include "ui/window/records_pane.h"

namespace tessera::ui {

void MainWindow::Impl::addViewActions() {
  const QString view = Menus::view();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  actions->add({.id = id("view.live"),
                .menu = view,
                .text = tr("&Live"),
                .statusTip = tr("Show the layout that the agents report"),
                .icon = id("live"),
                .shortcuts = Keys{keys("Alt+1")}},
               [this] { setSource(LayoutSource::Live); });
  actions->add({.id = id("view.draft"),
                .menu = view,
                .text = tr("&Draft"),
                .statusTip = tr("Show and edit the draft of a layout. Nothing moves"),
                .icon = id("draft"),
                .shortcuts = Keys{keys("Alt+2")},
                .blocked = [this] { return control.draftBlockedReason(); }},
               [this] { setSource(LayoutSource::Draft); });
  actions->add({.id = id("view.past"),
                .menu = view,
                .text = tr("&Past"),
                .statusTip = tr("Show the GPUs and the job at an earlier moment"),
                .icon = id("past"),
                .shortcuts = Keys{keys("Alt+3")},
                .blocked = [this] { return presenter->pastBlockedReason(); }},
               [this] { setSource(LayoutSource::Past); });
  actions->add({.id = id("view.lesson"),
                .menu = view,
                .text = tr("L&esson"),
                .statusTip = tr("Show the open lesson, or the next one, on a simulated cluster"),
                .shortcuts = Keys{keys("Alt+4")}},
               [this] { setSource(LayoutSource::Lesson); });
  for (View* each : centre->views()) {
    actions->add({.id = QStringLiteral("view.") + each->id(),
                  .menu = view,
                  .text = each->actionText(),
                  .statusTip = each->statusTip(),
                  .shortcuts = Keys{each->key()},
                  .separatorBefore = each == centre->views().front()},
                 [this, each] {
                   centre->tabs()->setCurrent(each->widget());
                   each->focusTarget()->setFocus();
                 });
  }
  for (View* each : centre->views()) {
    for (const View::Command& command : each->commands()) {
      actions->add(command.first, command.second);
    }
  }
  const std::pair<const char*, std::pair<QString, GroupBy>> groupings[] = {
      {"view.groupNode", {tr("Group by Node"), GroupBy::Node}},
      {"view.groupHost", {tr("Group by Host"), GroupBy::Host}},
      {"view.groupRack", {tr("Group by Rack"), GroupBy::Rack}},
      {"view.groupStage", {tr("Group by Pipeline Stage"), GroupBy::Stage}}};
  for (const auto& [name, grouping] : groupings) {
    const GroupBy by = grouping.second;
    actions->add({.id = id(name),
                  .menu = view,
                  .text = grouping.first,
                  .statusTip = tr("Choose what a frame of the mesh contains"),
                  .submenu = tr("Group By", "a menu in View"),
                  .checkable = true,
                  .blocked = [this, by] { return colours->groupingBlockedReason(by); },
                  .checked = [this, by] { return colours->grouping() == by; }},
                 [this, by] { colours->setGrouping(by); });
  }
  const std::pair<const char*, ColourBy> colourings[] = {
      {"view.colourPiece", ColourBy::Piece}, {"view.colourReplica", ColourBy::Replica},
      {"view.colourStage", ColourBy::Stage}, {"view.colourSlice", ColourBy::Slice},
      {"view.colourNode", ColourBy::Host},   {"view.colourMemory", ColourBy::Memory}};
  static_assert(std::size(colourings) == kNumColourings);
  for (const auto& [name, by] : colourings) {
    actions->add({.id = id(name),
                  .menu = view,
                  .text = tr("Colour by %1", "shard (tp × pp), node").arg(text(by)),
                  .statusTip = tr("Choose the meaning of the colours in all views"),
                  .submenu = tr("Colour By", "a menu in View"),
                  .checkable = true,
                  .checked = [this, by = by] { return colours->colouring() == by; }},
                 [this, by = by] { colours->setColouring(by); });
  }
  actions->add({.id = id("view.reduceMotion"),
                .menu = view,
                .text = tr("Red&uce Motion"),
                .statusTip = tr("Show static arrows instead of moving dots"),
                .checkable = true},
               [this](bool on) { settings.set(Setting::ReduceMotion, on); });
  actions->add(
      {.id = id("view.projector"),
       .menu = view,
       .text = tr("Pro&jector Mode"),
       .statusTip = tr("Enlarge the views and the lesson, mark the pointer with a ring, and show "
                       "the keys that are pressed"),
       .checkable = true},
      [this](bool on) { projector->setOn(on); });
  actions->add({.id = id("view.nextPane"),
                .menu = view,
                .text = tr("Ne&xt Pane"),
                .statusTip = tr("Move the keyboard focus to the next pane"),
                .shortcuts = Keys{keys("F6")},
                .separatorBefore = true},
               [this] { nextPane(1); });
  actions->add({.id = id("view.previousPane"),
                .menu = view,
                .text = tr("Pre&vious Pane"),
                .statusTip = tr("Move the keyboard focus to the previous pane"),
                .shortcuts = Keys{keys("Shift+F6")}},
               [this] { nextPane(-1); });
  actions->add({.id = id("view.find"),
                .menu = view,
                .text = tr("Filte&r"),
                .statusTip = tr("Filter the shown view, or else the events"),
                .shortcuts = Keys{keys("Ctrl+F")}},
               [this] {
                 QLineEdit* filter = records->events()->filterEdit();
                 for (View* each : centre->views()) {
                   if (each->widget()->isVisible() && each->filter() != nullptr) {
                     filter = each->filter();
                   }
                 }
                 if (filter == records->events()->filterEdit()) bottomDock->show();
                 filter->setFocus();
                 filter->selectAll();
               });
  const std::pair<const char*, std::pair<QString, QDockWidget*>> panes[] = {
      {"view.navigator", {tr("&Navigator"), navigatorDock}},
      {"view.side", {tr("In&spector and Plan"), rightDock}},
      {"view.records", {tr("&History and Events"), bottomDock}}};
  for (const auto& [name, pane] : panes) {
    QDockWidget* widget = pane.second;
    QAction* action = actions->add({.id = id(name),
                                    .menu = view,
                                    .text = pane.first,
                                    .statusTip = tr("Show or hide this pane"),
                                    .submenu = tr("Panes", "a menu in View"),
                                    .checkable = true},
                                   [widget](bool on) { widget->setVisible(on); });
    action->setChecked(true);
    connect(widget->toggleViewAction(), &QAction::toggled, action, &QAction::setChecked);
  }
  actions->add({.id = id("view.flows"),
                .menu = view,
                .text = tr("Flo&ws"),
                .statusTip = tr("Show the flows of the change in progress, the slowest first"),
                .shortcuts = Keys{keys("Ctrl+Shift+F")},
                .blocked =
                    [this] {
                      return records->flows()->hasFlows()
                                 ? QString()
                                 : tr("No change has run since the panel connected.");
                    }},
               [this] {
                 bottomDock->show();
                 records->showPage(records->flows());
                 records->flows()->table()->setFocus();
               });
  const std::pair<const char*, std::tuple<QString, QString, DockSizes::Arrangement>>
      arrangements[] = {
          {"view.layoutOperate",
           {tr("Layout: Operate"), tr("Show every pane, to run and change jobs"),
            DockSizes::Arrangement::Operate}},
          {"view.layoutTeach",
           {tr("Layout: Teach"), tr("Show a large mesh with its side pane, for a projector"),
            DockSizes::Arrangement::Teach}},
          {"view.layoutReview",
           {tr("Layout: Review"), tr("Show tall plots, history and events"),
            DockSizes::Arrangement::Review}}};
  const QString layoutMenu = tr("Layout", "a menu in View");
  int layoutNumber = 1;
  for (const auto& [name, words] : arrangements) {
    const auto value = std::get<DockSizes::Arrangement>(words);
    actions->add({.id = id(name),
                  .menu = view,
                  .text = std::get<0>(words),
                  .statusTip = std::get<1>(words),
                  .submenu = layoutMenu,
                  .shortcuts = Keys{QKeySequence(QStringLiteral("Ctrl+Alt+%1").arg(layoutNumber))}},
                 [this, value] { docks->arrange(value); });
    ++layoutNumber;
  }
  actions->add({.id = id("view.resetLayout"),
                .menu = view,
                .text = tr("Reset Layout"),
                .statusTip = tr("Restore the default place and size of every pane"),
                .submenu = layoutMenu,
                .separatorBefore = true},
               [this] { resetLayout(); });
  auto* themes = new QActionGroup(&window);
  const std::pair<const char*, std::pair<QString, QString>> modes[] = {
      {"view.themeSystem", {tr("S&ystem Colours"), id("system")}},
      {"view.themeLight", {tr("Li&ght Colours"), id("light")}},
      {"view.themeDark", {tr("Dark &Colours"), id("dark")}}};
  for (const auto& [name, mode] : modes) {
    const QString value = mode.second;
    QAction* action = actions->add({.id = id(name),
                                    .menu = view,
                                    .text = mode.first,
                                    .statusTip = tr("Choose the colours of the panel"),
                                    .submenu = tr("Theme", "a menu in View"),
                                    .checkable = true},
                                   [this, value] { settings.set(Setting::Theme, value); });
    themes->addAction(action);
  }
}

}  // namespace tessera::ui
