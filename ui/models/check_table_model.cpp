// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/check_table_model.h"

#include <QStringList>
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/format.h"

namespace tessera::ui {
namespace {

using Verdict = engine::Check::Verdict;

// The enumeration has the order of the wire, not of severity.
int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFailed:
      return 0;
    case Verdict::kWarning:
      return 1;
    case Verdict::kOk:
      return 2;
    case Verdict::kSkipped:
      return 3;
  }
  return 4;
}

}  // namespace

CheckTableModel::CheckTableModel(QObject* parent) : QAbstractTableModel(parent) {}

void CheckTableModel::setChecks(std::vector<engine::Check> checks) {
  std::stable_sort(checks.begin(), checks.end(),
                   [](const auto& a, const auto& b) { return rank(a.verdict) < rank(b.verdict); });
  beginResetModel();
  m_checks = std::move(checks);
  endResetModel();
}

int CheckTableModel::problems() const {
  return static_cast<int>(
      std::count_if(m_checks.begin(), m_checks.end(), [](const engine::Check& check) {
        return check.verdict == Verdict::kFailed || check.verdict == Verdict::kWarning;
      }));
}

QString CheckTableModel::asText(const std::vector<int>& rows) const {
  QStringList lines;
  const auto line = [&](const auto& cellOf) {
    QStringList cells;
    for (int column = 0; column < NUM_COLUMNS; ++column) {
      cells << QString(cellOf(column)).replace(QLatin1Char('\t'), QLatin1Char(' '));
    }
    lines << cells.join(QLatin1Char('\t'));
  };
  line([this](int column) { return headerData(column, Qt::Horizontal).toString(); });
  for (const int row : rows) {
    line([&](int column) { return text(m_checks[static_cast<std::size_t>(row)], column); });
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString CheckTableModel::asText() const {
  std::vector<int> rows(m_checks.size());
  std::iota(rows.begin(), rows.end(), 0);
  return asText(rows);
}

int CheckTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_checks.size());
}

int CheckTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : NUM_COLUMNS;
}

QString CheckTableModel::text(const engine::Check& check, int column) {
  switch (static_cast<Columns>(column)) {
    case SeverityColumn: {
      switch (check.verdict) {
        case Verdict::kOk:
          return tr("ok");
        case Verdict::kWarning:
          return tr("warning");
        case Verdict::kFailed:
          return tr("failed");
        case Verdict::kSkipped:
          return tr("skipped");
      }
      return {};
    }
    case WhereColumn:
      return check.node ? format::node(*check.node) : tr("here");
    case FindingColumn:
      return QString::fromStdString(check.name);
    case ValueColumn:
      return QString::fromStdString(check.value);
    case RemedyColumn:
      return QString::fromStdString(check.remedy);
    case NUM_COLUMNS:
      break;
  }
  return {};
}

QVariant CheckTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Check& check = m_checks[static_cast<std::size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
      return text(check, index.column());
    case Qt::ToolTipRole:
      return index.column() >= ValueColumn ? text(check, index.column()) : QString();
    case Qt::TextAlignmentRole:
      return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
    case VerdictRole:
      return static_cast<int>(check.verdict);
    default:
      return {};
  }
}

QVariant CheckTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue(Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter));
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Columns>(section)) {
    case SeverityColumn:
      return tr("Severity");
    case WhereColumn:
      return tr("Where");
    case FindingColumn:
      return tr("Finding");
    case ValueColumn:
      return tr("Value");
    case RemedyColumn:
      return tr("Remedy");
    case NUM_COLUMNS:
      break;
  }
  return {};
}

}  // namespace tessera::ui
