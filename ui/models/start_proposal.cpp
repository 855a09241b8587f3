// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/start_proposal.h"

#include <QPointer>
#include <utility>

#include "ui/format.h"
#include "ui/models/start_form.h"

namespace tessera::ui {

StartProposal::StartProposal(ClusterCommands& commands, QObject* parent)
    : QObject(parent), m_commands(commands) {
  m_delay.setSingleShot(true);
  connect(&m_delay, &QTimer::timeout, this, &StartProposal::ask);
}

void StartProposal::follow(const StartRequest& request) {
  StartRequest wanted = request;
  for (const QLatin1String key :
       {start_field::kSteps, start_field::kOnFailure, start_field::kSnapshots, start_field::kSeed,
        start_field::kSaveEvery})
    wanted.values.erase(key);
  wanted.data.clear();
  const bool isSame = m_wanted && *m_wanted == wanted;
  if (isSame && m_state != State::None) return;
  m_wanted = std::move(wanted);
  askAgain();
}

void StartProposal::askAgain() {
  ++m_generation;
  m_state = State::Asking;
  m_delay.start(kDelayMs);
  emit changed();
}

void StartProposal::pause() {
  ++m_generation;
  m_delay.stop();
  if (std::exchange(m_state, State::None) != State::None) emit changed();
}

void StartProposal::clear() {
  m_wanted.reset();
  m_proposal.reset();
  m_problem.clear();
  pause();
}

void StartProposal::ask() {
  if (!m_wanted) return;
  const bool isScript = std::holds_alternative<StartRequest::Script>(m_wanted->program);
  if (m_away > 0 && !isScript) return;  // the answer asks again
  ++m_away;
  m_commands.proposeStart(*m_wanted, [self = QPointer<StartProposal>(this),
                                      generation = m_generation](Result<engine::Proposal> result) {
    if (self) self->answer(generation, std::move(result));
  });
}

void StartProposal::answer(std::uint64_t generation, Result<engine::Proposal> result) {
  --m_away;
  if (generation != m_generation) {
    if (m_state == State::Asking && !m_delay.isActive() && m_away == 0) ask();
    return;
  }
  if (result) {
    m_proposal = std::move(*result);
    m_problem.clear();
    m_state = State::Ready;
  } else {
    m_proposal.reset();
    m_problem = format::error(result.error());
    m_state = State::Failed;
    const ErrorCode code = result.error().code;
    if (code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
        code == ErrorCode::kFailedPrecondition)
      m_delay.start(kRetryMs);
  }
  emit changed();
}

}  // namespace tessera::ui
