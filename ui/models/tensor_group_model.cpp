// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tensor_group_model.h"

#include <algorithm>
#include <numeric>

#include "ui/format.h"

namespace tessera::ui {

TensorGroupModel::TensorGroupModel(QObject* parent) : ColumnTable(parent) {
  setColumns({
      {tr("tensor"), [this](std::size_t index) { return group(index).shortName; }},
      {tr("×"),
       [this](std::size_t index) {
         const std::size_t count = group(index).tensors.size();
         return count == 1 ? QString() : format::count(static_cast<std::int64_t>(count));
       },
       Qt::AlignRight, tr("The number of equal tensors: one per layer or expert")},
      {tr("bytes"), [this](std::size_t index) { return format::bytes(group(index).bytes); },
       Qt::AlignRight, tr("Bytes of one copy of all tensors of the row")},
      {tr("held"),
       [this](std::size_t index) {
         const TensorGroup& each = group(index);
         const auto least = format::count(static_cast<std::int64_t>(each.leastHolders));
         if (each.leastHolders == each.mostHolders) return tr("%1 ×").arg(least);
         return tr("%1–%2 ×").arg(least,
                                  format::count(static_cast<std::int64_t>(each.mostHolders)));
       },
       Qt::AlignRight,
       tr("How many GPUs hold the same bytes. What only one holds is lost with it")},
  });
}

bool TensorGroupModel::matches(RoleFilter filter, ptc::TensorRole role) {
  using enum ptc::TensorRole;
  switch (filter) {
    case RoleFilter::All:
      return true;
    case RoleFilter::Parameters:
      return role == kParam;
    case RoleFilter::Optimizer:
      return role == kMaster || role == kExpAvg || role == kExpAvgSq;
    case RoleFilter::Other:
      return role == kBuffer || role == kScalar || role == kRng;
  }
  Q_UNREACHABLE();
}

void TensorGroupModel::setLayouts(TensorLayouts::Ptr layouts) {
  if (layouts == m_layouts) return;
  beginResetModel();
  m_rows.clear();
  m_layouts = std::move(layouts);
  endResetModel();
  rebuild();
}

void TensorGroupModel::setFilter(const QString& text, RoleFilter role) {
  if (text == m_filter && role == m_role) return;
  m_filter = text;
  m_role = role;
  rebuild();
}

void TensorGroupModel::sort(int column, Qt::SortOrder order) {
  m_sortColumn = column;
  m_order = order;
  rebuild();
}

std::optional<int> TensorGroupModel::rowOf(std::size_t group) const {
  const auto at = std::ranges::find(m_rows, group);
  if (at == m_rows.end()) return {};
  return static_cast<int>(at - m_rows.begin());
}

std::int64_t TensorGroupModel::bytes() const {
  return std::accumulate(
      m_rows.begin(), m_rows.end(), std::int64_t{0},
      [this](std::int64_t sum, std::size_t index) { return sum + group(index).bytes; });
}

void TensorGroupModel::rebuild() {
  std::vector<std::size_t> rows;
  const QStringList words = m_filter.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  for (std::size_t i = 0; m_layouts && i < m_layouts->groups().size(); ++i) {
    const ptc::TensorSpec& spec = m_layouts->spec(group(i).tensors.front());
    if (!matches(m_role, spec.role)) continue;
    const QString text = group(i).name + QLatin1Char(' ') + format::word(ptc::ToString(spec.role)) +
                         QLatin1Char(' ') + format::word(ptc::ToString(spec.dtype));
    const bool passes = std::ranges::all_of(
        words, [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    if (passes) rows.push_back(i);
  }
  const auto key = [this](std::size_t index) {
    const TensorGroup& each = group(index);
    return m_sortColumn == BytesColumn   ? each.bytes
           : m_sortColumn == CountColumn ? std::ssize(each.tensors)
                                         : static_cast<std::int64_t>(each.leastHolders);
  };
  if (m_sortColumn > NameColumn) {
    std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
      return m_order == Qt::AscendingOrder ? key(a) < key(b) : key(b) < key(a);
    });
  } else if (m_sortColumn == NameColumn && m_order == Qt::DescendingOrder) {
    std::ranges::reverse(rows);
  }
  if (rows != m_rows) resetRows(std::move(rows));
}

}  // namespace tessera::ui
