// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_table_model.h"

#include <QDateTime>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"

namespace tessera::ui {
namespace {}  // namespace

HistoryTableModel::HistoryTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void HistoryTableModel::setEntries(std::vector<engine::HistoryEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.id > b.id; });
  if (entries == m_entries) return;
  beginResetModel();
  m_entries = std::move(entries);
  endResetModel();
}

const engine::HistoryEntry* HistoryTableModel::entry(int row) const {
  return row >= 0 && row < rowCount() ? &m_entries[static_cast<std::size_t>(row)] : nullptr;
}

int HistoryTableModel::rowOf(std::int64_t txn) const {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [&](const auto& entry) { return entry.id == txn; });
  return found == m_entries.end() ? -1 : static_cast<int>(found - m_entries.begin());
}

int HistoryTableModel::lastCommitted() const {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [](const auto& entry) { return entry.result == "committed"; });
  return found == m_entries.end() ? -1 : static_cast<int>(found - m_entries.begin());
}

int HistoryTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int HistoryTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QString HistoryTableModel::text(const engine::HistoryEntry& entry, int column) const {
  const bool ended = !entry.result.empty();
  switch (static_cast<Columns>(column)) {
    case WhenColumn:
      return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(entry.started * 1000))
          .toString(QStringLiteral("HH:mm:ss"));
    case JobColumn:
      return QString::fromStdString(entry.job);
    case ChangeColumn:
      return changeText(entry);
    case MovedColumn:
      return format::bytes(entry.bytes_moved);
    case BoundColumn:
      return format::bytes(entry.volume_bound);
    case PauseColumn:
      return ended ? format::seconds(entry.pause) : format::unknown();
    case ResultColumn:
      return resultText(entry);
    case DigestsColumn:
      return digestsText(entry);
    case NUM_COLUMNS:
      break;
  }
  return {};
}

QVariant HistoryTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::HistoryEntry& entry = m_entries[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
      return text(entry, index.column());
    case Qt::TextAlignmentRole: {
      const bool number = index.column() == MovedColumn || index.column() == BoundColumn ||
                          index.column() == PauseColumn;
      return QVariant::fromValue(
          Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    }
    case Qt::ToolTipRole: {
      QString tip = tr("Transaction %1: %2\n→ %3")
                        .arg(QString::number(entry.id), QString::fromStdString(entry.from),
                             QString::fromStdString(entry.to));
      for (const auto& [phase, seconds] : entry.phases) {
        tip +=
            QStringLiteral("\n%1 %2").arg(QString::fromStdString(phase), format::seconds(seconds));
      }
      if (!entry.digest_before.empty()) {
        tip += QLatin1Char('\n') + tr("digest %1 → %2")
                                       .arg(QString::fromStdString(entry.digest_before),
                                            QString::fromStdString(entry.digest_after));
      }
      if (!entry.reason.empty()) tip += QLatin1Char('\n') + QString::fromStdString(entry.reason);
      return tip;
    }
    case ResultRole:
      return QString::fromStdString(entry.result);
    default:
      return {};
  }
}

QVariant HistoryTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    const bool number = section == MovedColumn || section == BoundColumn || section == PauseColumn;
    return QVariant::fromValue(
        Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  }
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Columns>(section)) {
    case WhenColumn:
      return tr("When");
    case JobColumn:
      return tr("Job");
    case ChangeColumn:
      return tr("dp × tp × pp");
    case MovedColumn:
      return tr("Moved");
    case BoundColumn:
      return tr("Least possible");
    case PauseColumn:
      return tr("Pause");
    case ResultColumn:
      return tr("Result");
    case DigestsColumn:
      return tr("Digests");
    case NUM_COLUMNS:
      break;
  }
  return {};
}

}  // namespace tessera::ui
