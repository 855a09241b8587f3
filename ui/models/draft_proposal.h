// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the cluster would run the job as on the devices of the Draft.

#include <QObject>
#include <QString>
#include <QTimer>
#include <optional>
#include <set>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"
#include "ui/models/draft.h"

namespace tessera::ui {

/// Asks while it is active and the devices differ from those asked for; answers that come too late
/// are dropped. A draft that is one of the candidates asks nothing, so that choosing one, even one
/// that leaves devices over, keeps the list.
class DraftProposal : public QObject {
  Q_OBJECT

 public:
  enum class State { None, Asking, Ready, Failed };
  static constexpr int kDelayMs = 60;

  /// All three outlive it.
  DraftProposal(Draft& draft, ClusterModel& model, ClusterCommands& commands,
                QObject* parent = nullptr);

  /// Whether somebody looks.
  void setActive(bool active);
  State state() const { return m_state; }
  /// The newest answer, also while a newer one is on its way.
  const std::optional<engine::Proposal>& proposal() const { return m_proposal; }
  /// Why there is none, one sentence; empty otherwise.
  const QString& problem() const { return m_problem; }
  /// Index of the candidate that the draft, or its plan `planned`, is; nothing where it is another.
  std::optional<int> indexOf(const std::optional<ptc::MeshShape>& planned) const;
  /// Makes the draft this candidate. \pre 0 <= index < number of candidates
  void choose(int index);
  /// Tokens a second of a step that long; nothing where the job has not told enough.
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
  std::set<ptc::DeviceId> m_basis;  // devices that were asked for
  QString m_job;
  std::int64_t m_epoch = -1;
  std::uint64_t m_generation = 0;
  QTimer m_delay;
};

}  // namespace tessera::ui
