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

ShareTableModel::ShareTableModel(QObject* parent) : ColumnTable(parent) {
  using Share = DataView::Share;
  setColumns({
      {tr("rank"), [](const Share& share) { return tr("dp %1").arg(share.dp); }},
      {tr("GPUs"), [](const Share& share) { return deviceNames(share.devices); }},
      {tr("samples"), [](const Share& share) { return format::count(share.end - share.begin); },
       Qt::AlignRight},
      {tr("positions of the pass"),
       [](const Share& share) {
         return tr("%1 to %2").arg(format::count(share.begin), format::count(share.end - 1));
       }},
      {tr("sample numbers"), samples},
  });
}

void ShareTableModel::setShares(std::vector<DataView::Share> shares) {
  if (shares.size() != m_rows.size()) return resetRows(std::move(shares));
  m_rows = std::move(shares);
  if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, NUM_COLUMNS - 1));
}

}  // namespace tessera::ui
