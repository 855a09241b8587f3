// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Ranges of bytes and the devices that hold them, one row per range.

#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "ui/models/column_table.h"
#include "ui/models/placed_bytes.h"

namespace tessera::ui {

/// The runs of placed bytes. It caches a run, because each column requests it.
class PlacedRows {
 public:
  explicit PlacedRows(PlacedBytesPtr bytes = nullptr) : m_bytes(std::move(bytes)) {}  // may be null
  std::size_t size() const { return m_bytes ? static_cast<std::size_t>(m_bytes->rowCount()) : 0; }
  const PlacedBytes::Run& operator[](std::size_t row) const;

 private:
  PlacedBytesPtr m_bytes;
  mutable std::size_t m_row = std::numeric_limits<std::size_t>::max();
  mutable PlacedBytes::Run m_run;
};

class PlacementTableModel : public ColumnTable<PlacedRows> {
  Q_OBJECT

 public:
  enum Columns { BytesColumn, SizeColumn, WhatColumn, HoldersColumn, HereColumn, NUM_COLUMNS };
  /// Returns whether a node is on this machine.
  using IsHere = std::function<bool(std::int32_t node)>;

  explicit PlacementTableModel(QObject* parent = nullptr);
  /// May be null.
  void setBytes(PlacedBytesPtr bytes) { resetRows(PlacedRows(std::move(bytes))); }
  /// Without this function the location is unknown.
  void setIsHere(IsHere isHere);
  const std::vector<ptc::DeviceId>& devices(int row) const { return *this->row(row).holders; }

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 private:
  QString here(const PlacedBytes::Run& run) const;

  IsHere m_isHere;
};

}  // namespace tessera::ui
