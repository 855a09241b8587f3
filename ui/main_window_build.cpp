// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Creates the parts of the window and their layout.
#include <QCoreApplication>
#include <QDockWidget>
#include <QLayout>
#include <QMenuBar>
#include <QStatusBar>
#include <QTableView>
#include <QToolBar>
#include <QTreeView>

#include "ui/canvas/mesh_view.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/palette/window_items.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/window/applied_settings.h"
#include "ui/window/centre_pane.h"
#include "ui/window/change_reports.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/decision_desk.h"
#include "ui/window/desktop_notices.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/draft_desk.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/projector.h"
#include "ui/window/records_pane.h"
#include "ui/window/side_pane.h"
#include "ui/window/status_line.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {
namespace {

constexpr int kToolBarHeight = 48;
constexpr int kLayoutVersion = 1;

QDockWidget* addDock(QMainWindow* window, const char* name, const QString& title, QWidget* content,
                     Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, window);
  dock->setObjectName(QString::fromLatin1(name));
  dock->setFeatures(QDockWidget::NoDockWidgetFeatures);
  dock->setTitleBarWidget(new QWidget(dock));
  dock->setWidget(content);
  window->addDockWidget(area, dock);
  return dock;
}

}  // namespace

void MainWindow::Impl::build() {
  window.setObjectName(QStringLiteral("panel"));
  window.setMinimumSize(1024, 640);
  window.resize(1440, 900);

  auto* bar = new QToolBar(tr("Main"), &window);
  bar->setObjectName(QStringLiteral("main"));
  bar->setMovable(false);
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  header = new HeaderBar(model, draft, control, bar);
  header->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  bar->addWidget(header);
  bar->setFixedHeight(kToolBarHeight);
  bar->setStyleSheet(QStringLiteral("QToolBar { padding: 0px; }"));
  bar->layout()->setContentsMargins(0, 0, 0, 0);
  window.addToolBar(Qt::TopToolBarArea, bar);

  centre = new CentrePane({model, control, seat,
                           [this](const QStringList& words) { return context.commandLine(words); }},
                          &window);
  progress = centre->progress();
  window.setCentralWidget(centre);
  buildDocks();
  status = std::make_unique<StatusLine>(window.statusBar());
  buildDesks();
  addActions();
  actions->refreshIcons();
  actions->fillMenuBar(window.menuBar());
  connectAll();

  QCoreApplication::instance()->installEventFilter(this);

  docks->keepInitialState();
  adoptSettings();
  ageTimer.start(1000);
  refresh();
  mesh->setFocus();
}

void MainWindow::Impl::buildDocks() {
  window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);

  navigator = new Navigator(model, &window);
  navigatorDock = addDock(&window, "navigator", tr("Navigator"), navigator, Qt::LeftDockWidgetArea);

  side = new SidePane({model, draft, plan, proposal, control, states, lessons, lessonRecords},
                      &window);
  rightDock = addDock(&window, "side", tr("Inspector and plan"), side, Qt::RightDockWidgetArea);

  records = new RecordsPane({.model = model,
                             .commands = commands,
                             .selection = selection,
                             .settings = settings,
                             .leaveDraft = [this] { leaveDraft(); },
                             .rulesChanged = [this] { actions->refresh(); },
                             .showError = [this](const QString& text) { showError(text); }},
                            &window);
  history = records->history();
  timeline = records->timeline();
  centre->addViews({.model = model,
                    .commands = commands,
                    .connections = connections,
                    .states = states,
                    .selection = selection,
                    .history = *history->model(),
                    .say = [this](const QString& text) { say(text); },
                    .showError = [this](const QString& text) { showError(text); },
                    .rulesChanged = [this] { actions->refresh(); }});
  colours = centre->colours();
  mesh = centre->mesh();
  records->addEvents();
  bottomDock =
      addDock(&window, "records", tr("History and events"), records, Qt::BottomDockWidgetArea);
  docks =
      std::make_unique<DockSizes>(window, DockSizes::Docks{navigatorDock, rightDock, bottomDock},
                                  QList<QWidget*>{centre->decision(), progress});
}

void MainWindow::Impl::buildDesks() {
  const auto says = [this](const QString& text) { say(text); };
  const auto shows = [this](const QString& text) { showError(text); };
  const auto isLesson = [this] { return presenter->isLesson(); };
  presenter = std::make_unique<Presenter>(
      Presenter::Parts{.model = model,
                       .draft = draft,
                       .plan = plan,
                       .states = states,
                       .lessons = lessons,
                       .samples = timeline->samples(),
                       .changes = *history->model(),
                       .chosen = [this] { return history->chosen(); },
                       .compared = [this] { return history->compared(); },
                       .playhead = [this] { return timeline->plots()->playhead(); }});
  draftDesk = std::make_unique<DraftDesk>(
      DraftDesk::Parts{model, draft, plan, control, lessons, settings},
      DraftDesk::Window{.widget = &window,
                        .isLesson = isLesson,
                        .setSource = [this](LayoutSource next) { setSource(next); },
                        .say = says,
                        .showError = shows});
  momentDesk = std::make_unique<MomentDesk>(
      MomentDesk::Parts{model, commands, *presenter, *timeline->plots(), *history->model()},
      MomentDesk::Window{
          .setPast =
              [this](bool past) { setSource(past ? LayoutSource::Past : LayoutSource::Live); },
          .refresh = [this] { refreshParts(); },
          .followChanges =
              [this] {
                refreshPastSwitch();
                if (presenter->isPast()) refresh();
              },
          .followPinned =
              [this] {
                refreshSide();
                refreshParts();
              },
          .showError = shows});
  lessonDesk =
      std::make_unique<LessonDesk>(LessonDesk::Parts{lessons, lessonRecords, selection, *colours,
                                                     *mesh, *centre->tabs(), centre->views()},
                                   LessonDesk::Window{.isShown = isLesson,
                                                      .show =
                                                          [this] {
                                                            if (!presenter->isLesson())
                                                              setSource(LayoutSource::Lesson);
                                                            side->lesson()->setFocus();
                                                          },
                                                      .refresh = [this] { refreshParts(); },
                                                      .showError = shows});
  decisionDesk = std::make_unique<DecisionDesk>(context, *actions, *centre->decision());
  desktop = std::make_unique<DesktopNotices>(&window, settings, start.notify);
  reports = std::make_unique<ChangeReports>(
      ChangeReports::Parts{model, commands, *history, says, shows}, &window);
  clusters = std::make_unique<ClusterChooser>(
      connections, settings, start.places.mirrors, &window,
      ClusterChooser::Reactions{.rulesChanged = [this] { actions->refresh(); },
                                .stateChanged = [this] { refreshNotices(); },
                                .profilesChanged = [this] { followProfile(); },
                                .showError = shows,
                                .say = says});
  items = std::make_unique<WindowItems>(
      WindowItems::Parts{*actions, *history->model(), *records->events()->model()},
      WindowItems::Reactions{
          .chooseDevices = [this](const std::set<ptc::DeviceId>& devices) { showDevices(devices); },
          .showJob = [this](const QString& name) { showJob(name); },
          .showChange =
              [this](std::int64_t txn) {
                bottomDock->show();
                if (history->choose(txn)) leaveDraft();
              },
          .showEvent =
              [this](const QModelIndex& row, double time, const QString& source) {
                bottomDock->show();
                records->events()->reveal(row);
                momentDesk->show(time);
                chooseNamed(source);
              }});
  dialogs = std::make_unique<WindowDialogs>(
      WindowDialogs::Parts{.settings = settings,
                           .actions = *actions,
                           .places = start.places,
                           .version = start.version,
                           .experiment = start.experiment,
                           .items = [this] { return items->items(model.snapshot()); },
                           .restart =
                               [this] {
                                 if (window.close()) emit window.restartRequested();
                               }},
      &window);
  projector = std::make_unique<Projector>(&window, centre->views(), *side->lesson());
}

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

void MainWindow::Impl::adoptSettings() {
  applied = std::make_unique<AppliedSettings>(
      AppliedSettings::Parts{.settings = settings,
                             .actions = *actions,
                             .control = control,
                             .lessons = lessons,
                             .mesh = *mesh,
                             .colours = *colours,
                             .countdownSeconds = start.liveCountdownSeconds,
                             .showError = [this](const QString& text) { showError(text); }});
  followProfile();
  navigator->tree()->setObjectName(QStringLiteral("navigator"));
  history->table()->setObjectName(QStringLiteral("history"));
  records->events()->table()->setObjectName(QStringLiteral("events"));
  if (!start.keepLayout) return;
  keeper = new LayoutKeeper(window, settings, kLayoutVersion);
  placed = keeper->restore();
  // Docks emit no signal when hidden before the window is shown.
  const std::pair<const char*, QDockWidget*> panes[] = {
      {"view.navigator", navigatorDock}, {"view.side", rightDock}, {"view.records", bottomDock}};
  for (const auto& [id, pane] : panes)
    actions->find(QString::fromLatin1(id))->setChecked(!pane->isHidden());
  if (placed) docks->adoptHeight();
  keeper->watch();
  if (settings.text(Setting::Source) == QLatin1String("draft")) wantedSource = LayoutSource::Draft;
  applied->adoptLooks();
}

}  // namespace tessera::ui
