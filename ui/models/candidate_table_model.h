// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The configurations of a proposal as a table, in the cluster's order: best first.

#include <functional>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/column_table.h"

namespace tessera::ui {

/// How a configuration fits into the memory of its fullest device. Tight: less than 10 % is free.
enum class Fit { Fits, Tight, TooLarge };
Fit fitOf(const engine::Candidate& candidate);

class CandidateTableModel : public ColumnTable<std::vector<engine::Candidate>> {
  Q_OBJECT

 public:
  enum Columns {
    MarkColumn,  // fits, tight, does not fit; as text for accessibility
    MeshColumn,
    OptionsColumn,
    StepColumn,
    TokensColumn,
    MovesColumn,
    PauseColumn,
    PeakColumn,
    NUM_COLUMNS
  };
  enum Roles { FitRole = Qt::UserRole + 1, CurrentRole, RecommendedRole, HoveredRole, MeritsRole };

  explicit CandidateTableModel(QObject* parent = nullptr);
  /// `tokens` returns the tokens per second for a step time, if known.
  void setCandidates(std::vector<engine::Candidate> candidates,
                     std::function<std::optional<double>(double)> tokens);
  const std::vector<engine::Candidate>& candidates() const { return m_rows; }
  /// Sets the row under the pointer, here or in the scatter plot.
  void setHovered(std::optional<int> row);
  std::optional<int> hovered() const { return m_hovered; }
  /// Returns all values of a row as text.
  QString describe(int row) const;

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  QString tokensText(const engine::Candidate& candidate) const;
  /// Returns what the configuration is best in: "fastest", "moves least", "all GPUs".
  QStringList merits(const engine::Candidate& candidate) const;

  std::optional<int> m_hovered;
  std::function<std::optional<double>(double)> m_tokens;
};

}  // namespace tessera::ui
