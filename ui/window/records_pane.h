// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The content of the lower dock: timeline, history, flows and events of the cluster, or why there
/// are none.

#include <QCoreApplication>
#include <QStackedWidget>
#include <functional>

namespace tessera::ui {

class ClusterCommands;
class ClusterModel;
class EventsPage;
class FlowsPage;
class HistoryPage;
class SelectionModel;
class Settings;
class TabbedPane;
class TimelinePage;

class RecordsPane : public QStackedWidget {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    ClusterModel& model;
    ClusterCommands& commands;
    SelectionModel& selection;
    Settings& settings;                  // has the curves of the timeline
    std::function<void()> leaveDraft;    // another view has chosen a change
    std::function<void()> rulesChanged;  // the answer of an action's `blocked` may differ
    std::function<void(const QString&)> showError;
  };

  /// All parts outlive it.
  RecordsPane(Parts parts, QWidget* parent);
  /// Completes the pane. The events come after the views in the order of Tab, so call it when
  /// there are views.
  void addEvents();

  HistoryPage* history() const { return m_history; }
  TimelinePage* timeline() const { return m_timeline; }
  FlowsPage* flows() const { return m_flows; }
  EventsPage* events() const { return m_events; }
  /// Shows the tab of timeline, history or flows.
  void showPage(QWidget* page);
  /// Gives the widths of records and events back.
  void resetWidths();
  /// Reads the history once per connection, because others may have changed the cluster meanwhile.
  void followLink();
  void setInLesson(bool inLesson) { setCurrentIndex(inLesson ? 1 : 0); }

 private:
  void connectSelection();
  void connectTimeline();

  Parts m_parts;
  TabbedPane* m_tabs;
  HistoryPage* m_history;
  TimelinePage* m_timeline;
  FlowsPage* m_flows;
  EventsPage* m_events = nullptr;
  bool m_isLoaded = false;  // the history, of this connection
};

}  // namespace tessera::ui
