// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The shares of the next batch, one row per data-parallel rank.

#include <vector>

#include "ui/models/column_table.h"
#include "ui/models/data_view.h"

namespace tessera::ui {

class ShareTableModel : public ColumnTable<std::vector<DataView::Share>> {
  Q_OBJECT

 public:
  enum Columns {
    RankColumn,
    DevicesColumn,
    CountColumn,
    PositionsColumn,
    SamplesColumn,
    NUM_COLUMNS
  };

  explicit ShareTableModel(QObject* parent = nullptr);
  void setShares(std::vector<DataView::Share> shares);
  const std::vector<DataView::Share>& shares() const { return m_rows; }
};

}  // namespace tessera::ui
