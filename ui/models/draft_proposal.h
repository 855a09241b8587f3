// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The configurations that the cluster proposes for the devices of the draft.

#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>
#include <set>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"

namespace tessera::ui {

/// Requests a proposal whenever it is active and the devices differ from those of the last request.
/// Late answers are dropped. A draft that equals a candidate triggers no request, so that choosing
/// a candidate keeps the list, even if the candidate leaves devices unused.
class DraftProposal : public QObject {
  Q_OBJECT

 public:
  enum class State { None, Asking, Ready, Failed };
  static constexpr int kDelayMs = 60;

  /// All three must outlive it.
  DraftProposal(Draft& draft, ClusterModel& model, ClusterCommands& commands,
                QObject* parent = nullptr);

  /// Sets whether the proposal is visible.
  void setActive(bool active);
  State state() const { return m_state; }
  /// The newest answer, also while a newer one is pending.
  const std::optional<engine::Proposal>& proposal() const { return m_proposal; }
  /// Why there is no proposal, as one sentence; empty otherwise.
  const QString& problem() const { return m_problem; }
  /// Returns the index of the candidate equal to the draft or to its plan `planned`, if any.
  std::optional<int> indexOf(const std::optional<ptc::MeshShape>& planned) const;
  /// Sets the draft to this candidate.
  /// \pre 0 <= index < number of candidates
  void choose(int index);
  /// Returns the tokens per second at this step time; nothing if the job has not reported enough.
  std::optional<double> tokensPerSecond(double stepSeconds) const;

 signals:
  void changed();

 private:
  void follow();
  void ask();
  void answer(std::uint64_t generation, Result<engine::Proposal> result);

  Draft& m_draft;
  ClusterModel& m_model;
  ClusterCommands& m_commands;
  bool m_active = false;
  State m_state = State::None;
  std::optional<engine::Proposal> m_proposal;
  QString m_problem;
  std::set<ptc::DeviceId> m_basis;  // devices of the last request
  QString m_job;
  std::int64_t m_epoch = -1;
  std::int64_t m_origin = 0;
  std::uint64_t m_generation = 0;
  QTimer m_delay;
};

}  // namespace tessera::ui
