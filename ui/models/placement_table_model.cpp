// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/placement_table_model.h"

#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"

namespace tessera::ui {

void PlacementTableModel::setBytes(PlacedBytesPtr bytes) {
  beginResetModel();
  m_bytes = std::move(bytes);
  m_row = -1;
  endResetModel();
}

void PlacementTableModel::setIsHere(IsHere isHere) {
  m_isHere = std::move(isHere);
  if (rowCount() > 0) emit dataChanged(index(0, HereColumn), index(rowCount() - 1, HereColumn));
}

const PlacedBytes::Run& PlacementTableModel::run(int row) const {
  if (row != m_row) {
    m_run = m_bytes->row(row);
    m_row = row;
  }
  return m_run;
}

int PlacementTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !m_bytes ? 0 : m_bytes->rowCount();
}

int PlacementTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QString PlacementTableModel::here(const PlacedBytes::Run& run) const {
  if (!m_isHere || run.holders->empty()) return QStringLiteral("—");
  const bool any = std::ranges::any_of(
      *run.holders, [this](const ptc::DeviceId device) { return m_isHere(device.node); });
  return any ? tr("yes") : tr("no");
}

QVariant PlacementTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool number = index.column() == SizeColumn || index.column() == BytesColumn;
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const PlacedBytes::Run& shown = run(index.row());
  const std::int64_t size = shown.end - shown.begin;
  switch (index.column()) {
    case BytesColumn:
      return size == 0
                 ? tr("none")
                 : tr("%1 to %2").arg(format::count(shown.begin), format::count(shown.end - 1));
    case SizeColumn:
      return role == Qt::ToolTipRole ? tr("%1 bytes").arg(format::count(size))
                                     : format::bytes(size);
    case WhatColumn:
      return shown.what;
    case HoldersColumn:
      return shown.holders->empty() ? tr("no GPU") : deviceNames(*shown.holders);
    case HereColumn:
      return here(shown);
    default:
      return {};
  }
}

QVariant PlacementTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool number = section == SizeColumn || section == BytesColumn;
    return QVariant((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role == Qt::ToolTipRole && section == HereColumn) {
    return tr("Whether a replica is on this machine. Reading it then needs no transfer");
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case BytesColumn:
      return tr("bytes of the file");
    case SizeColumn:
      return tr("size");
    case WhatColumn:
      return tr("tensor");
    case HoldersColumn:
      return tr("on");
    case HereColumn:
      return tr("here");
    default:
      return {};
  }
}

}  // namespace tessera::ui
