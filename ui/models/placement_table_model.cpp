// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/placement_table_model.h"

#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/device_names.h"

namespace tessera::ui {

const PlacedBytes::Run& PlacedRows::operator[](std::size_t row) const {
  if (row != m_row) {
    m_run = m_bytes->row(static_cast<int>(row));
    m_row = row;
  }
  return m_run;
}

PlacementTableModel::PlacementTableModel(QObject* parent) : ColumnTable(parent) {
  using Run = PlacedBytes::Run;
  setColumns({
      {tr("bytes of the file"),
       [](const Run& run) {
         return run.begin == run.end
                    ? tr("none")
                    : tr("%1 to %2").arg(format::count(run.begin), format::count(run.end - 1));
       },
       Qt::AlignRight},
      {tr("size"), [](const Run& run) { return format::bytes(run.end - run.begin); },
       Qt::AlignRight},
      {tr("tensor"), [](const Run& run) { return run.what; }},
      {tr("on"),
       [](const Run& run) {
         return run.holders->empty() ? tr("no GPU") : deviceNames(*run.holders);
       }},
      {tr("here"), [this](const Run& run) { return here(run); }, Qt::AlignLeft,
       tr("Whether a replica is on this machine. Reading it then needs no transfer")},
  });
}

void PlacementTableModel::setIsHere(IsHere isHere) {
  m_isHere = std::move(isHere);
  if (rowCount() > 0) emit dataChanged(index(0, HereColumn), index(rowCount() - 1, HereColumn));
}

QString PlacementTableModel::here(const PlacedBytes::Run& run) const {
  if (!m_isHere || run.holders->empty()) return QStringLiteral("—");
  const bool any = std::ranges::any_of(
      *run.holders, [this](const ptc::DeviceId device) { return m_isHere(device.node); });
  return any ? tr("yes") : tr("no");
}

QVariant PlacementTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role != Qt::ToolTipRole) return ColumnTable::data(index, role);
  const PlacedBytes::Run& run = row(index.row());
  return index.column() == SizeColumn ? tr("%1 bytes").arg(format::count(run.end - run.begin))
                                      : text(run, index.column());
}

}  // namespace tessera::ui
