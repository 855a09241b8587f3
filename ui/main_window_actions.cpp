// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// All commands of the window: texts, keys, and the rules that enable them.

#include <QActionGroup>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <tuple>
#include <utility>

#include "ui/actions/menus.h"
#include "ui/canvas/mesh_view.h"
#include "ui/main_window_impl.h"
#include "ui/pages/events_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/shortcut_sheet.h"
#include "ui/pages/timeline_page.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {

void MainWindow::Impl::addActions() {
  const QString file = Menus::file(), edit = Menus::edit(), view = Menus::view(),
                cluster = Menus::cluster(), planMenu = Menus::plan(),
                historyMenu = Menus::history(), helpMenu = Menus::help();
  const auto editBlocked = [this] { return control.editBlockedReason(); };
  const auto locked = [this] { return control.lockReason(); };
  const auto noSelection = [this] {
    return selection.devices().empty() && !mesh->current() ? tr("Select a GPU first.") : QString();
  };
  const auto noCluster = [this] {
    return model.hasSnapshot() ? QString() : tr("There is no cluster to show.");
  };
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
               [this] { openConnect(); });
  actions->add(
      {.id = id("file.startLocal"),
       .menu = file,
       .text = tr("Start &Local Cluster"),
       .statusTip =
           tr("Start 2 nodes with 4 emulated GPUs each on this machine and connect to them"),
       .icon = id("play"),
       .blocked =
           [this, noConnections] {
             return starting ? tr("A local cluster is already starting.") : noConnections();
           }},
      [this] { startLocal(); });
  actions->add({.id = id("file.openHistory"),
                .menu = file,
                .text = tr("Open &History File…"),
                .statusTip = tr("Show changes, events and plots from a file instead of a cluster"),
                .icon = id("reverse"),
                .shortcuts = Keys{keys("Ctrl+Shift+H")},
                .blocked = noConnections},
               [this] { chooseHistoryFile(); });
  actions->add({.id = id("file.settings"),
                .menu = file,
                .text = tr("&Settings…"),
                .statusTip = tr("Change colours, size, safety, data and shortcuts"),
                .shortcuts = Keys{keys("Ctrl+,")},
                .separatorBefore = true},
               [this] { openSettings(); });
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

  actions->add({.id = id("edit.undo"),
                .menu = edit,
                .text = tr("&Undo"),
                .statusTip = tr("Undo the last edit of the draft"),
                .icon = id("undo"),
                .shortcuts = Keys{keys("Ctrl+Z")},
                .blocked =
                    [this] {
                      if (!draft.undoStack()->canUndo()) return tr("There is nothing to undo.");
                      return control.editBlockedReason();
                    }},
               [this] {
                 draft.undoStack()->undo();
                 setSource(LayoutSource::Draft);
               });
  actions->add({.id = id("edit.redo"),
                .menu = edit,
                .text = tr("&Redo"),
                .statusTip = tr("Redo the edit that was undone"),
                .icon = id("redo"),
                .shortcuts = Keys{keys("Ctrl+Y"), keys("Ctrl+Shift+Z")},
                .blocked =
                    [this] {
                      if (!draft.undoStack()->canRedo()) return tr("There is nothing to redo.");
                      return control.editBlockedReason();
                    }},
               [this] {
                 draft.undoStack()->redo();
                 setSource(LayoutSource::Draft);
               });
  actions->add({.id = id("edit.toggle"),
                .menu = edit,
                .text = tr("&Add or Remove"),
                .statusTip = tr("Add the selected GPUs to the draft, or remove them"),
                .icon = id("move"),
                .shortcuts = Keys{keys("Space")},
                .canvasKey = true,
                .separatorBefore = true,
                .blocked =
                    [this, editBlocked, noSelection] {
                      const QString reason = noSelection();
                      return reason.isEmpty() ? editBlocked() : reason;
                    }},
               [this] {
                 const Devices& selected = selection.devices();
                 QList<ptc::DeviceId> devices(selected.begin(), selected.end());
                 if (devices.isEmpty() && mesh->current()) devices << *mesh->current();
                 editByHand(devices, std::nullopt);
               });
  actions->add({.id = id("edit.selectNode"),
                .menu = edit,
                .text = tr("Select the &Node"),
                .statusTip = tr("Select all GPUs of the current GPU's node"),
                .shortcuts = Keys{keys("N")},
                .canvasKey = true,
                .blocked = noSelection},
               [this] {
                 std::set<ptc::DeviceId> devices;
                 const auto current = mesh->current();
                 const auto* node = shownModel().findNode(
                     current ? current->node : selection.devices().begin()->node);
                 if (node == nullptr) return;
                 for (const auto& device : node->devices) devices.insert(device.id);
                 chooseSelection(devices);
               });
  actions->add({.id = id("edit.back"),
                .menu = edit,
                .text = tr("&Step Back"),
                .statusTip = tr("Stop the countdown, or clear the selection, or show Live. A "
                                "change in progress continues"),
                .icon = id("back"),
                .shortcuts = Keys{keys("Esc")}},
               [this] { stepBack(); });

  actions->add({.id = id("edit.goTo"),
                .menu = edit,
                .text = tr("&Go To…"),
                .statusTip = tr("Find an action, a GPU, a node, a job, a change or an event"),
                .shortcuts = Keys{keys("Ctrl+K")},
                .separatorBefore = true},
               [this] { openPalette(); });

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
                .text = tr("P&ast"),
                .statusTip = tr("Show the GPUs and the job at an earlier moment"),
                .icon = id("past"),
                .shortcuts = Keys{keys("Alt+3")},
                .blocked = [this] { return pastBlockedReason(); }},
               [this] { setSource(LayoutSource::Past); });
  for (View* each : views) {
    actions->add({.id = QStringLiteral("view.") + each->id(),
                  .menu = view,
                  .text = each->actionText(),
                  .statusTip = each->statusTip(),
                  .shortcuts = Keys{each->key()},
                  .separatorBefore = each == views.front()},
                 [this, each] {
                   tabs->setCurrent(each->widget());
                   each->focusTarget()->setFocus();
                 });
  }
  for (View* each : views) {
    for (const View::Command& command : each->commands()) {
      actions->add(command.first, command.second);
    }
  }
  actions->add({.id = id("view.reduceMotion"),
                .menu = view,
                .text = tr("&Reduce Motion"),
                .statusTip = tr("Show static arrows instead of moving dots"),
                .checkable = true},
               [this](bool on) { settings.set(Setting::ReduceMotion, on); });
  actions->add({.id = id("view.nextPane"),
                .menu = view,
                .text = tr("Next &Pane"),
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
                .text = tr("F&ilter"),
                .statusTip = tr("Filter the shown view, or else the events"),
                .shortcuts = Keys{keys("Ctrl+F")}},
               [this] {
                 QLineEdit* filter = events->filterEdit();
                 for (View* each : views) {
                   if (each->widget()->isVisible() && each->filter() != nullptr) {
                     filter = each->filter();
                   }
                 }
                 if (filter == events->filterEdit()) bottomDock->show();
                 filter->setFocus();
                 filter->selectAll();
               });
  const std::pair<const char*, std::pair<QString, QDockWidget*>> panes[] = {
      {"view.navigator", {tr("&Navigator"), navigatorDock}},
      {"view.side", {tr("In&spector and Plan"), rightDock}},
      {"view.records", {tr("&History and Events"), bottomDock}}};
  bool firstPane = true;
  for (const auto& [name, pane] : panes) {
    QDockWidget* widget = pane.second;
    QAction* action = actions->add({.id = id(name),
                                    .menu = view,
                                    .text = pane.first,
                                    .statusTip = tr("Show or hide this pane"),
                                    .checkable = true,
                                    .separatorBefore = std::exchange(firstPane, false)},
                                   [widget](bool on) { widget->setVisible(on); });
    action->setChecked(true);
    connect(widget->toggleViewAction(), &QAction::toggled, action, &QAction::setChecked);
  }
  const std::pair<const char*, std::tuple<QString, QString, Arrangement>> arrangements[] = {
      {"view.layoutOperate",
       {tr("Layout: &Operate"), tr("Show every pane, to run and change jobs"),
        Arrangement::Operate}},
      {"view.layoutTeach",
       {tr("Layout: &Teach"), tr("Show a large mesh with its side pane, for a projector"),
        Arrangement::Teach}},
      {"view.layoutReview",
       {tr("Layout: Re&view"), tr("Show tall plots, history and events"), Arrangement::Review}}};
  int layoutNumber = 1;
  for (const auto& [name, words] : arrangements) {
    const Arrangement value = std::get<Arrangement>(words);
    actions->add({.id = id(name),
                  .menu = view,
                  .text = std::get<0>(words),
                  .statusTip = std::get<1>(words),
                  .shortcuts = Keys{QKeySequence(QStringLiteral("Ctrl+Alt+%1").arg(layoutNumber))},
                  .separatorBefore = layoutNumber == 1},
                 [this, value] { arrange(value); });
    ++layoutNumber;
  }
  actions->add({.id = id("view.resetLayout"),
                .menu = view,
                .text = tr("Rese&t Layout"),
                .statusTip = tr("Restore the default place and size of every pane")},
               [this] { resetLayout(); });
  auto* themes = new QActionGroup(&window);
  const std::pair<const char*, std::pair<QString, QString>> modes[] = {
      {"view.themeSystem", {tr("S&ystem Colours"), id("system")}},
      {"view.themeLight", {tr("Li&ght Colours"), id("light")}},
      {"view.themeDark", {tr("Dar&k Colours"), id("dark")}}};
  bool firstMode = true;
  for (const auto& [name, mode] : modes) {
    const QString value = mode.second;
    QAction* action = actions->add({.id = id(name),
                                    .menu = view,
                                    .text = mode.first,
                                    .statusTip = tr("Choose the colours of the panel"),
                                    .checkable = true,
                                    .separatorBefore = std::exchange(firstMode, false)},
                                   [this, value] { settings.set(Setting::Theme, value); });
    themes->addAction(action);
  }

  actions->add({.id = id("cluster.operate"),
                .menu = cluster,
                .text = tr("&Operate"),
                .statusTip = tr("Allow this panel to change the cluster until it locks again"),
                .icon = id("operate"),
                .shortcuts = Keys{keys("Ctrl+Shift+O")},
                .checkable = true,
                .blocked = [this] { return control.readOnlyReason(); }},
               [this](bool on) { control.setOperating(on); });
  actions->add({.id = id("cluster.live"),
                .menu = cluster,
                .text = tr("&Live Moves"),
                .statusTip = tr("A drop starts a change after a countdown. Esc stops it"),
                .shortcuts = Keys{keys("Ctrl+Shift+L")},
                .checkable = true,
                .blocked = locked},
               [this](bool on) { control.setLive(on); });
  const auto jobBlocked = [this](std::initializer_list<engine::JobState> allowed,
                                 const QString& otherwise) {
    if (const QString reason = control.lockReason(); !reason.isEmpty()) return reason;
    if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) return reason;
    for (const engine::JobState each : allowed) {
      if (model.job()->state == each) return QString();
    }
    return otherwise;
  };
  actions->add({.id = id("cluster.startJob"),
                .menu = cluster,
                .text = tr("Start a &Job…"),
                .statusTip = tr("Choose a model, its data and its GPUs, and start it"),
                .icon = id("play"),
                .shortcuts = Keys{keys("Ctrl+N")},
                .separatorBefore = true,
                .blocked =
                    [this] {
                      if (model.isFile()) return tr("This is a history file, not a live cluster.");
                      return model.link() == LinkState::Connected && model.hasSnapshot()
                                 ? QString()
                                 : tr("There is no connection to the cluster.");
                    }},
               [this] { openStartJob(); });
  actions->add({.id = id("cluster.pauseJob"),
                .menu = cluster,
                .text = tr("&Pause the Job"),
                .statusTip = tr("Pause the job after its current step. Its state stays in memory"),
                .icon = id("pause"),
                .blocked =
                    [jobBlocked] {
                      return jobBlocked({engine::JobState::kRunning},
                                        tr("The job is not running."));
                    }},
               [this] { control.act(JobAct::Pause); });
  actions->add({.id = id("cluster.resumeJob"),
                .menu = cluster,
                .text = tr("&Resume the Job"),
                .statusTip = tr("Resume the paused or suspended job"),
                .icon = id("play"),
                .blocked =
                    [jobBlocked] {
                      using enum engine::JobState;
                      return jobBlocked({kPaused, kSuspended},
                                        tr("The job is neither paused nor suspended."));
                    }},
               [this] { control.act(JobAct::Resume); });
  addSnapshotActions(cluster);
  addCheckpointAction(cluster);
  actions->add({.id = id("cluster.stopJob"),
                .menu = cluster,
                .text = tr("&Stop the Job…"),
                .statusTip = tr("Stop the job and free its state, after confirmation"),
                .icon = id("stop"),
                .blocked =
                    [this, jobBlocked] {
                      using enum engine::JobState;
                      return jobBlocked({kStarting, kRunning, kPausing, kPaused, kWaitingDecision,
                                         kSuspended, kFailed},
                                        tr("The job has ended."));
                    }},
               [this] { confirmStop(); });
  actions->add({.id = id("cluster.reconnect"),
                .menu = cluster,
                .text = tr("Re&connect Now"),
                .statusTip = tr("Try to connect again immediately"),
                .icon = id("refresh"),
                .shortcuts = Keys{keys("Ctrl+R")},
                .separatorBefore = true,
                .blocked =
                    [this] {
                      if (model.link() == LinkState::None) return tr("No cluster is selected.");
                      return model.link() == LinkState::Connected
                                 ? tr("The panel is already connected.")
                                 : QString();
                    }},
               [this] { commands.reconnect(); });
  actions->add({.id = id("cluster.doctor"),
                .menu = cluster,
                .text = tr("&Doctor…"),
                .statusTip = tr("Show the problems that the nodes found, with remedies"),
                .icon = id("check"),
                .blocked =
                    [this] {
                      if (model.isFile()) return tr("This is a history file, not a live cluster.");
                      return model.link() == LinkState::Connected
                                 ? QString()
                                 : tr("There is no connection to the cluster.");
                    }},
               [this] { openDoctor(); });

  actions->add({.id = id("plan.apply"),
                .menu = planMenu,
                .text = tr("&Apply…"),
                .statusTip = tr("Carry out the plan of the draft"),
                .icon = id("apply"),
                .shortcuts = Keys{keys("Ctrl+Return")},
                .blocked = [this] { return control.applyBlockedReason(); }},
               [this] { requestApply(); });
  const auto noDraft = [this] {
    return draft.isEmpty() ? tr("The draft is empty.") : control.editBlockedReason();
  };
  actions->add({.id = id("plan.discard"),
                .menu = planMenu,
                .text = tr("&Discard the Draft"),
                .statusTip = tr("Return to the live layout. Undo restores the draft"),
                .icon = id("close"),
                .shortcuts = Keys{keys("Ctrl+Backspace")},
                .blocked = noDraft},
               [this] { discard(); });
  actions->add({.id = id("plan.copy"),
                .menu = planMenu,
                .text = tr("&Copy as Command"),
                .statusTip = tr("Copy the command line for the same plan"),
                .icon = id("copy"),
                .shortcuts = Keys{keys("Ctrl+Shift+C")},
                .blocked = noDraft},
               [this] { planPanel->copyButton()->click(); });
  actions->add({.id = id("plan.cancelMove"),
                .menu = planMenu,
                .text = tr("Cancel and &Roll Back"),
                .statusTip = tr("Cancel the change in progress. Before the commit nothing is lost"),
                .icon = id("stop"),
                .separatorBefore = true,
                .blocked =
                    [this] {
                      const engine::TxnStatus* txn = model.runningTxn();
                      if (txn == nullptr) return tr("No change is in progress.");
                      if (!txn->can_cancel) return tr("The change is already committed.");
                      return control.lockReason();
                    }},
               [this] { control.cancelMove(); });

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
                 if (const auto* entry = history->reversible()) planReverse(*entry);
               });
  actions->add({.id = id("history.reload"),
                .menu = historyMenu,
                .text = tr("Re&load"),
                .statusTip = tr("Read the history from the cluster again"),
                .icon = id("refresh"),
                .shortcuts = Keys{keys("F5")},
                .blocked = noCluster},
               [this] { history->reload(); });

  actions->add({.id = id("history.exportPlots"),
                .menu = historyMenu,
                .text = tr("E&xport Plots…"),
                .statusTip = tr("Save the plots as PNG or SVG, or their samples as CSV or JSON"),
                .icon = id("picture"),
                .blocked = [this] { return timeline->exportBlockedReason(); }},
               [this] { timeline->exportByHand(); });

  actions->add({.id = id("help.guide"),
                .menu = helpMenu,
                .text = tr("&Guide"),
                .statusTip = tr(
                    "Read about the first hour, the mesh, changes, your own job and real clusters"),
                .icon = id("info"),
                .shortcuts = Keys{keys("F1")}},
               [this] { openHelp({}); });
  actions->add({.id = id("help.errors"),
                .menu = helpMenu,
                .text = tr("&Troubleshooting"),
                .statusTip = tr("Look up error messages and what to do about them")},
               [this] { openHelp(QStringLiteral("troubleshooting.md")); });
  actions->add({.id = id("help.lesson"),
                .menu = helpMenu,
                .text = tr("&Lesson: Keeping the Position in the Data…"),
                .statusTip = tr("Train a job three times on this machine, right and wrong, and see "
                                "what a change of GPUs can cost"),
                .icon = id("play"),
                .blocked =
                    [this] {
                      return start.experiment == nullptr
                                 ? tr("This panel cannot start programs on this machine.")
                                 : QString();
                    }},
               [this] { openLesson(); });
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
               [this] { openAbout(); });
}

}  // namespace tessera::ui
