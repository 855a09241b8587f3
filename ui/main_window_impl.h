// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The parts of MainWindow; for main_window*.cpp only.

#include <QByteArray>
#include <QList>
#include <QTimer>
#include <optional>
#include <set>
#include <vector>

#include "ui/actions/action_registry.h"
#include "ui/main_window.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/move_control.h"
#include "ui/pages/header_bar.h"
#include "ui/theme.h"

class QDockWidget;
class QLabel;
class QProgressBar;
class QStackedWidget;

namespace tessera::ui {

class CountdownBar;
class EventsPage;
class HistoryPage;
class Inspector;
class Legend;
class MeshView;
class Navigator;
class NoticeBar;
class PlanPanel;
class ProgressPanel;
class StatePage;
class Surface;

struct MainWindow::Impl : QObject {
  using Source = HeaderBar::Source;

  Impl(MainWindow& w, ClusterModel& m, ClusterCommands& c)
      : window(w),
        model(m),
        commands(c),
        draft(m),
        plan(draft, m, c),
        control(m, draft, plan, c),
        actions(new ActionRegistry(&w)) {}

  /// Any input of the user keeps an armed panel armed.
  bool eventFilter(QObject* watched, QEvent* event) override;

  void build();
  void buildCentre();
  void buildDocks();
  void buildStatusBar();
  void addActions();
  void connectAll();

  // What the user asks for.
  void setSource(Source next);
  void editByHand(const QList<ptc::DeviceId>& devices, std::optional<bool> intoMesh);
  void requestApply();
  void discard();
  void stepBack();
  void planReverse(const engine::HistoryEntry& entry);
  void draftLayout(const std::vector<ptc::DeviceId>& devices, const ptc::MeshShape& mesh,
                   const QString& name);
  void chooseSelection(const std::set<ptc::DeviceId>& devices);
  void chooseSource(const QString& source);
  void showError(const QString& text);
  void nextPane(int direction);
  void confirmStop();
  void setTheme(ThemeMode mode);

  // What follows from the state.
  void refresh();
  void refreshScene();
  void refreshNotices();
  void refreshStatus();
  void refreshTitle();
  void refreshAge();
  void fitRecords();

  MainWindow& window;
  ClusterModel& model;
  ClusterCommands& commands;
  Draft draft;
  DraftPlan plan;
  MoveControl control;
  ActionRegistry* actions;
  Source source = HeaderBar::LiveSource;
  bool closeWhenRolledBack = false;
  bool historyLoaded = false;
  QByteArray initialLayout;
  int recordsHeight = 0;  // of the bottom pane, as set last by the window itself
  QTimer ageTimer, errorTimer;

  HeaderBar* header = nullptr;
  Navigator* navigator = nullptr;
  Surface* centre = nullptr;
  NoticeBar *linkNotice = nullptr, *jobNotice = nullptr, *errorNotice = nullptr,
            *draftNotice = nullptr;
  CountdownBar* countdown = nullptr;
  QStackedWidget* canvas = nullptr;
  MeshView* mesh = nullptr;
  Legend* legend = nullptr;
  StatePage* state = nullptr;
  ProgressPanel* progress = nullptr;
  QStackedWidget* right = nullptr;
  Inspector* inspector = nullptr;
  PlanPanel* planPanel = nullptr;
  HistoryPage* history = nullptr;
  EventsPage* events = nullptr;
  QDockWidget *navigatorDock = nullptr, *rightDock = nullptr, *bottomDock = nullptr;
  StateDot* statusDot = nullptr;
  QLabel *statusLeft = nullptr, *statusRight = nullptr;
  QProgressBar* statusBar = nullptr;
};

}  // namespace tessera::ui
