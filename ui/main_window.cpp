// SPDX-License-Identifier: GPL-3.0-or-later
#include <QAbstractItemView>
#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDateTime>
#include <QDockWidget>
#include <QLabel>
#include <QLayout>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTableView>
#include <QToolBar>
#include <QTreeView>
#include <QVBoxLayout>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/models/device_names.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/change_details.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/records_pane.h"
#include "ui/pages/shortcut_sheet.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/legend.h"
#include "ui/widgets/surface.h"

namespace tessera::ui {
namespace {

constexpr int kToolBarHeight = 48;
constexpr int kNavigatorWidth = 216;
constexpr int kDockWidth = 332;
constexpr int kBottomHeight = 194;
constexpr int kLowBottomHeight = 150;  // in windows lower than kLowWindow
constexpr int kLowWindow = 800;
constexpr int kErrorSeconds = 15;
constexpr int kDraftMark = 3;

std::vector<ptc::DeviceId> toVector(const QList<ptc::DeviceId>& devices) {
  return {devices.begin(), devices.end()};
}

}  // namespace

MainWindow::MainWindow(ClusterModel& model, ClusterCommands& commands, WindowOptions options,
                       QWidget* parent)
    : QMainWindow(parent), m_impl(std::make_unique<Impl>(*this, model, commands, options)) {
  MoveControl& control = m_impl->control;
  if (options.readonly) control.setReadOnly();
  if (options.operate) control.setOperating(true);
  if (options.live) control.setLive(true);
  m_impl->build();
}

MainWindow::~MainWindow() = default;

MeshView* MainWindow::meshView() const { return m_impl->mesh; }
Draft* MainWindow::draft() const { return &m_impl->draft; }
PlanPanel* MainWindow::planPanel() const { return m_impl->planPanel; }
ProgressPanel* MainWindow::progressPanel() const { return m_impl->progress; }
ActionRegistry* MainWindow::actions() const { return m_impl->actions; }
Settings& MainWindow::settings() const { return m_impl->settings; }
CommandPalette* MainWindow::commandPalette() const { return m_impl->palette; }
HelpWindow* MainWindow::helpWindow() const { return m_impl->help; }
bool MainWindow::isPlaced() const { return m_impl->placed; }
bool MainWindow::isOperating() const { return m_impl->control.isOperating(); }
bool MainWindow::isLiveMode() const { return m_impl->control.isLive(); }
bool MainWindow::isCountingDown() const { return m_impl->control.isCountingDown(); }
bool MainWindow::grabTo(const QString& file) { return grab().save(file, "PNG"); }

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
  countdown = new CountdownBar(control, centre);
  canvas = new QStackedWidget(centre);
  mesh = new MeshView(canvas);
  state = new StatePage(canvas);
  canvas->addWidget(mesh);
  canvas->addWidget(state);
  progress = new ProgressPanel(model, control, centre);

  auto* title = new Surface(Surface::Tone::Canvas, centre);
  title->setEdge(Qt::BottomEdge);
  title->setFixedHeight(38);
  auto* name = new QLabel(tr("Mesh"), title);
  setRole(name, QStringLiteral("heading"));
  auto* colours = new QLabel(tr("colour by"), title);
  setRole(colours, QStringLiteral("hint"));
  colourBox = new QComboBox(title);
  colourBox->setProperty("flat", true);
  for (int i = 0; i < kNumColourings; ++i) colourBox->addItem(text(static_cast<ColourBy>(i)), i);
  colourBox->setAccessibleName(tr("What the colours of the mesh tell"));
  colourBox->setStatusTip(tr("What the colours of the mesh tell"));
  colourBox->view()->setAccessibleName(colourBox->accessibleName());
  colours->setBuddy(colourBox);
  legend = new Legend(title);
  auto* titleRow = new QHBoxLayout(title);
  titleRow->setContentsMargins(17, 0, 6, 0);
  titleRow->addWidget(name);
  titleRow->addSpacing(12);
  titleRow->addWidget(colours);
  titleRow->addWidget(colourBox);
  titleRow->addStretch();
  titleRow->addWidget(legend);

  auto* card = new QVBoxLayout;
  card->setContentsMargins(14, 0, 14, 8);
  card->addWidget(progress);
  auto* column = new QVBoxLayout(centre);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(title);
  for (QWidget* notice : {static_cast<QWidget*>(linkNotice), static_cast<QWidget*>(jobNotice),
                          static_cast<QWidget*>(recordNotice), static_cast<QWidget*>(errorNotice),
                          static_cast<QWidget*>(draftNotice), static_cast<QWidget*>(countdown)}) {
    column->addWidget(notice);
  }
  column->addWidget(canvas, 1);
  column->addLayout(card);
  window.setCentralWidget(centre);
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
  right->setMinimumWidth(290);
  rightDock =
      dock(QStringLiteral("side"), tr("Inspector and plan"), right, Qt::RightDockWidgetArea);

  records = new RecordsPane(&window);
  history = new HistoryPage(commands, records);
  timeline = new TimelinePage(model, commands, *history->model(), records);
  records->addPage(tr("Timeline"), timeline, timeline->corner());
  records->addPage(tr("History"), history, history->corner());
  events = new EventsPage(&window);
  auto* splitter = new QSplitter(Qt::Horizontal, &window);
  splitter->setObjectName(QStringLiteral("recordsSplitter"));
  splitter->addWidget(records);
  splitter->addWidget(events);
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 2);
  splitter->setChildrenCollapsible(false);
  splitter->setSizes({880, 560});
  splitter->setMinimumHeight(110);
  bottomDock =
      dock(QStringLiteral("records"), tr("History and events"), splitter, Qt::BottomDockWidgetArea);

  window.resizeDocks({navigatorDock, rightDock}, {kNavigatorWidth, kDockWidth}, Qt::Horizontal);
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
  statusBar->setAccessibleName(tr("Progress of the move"));
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

void MainWindow::Impl::connectAll() {
  connect(&model, &ClusterModel::changed, this, &Impl::refresh);
  connect(&model, &ClusterModel::eventsAdded, events, &EventsPage::append);
  connect(&model, &ClusterModel::eventsAdded, timeline, &TimelinePage::addEvents);
  connect(&draft, &Draft::changed, this, &Impl::refresh);
  connect(&plan, &DraftPlan::changed, this, &Impl::refreshScene);
  connect(&control, &MoveControl::changed, this, [this] {
    actions->refresh();
    refreshStatus();
    refreshNotices();
    mesh->setReadOnly(!control.editBlockedReason().isEmpty());
  });
  connect(&control, &MoveControl::failed, this, &Impl::showError);
  connect(&control, &MoveControl::applied, this, [this] { setSource(HeaderBar::LiveSource); });
  connect(&ageTimer, &QTimer::timeout, this, &Impl::refreshAge);
  errorTimer.setSingleShot(true);
  connect(&errorTimer, &QTimer::timeout, errorNotice, &QWidget::hide);

  connect(header, &HeaderBar::sourceChosen, this, &Impl::setSource);
  connect(mesh, &MeshView::devicesDropped, this,
          [this](const QList<ptc::DeviceId>& devices, bool into) { editByHand(devices, into); });
  connect(mesh, &MeshView::toggleRequested, this,
          [this](const QList<ptc::DeviceId>& devices) { editByHand(devices, std::nullopt); });
  connect(mesh, &MeshView::selectionChanged, this, [this] {
    navigator->setSelection(mesh->selection());
    inspector->setSelection(mesh->selection());
    if (!mesh->selection().empty()) history->choose({});
    actions->refresh();
  });
  connect(mesh, &MeshView::activated, this, [this] { setSource(HeaderBar::LiveSource); });
  connect(
      mesh, &MeshView::contextMenuRequested, this, [this](ptc::DeviceId device, const QPoint& at) {
        if (!mesh->selection().contains(device)) chooseSelection({device});
        auto* menu = new QMenu(&window);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->setToolTipsVisible(true);
        for (const char* name :
             {"edit.toggle", "edit.selectNode", "plan.apply", "plan.discard", "plan.cancelMove"}) {
          menu->addAction(actions->find(QString::fromLatin1(name)));
        }
        menu->popup(at);
      });
  mesh->setDragHint([this](const QList<ptc::DeviceId>& devices, bool intoMesh) {
    std::set<ptc::DeviceId> set = draft.deviceSet();
    for (const ptc::DeviceId device : devices) {
      if (intoMesh) {
        set.insert(device);
      } else {
        set.erase(device);
      }
    }
    return tr("%1 in %2 after the drop")
        .arg(format::gpus(static_cast<std::int64_t>(set.size())), draft.job());
  });

  connect(colourBox, &QComboBox::currentIndexChanged, this, [this](int index) {
    isolated.reset();
    if (start.keepLayout) {
      settings.set(Setting::Colouring, Settings::specOf(Setting::Colouring).choices[index]);
    }
    refreshScene();
  });
  connect(legend, &Legend::isolateRequested, this, [this](std::optional<int> swatch) {
    isolated = swatch;
    refreshScene();
  });
  connect(navigator, &Navigator::selectionChosen, this, &Impl::chooseSelection);
  connect(planPanel, &PlanPanel::applyRequested, this, &Impl::requestApply);
  connect(planPanel, &PlanPanel::discardRequested, this, &Impl::discard);
  connect(history, &HistoryPage::reverseRequested, this, &Impl::planReverse);
  connect(history, &HistoryPage::loaded, actions, &ActionRegistry::refresh);
  connect(history, &HistoryPage::failed, this, &Impl::showError);
  connect(history, &HistoryPage::chosenChanged, this, [this] {
    const engine::HistoryEntry* entry = history->chosen();
    timeline->setSelected(entry == nullptr ? std::nullopt : std::optional(entry->id));
    if (entry != nullptr) details->setEntry(*entry);
    refreshSide();
    actions->refresh();
  });
  connect(timeline, &TimelinePage::failed, this, &Impl::showError);
  connect(timeline->plots(), &JobPlots::playheadChanged, actions, &ActionRegistry::refresh);
  connect(timeline, &TimelinePage::changeChosen, this, [this](qint64 txn) {
    if (history->choose(txn)) setSource(HeaderBar::LiveSource);
  });
  connect(details, &ChangeDetails::reverseRequested, this, &Impl::planReverse);
  connect(details, &ChangeDetails::closeRequested, this, [this] { history->choose({}); });
  connect(events, &EventsPage::failed, this, &Impl::showError);
  connect(events, &EventsPage::sourceChosen, this, &Impl::chooseSource);
  connect(&model, &ClusterModel::cleared, this, [this] {
    events->clear();
    historyLoaded = false;
    followProfile();
  });
  connect(header, &HeaderBar::jobChosen, this, &Impl::showJob);
  connect(header, &HeaderBar::goToRequested, this, &Impl::openPalette);
  connect(state, &StatePage::retryRequested, this, [this] { commands.reconnect(); });
  connect(state, &StatePage::startRequested, this, &Impl::startLocal);
  connect(state, &StatePage::connectRequested, this, &Impl::openConnect);
  connect(state, &StatePage::openRequested, this, &Impl::chooseHistoryFile);
  connect(linkNotice, &NoticeBar::actionTriggered, this, [this] {
    if (model.isFile()) {
      connections->closeHistory();
    } else {
      commands.reconnect();
    }
  });
  connect(errorNotice, &NoticeBar::actionTriggered, errorNotice, &QWidget::hide);
  connect(recordNotice, &NoticeBar::actionTriggered, this,
          [this] { openSettings(SettingsDialog::Data); });
  connect(draftNotice, &NoticeBar::actionTriggered, this,
          [this] { setSource(HeaderBar::LiveSource); });
  connect(progress, &ProgressPanel::viewChanged, this, [this] {
    refreshTitle();
    refreshStatus();
  });
  connect(progress, &ProgressPanel::ended, this, [this] {
    history->reload();
    if (!window.isActiveWindow()) QApplication::alert(&window);
    if (std::exchange(closeWhenRolledBack, false)) window.close();
  });
  connect(progress, &ProgressPanel::reverseRequested, this, [this] {
    const auto& txn = model.snapshot().transaction;
    if (txn)
      draftLayout(txn->from_devices, txn->from_mesh, txn->from_options,
                  tr("reverse the last move"));
  });
  connect(progress, &ProgressPanel::againRequested, this, [this] {
    const auto& txn = model.snapshot().transaction;
    if (txn)
      draftLayout(txn->to_devices, txn->to_mesh, txn->to_options, tr("plan the last move again"));
  });
}

void MainWindow::Impl::setSource(Source next) {
  if (next == HeaderBar::DraftSource && !control.editBlockedReason().isEmpty()) {
    next = HeaderBar::LiveSource;
  }
  source = next;
  if (start.keepLayout) {
    settings.set(Setting::Source, source == HeaderBar::DraftSource ? QStringLiteral("draft")
                                                                   : QStringLiteral("live"));
  }
  header->setSource(source);
  proposal.setActive(source == HeaderBar::DraftSource);
  refreshSide();
  refresh();
}

void MainWindow::Impl::refreshSide() {
  if (source == HeaderBar::DraftSource) {
    right->setCurrentWidget(planPanel);
    return;
  }
  const bool looking = history->chosen() != nullptr;
  if (looking) details->setReverseBlocked(control.editBlockedReason());
  right->setCurrentWidget(looking ? static_cast<QWidget*>(details) : inspector);
}

void MainWindow::Impl::editByHand(const QList<ptc::DeviceId>& devices,
                                  std::optional<bool> intoMesh) {
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) {
    window.statusBar()->showMessage(reason, 4000);
    return;
  }
  const Draft::Edits before = draft.edits();
  if (!intoMesh) {
    draft.toggle(toVector(devices));
  } else if (*intoMesh) {
    draft.add(toVector(devices));
  } else {
    draft.remove(toVector(devices));
  }
  if (draft.edits() == before) return;
  setSource(HeaderBar::DraftSource);
  control.draftEditedByHand();
}

void MainWindow::Impl::requestApply() {
  if (const QString reason = control.applyBlockedReason(); !reason.isEmpty()) {
    window.statusBar()->showMessage(reason, 4000);
    return;
  }
  control.stopCountdown();
  if (!mustConfirm(*plan.summary())) {
    control.apply();
    return;
  }
  auto* sheet = new ApplySheet(model, plan, control, &window);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &QDialog::accepted, this, [this, sheet] {
    control.apply(sheet->isUnrecordedAllowed() ? Unrecorded::Allow
                                               : Unrecorded::Refuse);
  });
  sheet->open();
}

void MainWindow::Impl::discard() {
  control.stopCountdown();
  draft.discard();
  setSource(HeaderBar::LiveSource);
}

void MainWindow::Impl::stepBack() {
  if (control.stopCountdown()) return;
  if (!mesh->selection().empty()) {
    mesh->setSelection({});
    return;
  }
  if (history->chosen() != nullptr && source == HeaderBar::LiveSource) {
    history->choose({});
    return;
  }
  if (timeline->plots()->playhead() && timeline->plots()->hasFocus()) {
    timeline->plots()->setPlayhead(std::nullopt);
    return;
  }
  if (source == HeaderBar::DraftSource) setSource(HeaderBar::LiveSource);
}

void MainWindow::Impl::planReverse(const engine::HistoryEntry& entry) {
  const auto before = ptc::ParseDeviceMesh(entry.from);
  if (!before) {
    showError(
        tr("Change %1 cannot be reversed: %2.").arg(entry.id).arg(format::error(before.error())));
    return;
  }
  if (QString::fromStdString(entry.job) != draft.job()) {
    showError(tr("Change %1 was one of %2, which is not the job shown.")
                  .arg(entry.id)
                  .arg(QString::fromStdString(entry.job)));
    return;
  }
  draftLayout(before->devices(), before->shape(), entry.from_options,
              tr("reverse change %1").arg(entry.id));
}

void MainWindow::Impl::draftLayout(const std::vector<ptc::DeviceId>& devices,
                                   const ptc::MeshShape& layout, const engine::StepOptions& options,
                                   const QString& name) {
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) {
    return showError(reason);
  }
  draft.replace(devices, layout, name, options);
  setSource(HeaderBar::DraftSource);
}

void MainWindow::Impl::chooseSelection(const std::set<ptc::DeviceId>& devices) {
  mesh->setSelection(devices);
  if (devices.size() == 1) mesh->setCurrent(*devices.begin());
}

void MainWindow::Impl::chooseSource(const QString& name) {
  std::set<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : model.snapshot().nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (format::node(node.node) == name || format::device(device.id) == name ||
          (!device.job.empty() && QString::fromStdString(device.job) == name)) {
        devices.insert(device.id);
      }
    }
  }
  if (!devices.empty()) chooseSelection(devices);
}

void MainWindow::Impl::showError(const QString& text) {
  errorNotice->say(Surface::Tone::Problem, text, tr("Dismiss"));
  errorTimer.start(kErrorSeconds * 1000);
}

void MainWindow::Impl::nextPane(int direction) {
  QWidget* side = source == HeaderBar::DraftSource
                      ? static_cast<QWidget*>(planPanel->axisBox(ptc::Axis::kDp))
                      : nullptr;
  QList<QWidget*> panes;
  for (QWidget* pane :
       {static_cast<QWidget*>(navigator->tree()), static_cast<QWidget*>(mesh), side,
        static_cast<QWidget*>(timeline->plots()), static_cast<QWidget*>(history->table()),
        static_cast<QWidget*>(events->table())}) {
    if (pane != nullptr && pane->isVisible() && pane->isEnabled()) panes << pane;
  }
  if (panes.isEmpty()) return;
  const auto inPane = [](const QWidget* pane, const QWidget* focus) {
    return focus != nullptr && (pane == focus || pane->isAncestorOf(focus));
  };
  qsizetype at = direction > 0 ? -1 : 0;
  for (qsizetype i = 0; i < panes.size(); ++i) {
    if (inPane(panes[i], QApplication::focusWidget())) at = i;
  }
  panes[(at + direction + panes.size()) % panes.size()]->setFocus(Qt::TabFocusReason);
}

void MainWindow::Impl::confirmStop() {
  auto* box = new QMessageBox(
      QMessageBox::Warning, tr("Stop %1").arg(draft.job()),
      tr("Stop %1 and free its state? What is not saved elsewhere is gone.").arg(draft.job()),
      QMessageBox::NoButton, &window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* stop = box->addButton(tr("Stop %1").arg(draft.job()), QMessageBox::DestructiveRole);
  QPushButton* keep = box->addButton(tr("Keep it"), QMessageBox::RejectRole);
  stop->setAutoDefault(false);
  box->setDefaultButton(keep);
  connect(stop, &QPushButton::clicked, this, [this] { control.act(JobAct::Stop); });
  box->open();
}

void MainWindow::Impl::setTheme(ThemeMode mode) {
  if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance())) {
    applyTheme(*application, mode);
  }
}

void MainWindow::Impl::refresh() {
  // A move, also one that somebody else began, is watched in Live.
  if (source == HeaderBar::DraftSource && !control.editBlockedReason().isEmpty()) {
    setSource(HeaderBar::LiveSource);
    return;
  }
  if (wantedSource && control.editBlockedReason().isEmpty()) {
    setSource(*std::exchange(wantedSource, std::nullopt));
    return;
  }
  // Read once a connection: others may have changed the cluster while it was away.
  if (model.link() != LinkState::Connected) {
    historyLoaded = false;
  } else if (model.hasSnapshot() && !std::exchange(historyLoaded, true)) {
    history->reload();
  }
  refreshScene();
  refreshNotices();
  navigator->refresh(source == HeaderBar::DraftSource ? &draft : nullptr);
  navigator->setSelection(mesh->selection());
  inspector->refresh();
  refreshStatus();
  refreshTitle();
  refreshAge();
  actions->find(QStringLiteral("cluster.operate"))->setChecked(control.isOperating());
  actions->find(QStringLiteral("cluster.live"))->setChecked(control.isLive());
  actions->refresh();
}

void MainWindow::Impl::refreshScene() {
  const engine::JobStatus* job = model.job();
  const bool drafting = source == HeaderBar::DraftSource;
  const std::set<ptc::DeviceId> devices = draft.deviceSet();
  MeshScene scene = makeScene(model.snapshot(), job == nullptr ? std::string() : job->name,
                              drafting ? &devices : nullptr,
                              drafting && plan.summary() ? &*plan.summary() : nullptr);
  scene.isolated = isolated;
  colourScene(&scene, static_cast<ColourBy>(colourBox->currentIndex()));
  isolated = scene.isolated;
  mesh->setScene(std::move(scene));
  mesh->setReadOnly(!control.editBlockedReason().isEmpty());
  legend->setEntries(mesh->scene().legend, mesh->scene().colourBy == ColourBy::Memory);
  legend->setIsolated(isolated);
}

void MainWindow::Impl::refreshNotices() {
  const bool shown = model.hasSnapshot() && !model.isFile();
  const QString detail = model.linkDetail();
  canvas->setCurrentWidget(shown ? static_cast<QWidget*>(mesh) : state);
  linkNotice->hide();
  if (starting) {
    if (shown) {
      linkNotice->say(Surface::Tone::Accent, tr("Starting a local cluster: %1").arg(*starting));
    } else {
      state->showStarting(*starting);
    }
  } else if (model.isFile()) {
    linkNotice->say(Surface::Tone::Accent, tr("A history file, not live: %1").arg(model.file()),
                    tr("Close the file"));
    state->showFile(model.file());
  } else {
    refreshLink(shown, detail);
  }
  refreshJobNotice(shown);
  const QString unrecorded = model.recordProblem();
  if (unrecorded.isEmpty()) {
    recordNotice->hide();
  } else {
    recordNotice->say(Surface::Tone::Warning,
                      tr("History cannot be written: %1; monitoring continues").arg(unrecorded),
                      tr("Data settings…"));
  }

  const bool drafting = source == HeaderBar::DraftSource;
  if (drafting && countdown->isHidden()) {
    draftNotice->say(Surface::Tone::Accent, tr("Draft: nothing moves until you apply it."),
                     tr("Back to live  Esc"));
  } else {
    draftNotice->hide();
  }
  centre->setMark(drafting ? kDraftMark : 0);
}

void MainWindow::Impl::refreshLink(bool shown, const QString& detail) {
  switch (model.link()) {
    case LinkState::None:
      if (!shown) state->showEmpty(connections != nullptr);
      break;
    case LinkState::Connecting:
      if (!shown) state->showConnecting(detail);
      break;
    case LinkState::Connected:
      if (!shown) state->showConnecting(tr("Waiting for the first node to answer."));
      break;
    case LinkState::Lost:
      if (shown) {
        linkNotice->say(Surface::Tone::Problem,
                        tr("The connection is lost; what you see is from %1. %2")
                            .arg(format::age(model.ageSeconds().value_or(0)), detail)
                            .trimmed(),
                        tr("Retry now"));
      } else {
        state->showProblem(tr("The cluster does not answer"), detail, true);
      }
      break;
    case LinkState::Refused:
      if (shown) {
        linkNotice->say(Surface::Tone::Problem,
                        tr("The cluster refuses this panel: %1").arg(detail), tr("Retry now"));
      } else {
        state->showProblem(tr("The cluster refuses this panel"), detail, true);
      }
      break;
  }
}

void MainWindow::Impl::refreshJobNotice(bool shown) {
  jobNotice->hide();
  if (shown && model.link() == LinkState::Connected) {
    const engine::JobStatus* job = model.job();
    const QString command = QStringLiteral("tesseractl job start gpt-mini");
    if (job == nullptr || job->state == engine::JobState::kStopped) {
      jobNotice->say(Surface::Tone::Accent, tr("No job is running. Start one:"), {}, command);
    } else if (job->state == engine::JobState::kFailed) {
      const QString reason = job->reason.empty() ? tr("the cluster gave no reason")
                                                 : QString::fromStdString(job->reason);
      jobNotice->say(Surface::Tone::Problem,
                     tr("%1 failed: %2").arg(QString::fromStdString(job->name), reason));
    } else if (job->state == engine::JobState::kWaitingDecision) {
      jobNotice->say(Surface::Tone::Warning, tr("%1 waits for a decision: %2")
                                                 .arg(QString::fromStdString(job->name),
                                                      QString::fromStdString(job->reason)));
    }
  }
}

void MainWindow::Impl::refreshStatus() {
  const engine::ClusterSnapshot& snapshot = model.snapshot();
  int alive = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    alive += node.state == engine::NodeState::kAlive;
  }
  const int nodes = static_cast<int>(snapshot.nodes.size());
  QString left;
  switch (model.link()) {
    case LinkState::None:
      left = tr("no cluster");
      break;
    case LinkState::Connecting:
      left = tr("connecting");
      break;
    case LinkState::Connected:
      if (model.isFile()) {
        left = tr("history file");
        break;
      }
      left =
          nodes == 1 ? tr("%1 of 1 agent").arg(alive) : tr("%1 of %2 agents").arg(alive).arg(nodes);
      break;
    case LinkState::Lost:
      left = tr("connection lost");
      break;
    case LinkState::Refused:
      left = tr("refused");
      break;
  }
  statusLeft->setText(left);
  const bool good = model.link() == LinkState::Connected;
  const bool waiting =
      model.link() == LinkState::None || model.link() == LinkState::Connecting || model.isFile();
  statusDot->setTone(waiting          ? StateDot::Tone::Quiet
                     : !good          ? StateDot::Tone::Bad
                     : alive == nodes ? StateDot::Tone::Good
                                      : StateDot::Tone::Warning);

  const std::optional<double> done = progress->overall();
  const bool moving = done && progress->view() && !progress->view()->ended;
  statusBar->setVisible(moving);
  if (moving) {
    statusBar->setValue(static_cast<int>(*done * 1000));
    double rate = 0;
    for (const engine::FlowStatus& flow : snapshot.transaction->flows) {
      rate += flow.bytes_per_second;
    }
    QString text = tr("moving %1").arg(format::percent(*done));
    if (rate > 0) text += QStringLiteral(" · ") + format::rate(rate);
    statusRight->setText(text);
  } else if (!draft.isEmpty()) {
    statusRight->setText(tr("draft: %1 in, %2 out · Ctrl+Z undoes")
                             .arg(draft.edits().in.size())
                             .arg(draft.edits().out.size()));
  } else {
    statusRight->setText(model.hasSnapshot() ? tr("nothing is moving") : QString());
  }
}

void MainWindow::Impl::refreshTitle() {
  QString title = tr("Tessera");
  if (model.hasSnapshot()) {
    title = header->jobText() + QStringLiteral(" — ") + title;
  }
  const std::optional<double> done = progress->overall();
  if (done && progress->view() && !progress->view()->ended) {
    title = QStringLiteral("[%1] ").arg(format::percent(*done)) + title;
  }
  window.setWindowTitle(title);
}

void MainWindow::Impl::refreshAge() {
  const bool current = model.link() == LinkState::Connected || !model.hasSnapshot();
  mesh->setStale(current ? 0.0 : model.ageSeconds().value_or(0));
  history->setStale(
      current ? QString()
              : tr("as of %1")
                    .arg(QDateTime::currentDateTime()
                             .addSecs(-static_cast<qint64>(model.ageSeconds().value_or(0)))
                             .toString(QStringLiteral("HH:mm:ss"))));
  if (!current) {
    header->refresh();
    refreshNotices();
  }
}

void MainWindow::Impl::fitRecords() {
  // A low window gives its height to the canvas, unless the user has set the pane's own.
  const int wanted = window.height() < kLowWindow ? kLowBottomHeight : kBottomHeight;
  if (wanted == recordsHeight || bottomDock->height() != recordsHeight) return;
  recordsHeight = wanted;
  window.resizeDocks({bottomDock}, {wanted}, Qt::Vertical);
}

bool MainWindow::Impl::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::KeyPress:
    case QEvent::MouseButtonPress:
    case QEvent::Wheel:
    case QEvent::Drop:
      control.noteInput();
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

bool MainWindow::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::Resize: {
      const bool done = QMainWindow::event(event);
      if (m_impl && m_impl->bottomDock != nullptr && isVisible()) m_impl->fitRecords();
      return done;
    }
    case QEvent::PaletteChange:
    case QEvent::ApplicationPaletteChange:
      if (m_impl && m_impl->header != nullptr) {
        m_impl->actions->refreshIcons();
        m_impl->planPanel->refresh();
        m_impl->followProfile();
      }
      break;
    default:
      break;
  }
  return QMainWindow::event(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (m_impl->keeper != nullptr) m_impl->keeper->capture();
  const engine::TxnStatus* txn = m_impl->model.runningTxn();
  if (txn == nullptr || !txn->can_cancel || !m_impl->control.lockReason().isEmpty()) {
    event->accept();
    return;
  }
  event->ignore();
  auto* box =
      new QMessageBox(QMessageBox::Question, tr("A move is running"),
                      tr("Bytes of %1 are on the way.").arg(QString::fromStdString(txn->job)),
                      QMessageBox::NoButton, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* quit = box->addButton(tr("Roll back and quit"), QMessageBox::DestructiveRole);
  QPushButton* keep = box->addButton(tr("Keep window"), QMessageBox::RejectRole);
  quit->setAutoDefault(false);
  box->setDefaultButton(keep);
  connect(quit, &QPushButton::clicked, this, [this] {
    m_impl->closeWhenRolledBack = true;
    m_impl->control.cancelMove();
  });
  box->open();
}

}  // namespace tessera::ui
