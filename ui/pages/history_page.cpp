// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/history_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kRowHeight = 24;

class HistoryDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const Theme& theme = Theme::current();
    option->font = uiFont(12);
    QColor color = theme.text;
    if (index.column() == HistoryTableModel::WhenColumn ||
        index.column() == HistoryTableModel::BoundColumn) {
      color = theme.dim;
    }
    if (index.column() == HistoryTableModel::ResultColumn) {
      const QString result = index.data(HistoryTableModel::ResultRole).toString();
      if (result == QLatin1String("committed")) color = theme.ok;
      if (result == QLatin1String("rolled_back")) color = theme.warn;
      if (result == QLatin1String("failed")) color = theme.bad;
    }
    option->palette.setColor(QPalette::Text, color);
    option->palette.setColor(QPalette::HighlightedText, color);
  }
};

}  // namespace

HistoryPage::HistoryPage(ClusterCommands& commands, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_commands(commands),
      m_table(new QTableView(this)),
      m_note(new QLabel(this)),
      m_reverse(new QPushButton(tr("Do the reverse…"), this)) {
  auto* title = new QLabel(tr("History"), this);
  setRole(title, QStringLiteral("heading"));
  setRole(m_note, QStringLiteral("hint"));
  m_note->setText(tr("History starts with your first change."));
  m_reverse->setFlat(true);
  m_reverse->setAccessibleName(tr("Draft the reverse of the chosen change"));
  m_reverse->setStatusTip(tr("Draft the layout from before the chosen, or the newest, change"));

  m_table->setModel(&m_model);
  m_table->setItemDelegate(new HistoryDelegate(m_table));
  m_table->setAccessibleName(tr("History of reconfigurations"));
  m_table->setShowGrid(false);
  m_table->setFrameShape(QFrame::NoFrame);
  m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_table->setTabKeyNavigation(false);
  m_table->setWordWrap(false);
  m_table->verticalHeader()->hide();
  m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  m_table->verticalHeader()->setDefaultSectionSize(kRowHeight);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setMinimumSectionSize(48);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
  m_table->horizontalHeader()->setStretchLastSection(true);
  for (const auto& [column, width] :
       {std::pair(HistoryTableModel::WhenColumn, 72), std::pair(HistoryTableModel::JobColumn, 80),
        std::pair(HistoryTableModel::ChangeColumn, 172),
        std::pair(HistoryTableModel::MovedColumn, 76),
        std::pair(HistoryTableModel::BoundColumn, 98),
        std::pair(HistoryTableModel::PauseColumn, 72),
        std::pair(HistoryTableModel::ResultColumn, 96),
        std::pair(HistoryTableModel::DigestsColumn, 60)}) {
    m_table->setColumnWidth(column, width);
  }

  auto* top = new QHBoxLayout;
  top->addWidget(title);
  top->addSpacing(10);
  top->addWidget(m_note);
  top->addStretch();
  top->addWidget(m_reverse);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 6, 10, 6);
  column->setSpacing(4);
  column->addLayout(top);
  column->addWidget(m_table, 1);

  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &HistoryPage::refresh);
  connect(m_reverse, &QPushButton::clicked, this, [this] {
    if (const engine::HistoryEntry* entry = reversible()) emit reverseRequested(*entry);
  });
  connect(m_table, &QTableView::activated, this, [this](const QModelIndex& index) {
    if (const engine::HistoryEntry* entry = m_model.entry(index.row())) {
      emit reverseRequested(*entry);
    }
  });
  refresh();
}

const engine::HistoryEntry* HistoryPage::reversible() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  const int row = rows.isEmpty() ? m_model.lastCommitted() : rows.first().row();
  const engine::HistoryEntry* entry = m_model.entry(row);
  return entry != nullptr && entry->result == "committed" ? entry : nullptr;
}

void HistoryPage::refresh() { m_reverse->setEnabled(reversible() != nullptr); }

void HistoryPage::reload() {
  if (std::exchange(m_loading, true)) return;
  m_commands.history([self = QPointer<HistoryPage>(this)](
                         Result<std::vector<engine::HistoryEntry>> result) {
    if (!self) return;
    self->m_loading = false;
    if (result) {
      self->m_model.setEntries(std::move(*result));
      self->m_note->setText(
          self->m_model.rowCount() == 0 ? tr("History starts with your first change.") : QString());
    } else {
      self->m_note->setText(
          tr("The history could not be read: %1.").arg(format::error(result.error())));
    }
    self->refresh();
    emit self->loaded();
  });
}

}  // namespace tessera::ui
