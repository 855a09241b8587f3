// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The self-checks of the nodes of a cluster as a table, the worst first.

#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/column_table.h"

namespace tessera::ui {

class CheckTableModel : public ColumnTable<std::vector<engine::Check>> {
  Q_OBJECT

 public:
  enum Columns {
    SeverityColumn,
    WhereColumn,
    FindingColumn,
    ValueColumn,
    RemedyColumn,
    NUM_COLUMNS
  };
  enum Roles { VerdictRole = Qt::UserRole + 1 };  // int of engine::Check::Verdict

  explicit CheckTableModel(QObject* parent = nullptr);
  /// Sorts failed checks first, then warnings, passed and skipped ones.
  void setChecks(std::vector<engine::Check> checks);
  const std::vector<engine::Check>& checks() const { return m_rows; }
  /// The number of failed checks and warnings.
  int problems() const;
  /// Returns the rows as tab-separated lines below a header line.
  QString asText(const std::vector<int>& rows) const;
  QString asText() const;

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
};

}  // namespace tessera::ui
