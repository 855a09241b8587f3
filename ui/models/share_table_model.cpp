// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/share_table_model.h"

#include <QStringList>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

QString samples(const DataView::Share& share) {
  if (share.samples.empty()) return QStringLiteral("—");
  QStringList ids;
  for (const std::int64_t sample : share.samples) ids << format::count(sample);
  if (share.end - share.begin > static_cast<std::int64_t>(share.samples.size())) {
    ids << QStringLiteral("…");
  }
  return ids.join(QStringLiteral("  "));
}

}  // namespace

void ShareTableModel::setShares(std::vector<DataView::Share> shares) {
  if (shares.size() != m_shares.size()) {
    beginResetModel();
    m_shares = std::move(shares);
    endResetModel();
    return;
  }
  m_shares = std::move(shares);
  if (!m_shares.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, NUM_COLUMNS - 1));
}

int ShareTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_shares.size());
}

int ShareTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QVariant ShareTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const DataView::Share& share = m_shares[static_cast<std::size_t>(index.row())];
  if (role == Qt::TextAlignmentRole) {
    return index.column() == CountColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                         : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case RankColumn:
      return tr("dp %1").arg(share.dp);
    case DevicesColumn:
      return deviceNames(share.devices);
    case CountColumn:
      return format::count(share.end - share.begin);
    case PositionsColumn:
      return tr("%1 to %2").arg(format::count(share.begin), format::count(share.end - 1));
    case SamplesColumn:
      return samples(share);
    default:
      return {};
  }
}

QVariant ShareTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return section == CountColumn ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                                  : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case RankColumn:
      return tr("rank");
    case DevicesColumn:
      return tr("GPUs");
    case CountColumn:
      return tr("samples");
    case PositionsColumn:
      return tr("positions of the pass");
    case SamplesColumn:
      return tr("sample numbers");
    default:
      return {};
  }
}

}  // namespace tessera::ui
