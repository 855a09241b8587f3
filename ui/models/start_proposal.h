// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The configurations that the cluster proposes for a job that is to be started.

#include <QObject>
#include <QString>
#include <QTimer>
#include <cstdint>
#include <optional>

#include "ui/commands.h"

namespace tessera::ui {

/// Asks again after each change of what decides about the configurations. One question is on its
/// way at a time, except that a newer one about a script ends the earlier one, whose script may
/// hang. An answer to an older question is dropped. After a failure that may pass by itself it
/// asks again later.
class StartProposal : public QObject {
  Q_OBJECT

 public:
  enum class State { None, Asking, Ready, Failed };
  static constexpr int kDelayMs = 60;
  static constexpr int kRetryMs = 3000;

  /// `commands` outlives it.
  explicit StartProposal(ClusterCommands& commands, QObject* parent = nullptr);

  /// Sets the job; what does not matter here, such as its number of steps, is ignored.
  void follow(const StartRequest& request);
  /// There is nothing to ask for. The last proposal stays visible as outdated.
  void pause();
  /// Forgets everything, also the last proposal.
  void clear();
  /// Asks once more, although nothing has changed.
  void askAgain();

  State state() const { return m_state; }
  /// The newest answer, also while a newer one is awaited.
  const std::optional<engine::Proposal>& proposal() const { return m_proposal; }
  /// Why there is no proposal, as one clause; empty otherwise.
  const QString& problem() const { return m_problem; }

 signals:
  void changed();

 private:
  void ask();
  void answer(std::uint64_t generation, Result<engine::Proposal> result);

  ClusterCommands& m_commands;
  State m_state = State::None;
  std::optional<StartRequest> m_wanted;
  std::optional<engine::Proposal> m_proposal;
  QString m_problem;
  std::uint64_t m_generation = 0;
  int m_away = 0;  // questions on their way
  QTimer m_delay;
};

}  // namespace tessera::ui
