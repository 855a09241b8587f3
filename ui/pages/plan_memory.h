// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The memory of one GPU before, during and after the drafted change: of that which will be the
/// fullest during the move.

#include <QPointer>
#include <QWidget>
#include <array>
#include <optional>
#include <vector>

#include "engine/cluster/holding.h"
#include "ui/models/draft_plan.h"
#include "ui/models/job_states.h"
#include "ui/widgets/stacked_bar.h"

class QLabel;

namespace tessera::ui {

class PlanMemory : public QWidget {
  Q_OBJECT

 public:
  enum Moment { Now, During, After, kMoments };

  /// All outlive it; `states` may also be destroyed before, with the window.
  PlanMemory(const ClusterModel& model, const DraftPlan& plan, JobStates* states,
             QWidget* parent = nullptr);
  ~PlanMemory() override;
  /// "Memory of n1g0, the fullest during the move"
  QString title() const;
  /// Hidden while the moment is not known.
  StackedBar* bar(Moment moment) const { return m_rows[moment].bar; }

 private:
  struct Row {
    QLabel* name = nullptr;
    StackedBar* bar = nullptr;
  };
  void refresh();
  void setRow(Moment moment, std::optional<std::vector<StackedBar::Segment>> segments);
  /// What the GPU holds of the job before and after; nothing: not known, or it has no part in it.
  std::optional<engine::Holding> heldNow(ptc::DeviceId device) const;
  std::optional<engine::Holding> heldAfter(ptc::DeviceId device) const;

  const ClusterModel& m_model;
  const DraftPlan& m_plan;
  QPointer<JobStates> m_states;
  QLabel* m_title;
  std::array<Row, kMoments> m_rows;
};

}  // namespace tessera::ui
