// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/side_pane.h"

#include <initializer_list>
#include <utility>

#include "ui/lessons/lesson_pane.h"
#include "ui/models/move_control.h"
#include "ui/models/sample_history.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/plan_memory.h"
#include "ui/pages/plan_panel.h"
#include "ui/window/presenter.h"

namespace tessera::ui {

SidePane::SidePane(const Parts& parts, QWidget* parent)
    : QStackedWidget(parent),
      m_model(parts.model),
      m_control(parts.control),
      m_inspector(new Inspector(parts.model, this)),
      m_plan(
          new PlanPanel(parts.model, parts.draft, parts.plan, parts.proposal, parts.control, this)),
      m_details(new ChangeDetails(this)),
      m_comparison(new ComparePage(this)),
      m_lesson(new LessonPane(parts.lessons, parts.lessonRecords, this)) {
  for (QWidget* page :
       std::initializer_list<QWidget*>{m_inspector, m_plan, m_details, m_comparison, m_lesson}) {
    addWidget(page);
  }
  m_inspector->setStates(&parts.states);
  m_plan->addDetail(new PlanMemory(parts.model, parts.plan, &parts.states, m_plan));
  setMinimumWidth(290);
}

void SidePane::refresh(const Presenter& presenter, const HistoryPage& history,
                       const SampleHistory& samples) {
  if (presenter.isDraft()) return setCurrentWidget(m_plan);
  if (presenter.isLesson()) return setCurrentWidget(m_lesson);
  if (const auto two = history.compared()) {
    // Of another job no samples are here.
    const engine::JobStatus* job = m_model.job();
    const bool isShown =
        job != nullptr && engine::IsOf(*two->first, *job) && engine::IsOf(*two->second, *job);
    m_comparison->setDiff(
        makeChangeDiff(*two->first, *two->second, isShown ? samples.series() : SampleSeries()));
    return setCurrentWidget(m_comparison);
  }
  if (auto moments = presenter.comparedMoments()) {
    m_comparison->setDiff(std::move(*moments));
    return setCurrentWidget(m_comparison);
  }
  const engine::HistoryEntry* entry = history.chosen();
  if (entry == nullptr) return setCurrentWidget(m_inspector);
  m_details->setReverseBlocked(m_control.editBlockedReason());
  setCurrentWidget(m_details);
}

}  // namespace tessera::ui
