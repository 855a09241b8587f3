// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/history_table_model.h"

#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/sentences.h"

namespace tessera::ui {

HistoryTableModel::HistoryTableModel(QObject* parent) : ColumnTable(parent) {
  using Entry = engine::HistoryEntry;
  setColumns({
      {tr("When"), [](const Entry& entry) { return format::shortClock(entry.started); }},
      {tr("Job"), [](const Entry& entry) { return QString::fromStdString(entry.job); }},
      {QStringLiteral("dp × tp × pp"), changeText},
      {tr("Moved"), [](const Entry& entry) { return format::bytes(entry.bytes_moved); },
       Qt::AlignRight},
      {tr("Least possible"), [](const Entry& entry) { return format::bytes(entry.volume_bound); },
       Qt::AlignRight},
      {tr("Pause"),
       [](const Entry& entry) {
         return entry.result.empty() ? format::unknown() : format::seconds(entry.pause);
       },
       Qt::AlignRight},
      {tr("Gap"),
       [](const Entry& entry) {
         return entry.gap ? format::seconds(*entry.gap) : format::unknown();
       },
       Qt::AlignRight},
      {tr("Result"), resultText},
      {tr("Digests"), digestsText},
  });
}

void HistoryTableModel::setEntries(std::vector<engine::HistoryEntry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.id > b.id; });
  if (entries != m_rows) resetRows(std::move(entries));
}

const engine::HistoryEntry* HistoryTableModel::entry(int row) const {
  return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

int HistoryTableModel::rowOf(std::int64_t txn) const {
  const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                  [&](const auto& entry) { return entry.id == txn; });
  return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

int HistoryTableModel::lastCommitted() const {
  const auto found = std::find_if(m_rows.begin(), m_rows.end(),
                                  [](const auto& entry) { return entry.result == "committed"; });
  return found == m_rows.end() ? -1 : static_cast<int>(found - m_rows.begin());
}

QVariant HistoryTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::HistoryEntry& entry = row(index.row());
  switch (role) {
    case Qt::ToolTipRole: {
      QString tip = tr("Transaction %1: %2\n→ %3")
                        .arg(QString::number(entry.id), QString::fromStdString(entry.from),
                             QString::fromStdString(entry.to));
      for (const PhaseTime& phase : phasesOf(entry)) {
        tip += QStringLiteral("\n%1 %2").arg(phase.name, format::seconds(phase.seconds));
      }
      if (!entry.digest_before.empty()) {
        tip += QLatin1Char('\n') + tr("digest %1 → %2")
                                       .arg(QString::fromStdString(entry.digest_before),
                                            QString::fromStdString(entry.digest_after));
      }
      if (!entry.reason.empty()) tip += QLatin1Char('\n') + localized(entry.reason);
      return tip;
    }
    case ResultRole:
      return QString::fromStdString(entry.result);
    default:
      return ColumnTable::data(index, role);
  }
}

}  // namespace tessera::ui
