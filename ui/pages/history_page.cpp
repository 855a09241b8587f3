// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/history_page.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/export_text.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kHistoryRowHeight = 24;
constexpr int kWhenWidth = 72, kDatedWhenWidth = 110;  // "14:02:31", "06-15 14:02:31"

class HistoryDelegate : public QuietDelegate {
 public:
  using QuietDelegate::QuietDelegate;

 protected:
  QColor colorOf(const QModelIndex& index) const override {
    const Theme& theme = Theme::current();
    QColor color = theme.text;
    if (index.column() == HistoryTableModel::WhenColumn ||
        index.column() == HistoryTableModel::BoundColumn) {
      color = theme.dim;
    }
    if (index.column() == HistoryTableModel::ResultColumn) {
      const QString result = index.data(HistoryTableModel::ResultRole).toString();
      if (result == QLatin1String("committed")) color = theme.ok;
      if (result == QLatin1String("rolled_back") || result == QLatin1String("unknown")) {
        color = theme.warn;
      }
      if (result == QLatin1String("failed")) color = theme.bad;
    }
    return color;
  }
};

}  // namespace

HistoryPage::HistoryPage(ClusterCommands& commands, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_commands(commands),
      m_table(new QTableView(this)),
      m_corner(new QWidget(this)),
      m_note(new QLabel(m_corner)),
      m_export(new QPushButton(tr("Export…"), m_corner)),
      m_reverse(new QPushButton(tr("Draft an undo…"), m_corner)) {
  setRole(m_note, QStringLiteral("hint"));
  m_export->setFlat(true);
  m_export->setAccessibleName(tr("Export the history"));
  m_export->setStatusTip(tr("Save the history as CSV or JSON"));
  m_reverse->setFlat(true);
  m_reverse->setAccessibleName(tr("Draft an undo of the selected change"));
  m_reverse->setStatusTip(tr("Draft an undo of the selected (or latest) change"));

  m_table->setModel(&m_model);
  m_table->setItemDelegate(new HistoryDelegate(m_table));
  m_table->setAccessibleName(tr("History of changes"));
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setStatusTip(tr("Ctrl+click a second change to compare two"));
  makeQuiet(*m_table, kHistoryRowHeight);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setMinimumSectionSize(48);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  m_table->horizontalHeader()->setStretchLastSection(true);
  for (const auto& [column, width] : {std::pair(HistoryTableModel::WhenColumn, kWhenWidth),
                                      std::pair(HistoryTableModel::JobColumn, 80),
                                      std::pair(HistoryTableModel::ChangeColumn, 172),
                                      std::pair(HistoryTableModel::MovedColumn, 76),
                                      std::pair(HistoryTableModel::BoundColumn, 98),
                                      std::pair(HistoryTableModel::PauseColumn, 72),
                                      std::pair(HistoryTableModel::GapColumn, 72),
                                      std::pair(HistoryTableModel::ResultColumn, 96),
                                      std::pair(HistoryTableModel::DigestsColumn, 60)}) {
    setColumnRoom(*m_table, column, width);
  }

  connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
    const auto& entries = m_model.entries();
    const bool isDated = !entries.empty() && !format::isToday(entries.back().started);
    const int width = m_table->columnWidth(HistoryTableModel::WhenColumn);
    if (isDated && width < kDatedWhenWidth)
      m_table->setColumnWidth(HistoryTableModel::WhenColumn, kDatedWhenWidth);
  });

  auto* top = new QHBoxLayout(m_corner);
  top->setContentsMargins(0, 0, 0, 0);
  top->setSpacing(6);
  top->addStretch();
  top->addWidget(m_note);
  top->addSpacing(4);
  top->addWidget(m_export);
  top->addWidget(m_reverse);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(8, 0, 10, 2);
  column->addWidget(m_table, 1);

  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    refresh();
    emit chosenChanged();
  });
  connect(m_export, &QPushButton::clicked, this, &HistoryPage::exportRows);
  connect(m_reverse, &QPushButton::clicked, this, [this] {
    if (const engine::HistoryEntry* entry = reversible()) emit reverseRequested(*entry);
  });
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    const engine::HistoryEntry* entry = m_model.entry(index.row());
    if (entry != nullptr && undoBlockedReason(*entry).isEmpty()) emit reverseRequested(*entry);
  });
  refresh();
}

QString HistoryPage::note() const { return m_note->text(); }

const engine::HistoryEntry* HistoryPage::chosen() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  if (rows.isEmpty()) return nullptr;
  const QModelIndex current = m_table->currentIndex().siblingAtColumn(0);
  return m_model.entry(rows.contains(current) ? current.row() : rows.first().row());
}

std::optional<HistoryPage::Two> HistoryPage::compared() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  if (rows.size() != 2) return {};
  return Two{m_model.entry(rows.first().row()), m_model.entry(rows.last().row())};
}

bool HistoryPage::choose(std::optional<std::int64_t> txn) {
  const int row = txn ? m_model.rowOf(*txn) : -1;
  if (row < 0) {
    m_table->clearSelection();
    return !txn;
  }
  // Not selectRow(), which toggles the row while Ctrl is held.
  const QModelIndex index = m_model.index(row, 0);
  m_table->selectionModel()->setCurrentIndex(
      index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  m_table->scrollTo(index);
  return true;
}

bool HistoryPage::addToChosen(std::int64_t txn) {
  const int row = m_model.rowOf(txn);
  if (row < 0) return false;
  m_table->selectionModel()->select(m_model.index(row, 0),
                                    QItemSelectionModel::Select | QItemSelectionModel::Rows);
  return true;
}

const engine::HistoryEntry* HistoryPage::reversible() const {
  const engine::HistoryEntry* row = chosen();
  const engine::HistoryEntry* entry = row != nullptr ? row : m_model.entry(m_model.lastCommitted());
  return entry != nullptr && undoBlockedReason(*entry).isEmpty() ? entry : nullptr;
}

void HistoryPage::setStale(const QString& asOf) {
  if (asOf == m_stale) return;
  m_stale = asOf;
  refresh();
}

void HistoryPage::refresh() {
  m_reverse->setEnabled(reversible() != nullptr);
  m_export->setEnabled(m_model.rowCount() > 0);
  m_table->setEnabled(m_stale.isEmpty() || m_model.rowCount() > 0);
  QString note;
  if (!m_error.isEmpty()) {
    note = tr("The history could not be read: %1.").arg(m_error);
  } else if (!m_stale.isEmpty()) {
    note = m_stale;
  } else if (m_loading && !m_loaded) {
    note = tr("Reading the history…");
  } else if (m_model.rowCount() == 0) {
    note = tr("The history starts with your first change.");
  }
  m_note->setText(note);
}

void HistoryPage::clear() {
  ++m_cluster;
  m_loading = m_loaded = false;
  m_error.clear();
  m_model.setEntries({});
  refresh();
  emit chosenChanged();
}

void HistoryPage::reload() {
  if (std::exchange(m_loading, true)) return;
  refresh();
  m_commands.history(
      [self = QPointer<HistoryPage>(this),
       cluster = m_cluster](Result<std::vector<engine::HistoryEntry>> result) {
        if (!self || self->m_cluster != cluster) return;
        self->m_loading = false;
        self->m_error = result ? QString() : format::error(result.error());
        if (result) {
          self->m_loaded = true;
          const engine::HistoryEntry* before = self->chosen();
          const std::optional<std::int64_t> kept =
              before == nullptr ? std::nullopt : std::optional(before->id);
          const auto two = self->compared();
          const std::optional<std::int64_t> other =
              !two ? std::nullopt
                   : std::optional(two->first == before ? two->second->id : two->first->id);
          self->m_model.setEntries(std::move(*result));
          if (kept) self->choose(kept);
          if (other) self->addToChosen(*other);
        }
        self->refresh();
        emit self->chosenChanged();
        emit self->loaded();
      });
}

void HistoryPage::exportRows() {
  const QString name = QFileDialog::getSaveFileName(this, tr("Export the history"),
                                                    QStringLiteral("tessera-history.csv"),
                                                    tr("CSV tables (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const Status written = writeFile(name, exportText(m_model.entries(), exportFormatOf(name)));
  if (!written) emit failed(format::error(written.error()));
}

}  // namespace tessera::ui
