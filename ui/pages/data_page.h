// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The job's position in its data: the pass as a strip, the next batches by rank, and how changes
/// of the mesh changed the ranks' shares.

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
  /// Both must outlive the page. `history` provides the changes of the mesh.
  DataPage(ClusterModel& model, HistoryTableModel& history, QWidget* parent = nullptr);

  /// The text shown instead of the page; empty while the page is shown.
  QString words() const;
  /// The data shown now; nothing while words() is shown.
  const std::optional<DataView>& view() const { return m_view; }
  /// Shows the batches around this change; without one the next batches.
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
