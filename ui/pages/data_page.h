// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The job's place in its data: the pass as a strip, the coming batch by reader, and what a change
/// of the mesh changed about who reads.

#include <optional>

#include "ui/models/cluster_model.h"
#include "ui/models/data_view.h"
#include "ui/models/history_table_model.h"
#include "ui/models/share_table_model.h"
#include "ui/widgets/surface.h"

class QLabel;
class QStackedLayout;
class QTableView;

namespace tessera::ui {

class BatchStrip;
class KeyValues;
class PassStrip;

class DataPage : public Surface {
  Q_OBJECT

 public:
  /// Both outlive the page. `history` gives the changes of the mesh.
  DataPage(ClusterModel& model, HistoryTableModel& history, QWidget* parent = nullptr);

  /// What stands in place of the page; empty while it is shown.
  QString words() const;
  /// What is shown now; nothing while words() are.
  const std::optional<DataView>& view() const { return m_view; }
  /// Shows the batches around this change; none: the coming ones.
  void setSelected(std::optional<std::int64_t> txn);
  QTableView* table() const { return m_table; }

 signals:
  void changeChosen(qint64 txn);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void showBatches();
  QWidget* buildContent();

  ClusterModel& m_model;
  HistoryTableModel& m_history;
  std::optional<DataView> m_view;
  std::optional<std::int64_t> m_selected;
  ShareTableModel m_shares;
  QStackedLayout* m_stack;
  QLabel *m_words, *m_title, *m_summary, *m_batchTitle, *m_change;
  PassStrip* m_pass;
  BatchStrip* m_batches;
  QTableView* m_table;
  KeyValues* m_parts;
};

}  // namespace tessera::ui
