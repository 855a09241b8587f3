// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/event_table_model.h"

#include <QDateTime>
#include <algorithm>

#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

QString timeOf(const engine::Event& event, const QString& form) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(event.time * 1000)).toString(form);
}

/// The text continues the source: "n1" "joined with 4 GPUs".
QString lineOf(const engine::Event& event) {
  return QString(QString::fromStdString(event.source) + QLatin1Char(' ') + localizedText(event))
      .trimmed();
}

}  // namespace

EventTableModel::EventTableModel(QObject* parent) : ColumnTable(parent) {
  using engine::Event;
  setColumns({
      {tr("Time"), [](const Event& event) { return format::shortClock(event.time); }},
      {tr("Severity"), [](const Event&) { return QString(); }},
      {tr("Event"), lineOf},
  });
}

void EventTableModel::append(const std::vector<engine::Event>& events) {
  if (events.empty()) return;
  const auto skipped = events.size() > static_cast<std::size_t>(kMaxRows)
                           ? events.size() - static_cast<std::size_t>(kMaxRows)
                           : 0;
  const int added = static_cast<int>(events.size() - skipped);
  const int excess = rowCount() + added - kMaxRows;
  if (excess > 0) {
    beginRemoveRows({}, 0, excess - 1);
    m_rows.erase(m_rows.begin(), m_rows.begin() + excess);
    endRemoveRows();
  }
  beginInsertRows({}, rowCount(), rowCount() + added - 1);
  m_rows.insert(m_rows.end(), events.begin() + static_cast<std::ptrdiff_t>(skipped), events.end());
  endInsertRows();
}

void EventTableModel::clear() { resetRows({}); }

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Event& event = row(index.row());
  switch (role) {
    case Qt::ToolTipRole:
      return tr("%1 · %2\n%3")
          .arg(timeOf(event, QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")),
               format::text(event.severity), lineOf(event));
    case Qt::AccessibleTextRole:
      return index.column() == SeverityColumn ? format::text(event.severity)
                                              : text(event, index.column());
    case SeverityRole:
      return static_cast<int>(event.severity);
    case SourceRole:
      return QString::fromStdString(event.source);
    case FilterRole:
      return QString(format::text(event.severity) + QLatin1Char(' ') + lineOf(event));
    default:
      return ColumnTable::data(index, role);
  }
}

}  // namespace tessera::ui
