// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The content of the right dock: inspector, plan, a change, a comparison, or a lesson.

#include <QStackedWidget>

namespace tessera::ui {

class ChangeDetails;
class ClusterModel;
class ComparePage;
class Draft;
class DraftPlan;
class DraftProposal;
class HistoryPage;
class Inspector;
class JobStates;
class LessonPane;
class LessonRecords;
class LessonSession;
class MoveControl;
class PlanPanel;
class Presenter;
class SampleHistory;

class SidePane : public QStackedWidget {
 public:
  struct Parts {
    ClusterModel& model;
    Draft& draft;
    DraftPlan& plan;
    DraftProposal& proposal;
    MoveControl& control;
    JobStates& states;
    LessonSession& lessons;
    LessonRecords& lessonRecords;
  };

  /// All parts outlive it.
  SidePane(const Parts& parts, QWidget* parent);
  /// Shows the page of the source and of the selected changes.
  void refresh(const Presenter& presenter, const HistoryPage& history,
               const SampleHistory& samples);

  Inspector* inspector() const { return m_inspector; }
  PlanPanel* plan() const { return m_plan; }
  ChangeDetails* details() const { return m_details; }
  ComparePage* comparison() const { return m_comparison; }
  LessonPane* lesson() const { return m_lesson; }

 private:
  const ClusterModel& m_model;
  const MoveControl& m_control;
  Inspector* m_inspector;
  PlanPanel* m_plan;
  ChangeDetails* m_details;
  ComparePage* m_comparison;
  LessonPane* m_lesson;
};

}  // namespace tessera::ui
