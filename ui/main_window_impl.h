// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The parts of MainWindow; for main_window*.cpp only.

#include <QByteArray>
#include <QCoreApplication>
#include <QList>
#include <QPointer>
#include <QTimer>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/actions/cluster_command.h"
#include "ui/canvas/mesh_scene.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_session.h"
#include "ui/main_window.h"
#include "ui/models/change_diff.h"
#include "ui/models/moment_diff.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/job_states.h"
#include "ui/models/move_control.h"
#include "ui/models/operator_seat.h"
#include "ui/models/past_cluster.h"
#include "ui/pages/header_bar.h"
#include "ui/palette/palette_items.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"
#include "ui/views/selection_model.h"
#include "ui/views/shown_layout.h"
#include "ui/views/view.h"

class QDockWidget;
class QLabel;
class QProgressBar;
class QResizeEvent;
class QStackedWidget;

namespace tessera::ui {

class ChangeDetails;
class ColourBar;
class ComparePage;
class ConsistencyLesson;
class CountdownBar;
class EventsPage;
class FlowsPage;
class HistoryPage;
class Inspector;
class KeyCaster;
class LayoutKeeper;
class LessonPane;
class MeshPage;
class MeshView;
class Navigator;
class NoticeBar;
class PlanPanel;
class PointerRing;
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
        states(m, c),
        context{.window = &w,
                .model = m,
                .commands = c,
                .control = control,
                .connections = connections,
                .say = [this](const QString& text) { say(text); },
                .showError = [this](const QString& text) { showError(text); }},
        actions(new ActionRegistry(&w)) {}

  /// Restarts the relock timer on any user input, and follows the height of the bottom dock.
  bool eventFilter(QObject* watched, QEvent* event) override;

  void build();
  void buildCentre();
  void buildViews();
  void buildDocks();
  void buildStatusBar();
  // The commands: actions/.
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
  void connectAll();

  // User requests.
  void setSource(LayoutSource next);
  void editByHand(const QList<ptc::DeviceId>& devices, std::optional<bool> intoMesh);
  /// Exchanges the places of devices in the draft, pair by pair.
  void swapByHand(const QList<ptc::DeviceId>& devices, const QList<ptc::DeviceId>& others);
  void requestApply();
  void discard();
  void stepBack();
  void planReverse(const engine::HistoryEntry& entry);
  void draftLayout(const std::vector<ptc::DeviceId>& devices, const ptc::MeshShape& mesh,
                   const engine::StepOptions& options, const QString& name);
  void chooseSelection(const std::set<ptc::DeviceId>& devices);
  void chooseSource(const QString& source);
  void say(const QString& text);
  void showError(const QString& text);
  void nextPane(int direction);
  void setTheme(ThemeMode mode);

  // The past: main_window_past.cpp.
  /// Returns why the past cannot be shown, as one sentence; empty if it can.
  QString pastBlockedReason() const;
  /// The playhead, else the last change of the job, else its newest sample.
  std::optional<double> usualMoment() const;
  /// The cluster of the present or of the moment shown.
  const ClusterModel& shownModel() const;
  /// Sets `moment`, from the present cluster and history.
  /// \return false: the history does not contain this time, nothing was changed
  bool chooseMoment(double time);
  /// Shows this time in all views, with the playhead at it.
  /// \return as chooseMoment()
  bool showMoment(double time);
  void leavePast();
  void leaveDraft();
  /// The user or the player moved the playhead.
  void followPlayhead();
  /// Shows the moment when a change began, and its job.
  void showMomentOf(const engine::HistoryEntry& entry);
  /// Why no moment can be compared, as one sentence; empty if one can.
  QString compareBlockedReason() const;
  /// Compares the moment shown with those that are shown from now on, or ends that.
  void setComparing(bool compares);
  /// The moment shown, or the present, as a side of a comparison.
  std::optional<MomentSide> shownSide() const;
  /// The difference to the pinned moment; nothing without one, or while a change of the history or
  /// another job is shown.
  std::optional<MomentDiff> comparedMoments() const;
  /// The history was read again.
  void indexChanges();
  /// Notes the states of nodes in these events.
  void noteStates(const std::vector<engine::Event>& told);
  /// Enables the past if there is one.
  void refreshPastSwitch();

  // Lessons: main_window_lesson.cpp.
  void connectLessons();
  /// Opens a lesson of the program, or a file, and shows it.
  /// \return false: it has a mistake, which is shown
  bool openLessonOf(const QString& nameOrFile, int step = 0);
  /// Opens the first lesson that is not finished, at its furthest step.
  bool openUsualLesson();
  void chooseLessonFile();
  /// Prepares the window for a lesson, and restores it afterwards.
  /// What the lower dock shows in a lesson.
  QWidget* makeNoRecords();
  void enterLesson();
  void leaveLesson();
  /// Applies view, colours, selection and camera of the step.
  void followLessonStep();
  /// Opens the tensor of the step once the view of tensors has its layouts.
  void openLessonTensor(int tries);
  ShownLayout lessonLayout() const;
  /// That of the lesson while one is shown, else that of the cluster.
  Draft& shownDraft() { return source == LayoutSource::Lesson ? lessons.draft() : draft; }
  /// Whether the devices of the mesh can be dragged.
  bool isMeshEditable() const;
  QString lessonsFile() const;
  void setProjector(bool on);

  // Dialogs and settings: main_window_tools.cpp.
  void adoptSettings();
  void applySetting(Setting setting);
  void checkTheme();
  /// Returns whether the apply sheet is shown before this plan is applied.
  bool mustConfirm(const engine::PlanSummary& summary) const;
  void arrange(Arrangement arrangement);
  void resetLayout();
  void openSettings(SettingsDialog::Page page = SettingsDialog::General);
  void openConnect();
  void connectTo(const QString& profile);
  void startLocal();
  /// Asks for its size, then starts a simulated cluster and connects to it.
  void openSimulate();
  /// The callbacks of a cluster that starts: they show what it does, then connect.
  std::function<void(QString)> showsStart();
  std::function<void(Result<QString>)> connectsAfterStart();
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
  /// Shows the present state, without looking for a reason to show another source.
  void refreshParts();
  /// Makes the shown layout and gives it to all views.
  void refreshViews();
  std::shared_ptr<const MeshScene> sceneOf(const engine::ClusterSnapshot& cluster,
                                           LayoutSource of) const;
  /// The two changes of the shown job that are compared in the source Live: their difference, and
  /// the cluster as the later one left it.
  struct Compared {
    ChangeDiff diff;
    std::shared_ptr<const engine::ClusterSnapshot> cluster;
  };
  std::optional<Compared> comparedChanges() const;
  void refreshNotices();
  void refreshLink(bool shown, const QString& detail);
  void refreshJobNotice(bool shown);
  void refreshStatus();
  void refreshTitle();
  // What a user at another window is told (main_window_notices.cpp).
  void notify(const DesktopNotice& notice);
  /// The card of progress shows an outcome.
  void notifyOutcome();
  /// A job may need a decision now.
  void notifyDecision();
  /// Saves the report of a change in a file that the user chooses.
  void saveReport(engine::HistoryEntry entry);
  /// Asks for a file, and writes the past of the shown job into it as a scenario.
  void saveScenario();
  /// The change whose report can be saved: the chosen one, else the latest that has ended.
  const engine::HistoryEntry* reportable() const;
  void refreshAge();
  void fitRecords();
  /// The cards below the canvas may take height from the bottom dock; it gets it back.
  void watchRecords(const QResizeEvent& event);
  void restoreRecords();
  /// Shows the chosen link in the inspector while the Links view is shown.
  void showLink();
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
  JobStates states;
  SelectionModel selection;
  LessonRecords lessonRecords{lessonsFile()};
  LessonSession lessons{lessonRecords};
  std::optional<ColourBy> usualColouring = {};  // of the user, while a lesson is shown
  CommandContext context;                       // of the commands of the Cluster menu
  ActionRegistry* actions;
  LayoutSource source = LayoutSource::Live;
  /// Of the source Past.
  struct Moment {
    double time = 0;  // wall clock of the cluster
    std::shared_ptr<const engine::ClusterSnapshot> cluster;
    std::shared_ptr<const engine::HistoryEntry> change;  // in progress, or the last one, or null
  };
  std::optional<Moment> moment = {};
  std::optional<MomentSide> pinned = {};  // with which the moment shown, or the present, is compared
  ChangeIndex changeIndex = {};
  NodeStates nodeStates = {};
  ClusterModel pastModel;  // of `moment`, for panes that show a model
  bool placingPlayhead = false;
  std::optional<QString> pastReason = {};         // of the switch, as last set
  std::optional<LayoutSource> wantedSource = {};  // from the last run, until it can be shown
  std::optional<QString> starting = {};     // a local cluster: current activity
  bool placed = false;
  bool closeWhenRolledBack = false;
  QString linkTitle;            // of the link chosen last
  std::string noticedDecision;  // the loss for which a notice was shown; empty: none
  bool historyLoaded = false;
  QByteArray initialLayout;
  std::optional<int> squeezedFrom = {};  // height of the bottom dock before cards took some
  int recordsHeight = 0;  // of the bottom dock, as last set by the window itself; -1: by the user
  QTimer ageTimer, errorTimer;
  LayoutKeeper* keeper = nullptr;
  CommandPalette* palette = nullptr;
  HelpWindow* help = nullptr;
  QPointer<ConsistencyLesson> lesson;  // null after its window is closed

  HeaderBar* header = nullptr;
  Navigator* navigator = nullptr;
  Surface* centre = nullptr;
  TabbedPane* tabs = nullptr;  // of the centre: the views
  std::vector<View*> views = {};
  ColourBar* colours = nullptr;
  NoticeBar *linkNotice = nullptr, *jobNotice = nullptr, *errorNotice = nullptr,
            *recordNotice = nullptr, *draftNotice = nullptr, *pastNotice = nullptr,
            *operatorNotice = nullptr, *lessonNotice = nullptr, *tuningNotice = nullptr;
  CountdownBar* countdown = nullptr;
  MeshPage* meshPage = nullptr;
  MeshView* mesh = nullptr;
  StatePage* state = nullptr;
  DecisionPanel* decision = nullptr;
  ProgressPanel* progress = nullptr;
  QStackedWidget* right = nullptr;
  QStackedWidget* bottom = nullptr;  // the records of the cluster; why a lesson has none
  Inspector* inspector = nullptr;
  PlanPanel* planPanel = nullptr;
  ChangeDetails* details = nullptr;
  ComparePage* comparison = nullptr;
  LessonPane* lessonPane = nullptr;
  KeyCaster* keyCaster = nullptr;      // null until projector mode is on
  PointerRing* pointerRing = nullptr;  // likewise
  TabbedPane* records = nullptr;
  TimelinePage* timeline = nullptr;
  HistoryPage* history = nullptr;
  EventsPage* events = nullptr;
  FlowsPage* flows = nullptr;
  QDockWidget *navigatorDock = nullptr, *rightDock = nullptr, *bottomDock = nullptr;
  StateDot* statusDot = nullptr;
  QLabel *statusLeft = nullptr, *statusRight = nullptr;
  QProgressBar* statusBar = nullptr;
};

}  // namespace tessera::ui
