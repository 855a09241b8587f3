// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/draft_plan.h"

#include <QPointer>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {

DraftPlan::DraftPlan(Draft& draft, ClusterModel& model, ClusterCommands& commands, QObject* parent)
    : QObject(parent), m_draft(draft), m_model(model), m_commands(commands) {
  m_delay.setSingleShot(true);
  connect(&m_delay, &QTimer::timeout, this, &DraftPlan::ask);
  m_programDelay.setSingleShot(true);
  connect(&m_programDelay, &QTimer::timeout, this, &DraftPlan::askProgram);
  connect(&m_draft, &Draft::changed, this, &DraftPlan::onDraftChanged);
  connect(&m_model, &ClusterModel::changed, this, &DraftPlan::onModelChanged);
}

void DraftPlan::setSummary(std::shared_ptr<const engine::PlanSummary> summary) {
  m_summary = std::move(summary);
  m_overflows.clear();
  if (!m_summary) return;
  std::ranges::copy_if(m_summary->peak_memory, std::back_inserter(m_overflows),
                       [](const auto& peak) { return peak.bytes > peak.capacity; });
}

bool DraftPlan::matchesLive(const engine::PlanSummary& summary) const {
  const engine::JobStatus* job = m_model.findJob(summary.job);
  return job != nullptr && job->epoch == summary.epoch &&
         job->layout_hash == summary.from_layout_hash;
}

void DraftPlan::set(State state, const QString& problem) {
  m_state = state;
  m_problem = problem;
  if (state == State::None || state == State::Invalid || state == State::Failed) setSummary({});
  if (state != State::Ready) m_programDelay.stop();
  emit changed();
}

void DraftPlan::onDraftChanged() {
  ++m_generation;
  m_delay.stop();
  if (m_draft.isEmpty()) {
    m_request = {};
    m_way = MoveWay::Auto;
    return set(State::None);
  }
  const PlanRequest request = m_draft.request();
  const auto count = static_cast<std::int64_t>(request.devices.size());
  if (count == 0) return set(State::Invalid, tr("A job needs at least one GPU."));
  if (request.mesh && request.mesh->num_ranks() != count) {
    const std::int64_t ranks = request.mesh->num_ranks();
    return set(State::Invalid, ranks > count
                                   ? tr("%1 needs %2 GPUs, the draft has %3.")
                                         .arg(format::shape(*request.mesh), format::count(ranks),
                                              format::count(count))
                                   : tr("%1 uses %2 of %3 GPUs: remove %4 or raise a degree.")
                                         .arg(format::shape(*request.mesh), format::count(ranks),
                                              format::count(count), format::count(count - ranks)));
  }
  m_delay.start(kEditDelayMs);
  set(State::Planning);
}

void DraftPlan::onModelChanged() {
  if (m_state != State::Ready || matchesLive(*m_summary)) return;
  ++m_generation;
  m_delay.start(kReplanDelayMs);
  set(State::Stale, tr("The cluster changed. Planning again."));
}

void DraftPlan::setWay(MoveWay way) {
  if (m_way == way || m_draft.isEmpty()) return;
  m_way = way;
  replan();
}

void DraftPlan::replan() {
  if (!m_draft.isEmpty()) onDraftChanged();
}

void DraftPlan::ask() {
  const std::uint64_t generation = ++m_generation;
  m_request = m_draft.request();
  m_request.way = m_way;
  if (m_state != State::Planning) set(State::Planning);
  m_commands.plan(m_request, [self = QPointer<DraftPlan>(this),
                              generation](Result<engine::PlanSummary> result) {
    if (self) self->answer(generation, std::move(result));
  });
}

void DraftPlan::answer(std::uint64_t generation, Result<engine::PlanSummary> result) {
  if (generation != m_generation) return;
  if (!result) return set(State::Failed, format::error(result.error()));
  setSummary(std::make_shared<const engine::PlanSummary>(std::move(*result)));
  if (matchesLive(*m_summary)) {
    m_programDelay.start(kProgramDelayMs);
    return set(State::Ready);
  }
  // Plan and snapshot have different epochs; one of them is outdated.
  m_delay.start(kReplanDelayMs);
  set(State::Stale, tr("The cluster changed. Planning again."));
}

void DraftPlan::askProgram() {
  m_commands.ask(
      CheckMeshRequest{m_summary->job, m_summary->to_mesh},
      [self = QPointer<DraftPlan>(this), generation = m_generation](Result<std::string> answer) {
        if (!self || generation != self->m_generation || self->m_state != State::Ready) return;
        if (answer && answer->empty()) return;
        const bool cannot = !answer && answer.error().code == ErrorCode::kFailedPrecondition;
        if (cannot) return self->set(State::Failed, format::error(answer.error()));
        const QString why = answer ? localized(*answer) : format::error(answer.error());
        self->set(State::Ready,
                  tr("The program was not asked whether it can run there: %1").arg(why));
      });
}

}  // namespace tessera::ui
