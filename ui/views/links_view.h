// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The Links view: the bytes from node to node, or from GPU to GPU, of a draft, of the running or
/// of a past change, and what one link carries.

#include <QTimer>
#include <optional>
#include <string>
#include <tuple>

#include "ui/models/link_matrix.h"
#include "ui/models/link_table_model.h"
#include "ui/models/planned_moves.h"
#include "ui/views/chosen_link.h"
#include "ui/views/view.h"
#include "ui/widgets/surface.h"

class QAbstractButton;
class QButtonGroup;
class QLabel;
class QPushButton;
class QSplitter;
class QStackedLayout;
class QTableView;

namespace tessera::ui {

class LinkCanvas;

class LinksView : public Surface, public View {
  Q_OBJECT

 public:
  static constexpr int kSortMs = 1000;  // at most one sort in this time while bytes move

  LinksView(const ViewContext& context, QWidget* parent);

  QString id() const override { return QStringLiteral("links"); }
  QString title() const override { return tr("Links"); }
  QString actionText() const override { return tr("Lin&ks"); }
  QString statusTip() const override {
    return tr("Show the bytes from node to node of a draft, a running or a past change");
  }
  QKeySequence key() const override { return QKeySequence(QStringLiteral("Ctrl+3")); }
  QWidget* widget() override { return this; }
  bool usesColours() const override { return false; }
  QWidget* picture() override;
  QWidget* focusTarget() override;
  void showLayout(const ShownLayout& layout) override;
  void setStale(double age, const QString& asOf) override;

  LinkCanvas* canvas() const { return m_canvas; }
  QTableView* table() const { return m_table; }
  LinkTableModel* rows() { return &m_rows; }
  /// The text shown instead of the matrix; empty while the matrix is shown.
  QString words() const;
  LinkTime time() const { return m_time; }
  LinkEnds ends() const { return m_ends; }
  QAbstractButton* chip(LinkTime time) const;
  QAbstractButton* chip(LinkEnds ends) const;
  QString caption() const;
  /// "n2 → n6" and "18.4 GiB in 1,152 flows · …" of the chosen link.
  QString linkTitle() const;
  QString linkFacts() const;
  QPushButton* exportButton() const { return m_export; }

 protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* buildChips();
  QWidget* buildDetails();
  /// The flows of a time; nothing if there are none to show, which differs from a change without
  /// flows.
  std::optional<LinkFlows> flowsAt(LinkTime time) const;
  const engine::HistoryEntry* pastEntry() const;
  /// Those of flowsAt(Past), made once per entry.
  const std::optional<LinkFlows>& pastFlows();
  LinkTime usualTime() const;
  QString wordsOf(const std::optional<LinkFlows>& flows) const;
  void refresh();
  void divide();
  static ChosenLink chosenLink(const LinkMatrix& matrix, int from, int to,
                               const LinkMatrix::Link* link);
  void refreshDetails();
  void showRows(const LinkMatrix::Link* link);
  void showHover();
  void exportRows();

  ViewContext m_context;
  ShownLayout m_layout;
  QString m_asOf;
  std::optional<LinkTime> m_wanted;  // the user's choice
  LinkTime m_time = LinkTime::Moving;
  LinkEnds m_ends = LinkEnds::Nodes;
  LinkFlows m_flows;                   // those shown
  std::optional<LinkFlows> m_planned;  // of the last plan of this draft
  using PastKey = std::tuple<std::int64_t, std::string, std::string>;  // id, job, result
  PastKey m_pastKey;
  std::optional<LinkFlows> m_past;
  bool m_replanning = false;           // m_planned is shown until the next plan is there
  LinkTableModel m_rows;
  MoveLister m_lister;
  MoveLister::Moves m_shownMoves;  // null: the rows are flows
  QTimer m_sorted;                 // runs for kSortMs after a sort
  QButtonGroup *m_times, *m_endsGroup;
  QStackedLayout* m_stack;
  QSplitter* m_parts;
  bool m_isDivided = false;  // by the user
  QLabel *m_words, *m_caption, *m_title, *m_facts, *m_count;
  QPushButton* m_export;
  LinkCanvas* m_canvas;
  QTableView* m_table;
};

}  // namespace tessera::ui
