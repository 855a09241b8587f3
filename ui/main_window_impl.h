// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The parts of MainWindow; for main_window*.cpp only.

#include <QByteArray>
#include <QCoreApplication>
#include <QList>
#include <QPointer>
#include <QTimer>
#include <optional>
#include <set>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_scene.h"
#include "ui/main_window.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/move_control.h"
#include "ui/models/operator_seat.h"
#include "ui/pages/header_bar.h"
#include "ui/palette/palette_items.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"

class QComboBox;
class QDockWidget;
class QLabel;
class QProgressBar;
class QStackedWidget;

namespace tessera::ui {

class ChangeDetails;
class ConsistencyLesson;
class CountdownBar;
class DataPage;
class EventsPage;
class FilesPage;
class HistoryPage;
class Inspector;
class LayoutKeeper;
class Legend;
class MeshView;
class Navigator;
class NoticeBar;
class PlanPanel;
class DecisionPanel;
class ProgressPanel;
class TabbedPane;
class StatePage;
class Surface;
class TimelinePage;

struct MainWindow::Impl : QObject {
  // Texts of all parts have the window's context. QObject's own tr() would look them up under
  // "QObject", where lupdate does not file them.
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  using Source = HeaderBar::Source;

  enum class Arrangement { Operate, Teach, Review };
  static constexpr int kBottomHeight =
      194;  // of the bottom dock, until the window or the user resizes it

  Impl(MainWindow& w, ClusterModel& m, ClusterCommands& c, WindowOptions o)
      : window(w),
        model(m),
        commands(c),
        start(std::move(o)),
        settings(start.settings == nullptr ? ownSettings : *start.settings),
        connections(start.connections),
        draft(m),
        plan(draft, m, c),
        proposal(draft, m, c),
        control(m, draft, plan, c),
        seat(m, control, c),
        actions(new ActionRegistry(&w)) {}

  /// Restarts the relock timer on any user input.
  bool eventFilter(QObject* watched, QEvent* event) override;

  void build();
  /// Adds the intervals of snapshots to the menu with this title (main_window_snapshots.cpp).
  void addSnapshotActions(const QString& menu);
  void refreshSnapshotActions();
  /// Asks for an interval that is not in the menu.
  void askSnapshots();
  void addCheckpointAction(const QString& menu);
  void askCheckpointFolder();
  void buildCentre();
  QWidget* buildMeshCorner();
  void buildDocks();
  void buildStatusBar();
  void addActions();
  void connectAll();

  // User requests.
  void setSource(Source next);
  void editByHand(const QList<ptc::DeviceId>& devices, std::optional<bool> intoMesh);
  void requestApply();
  void discard();
  void stepBack();
  void planReverse(const engine::HistoryEntry& entry);
  void draftLayout(const std::vector<ptc::DeviceId>& devices, const ptc::MeshShape& mesh,
                   const engine::StepOptions& options, const QString& name);
  void chooseSelection(const std::set<ptc::DeviceId>& devices);
  void chooseSource(const QString& source);
  void showError(const QString& text);
  void nextPane(int direction);
  void confirmStop();
  void setTheme(ThemeMode mode);

  // Dialogs and settings: main_window_tools.cpp.
  void adoptSettings();
  void applySetting(Setting setting);
  void checkTheme();
  /// Returns whether the apply sheet is shown before this plan is applied.
  bool mustConfirm(const engine::PlanSummary& summary) const;
  void arrange(Arrangement arrangement);
  void resetLayout();
  void openSettings(SettingsDialog::Page page = SettingsDialog::General);
  void openDoctor();
  void openConnect();
  void connectTo(const QString& profile);
  void startLocal();
  void chooseHistoryFile();
  void openHistory(const QString& file);
  /// Loads colour tag and read-only mark of the profile.
  void followProfile();
  std::vector<PaletteItem> paletteItems();
  void openPalette();
  void showJob(const QString& name);
  void openHelp(const QString& page);
  void openLesson();
  void openAbout();

  // Views of the state.
  void refresh();
  void refreshScene();
  /// Returns the scene of the live layout.
  MeshScene liveScene() const;
  void refreshNotices();
  void refreshLink(bool shown, const QString& detail);
  void refreshJobNotice(bool shown);
  void refreshStatus();
  void refreshTitle();
  void refreshAge();
  void fitRecords();
  /// Shows inspector, plan or change details, by the source and the selected history row.
  void refreshSide();

  MainWindow& window;
  ClusterModel& model;
  ClusterCommands& commands;
  WindowOptions start;   // the options given to the constructor
  Settings ownSettings;  // used if none are given; never stored
  Settings& settings;
  Connections* connections;
  Draft draft;
  DraftPlan plan;
  DraftProposal proposal;
  MoveControl control;
  OperatorSeat seat;
  ActionRegistry* actions;
  Source source = HeaderBar::LiveSource;
  std::optional<Source> wantedSource = {};  // from the last run, until it can be shown
  std::optional<QString> starting = {};     // a local cluster: current activity
  bool placed = false;
  bool closeWhenRolledBack = false;
  bool historyLoaded = false;
  QByteArray initialLayout;
  std::optional<int> isolated = {};  // swatch of the legend; the others are faded
  int recordsHeight = 0;  // of the bottom dock, as last set by the window itself; -1: by the user
  QTimer ageTimer, errorTimer;
  LayoutKeeper* keeper = nullptr;
  CommandPalette* palette = nullptr;
  HelpWindow* help = nullptr;
  QPointer<ConsistencyLesson> lesson;  // null after its window is closed

  HeaderBar* header = nullptr;
  Navigator* navigator = nullptr;
  Surface* centre = nullptr;
  TabbedPane* views = nullptr;  // of the centre: mesh, data, files
  NoticeBar *linkNotice = nullptr, *jobNotice = nullptr, *errorNotice = nullptr,
            *recordNotice = nullptr, *draftNotice = nullptr, *operatorNotice = nullptr;
  CountdownBar* countdown = nullptr;
  QStackedWidget* canvas = nullptr;
  MeshView* mesh = nullptr;
  QComboBox* colourBox = nullptr;
  Legend* legend = nullptr;
  StatePage* state = nullptr;
  DataPage* data = nullptr;
  FilesPage* files = nullptr;
  DecisionPanel* decision = nullptr;
  ProgressPanel* progress = nullptr;
  QStackedWidget* right = nullptr;
  Inspector* inspector = nullptr;
  PlanPanel* planPanel = nullptr;
  ChangeDetails* details = nullptr;
  TabbedPane* records = nullptr;
  TimelinePage* timeline = nullptr;
  HistoryPage* history = nullptr;
  EventsPage* events = nullptr;
  QDockWidget *navigatorDock = nullptr, *rightDock = nullptr, *bottomDock = nullptr;
  StateDot* statusDot = nullptr;
  QLabel *statusLeft = nullptr, *statusRight = nullptr;
  QProgressBar* statusBar = nullptr;
};

}  // namespace tessera::ui
