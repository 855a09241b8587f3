// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The cluster's events as a table, oldest first.

#include <QAbstractTableModel>
#include <deque>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

class EventTableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Columns { TimeColumn, SeverityColumn, TextColumn, NUM_COLUMNS };
  enum Roles {
    SeverityRole = Qt::UserRole + 1,  // int of engine::Severity
    SourceRole,                       // QString
    FilterRole,                       // all text that a filter matches
  };
  /// Beyond this number the oldest rows are removed.
  static constexpr int kMaxRows = 100'000;

  explicit EventTableModel(QObject* parent = nullptr);
  void append(const std::vector<engine::Event>& events);
  void clear();
  /// \pre 0 <= row < rowCount()
  const engine::Event& event(int row) const { return m_events[static_cast<std::size_t>(row)]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation,
                      int role = Qt::DisplayRole) const override;

 private:
  std::deque<engine::Event> m_events;
};

}  // namespace tessera::ui
