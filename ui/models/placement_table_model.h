// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Ranges of bytes and the devices that hold them, one row per range.

#include <QAbstractTableModel>
#include <functional>

#include "ui/models/placed_bytes.h"

namespace tessera::ui {

class PlacementTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Columns { BytesColumn, SizeColumn, WhatColumn, HoldersColumn, HereColumn, NUM_COLUMNS };
  /// Returns whether a node is on this machine.
  using IsHere = std::function<bool(std::int32_t node)>;

  explicit PlacementTableModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}
  /// May be null.
  void setBytes(PlacedBytesPtr bytes);
  /// Without this function the location is unknown.
  void setIsHere(IsHere isHere);
  const std::vector<ptc::DeviceId>& devices(int row) const { return *run(row).holders; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  /// Returns the row and caches it, because each column requests it.
  const PlacedBytes::Run& run(int row) const;
  QString here(const PlacedBytes::Run& run) const;

  PlacedBytesPtr m_bytes;
  IsHere m_isHere;
  mutable int m_row = -1;
  mutable PlacedBytes::Run m_run;
};

}  // namespace tessera::ui
