// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Creates the parts of the window and their layout.
#include <QCoreApplication>
#include <QDockWidget>
#include <QLabel>
#include <QLayout>
#include <QMenuBar>
#include <QProgressBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "ui/canvas/mesh_view.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/views/views.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {
namespace {

constexpr int kToolBarHeight = 48;
constexpr int kNavigatorDockWidth = 216;
constexpr int kDockWidth = 332;
constexpr int kViewsRow = 38;
constexpr int kRecordsRow = 34;

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

  buildCentre();
  buildDocks();
  buildStatusBar();
  addActions();
  actions->refreshIcons();
  actions->fillMenuBar(window.menuBar());
  connectAll();

  QCoreApplication::instance()->installEventFilter(this);

  initialLayout = window.saveState();
  adoptSettings();
  ageTimer.start(1000);
  refresh();
  mesh->setFocus();
}

void MainWindow::Impl::buildCentre() {
  centre = new Surface(Surface::Tone::Canvas, &window);
  linkNotice = new NoticeBar(centre);
  jobNotice = new NoticeBar(centre);
  errorNotice = new NoticeBar(centre);
  recordNotice = new NoticeBar(centre);
  draftNotice = new NoticeBar(centre);
  pastNotice = new NoticeBar(centre);
  lessonNotice = new NoticeBar(centre);
  operatorNotice = new NoticeBar(centre);
  tuningNotice = new NoticeBar(centre);
  countdown = new CountdownBar(control, centre);
  decision = new DecisionPanel(model, control, centre);
  progress = new ProgressPanel(model, control, centre);

  tabs = new TabbedPane(Surface::Tone::Canvas, tr("Views of the job"), kViewsRow, centre);
  tabs->setObjectName(QStringLiteral("views"));
  tabs->addNotice(new Rule(tabs));
  for (QWidget* notice : {static_cast<QWidget*>(linkNotice), static_cast<QWidget*>(operatorNotice),
                          static_cast<QWidget*>(jobNotice), static_cast<QWidget*>(tuningNotice),
                          static_cast<QWidget*>(recordNotice),
                          static_cast<QWidget*>(errorNotice), static_cast<QWidget*>(draftNotice),
                          static_cast<QWidget*>(pastNotice), static_cast<QWidget*>(lessonNotice),
                          static_cast<QWidget*>(countdown)}) {
    tabs->addNotice(notice);
  }

  auto* card = new QVBoxLayout;
  card->setContentsMargins(14, 0, 14, 8);
  card->addWidget(decision);
  card->addWidget(progress);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(tabs, 1);
  column->addLayout(card);
  window.setCentralWidget(centre);
}

void MainWindow::Impl::buildViews() {
  colours = new ColourBar(tabs);
  tabs->addCommonCorner(colours);
  views = makeViews({.model = model,
                     .commands = commands,
                     .connections = connections,
                     .states = states,
                     .selection = selection,
                     .history = *history->model(),
                     .say = [this](const QString& text) { say(text); },
                     .showError = [this](const QString& text) { showError(text); },
                     .rulesChanged = [this] { actions->refresh(); }},
                    tabs);
  for (View* view : views) tabs->addPage(view->title(), view->widget(), view->corner());
  meshPage = tabs->findChild<MeshPage*>();
  mesh = meshPage->mesh();
  state = meshPage->state();
}

void MainWindow::Impl::buildDocks() {
  const auto dock = [this](const QString& name, const QString& title, QWidget* content,
                           Qt::DockWidgetArea area) {
    auto* widget = new QDockWidget(title, &window);
    widget->setObjectName(name);
    widget->setFeatures(QDockWidget::NoDockWidgetFeatures);
    widget->setTitleBarWidget(new QWidget(widget));
    widget->setWidget(content);
    window.addDockWidget(area, widget);
    return widget;
  };
  window.setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
  window.setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);

  navigator = new Navigator(model, &window);
  navigatorDock =
      dock(QStringLiteral("navigator"), tr("Navigator"), navigator, Qt::LeftDockWidgetArea);

  inspector = new Inspector(model, &window);
  planPanel = new PlanPanel(model, draft, plan, proposal, control, &window);
  right = new QStackedWidget(&window);
  right->addWidget(inspector);
  right->addWidget(planPanel);
  details = new ChangeDetails(&window);
  right->addWidget(details);
  comparison = new ComparePage(&window);
  right->addWidget(comparison);
  lessonPane = new LessonPane(lessons, lessonRecords, &window);
  right->addWidget(lessonPane);
  right->setMinimumWidth(290);
  rightDock =
      dock(QStringLiteral("side"), tr("Inspector and plan"), right, Qt::RightDockWidgetArea);

  records = new TabbedPane(Surface::Tone::Panel, tr("Timeline and history"), kRecordsRow, &window);
  records->setObjectName(QStringLiteral("recordsPane"));
  records->layout()->setContentsMargins(0, 0, 0, 4);
  history = new HistoryPage(commands, records);
  timeline = new TimelinePage(model, commands, *history->model(), records);
  records->addPage(tr("Timeline"), timeline, timeline->corner());
  records->addPage(tr("History"), history, history->corner());
  flows = new FlowsPage(records);
  records->addPage(tr("Flows"), flows, flows->corner());
  records->setTabVisible(flows, false);  // until a change runs
  buildViews();
  events = new EventsPage(&window);
  auto* splitter = new QSplitter(Qt::Horizontal, &window);
  splitter->setObjectName(QStringLiteral("recordsSplitter"));
  splitter->addWidget(records);
  splitter->addWidget(events);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({880, 560});
  bottom = new QStackedWidget(&window);
  bottom->addWidget(splitter);
  bottom->addWidget(makeNoRecords());
  bottom->setMinimumHeight(110);
  bottomDock =
      dock(QStringLiteral("records"), tr("History and events"), bottom, Qt::BottomDockWidgetArea);

  window.resizeDocks({navigatorDock, rightDock}, {kNavigatorDockWidth, kDockWidth}, Qt::Horizontal);
  recordsHeight = kBottomHeight;
  window.resizeDocks({bottomDock}, {recordsHeight}, Qt::Vertical);
}

void MainWindow::Impl::buildStatusBar() {
  QStatusBar* bar = window.statusBar();
  bar->setSizeGripEnabled(false);
  statusDot = new StateDot(bar);
  statusLeft = new QLabel(bar);
  statusRight = new QLabel(bar);
  statusBar = new QProgressBar(bar);
  statusBar->setTextVisible(false);
  statusBar->setRange(0, 1000);
  statusBar->setFixedWidth(160);
  statusBar->setAccessibleName(tr("Progress of the change"));
  auto* left = new QWidget(bar);
  auto* row = new QHBoxLayout(left);
  row->setContentsMargins(10, 0, 0, 0);
  row->setSpacing(7);
  row->addWidget(statusDot);
  row->addWidget(statusLeft);
  bar->addWidget(left);
  bar->addPermanentWidget(statusBar);
  bar->addPermanentWidget(statusRight);
  statusRight->setContentsMargins(8, 0, 10, 0);
}

}  // namespace tessera::ui
