// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/draft_proposal.h"

#include <QPointer>
#include <algorithm>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {

DraftProposal::DraftProposal(Draft& draft, ClusterModel& model, ClusterCommands& commands,
                             QObject* parent)
    : QObject(parent), m_draft(draft), m_model(model), m_commands(commands) {
  m_delay.setSingleShot(true);
  m_delay.setInterval(kDelayMs);
  connect(&m_delay, &QTimer::timeout, this, &DraftProposal::ask);
  connect(&m_draft, &Draft::changed, this, &DraftProposal::follow);
  connect(&m_model, &ClusterModel::changed, this, &DraftProposal::follow);
}

void DraftProposal::setActive(bool active) {
  m_active = active;
  follow();
}

void DraftProposal::follow() {
  if (!m_active || m_model.link() != LinkState::Connected) return;
  const engine::JobStatus* job = m_model.findJob(m_draft.job().toStdString());
  if (job == nullptr) {
    ++m_generation;
    m_delay.stop();
    m_job.clear();
    m_proposal.reset();
    if (std::exchange(m_state, State::None) != State::None) emit changed();
    return;
  }
  const std::set<ptc::DeviceId> devices = m_draft.deviceSet();
  const bool sameJob = m_draft.job() == m_job && job->origin == m_origin && job->epoch == m_epoch;
  if (sameJob && devices == m_basis && m_state != State::None) return;
  if (sameJob && m_state == State::Ready && indexOf(std::nullopt)) return;
  m_job = m_draft.job();
  m_origin = job->origin;
  m_epoch = job->epoch;
  m_basis = devices;
  ++m_generation;
  m_state = State::Asking;
  m_delay.start();
  emit changed();
}

void DraftProposal::ask() {
  if (m_basis.empty()) {
    m_proposal.reset();
    m_state = State::None;
    emit changed();
    return;
  }
  const std::uint64_t generation = ++m_generation;
  m_commands.propose(
      m_job, {m_basis.begin(), m_basis.end()},
      [self = QPointer<DraftProposal>(this), generation](Result<engine::Proposal> result) {
        if (self) self->answer(generation, std::move(result));
      });
}

void DraftProposal::answer(std::uint64_t generation, Result<engine::Proposal> result) {
  if (generation != m_generation) return;
  if (result) {
    m_proposal = std::move(*result);
    m_problem.clear();
    m_state = State::Ready;
  } else {
    m_proposal.reset();
    m_problem = format::error(result.error());
    m_state = State::Failed;
  }
  emit changed();
}

std::optional<int> DraftProposal::indexOf(const std::optional<ptc::MeshShape>& planned) const {
  if (!m_proposal) return std::nullopt;
  const engine::JobStatus* job = m_model.findJob(m_draft.job().toStdString());
  std::optional<ptc::MeshShape> mesh = m_draft.mesh();
  if (!mesh) mesh = planned;
  if (!mesh && m_draft.isEmpty() && job != nullptr) mesh = job->mesh;
  if (!mesh) return std::nullopt;
  const std::set<ptc::DeviceId> devices = m_draft.deviceSet();
  const engine::StepOptions options = m_draft.options();
  std::optional<int> found;
  for (std::size_t i = 0; i < m_proposal->candidates.size(); ++i) {
    const engine::Candidate& candidate = m_proposal->candidates[i];
    std::set<ptc::DeviceId> used(candidate.devices.begin(), candidate.devices.end());
    const bool exactly = used == devices;
    used.insert(candidate.idle.begin(), candidate.idle.end());
    if (candidate.mesh != *mesh || (!exactly && used != devices)) continue;
    if (candidate.options == options) return static_cast<int>(i);
    // A micro-batch chosen by the trainer does not make another configuration.
    if (candidate.options.zero == options.zero && options.micro_batch == 0 && !found) {
      found = static_cast<int>(i);
    }
  }
  return found;
}

void DraftProposal::choose(int index) {
  constexpr int kMergeId = 101;
  const engine::Candidate& candidate = m_proposal->candidates[static_cast<std::size_t>(index)];
  m_draft.replace(candidate.devices, candidate.mesh,
                  tr("choose %1").arg(format::shape(candidate.mesh)), candidate.options, kMergeId);
}

std::optional<double> DraftProposal::tokensPerSecond(double stepSeconds) const {
  const engine::JobStatus* job = m_model.findJob(m_job.toStdString());
  if (job == nullptr || !job->tokens_per_second || !job->step_seconds || stepSeconds <= 0) {
    return std::nullopt;
  }
  return *job->tokens_per_second * *job->step_seconds / stepSeconds;
}

}  // namespace tessera::ui
