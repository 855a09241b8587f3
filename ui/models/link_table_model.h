// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What moves over a link, as a sortable table: flows between GPUs, or ranges of tensors.

#include <QByteArray>
#include <optional>
#include <utility>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ui/models/column_table.h"
#include "ui/models/export_text.h"
#include "ui/models/planned_moves.h"

namespace tessera::ui {

struct LinkRow {
  ptc::DeviceId from, to;
  std::int64_t bytes = 0, done = 0;
  double rate = 0;
  engine::FlowState state = engine::FlowState::kWaiting;
  QString reason = {};              // of a flow that stalls, is sent again or comes from elsewhere
  double slowest = 0, fastest = 0;  // rates of the last seconds, while it moves
  /// The seconds until it is done at these rates, the shorter first; nothing if they are unknown.
  std::optional<std::pair<double, double>> left() const;
  // Of a range of a tensor:
  int tensor = 0;
  std::optional<ptc::Box> box = {};
};

class LinkTableModel : public ColumnTable<std::vector<LinkRow>> {
  Q_OBJECT

 public:
  enum Columns {
    TensorColumn,
    RangeColumn,
    FromColumn,
    ToColumn,
    BytesColumn,
    DoneColumn,
    RateColumn,
    LeftColumn,
    StateColumn,
    ReasonColumn,
    NUM_COLUMNS
  };

  explicit LinkTableModel(QObject* parent = nullptr);

  /// If the flows are between the same devices as before, the rows keep their places until
  /// sortAgain(); otherwise the model is reset. New rows are sorted.
  void setFlows(const std::vector<engine::FlowStatus>& flows);
  /// \param state names the tensors
  void setMoves(engine::vfs::JobFactsPtr state, const std::vector<TensorMove>& moves);
  /// Whether the rows are ranges of tensors.
  bool hasTensors() const { return m_state != nullptr; }
  const LinkRow& row(int index) const { return ColumnTable::row(index); }
  std::int64_t totalBytes() const;

  /// Bytes descending at first. Rows that compare equal are ordered by devices, tensor and range.
  void sort(int column, Qt::SortOrder order) override;
  void sortAgain() { sort(m_column, m_order); }
  int sortColumn() const { return m_column; }
  Qt::SortOrder sortOrder() const { return m_order; }
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  /// An arrow follows the title of the column by which the rows are sorted.
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

  /// All rows in the order of the table. A JSON file is one array.
  QByteArray exported(ExportFormat format) const;

 private:
  QString tensorName(const LinkRow& row) const;
  QString rangeText(const LinkRow& row) const;
  bool comesBefore(const LinkRow& a, const LinkRow& b) const;
  void reset(std::vector<LinkRow> rows, engine::vfs::JobFactsPtr state);

  engine::vfs::JobFactsPtr m_state;
  int m_column = BytesColumn;
  Qt::SortOrder m_order = Qt::DescendingOrder;
};

/// "moving", "stalled", "waiting", "done".
QString text(engine::FlowState state);

}  // namespace tessera::ui
