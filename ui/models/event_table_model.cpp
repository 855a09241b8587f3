// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/event_table_model.h"

#include <QDateTime>
#include <algorithm>

#include "ui/format.h"

namespace tessera::ui {

EventTableModel::EventTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void EventTableModel::append(const std::vector<engine::Event>& events) {
  if (events.empty()) return;
  const auto skipped = events.size() > static_cast<std::size_t>(kMaxRows)
                           ? events.size() - static_cast<std::size_t>(kMaxRows)
                           : 0;
  const int added = static_cast<int>(events.size() - skipped);
  const int excess = rowCount() + added - kMaxRows;
  if (excess > 0) {
    beginRemoveRows({}, 0, excess - 1);
    m_events.erase(m_events.begin(), m_events.begin() + excess);
    endRemoveRows();
  }
  beginInsertRows({}, rowCount(), rowCount() + added - 1);
  m_events.insert(m_events.end(), events.begin() + static_cast<std::ptrdiff_t>(skipped),
                  events.end());
  endInsertRows();
}

void EventTableModel::clear() {
  beginResetModel();
  m_events.clear();
  endResetModel();
}

int EventTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_events.size());
}

int EventTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QVariant EventTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Event& event = m_events[static_cast<std::size_t>(index.row())];
  const auto time = [&] {
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(event.time * 1000));
  };
  const QString source = QString::fromStdString(event.source);
  // The text continues the source: "n1" "joined with 4 GPUs".
  const QString text =
      QString(source + QLatin1Char(' ') + QString::fromStdString(event.text)).trimmed();
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case TimeColumn:
          return time().toString(QStringLiteral("HH:mm:ss"));
        case SeverityColumn:
          return {};
        default:
          return text;
      }
    case Qt::ToolTipRole:
      return tr("%1 · %2\n%3")
          .arg(time().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz")),
               format::text(event.severity), text);
    case Qt::AccessibleTextRole:
      if (index.column() == SeverityColumn) return format::text(event.severity);
      return index.column() == TimeColumn ? data(index, Qt::DisplayRole) : QVariant(text);
    case SeverityRole:
      return static_cast<int>(event.severity);
    case SourceRole:
      return source;
    case FilterRole:
      return QString(format::text(event.severity) + QLatin1Char(' ') + text);
    default:
      return {};
  }
}

QVariant EventTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case TimeColumn:
      return tr("Time");
    case SeverityColumn:
      return tr("Severity");
    default:
      return tr("Event");
  }
}

}  // namespace tessera::ui
