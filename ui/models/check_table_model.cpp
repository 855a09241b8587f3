// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/check_table_model.h"

#include <QStringList>
#include <algorithm>
#include <numeric>
#include <utility>

#include "ui/format.h"
#include "ui/sentences.h"

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

QString severityText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return CheckTableModel::tr("ok");
    case Verdict::kWarning:
      return CheckTableModel::tr("warning");
    case Verdict::kFailed:
      return CheckTableModel::tr("failed");
    case Verdict::kSkipped:
      return CheckTableModel::tr("skipped");
  }
  return {};
}

}  // namespace

CheckTableModel::CheckTableModel(QObject* parent) : ColumnTable(parent) {
  using engine::Check;
  setColumns({
      {tr("Severity"), [](const Check& check) { return severityText(check.verdict); }},
      {tr("Where"),
       [](const Check& check) { return check.node ? format::node(*check.node) : tr("here"); }},
      {tr("Finding"), [](const Check& check) { return localizedCheck(check.name); }},
      {tr("Value"), [](const Check& check) { return localized(check.value); }},
      {tr("Remedy"), [](const Check& check) { return localized(check.remedy); }},
  });
}

void CheckTableModel::setChecks(std::vector<engine::Check> checks) {
  std::stable_sort(checks.begin(), checks.end(),
                   [](const auto& a, const auto& b) { return rank(a.verdict) < rank(b.verdict); });
  resetRows(std::move(checks));
}

int CheckTableModel::problems() const {
  return static_cast<int>(
      std::count_if(m_rows.begin(), m_rows.end(), [](const engine::Check& check) {
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
    line([&](int column) { return text(this->row(row), column); });
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString CheckTableModel::asText() const {
  std::vector<int> rows(m_rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return asText(rows);
}

QVariant CheckTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const engine::Check& check = row(index.row());
  switch (role) {
    case Qt::AccessibleTextRole:
      return text(check, index.column());
    case Qt::ToolTipRole:
      return index.column() >= ValueColumn ? text(check, index.column()) : QString();
    case VerdictRole:
      return static_cast<int>(check.verdict);
    default:
      return ColumnTable::data(index, role);
  }
}

}  // namespace tessera::ui
