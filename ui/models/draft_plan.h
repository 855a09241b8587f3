// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The plan of the draft. It is requested after each edit; late answers are dropped. A plan is
/// valid only for the epoch and layout for which it was made. Once it has not changed for some
/// seconds, the program of the job is asked whether it can run on its mesh.

#include <QObject>
#include <QString>
#include <QTimer>
#include <memory>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"

namespace tessera::ui {

class DraftPlan : public QObject {
  Q_OBJECT

 public:
  /// None: the draft equals Live. Invalid: the draft cannot be planned, see `problem`. Stale: the
  /// cluster changed; a new plan is requested automatically.
  enum class State { None, Invalid, Planning, Ready, Stale, Failed };
  static constexpr int kEditDelayMs = 30;
  static constexpr int kReplanDelayMs = 300;
  static constexpr int kProgramDelayMs = 2000;  // it starts a process on a node

  /// All three must outlive the plan.
  DraftPlan(Draft& draft, ClusterModel& model, ClusterCommands& commands,
            QObject* parent = nullptr);

  State state() const { return m_state; }
  /// The newest answer for this draft, also while a newer one is pending (Planning, Stale). Nothing
  /// in the states None, Invalid and Failed.
  const std::shared_ptr<const engine::PlanSummary>& summary() const { return m_summary; }
  /// The problem as one sentence; empty if there is none. In the state Ready it says that the
  /// program could not be asked.
  const QString& problem() const { return m_problem; }
  /// The request that `summary` answers.
  const PlanRequest& request() const { return m_request; }
  /// The devices without enough memory for the change, as summary() says; in its order.
  const std::vector<engine::PlanSummary::Peak>& overflows() const { return m_overflows; }
  /// How the plan moves the state. Holds until the draft is empty.
  MoveWay way() const { return m_way; }
  void setWay(MoveWay way);
  /// Requests the plan again now.
  void replan();

 signals:
  void changed();

 private:
  void onDraftChanged();
  void onModelChanged();
  void ask();
  void answer(std::uint64_t generation, Result<engine::PlanSummary> result);
  void set(State state, const QString& problem = {});
  void setSummary(std::shared_ptr<const engine::PlanSummary> summary);
  void askProgram();
  bool matchesLive(const engine::PlanSummary& summary) const;

  Draft& m_draft;
  ClusterModel& m_model;
  ClusterCommands& m_commands;
  State m_state = State::None;
  std::shared_ptr<const engine::PlanSummary> m_summary;
  std::vector<engine::PlanSummary::Peak> m_overflows;  // of m_summary
  PlanRequest m_request;
  MoveWay m_way = MoveWay::Auto;
  QString m_problem;
  std::uint64_t m_generation = 0;  // of the newest request; older answers are dropped
  QTimer m_delay, m_programDelay;
};

}  // namespace tessera::ui
