// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The flows of the change in progress as a table: state, rate and time left of each, the slowest
/// first.

#include <QElapsedTimer>
#include <cstdint>

#include "ui/models/cluster_model.h"
#include "ui/models/link_table_model.h"
#include "ui/widgets/surface.h"

class QCheckBox;
class QLabel;
class QTableView;

namespace tessera::ui {

class FlowsPage : public Surface {
  Q_OBJECT

 public:
  static constexpr int kSortMs = 1000;  // rows change their places at most once in this time

  explicit FlowsPage(QWidget* parent = nullptr);
  /// Shows the transaction of `model` while it runs. Its last flows stay until the next one.
  void refresh(const ClusterModel& model);
  /// Forgets the flows, because another cluster is shown.
  void clear();

  QTableView* table() const { return m_table; }
  LinkTableModel* model() { return &m_flows; }
  QCheckBox* movingOnly() const { return m_movingOnly; }
  /// Whether a change was seen. Without one there is no tab.
  bool hasFlows() const { return m_hasFlows; }
  /// The widget for the row of tabs: the filter.
  QWidget* corner() const { return m_corner; }
  /// "3 of 8 flows move, 1 is stalled · 92 MB/s", or why there are none.
  QString words() const;

 signals:
  void hasFlowsChanged(bool has);

 private:
  void showFlows();
  QString wordsOf() const;

  LinkTableModel m_flows;
  std::vector<engine::FlowStatus> m_all;  // of the last running transaction
  std::int64_t m_txn = 0;                 // its id; 0: none was seen
  bool m_isRunning = false, m_hasFlows = false;
  QElapsedTimer m_sorted;
  QTableView* m_table;
  QWidget* m_corner;
  QLabel *m_words, *m_empty;
  QCheckBox* m_movingOnly;
};

}  // namespace tessera::ui
