// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The right pane in Draft. It begins with the configurations to choose from; then come the degrees
/// and the effect of the change. All facts are folded behind "Details". The buttons are always
/// visible, the rest scrolls.

#include <array>

#include "ui/models/candidate_table_model.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/move_control.h"
#include "ui/widgets/surface.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace tessera::ui {

class KeyValues;
class ParetoScatter;
class PipelineBox;
class StackedBar;

class PlanPanel : public Surface {
  Q_OBJECT

 public:
  PlanPanel(ClusterModel& model, Draft& draft, DraftPlan& plan, DraftProposal& proposal,
            MoveControl& control, QWidget* parent = nullptr);

  /// One of the axes dp, tp, pp.
  QSpinBox* axisBox(ptc::Axis axis) const;
  QToolButton* axisLock(ptc::Axis axis) const;
  QTableView* candidateTable() const { return m_table; }
  CandidateTableModel* candidates() { return &m_candidates; }
  ParetoScatter* scatter() const { return m_scatter; }
  QPushButton* applyButton() const { return m_apply; }
  QPushButton* discardButton() const { return m_discard; }
  /// How the state moves; its items are in the order of MoveWay.
  QComboBox* wayBox() const { return m_way; }
  QPushButton* copyButton() const { return m_copy; }
  /// "4 × 2 × 1 = 8 of 8 ✓"
  QString productText() const;
  QString problemText() const;
  /// Why the mesh of the plan was chosen.
  QString whyText() const;
  /// "Recommended: 4 × 2 × 1, …"
  QString recommendationText() const;
  /// All facts of the plan; visible while Details is open.
  KeyValues* facts() const { return m_facts; }
  /// The facts that decide, and the problems; visible while Details is closed.
  KeyValues* mainFacts() const { return m_mainFacts; }
  QToolButton* detailsButton() const { return m_more; }
  StackedBar* bar() const { return m_bar; }
  PipelineBox* pipeline() const { return m_pipeline; }
  /// The draft as a command line: "tesseractl plan gpt-mini --devices …".
  QString command() const;
  void refresh();
  /// Adds a part below the facts of the plan.
  void addDetail(QWidget* part);

 signals:
  void applyRequested();
  void discardRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct AxisRow {
    ptc::Axis axis = ptc::Axis::kDp;
    QSpinBox* box = nullptr;
    QToolButton* lock = nullptr;
  };
  QWidget* makeAxisField(AxisRow& row);
  const AxisRow& rowOf(ptc::Axis axis) const;
  /// The mesh to show: pinned, planned, or that of Live.
  ptc::MeshShape shownMesh() const;
  /// Whether the panel has a field for `axis`: it is common, divides something in the live or the
  /// shown mesh, or the program of the job may use it.
  bool offers(ptc::Axis axis, const ptc::MeshShape& shown) const;
  void refreshFields();
  void refreshPlan();
  void refreshButtons();
  void refreshProposal();
  void buildCandidates();
  void buildEffect();
  void showDetails(bool shown);
  /// Marks the row of the draft in table and scatter, without emitting signals.
  void markChosen();
  void fitColumns();
  void choose(int index);
  /// Marks a row and its point.
  void hover(std::optional<int> index);

  ClusterModel& m_model;
  Draft& m_draft;
  DraftPlan& m_plan;
  DraftProposal& m_proposal;
  MoveControl& m_control;
  std::array<AxisRow, ptc::kNumAxes> m_axes;
  QLabel* m_change;
  QLabel* m_product;
  QLabel* m_problem;
  QLabel* m_batch;
  QLabel* m_planTitle;
  StackedBar* m_bar;
  KeyValues *m_mainFacts, *m_facts;
  QToolButton* m_more;
  QWidget* m_details;
  PipelineBox* m_pipeline;
  QLabel *m_why, *m_recommendation;
  QCheckBox* m_zero;
  QSpinBox* m_microBatch;
  QComboBox* m_way;
  CandidateTableModel m_candidates;
  QWidget* m_candidateGroup;
  QLabel* m_candidateNote;
  QLabel* m_estimateNote;
  QTableView* m_table;
  ParetoScatter* m_scatter;
  bool m_marking = false;
  QPushButton* m_copy;
  QPushButton* m_discard;
  QPushButton* m_apply;
};

}  // namespace tessera::ui
