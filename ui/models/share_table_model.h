// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The shares of the next batch, one row per data-parallel rank.

#include <QAbstractTableModel>
#include <vector>

#include "ui/models/data_view.h"

namespace tessera::ui {

class ShareTableModel : public QAbstractTableModel {
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

  explicit ShareTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  void setShares(std::vector<DataView::Share> shares);
  const std::vector<DataView::Share>& shares() const { return m_shares; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  std::vector<DataView::Share> m_shares;
};

}  // namespace tessera::ui
