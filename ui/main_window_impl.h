// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What MainWindow is built of; for main_window*.cpp and the menus of actions/ only. It creates the
/// parts, connects them, and hands changes on; what a part does is in window/, pages/ and views/.

#include <QCoreApplication>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/actions/cluster_command.h"
#include "ui/connections.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_session.h"
#include "ui/main_window.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/job_states.h"
#include "ui/models/move_control.h"
#include "ui/models/operator_seat.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/picture/picture.h"
#include "ui/views/selection_model.h"
#include "ui/views/shown_layout.h"

class QDockWidget;

namespace tessera::ui {

class AppliedSettings;
class ChangeReports;
class ClusterChooser;
class CentrePane;
class ColourBar;
class DecisionDesk;
class DesktopNotices;
class DockSizes;
class DraftDesk;
class HeaderBar;
class HistoryPage;
class LayoutKeeper;
class LessonDesk;
class MomentDesk;
class Navigator;
class Presenter;
class Projector;
class RecordsPane;
class SidePane;
class StatusLine;
class TimelinePage;
class WindowDialogs;
class WindowItems;

struct MainWindow::Impl : QObject {
  // Texts of all parts have the window's context. QObject's own tr() would look them up under
  // "QObject", where lupdate does not file them.
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  Impl(MainWindow& w, ClusterModel& m, ClusterCommands& c, WindowOptions o);
  ~Impl() override;

  /// Restarts the relock timer on any user input.
  bool eventFilter(QObject* watched, QEvent* event) override;

  // Creates the parts: main_window_build.cpp.
  void build();
  void buildDocks();
  void buildDesks();
  void adoptSettings();

  // Registers the commands: actions/.
  void addActions();
  void addFileActions();
  void addEditActions();
  void addViewActions();
  void addPlanActions();
  void addHistoryActions();
  void addLearnActions();
  void addHelpActions();
  /// Why the change in progress can be neither cancelled nor limited; empty: it can.
  QString cancelBlockedReason() const;
  /// Asks for the limit of the change in progress.
  void askThrottle();
  /// What can be saved as a picture now.
  std::vector<Picture> pictures() const;

  // Connects the parts: main_window_connect.cpp.
  void connectAll();
  void connectModels();
  void connectMesh();
  void connectViews();
  void connectRecords();
  void connectNotices();
  void connectChange();

  // Chooses what is shown: main_window_source.cpp.
  void setSource(LayoutSource next);
  void leaveDraft();
  /// Goes back one level: countdown, selection, change, source.
  void stepBack();
  void showJob(const QString& name);
  /// Selects `devices` in the mesh and zooms to their nodes.
  void showDevices(const std::set<ptc::DeviceId>& devices);
  /// Selects the GPUs of a node, of a job, or one GPU.
  void chooseNamed(const QString& name);
  /// Loads colour tag and read-only mark of the profile.
  void followProfile();
  void resetLayout();
  void nextPane(int direction);
  void say(const QString& text);
  void showError(const QString& text);

  // Hands changes on: main_window_refresh.cpp.
  void refresh();
  /// Shows the present state, without looking for a reason to show another source.
  void refreshParts();
  /// Makes the shown layout and gives it to all views.
  void refreshViews();
  void refreshEditable();
  void refreshNotices();
  void refreshStatus();
  void refreshTitle();
  /// Each second: ages grow although nothing comes.
  void refreshAge();
  void showAge();
  /// Whether what is shown of the cluster is what it is now.
  bool isCurrent() const;
  /// Enables the past if there is one.
  void refreshPastSwitch();
  void refreshSide();
  /// Shows the chosen link in the inspector while the Links view is shown.
  void showLink();

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
  JobStates states;
  SelectionModel selection;
  LessonRecords lessonRecords;
  LessonSession lessons;
  CommandContext context;  // of the commands of the Cluster menu
  ActionRegistry* actions;
  std::optional<QString> pastReason = {};         // of the switch, as last set
  std::optional<StoppedCluster> stoppedCluster = {};  // while the link is Stopped
  std::optional<LayoutSource> wantedSource = {};  // from the last run, until it can be shown
  bool placed = false;
  bool closeWhenRolledBack = false;
  bool closeWithChange = false;  // the user wants to quit while the change goes on
  QString linkTitle;  // of the link chosen last
  const Theme* iconTheme = &Theme::current();
  QTimer ageTimer;
  LayoutKeeper* keeper = nullptr;

  // window/: who decides what is shown.
  std::unique_ptr<Presenter> presenter;
  std::unique_ptr<DraftDesk> draftDesk;
  std::unique_ptr<MomentDesk> momentDesk;
  std::unique_ptr<LessonDesk> lessonDesk;
  std::unique_ptr<DecisionDesk> decisionDesk;
  std::unique_ptr<StatusLine> status;
  std::unique_ptr<DesktopNotices> desktop;
  std::unique_ptr<ChangeReports> reports;
  std::unique_ptr<ClusterChooser> clusters;
  std::unique_ptr<WindowItems> items;
  std::unique_ptr<WindowDialogs> dialogs;
  std::unique_ptr<DockSizes> docks;
  std::unique_ptr<Projector> projector;
  std::unique_ptr<AppliedSettings> applied;

  HeaderBar* header = nullptr;
  Navigator* navigator = nullptr;
  CentrePane* centre = nullptr;
  ColourBar* colours = nullptr;
  MeshView* mesh = nullptr;
  ProgressPanel* progress = nullptr;
  SidePane* side = nullptr;        // in the right dock
  RecordsPane* records = nullptr;  // in the lower dock
  TimelinePage* timeline = nullptr;
  HistoryPage* history = nullptr;
  QDockWidget *navigatorDock = nullptr, *rightDock = nullptr, *bottomDock = nullptr;
};

}  // namespace tessera::ui
