// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/events_page.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QStringList>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/icons.h"
#include "ui/models/export_text.h"
#include "ui/theme.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/quiet_table.h"

namespace tessera::ui {
namespace {

constexpr int kEventRowHeight = 22;
constexpr int kTimeWidth = 78, kDatedTimeWidth = 116;  // "14:02:31", "06-15 14:02:31"

/// Paints the severity as a shape and a colour.
class EventDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    if (index.column() != EventTableModel::SeverityColumn) return;
    const Theme& theme = Theme::current();
    QString name;
    QColor color = theme.dim;
    switch (static_cast<engine::Severity>(index.data(EventTableModel::SeverityRole).toInt())) {
      case engine::Severity::kDebug:
        name = QStringLiteral("debug");
        color = theme.faint;
        break;
      case engine::Severity::kInfo:
        name = QStringLiteral("info");
        break;
      case engine::Severity::kWarning:
        name = QStringLiteral("warning");
        color = theme.warn;
        break;
      case engine::Severity::kError:
        name = QStringLiteral("error");
        color = theme.bad;
        break;
    }
    constexpr int kIcon = 14;
    const QPoint at = option.rect.center() - QPoint(kIcon / 2 - 1, kIcon / 2 - 1);
    painter->drawPixmap(at, iconPixmap(name, color, kIcon, painter->device()->devicePixelRatioF()));
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    option->font = uiFont(index.column() == EventTableModel::TimeColumn ? 11.5 : 12);
    if (index.column() == EventTableModel::TimeColumn) {
      option->palette.setColor(QPalette::Text, Theme::current().dim);
    }
  }
};

}  // namespace

EventFilter::EventFilter(QObject* parent) : QSortFilterProxyModel(parent) {
  setFilterRole(EventTableModel::FilterRole);
  setFilterCaseSensitivity(Qt::CaseInsensitive);
  setDynamicSortFilter(false);
}

void EventFilter::setSeverity(engine::Severity least) {
  if (least == m_least) return;
  m_least = least;
  invalidateFilter();
}

bool EventFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  const QModelIndex index = sourceModel()->index(row, 0, parent);
  return index.data(EventTableModel::SeverityRole).toInt() >= static_cast<int>(m_least) &&
         QSortFilterProxyModel::filterAcceptsRow(row, parent);
}

EventsPage::EventsPage(QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_table(new QTableView(this)),
      m_severity(new QComboBox(this)),
      m_export(new QPushButton(tr("Export…"), this)),
      m_filter(new QLineEdit(this)),
      m_follow(new QCheckBox(tr("Follow"), this)) {
  auto* title = new ElidedLabel(this);
  title->setText(tr("Events"));
  setRole(title, QStringLiteral("heading"));
  m_filter->setPlaceholderText(tr("Filter"));
  m_filter->setAccessibleName(tr("Filter events"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setMaximumWidth(130);
  using engine::Severity;
  for (const auto& [text, least] :
       {std::pair(tr("all"), Severity::kDebug), std::pair(tr("≥ info"), Severity::kInfo),
        std::pair(tr("≥ warning"), Severity::kWarning),
        std::pair(tr("errors"), Severity::kError)}) {
    m_severity->addItem(text, static_cast<int>(least));
  }
  m_severity->setCurrentIndex(1);
  m_severity->setAccessibleName(tr("Lowest severity shown"));
  m_severity->view()->setAccessibleName(m_severity->accessibleName());
  m_severity->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  m_export->setFlat(true);
  m_export->setAccessibleName(tr("Export the events"));
  m_export->setStatusTip(tr("Save the events shown as CSV or JSON"));
  m_follow->setChecked(true);
  m_follow->setAccessibleName(tr("Follow the newest event"));

  m_proxy.setSourceModel(&m_model);
  m_proxy.setSeverity(engine::Severity::kInfo);
  m_table->setModel(&m_proxy);
  m_table->setItemDelegate(new EventDelegate(m_table));
  m_table->setAccessibleName(tr("Events"));
  makeQuiet(*m_table, kEventRowHeight);
  m_table->horizontalHeader()->hide();
  m_table->horizontalHeader()->setMinimumSectionSize(20);
  m_table->horizontalHeader()->setStretchLastSection(true);
  m_table->setColumnWidth(EventTableModel::TimeColumn, kTimeWidth);
  m_table->setColumnWidth(EventTableModel::SeverityColumn, 24);

  auto* copy = new QAction(tr("Copy"), m_table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  m_table->addAction(copy);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(copy, &QAction::triggered, this, &EventsPage::copySelected);

  auto* top = new QHBoxLayout;
  top->addWidget(title);
  top->addStretch();
  top->addWidget(m_export);
  top->addWidget(m_severity);
  top->addWidget(m_filter);
  top->addWidget(m_follow);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 6, 10, 6);
  column->setSpacing(4);
  column->addLayout(top);
  column->addWidget(m_table, 1);

  connect(m_filter, &QLineEdit::textChanged, &m_proxy, [this](const QString& text) {
    m_proxy.setFilterFixedString(text);
    if (isFollowing()) m_table->scrollToBottom();
  });
  connect(m_severity, &QComboBox::currentIndexChanged, &m_proxy, [this] {
    m_proxy.setSeverity(static_cast<engine::Severity>(m_severity->currentData().toInt()));
    if (isFollowing()) m_table->scrollToBottom();
  });
  connect(m_export, &QPushButton::clicked, this, &EventsPage::exportShown);
  connect(m_follow, &QCheckBox::toggled, this, [this](bool on) {
    if (on) m_table->scrollToBottom();
  });
  connect(m_table->verticalScrollBar(), &QScrollBar::actionTriggered, this,
          [this] { onScrolled(m_table->verticalScrollBar()->sliderPosition()); });
  // New rows, another height, other fonts: the newest event stays visible.
  connect(m_table->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int last) {
    if (isFollowing()) m_table->verticalScrollBar()->setValue(last);
  });
  connect(m_table, &QTableView::clicked, this, [this](const QModelIndex& index) {
    const double time = m_model.event(m_proxy.mapToSource(index).row()).time;
    emit momentChosen(time);
    emit sourceChosen(index.data(EventTableModel::SourceRole).toString());
  });
}

bool EventsPage::isFollowing() const { return m_follow->isChecked(); }

void EventsPage::append(const std::vector<engine::Event>& events) {
  m_model.append(events);
  const bool isDated = !events.empty() && !format::isToday(events.front().time);
  if (isDated && m_table->columnWidth(EventTableModel::TimeColumn) == kTimeWidth)
    m_table->setColumnWidth(EventTableModel::TimeColumn, kDatedTimeWidth);
  if (isFollowing()) m_table->scrollToBottom();
}

void EventsPage::reveal(const QModelIndex& row) {
  if (!row.isValid()) return;
  if (!m_proxy.mapFromSource(row).isValid()) {
    m_filter->clear();
    m_severity->setCurrentIndex(m_severity->findData(static_cast<int>(engine::Severity::kDebug)));
  }
  const QModelIndex shown = m_proxy.mapFromSource(row);
  m_follow->setChecked(false);
  m_table->selectRow(shown.row());
  m_table->scrollTo(shown);
}

void EventsPage::onScrolled(int value) {
  const QSignalBlocker silent(m_follow);
  m_follow->setChecked(value >= m_table->verticalScrollBar()->maximum());
}

std::vector<engine::Event> EventsPage::shown() const {
  std::vector<engine::Event> events;
  events.reserve(static_cast<std::size_t>(m_proxy.rowCount()));
  for (int row = 0; row < m_proxy.rowCount(); ++row) {
    events.push_back(m_model.event(m_proxy.mapToSource(m_proxy.index(row, 0)).row()));
  }
  return events;
}

void EventsPage::exportShown() {
  const QString name = QFileDialog::getSaveFileName(this, tr("Export the events"),
                                                    QStringLiteral("tessera-events.csv"),
                                                    tr("CSV tables (*.csv);;JSON (*.json)"));
  if (name.isEmpty()) return;
  const Status written = writeFile(name, exportText(shown(), exportFormatOf(name)));
  if (!written) emit failed(format::error(written.error()));
}

void EventsPage::copySelected() {
  QStringList lines;
  QModelIndexList rows = m_table->selectionModel()->selectedRows();
  std::sort(rows.begin(), rows.end());
  for (const QModelIndex& row : rows) {
    const QModelIndex text = row.siblingAtColumn(EventTableModel::TextColumn);
    lines << row.siblingAtColumn(EventTableModel::TimeColumn).data().toString() + QLatin1Char(' ') +
                 text.data().toString();
  }
  if (!lines.isEmpty()) QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace tessera::ui
