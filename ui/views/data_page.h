// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The job's position in its data: the pass as a strip, the next batches by rank, and how changes
/// of the mesh changed the ranks' shares.

#include <optional>

#include "ui/models/data_view.h"
#include "ui/models/history_table_model.h"
#include "ui/models/share_table_model.h"
#include "ui/views/view.h"
#include "ui/widgets/surface.h"

class QLabel;
class QStackedLayout;
class QTableView;

namespace tessera::ui {

class BatchStrip;
class KeyValues;
class PassStrip;

class DataPage : public Surface, public View {
  Q_OBJECT

 public:
  DataPage(const ViewContext& context, QWidget* parent);

  QString id() const override { return QStringLiteral("data"); }
  QString title() const override { return tr("Data"); }
  QString actionText() const override { return tr("D&ata"); }
  QString statusTip() const override {
    return tr("Show the pass over the data and the next samples of each rank");
  }
  QKeySequence key() const override { return QKeySequence(QStringLiteral("Ctrl+4")); }
  QWidget* widget() override { return this; }
  bool usesColours() const override { return false; }
  QWidget* focusTarget() override;
  void showLayout(const ShownLayout& layout) override;
  void setStale(double age, const QString& asOf) override;

  /// The text shown instead of the page; empty while the page is shown.
  QString words() const;
  /// The data shown now; nothing while words() is shown.
  const std::optional<DataView>& view() const { return m_view; }
  QTableView* table() const { return m_table; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void showBatches();
  QWidget* buildContent();

  HistoryTableModel& m_history;
  SelectionModel& m_selection;
  ShownLayout m_layout;
  std::optional<DataView> m_view;
  QString m_asOf;
  ShareTableModel m_shares;
  QStackedLayout* m_stack;
  QLabel *m_words, *m_title, *m_summary, *m_batchTitle, *m_change;
  PassStrip* m_pass;
  BatchStrip* m_batches;
  QTableView* m_table;
  KeyValues* m_parts;
};

}  // namespace tessera::ui
