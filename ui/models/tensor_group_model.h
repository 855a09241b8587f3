// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The list of the Tensors view: the groups of equal tensors that pass a filter.

#include <QString>
#include <optional>
#include <vector>

#include "ui/models/column_table.h"
#include "ui/models/tensor_layouts.h"

namespace tessera::ui {

/// Groups by their role. Optimizer: masters, moments. Other: buffers, scalars, random streams.
enum class RoleFilter { All, Parameters, Optimizer, Other };

class TensorGroupModel : public ColumnTable<std::vector<std::size_t>> {
  Q_OBJECT

 public:
  enum Columns { NameColumn, CountColumn, BytesColumn, HoldersColumn, NUM_COLUMNS };

  explicit TensorGroupModel(QObject* parent = nullptr);

  void setLayouts(TensorLayouts::Ptr layouts);
  /// Shows groups whose name, role or dtype contains every word of `text`.
  void setFilter(const QString& text, RoleFilter role);
  /// The groups shown, as indices of layouts->groups(), in the order of the rows.
  const std::vector<std::size_t>& shown() const { return m_rows; }
  std::optional<int> rowOf(std::size_t group) const;
  /// The bytes of the groups shown, one copy.
  std::int64_t bytes() const;
  void sort(int column, Qt::SortOrder order) override;

  static bool matches(RoleFilter filter, ptc::TensorRole role);

 private:
  void rebuild();
  const TensorGroup& group(std::size_t index) const { return m_layouts->groups()[index]; }

  TensorLayouts::Ptr m_layouts;
  QString m_filter;
  RoleFilter m_role = RoleFilter::All;
  int m_sortColumn = -1;  // -1: the order of the names
  Qt::SortOrder m_order = Qt::AscendingOrder;
};

}  // namespace tessera::ui
