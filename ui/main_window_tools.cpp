// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Dialogs and other windows: connections, settings, palette and guide. Applies settings and
/// layouts.

#include <QApplication>
#include <QDateTime>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QPointer>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <algorithm>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/connect_dialog.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/simulate_dialog.h"
#include "ui/format.h"
#include "ui/help/help_window.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/main_window_impl.h"
#include "ui/pages/events_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/state_page.h"
#include "ui/palette/command_palette.h"
#include "ui/settings/layout_keeper.h"
#include "ui/settings/settings.h"
#include "ui/views/colour_bar.h"

namespace tessera::ui {
namespace {

constexpr int kLayoutVersion = 1;
constexpr int kTeachNavigatorWidth = 216, kDefaultSideWidth = 332, kRecordsHeight = 194;
constexpr int kPaletteEvents = 500;  // the newest events

QString withoutMnemonic(QString text) { return text.remove(QLatin1Char('&')); }

}  // namespace

// --- settings and layouts ---

void MainWindow::Impl::adoptSettings() {
  for (const Setting each : {Setting::ReduceMotion, Setting::Countdown, Setting::Relock}) {
    applySetting(each);
  }
  connect(&settings, &Settings::changed, this, &Impl::applySetting);
  connect(&settings, &Settings::saveFailed, this, [this](const QString& message) {
    showError(tr("The settings could not be saved: %1.").arg(message));
  });
  actions->loadShortcuts(settings);
  checkTheme();
  followProfile();

  navigator->tree()->setObjectName(QStringLiteral("navigator"));
  history->table()->setObjectName(QStringLiteral("history"));
  events->table()->setObjectName(QStringLiteral("events"));
  if (start.keepLayout) {
    keeper = new LayoutKeeper(window, settings, kLayoutVersion);
    placed = keeper->restore();
    // Docks emit no signal when hidden before the window is shown.
    const std::pair<const char*, QDockWidget*> panes[] = {
        {"view.navigator", navigatorDock}, {"view.side", rightDock}, {"view.records", bottomDock}};
    for (const auto& [id, pane] : panes) {
      actions->find(QString::fromLatin1(id))->setChecked(!pane->isHidden());
    }
    recordsHeight = placed ? -1 : recordsHeight;  // a restored height was set by the user
    keeper->watch();
    if (settings.text(Setting::Source) == QLatin1String("draft"))
      wantedSource = LayoutSource::Draft;
    applySetting(Setting::Colouring);
    applySetting(Setting::Grouping);
  }
  if (!settings.notice().isEmpty()) {
    QTimer::singleShot(0, this, [this] { showError(settings.notice()); });
  }
}

void MainWindow::Impl::applySetting(Setting setting) {
  switch (setting) {
    case Setting::Theme: {
      const QString name = settings.text(setting);
      setTheme(name == QLatin1String("light")  ? ThemeMode::Light
               : name == QLatin1String("dark") ? ThemeMode::Dark
                                               : ThemeMode::System);
      checkTheme();
      break;
    }
    case Setting::ReduceMotion:
      lessons.setAnimated(!settings.flag(setting));
      mesh->setReduceMotion(settings.flag(setting));
      actions->find(QStringLiteral("view.reduceMotion"))->setChecked(settings.flag(setting));
      break;
    case Setting::Countdown:
      control.setCountdownMs(start.liveCountdownSeconds.value_or(settings.number(setting)) * 1000);
      break;
    case Setting::Relock:
      control.setRelockMinutes(settings.number(setting));
      break;
    case Setting::Colouring:
      colours->setColouring(
          static_cast<ColourBy>(Settings::specOf(setting).choices.indexOf(settings.text(setting))));
      break;
    case Setting::Grouping:
      colours->setGrouping(
          static_cast<GroupBy>(Settings::specOf(setting).choices.indexOf(settings.text(setting))));
      break;
    case Setting::Confirm:
    case Setting::ConfirmAbove:  // read at each apply
    case Setting::Scale:
    case Setting::Language:  // read before the first window
    case Setting::Mirror:
    case Setting::MirrorSize:  // read by the owner of the mirror
    case Setting::Source:
    case Setting::Notify:  // read at each notice
      break;
  }
}

void MainWindow::Impl::checkTheme() {
  const QString name = settings.text(Setting::Theme);
  for (const char* each : {"system", "light", "dark"}) {
    QString id = QString::fromLatin1(each);
    const bool on = name == id;
    id[0] = id[0].toUpper();
    actions->find(QStringLiteral("view.theme") + id)->setChecked(on);
  }
}

bool MainWindow::Impl::mustConfirm(const engine::PlanSummary& summary) const {
  if (!control.unrecordedReason().isEmpty()) return true;
  if (control.isLive()) return false;
  if (!summary.rollback || settings.text(Setting::Confirm) == QLatin1String("always")) return true;
  return summary.moved() > (std::int64_t{settings.number(Setting::ConfirmAbove)} << 20);
}

void MainWindow::Impl::arrange(Arrangement arrangement) {
  const bool teach = arrangement == Arrangement::Teach;
  const bool review = arrangement == Arrangement::Review;
  window.restoreState(initialLayout);
  navigatorDock->setVisible(!teach && !review);
  rightDock->setVisible(true);
  bottomDock->setVisible(!teach);
  const int height = review ? window.height() * 45 / 100 : kRecordsHeight;
  recordsHeight = review ? -1 : height;
  window.resizeDocks({navigatorDock, rightDock}, {kTeachNavigatorWidth, kDefaultSideWidth},
                     Qt::Horizontal);
  window.resizeDocks({bottomDock}, {height}, Qt::Vertical);
  squeezedFrom.reset();
}

void MainWindow::Impl::resetLayout() {
  if (keeper != nullptr) keeper->forget();
  arrange(Arrangement::Operate);
  if (auto* splitter = window.findChild<QSplitter*>(QStringLiteral("recordsSplitter"))) {
    splitter->setSizes({880, 560});
  }
}

void MainWindow::Impl::openSettings(SettingsDialog::Page page) {
  auto* dialog = new SettingsDialog(settings, *actions, start.places, &window);
  dialog->showPage(page);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SettingsDialog::restartRequested, this, [this, dialog] {
    dialog->accept();
    if (window.close()) emit window.restartRequested();
  });
  dialog->open();
}

// --- connections ---

void MainWindow::Impl::openConnect() {
  if (connections == nullptr) return;
  auto* dialog = new ConnectDialog(*connections, settings, &window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ConnectDialog::connectRequested, this, &Impl::connectTo);
  connect(dialog, &ConnectDialog::startLocalRequested, this, &Impl::startLocal);
  connect(dialog, &QDialog::finished, this, &Impl::followProfile);
  dialog->open();
}

void MainWindow::Impl::connectTo(const QString& profile) {
  if (const auto status = connections->connectTo(profile); !status) {
    showError(QString::fromStdString(status.error().message));
  }
  followProfile();
}

void MainWindow::Impl::startLocal() {
  if (connections == nullptr || starting) return;
  const auto shows = showsStart();
  shows(tr("Creating its keys"));
  connections->startLocal(ConnectDialog::kLocalNodes, ConnectDialog::kLocalGpus, shows,
                          connectsAfterStart());
}

void MainWindow::Impl::openSimulate() {
  if (connections == nullptr || starting) return;
  auto* dialog = new SimulateDialog(connections->simulatedHardware(), &window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SimulateDialog::startRequested, this, [this](const SimulationChoice& choice) {
    connections->startSimulated(choice, showsStart(), connectsAfterStart());
  });
  dialog->open();
}

std::function<void(QString)> MainWindow::Impl::showsStart() {
  starting = QString();
  actions->refresh();
  return [self = QPointer<Impl>(this)](const QString& doing) {
    if (!self || !self->starting) return;
    self->starting = doing;
    self->refreshNotices();
  };
}

std::function<void(Result<QString>)> MainWindow::Impl::connectsAfterStart() {
  return [self = QPointer<Impl>(this)](Result<QString> profile) {
    if (!self) return;
    self->starting.reset();
    self->actions->refresh();
    if (profile) {
      self->connectTo(*profile);
    } else {
      self->showError(
          tr("The cluster could not be started: %1.").arg(format::error(profile.error())));
    }
    self->refreshNotices();
  };
}

void MainWindow::Impl::chooseHistoryFile() {
  const QString file =
      QFileDialog::getOpenFileName(&window, tr("Open a history file"), start.places.mirrors,
                                   tr("History files (*.db *.sqlite);;All files (*)"));
  if (!file.isEmpty()) openHistory(file);
}

void MainWindow::Impl::openHistory(const QString& file) {
  if (const auto status = connections->openHistory(file); !status) {
    showError(QString::fromStdString(status.error().message));
  }
}

void MainWindow::Impl::followProfile() {
  const QString name = connections == nullptr ? QString() : connections->current();
  const ProfileTag tag = ProfileTag::load(settings, name);
  control.setOnlyLooking(!name.isEmpty() && tag.readOnly && !model.isFile());
  header->setTag(name.isEmpty() ? QColor(Qt::transparent) : tagColor(tag.color));
}

// --- the palette ---

std::vector<PaletteItem> MainWindow::Impl::paletteItems() {
  std::vector<PaletteItem> items;
  actions->refresh();
  for (QAction* action : actions->all()) {
    if (action->objectName() == QLatin1String("edit.goTo")) continue;
    const QList<QKeySequence> keys = action->shortcuts();
    items.push_back(
        {PaletteItem::Kind::Action, withoutMnemonic(action->text()), action->statusTip(),
         keys.isEmpty() ? QString() : keys.first().toString(QKeySequence::NativeText),
         action->isEnabled() ? QString() : action->toolTip(), [action = QPointer<QAction>(action)] {
           if (action) action->trigger();
         }});
  }
  int number = 0;  // GPUs are numbered across the cluster
  for (const engine::NodeStatus& node : model.snapshot().nodes) {
    std::set<ptc::DeviceId> whole;
    std::vector<PaletteItem> gpus;
    for (const engine::DeviceStatus& device : node.devices) {
      whole.insert(device.id);
      QString detail = format::device(device.id);
      if (!device.job.empty()) {
        detail += tr(", rank %1 of %2")
                      .arg(device.rank.value_or(0))
                      .arg(QString::fromStdString(device.job));
      } else {
        detail += tr(", idle");
      }
      const ptc::DeviceId id = device.id;
      gpus.push_back(
          {PaletteItem::Kind::Gpu, tr("GPU %1").arg(number++), detail, {}, {}, [this, id] {
             chooseSelection({id});
             mesh->setFocus();
           }});
    }
    items.push_back({PaletteItem::Kind::Node,
                     tr("Node %1").arg(format::node(node.node)),
                     tr("%1, %2").arg(format::gpus(static_cast<std::int64_t>(node.devices.size())),
                                      format::text(node.state)),
                     {},
                     {},
                     [this, whole] {
                       chooseSelection(whole);
                       mesh->setFocus();
                     }});
    std::move(gpus.begin(), gpus.end(), std::back_inserter(items));
  }
  for (const engine::JobStatus& job : model.snapshot().jobs) {
    const QString name = QString::fromStdString(job.name);
    items.push_back({PaletteItem::Kind::Job,
                     name,
                     tr("%1, %2").arg(format::shape(job.mesh), format::text(job.state)),
                     {},
                     {},
                     [this, name] { showJob(name); }});
  }
  const HistoryTableModel& changes = *history->model();
  for (int row = 0; row < changes.rowCount(); ++row) {
    const engine::HistoryEntry& entry = *changes.entry(row);
    const auto id = entry.id;
    items.push_back(
        {PaletteItem::Kind::Change,
         tr("Change %1 of %2").arg(id).arg(QString::fromStdString(entry.job)),
         tr("%1, %2").arg(QLocale().toString(QDateTime::fromMSecsSinceEpoch(
                                                 static_cast<qint64>(entry.started * 1000)),
                                             QLocale::ShortFormat),
                          QString::fromStdString(entry.result)),
         {},
         {},
         [this, id] {
           bottomDock->show();
           if (history->choose(id)) leaveDraft();
         }});
  }
  const EventTableModel& list = *events->model();
  const int first = std::max(0, list.rowCount() - kPaletteEvents);
  for (int row = list.rowCount() - 1; row >= first; --row) {
    const QModelIndex index = list.index(row, EventTableModel::TextColumn);
    const QString origin = index.data(EventTableModel::SourceRole).toString();
    const QPersistentModelIndex keep(index);
    const double time = list.event(row).time;
    items.push_back({PaletteItem::Kind::Event,
                     index.data().toString(),
                     index.siblingAtColumn(EventTableModel::TimeColumn).data().toString(),
                     {},
                     {},
                     [this, origin, keep, time] {
                       bottomDock->show();
                       events->reveal(keep);
                       showMoment(time);
                       chooseSource(origin);
                     }});
  }
  return items;
}

void MainWindow::Impl::openPalette() {
  if (palette == nullptr) palette = new CommandPalette(&window);
  palette->ask(paletteItems());
}

void MainWindow::Impl::showJob(const QString& name) {
  model.chooseJob(name.toStdString());
  model.flush();
  chooseSource(name);
}

// --- help ---

void MainWindow::Impl::openHelp(const QString& page) {
  if (help == nullptr) help = new HelpWindow(&window);
  if (!page.isEmpty()) help->showPage(page);
  help->show();
  help->raise();
  help->activateWindow();
}

void MainWindow::Impl::openLesson() {
  if (!lesson) {
    lesson = new ConsistencyLesson(*start.experiment, &window);
    lesson->setAttribute(Qt::WA_DeleteOnClose);
  }
  lesson->show();
  lesson->raise();
  lesson->activateWindow();
}

void MainWindow::Impl::openAbout() {
  auto* box = new AboutDialog(start.version, &window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

}  // namespace tessera::ui
