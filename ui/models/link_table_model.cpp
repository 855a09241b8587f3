// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/link_table_model.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

QString quotedCsv(const QString& text) {
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"'))) return text;
  QString inner = text;
  return QLatin1Char('"') + inner.replace(QLatin1Char('"'), QStringLiteral("\"\"")) +
         QLatin1Char('"');
}

/// The share by which the range of rates approaches the present rate with each update.
constexpr double kForgets = 0.2;

void follow(LinkRow* row, const LinkRow& before) {
  if (row->state != engine::FlowState::kMoving || row->rate <= 0) return;
  const bool isFirst = before.slowest <= 0;
  const auto towards = [&](double value) { return value + (row->rate - value) * kForgets; };
  row->slowest = isFirst ? row->rate : std::min(row->rate, towards(before.slowest));
  row->fastest = isFirst ? row->rate : std::max(row->rate, towards(before.fastest));
}

/// "2 s", "1–4 s"; a dash unless it moves.
QString leftText(const LinkRow& row) {
  const auto left = row.left();
  if (!left) return format::unknown();
  const QString soon = format::wait(left->first), late = format::wait(left->second);
  return soon == late ? soon : soon + QStringLiteral(" – ") + late;
}

QJsonArray jsonBox(const ptc::Box& box) {
  QJsonArray dims;
  for (int d = 0; d < box.rank(); ++d) {
    dims.append(QJsonArray{qint64{box[d].begin}, qint64{box[d].end}});
  }
  return dims;
}

}  // namespace

std::optional<std::pair<double, double>> LinkRow::left() const {
  if (state != engine::FlowState::kMoving || slowest <= 0) return std::nullopt;
  const auto rest = static_cast<double>(bytes - done);
  return std::pair(rest / fastest, rest / slowest);
}

LinkTableModel::LinkTableModel(QObject* parent) : ColumnTable(parent) {
  setColumns({
      {tr("tensor"), [this](const LinkRow& row) { return tensorName(row); }},
      {tr("range"), [this](const LinkRow& row) { return rangeText(row); }},
      {tr("from"), [](const LinkRow& row) { return format::device(row.from); }},
      {tr("to"), [](const LinkRow& row) { return format::device(row.to); }},
      {tr("bytes"), [](const LinkRow& row) { return format::bytes(row.bytes); }, Qt::AlignRight},
      {tr("done"),
       [](const LinkRow& row) {
         return format::percent(
             row.bytes == 0 ? 0 : static_cast<double>(row.done) / static_cast<double>(row.bytes));
       },
       Qt::AlignRight},
      {tr("rate"),
       [](const LinkRow& row) {
         return row.state == engine::FlowState::kMoving || row.rate > 0 ? format::rate(row.rate)
                                                                        : format::unknown();
       },
       Qt::AlignRight},
      {tr("left"), [](const LinkRow& row) { return leftText(row); }, Qt::AlignRight,
       tr("time until the flow is done, at the rates of the last seconds")},
      {tr("state"), [](const LinkRow& row) { return ui::text(row.state); }},
      {tr("reason"), [](const LinkRow& row) { return localized(row.reason); }, Qt::AlignLeft,
       tr("why the flow stalls, is sent again or comes from another GPU")},
  });
}

QString LinkTableModel::tensorName(const LinkRow& row) const {
  if (!m_state || !row.box) return {};
  return QString::fromStdString(
      m_state->info.layout.collection().tensors()[static_cast<std::size_t>(row.tensor)].name);
}

QString LinkTableModel::rangeText(const LinkRow& row) const {
  if (!m_state || !row.box) return {};
  const ptc::Shape& shape =
      m_state->info.layout.collection().tensors()[static_cast<std::size_t>(row.tensor)].shape;
  QStringList parts;
  for (int d = 0; d < row.box->rank(); ++d) {
    const ptc::Interval& range = (*row.box)[d];
    if (range.begin == 0 && range.end == shape[static_cast<std::size_t>(d)]) continue;
    const QString ends = range.size() == 1 ? format::count(range.begin)
                                           : format::count(range.begin) + QChar(0x2013) +
                                                 format::count(range.end - 1);
    parts << (row.box->rank() == 1 ? tr("elements %1").arg(ends)
              : d == 0             ? tr("rows %1").arg(ends)
              : d == 1             ? tr("columns %1").arg(ends)
                                   : tr("dim %1: %2").arg(d).arg(ends));
  }
  return parts.isEmpty() ? tr("whole") : parts.join(QStringLiteral(", "));
}

std::int64_t LinkTableModel::totalBytes() const {
  return std::accumulate(m_rows.begin(), m_rows.end(), std::int64_t{0},
                         [](std::int64_t sum, const LinkRow& row) { return sum + row.bytes; });
}

bool LinkTableModel::comesBefore(const LinkRow& a, const LinkRow& b) const {
  const auto ends = [](const LinkRow& row) {
    return std::tie(row.from, row.to, row.tensor, row.box);
  };
  const auto by = [&](const auto& x, const auto& y) {
    if (x == y) return ends(a) < ends(b);
    return m_order == Qt::AscendingOrder ? x < y : y < x;
  };
  const auto done = [](const LinkRow& row) {
    return row.bytes == 0 ? 0 : static_cast<double>(row.done) / static_cast<double>(row.bytes);
  };
  // A stalled flow comes after every one that moves, one that waits after those that are done.
  const auto lateness = [](const LinkRow& row) {
    if (row.state == engine::FlowState::kStalled) return std::pair(3, 0.0);
    if (const auto left = row.left()) return std::pair(2, left->second);
    return std::pair(row.state == engine::FlowState::kDone ? 0 : 1, 0.0);
  };
  switch (m_column) {
    case TensorColumn:
      return by(a.tensor, b.tensor);  // tensors are in the order of their names
    case RangeColumn:
      return by(a.box, b.box);
    case FromColumn:
      return by(a.from, b.from);
    case ToColumn:
      return by(a.to, b.to);
    case DoneColumn:
      return by(done(a), done(b));
    case RateColumn:
      return by(a.rate, b.rate);
    case LeftColumn:
      return by(lateness(a), lateness(b));
    case StateColumn:
      return by(a.state, b.state);
    case ReasonColumn:
      return by(a.reason, b.reason);
    default:
      return by(a.bytes, b.bytes);
  }
}

void LinkTableModel::reset(std::vector<LinkRow> rows, engine::vfs::JobFactsPtr state) {
  std::ranges::sort(rows, [this](const auto& a, const auto& b) { return comesBefore(a, b); });
  m_state = std::move(state);
  resetRows(std::move(rows));
}

void LinkTableModel::setFlows(const std::vector<engine::FlowStatus>& flows) {
  const auto rowOf = [](const engine::FlowStatus& flow) {
    return LinkRow{flow.source,
                   flow.destination,
                   flow.bytes_total,
                   flow.bytes_done,
                   flow.bytes_per_second,
                   flow.state,
                   QString::fromStdString(flow.reason)};
  };
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, const engine::FlowStatus*> byEnds;
  for (const auto& flow : flows) byEnds[{flow.source, flow.destination}] = &flow;
  const bool same = !m_state && byEnds.size() == m_rows.size() && flows.size() == m_rows.size() &&
                    std::ranges::all_of(m_rows, [&](const LinkRow& row) {
                      return byEnds.contains({row.from, row.to});
                    });
  if (!same) {
    std::vector<LinkRow> rows;
    rows.reserve(flows.size());
    for (const auto& flow : flows) {
      rows.push_back(rowOf(flow));
      follow(&rows.back(), {});
    }
    reset(std::move(rows), nullptr);
    return;
  }
  if (m_rows.empty()) return;
  for (LinkRow& row : m_rows) {
    const LinkRow before = row;
    row = rowOf(*byEnds.at({row.from, row.to}));
    follow(&row, before);
  }
  emit dataChanged(index(0, BytesColumn), index(rowCount() - 1, NUM_COLUMNS - 1));
}

void LinkTableModel::setMoves(engine::vfs::JobFactsPtr state,
                              const std::vector<TensorMove>& moves) {
  std::vector<LinkRow> rows;
  rows.reserve(moves.size());
  for (const TensorMove& move : moves) {
    LinkRow& row = rows.emplace_back();
    row.from = move.from;
    row.to = move.to;
    row.bytes = move.bytes;
    row.tensor = move.tensor;
    row.box = move.box;
  }
  reset(std::move(rows), std::move(state));
}

void LinkTableModel::sort(int column, Qt::SortOrder order) {
  if (column != m_column || order != m_order) {
    m_column = column;
    m_order = order;
    emit headerDataChanged(Qt::Horizontal, 0, NUM_COLUMNS - 1);
  }
  std::vector<int> places(m_rows.size());
  std::iota(places.begin(), places.end(), 0);
  const auto before = [this](int a, int b) { return comesBefore(row(a), row(b)); };
  if (std::ranges::is_sorted(places, before)) return;
  emit layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  std::ranges::sort(places, before);
  std::vector<LinkRow> sorted;
  sorted.reserve(m_rows.size());
  std::vector<int> newPlace(m_rows.size());
  for (const int place : places) {
    newPlace[static_cast<std::size_t>(place)] = static_cast<int>(sorted.size());
    sorted.push_back(row(place));
  }
  m_rows = std::move(sorted);
  for (const QModelIndex& from : persistentIndexList()) {
    changePersistentIndex(from,
                          index(newPlace[static_cast<std::size_t>(from.row())], from.column()));
  }
  emit layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

QVariant LinkTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const QVariant value = ColumnTable::headerData(section, orientation, role);
  if (role != Qt::DisplayRole || section != m_column || !value.isValid()) return value;
  const QChar arrow(m_order == Qt::DescendingOrder ? 0x2193 : 0x2191);
  return QString(value.toString() + QLatin1Char(' ') + arrow);
}

QVariant LinkTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role != Qt::ToolTipRole) return ColumnTable::data(index, role);
  const LinkRow& at = row(index.row());
  switch (index.column()) {
    case BytesColumn:
      return tr("%1 bytes").arg(format::count(at.bytes));
    case DoneColumn:
      return tr("%1 of %2 bytes").arg(format::count(at.done), format::count(at.bytes));
    case StateColumn:
      return at.state == engine::FlowState::kStalled ? tr("stalled: nothing has arrived for 3 s")
                                                     : ColumnTable::text(at, index.column());
    case RangeColumn:
      return at.box ? QString::fromStdString(ptc::ToString(*at.box)) : QString();
    default:
      return ColumnTable::text(at, index.column());
  }
}

QByteArray LinkTableModel::exported(ExportFormat format) const {
  if (format == ExportFormat::Json) {
    QJsonArray list;
    for (const LinkRow& row : m_rows) {
      QJsonObject object{{QStringLiteral("from"), format::device(row.from)},
                         {QStringLiteral("to"), format::device(row.to)},
                         {QStringLiteral("bytes"), qint64{row.bytes}}};
      if (hasTensors()) {
        object[QStringLiteral("tensor")] = tensorName(row);
        object[QStringLiteral("range")] = jsonBox(*row.box);
      } else {
        object[QStringLiteral("bytes_done")] = qint64{row.done};
        object[QStringLiteral("bytes_per_second")] = row.rate;
        object[QStringLiteral("state")] =
            QString::fromUtf8(engine::ToString(row.state).data(),
                              static_cast<qsizetype>(engine::ToString(row.state).size()));
        object[QStringLiteral("reason")] = row.reason;
      }
      list.append(object);
    }
    return QJsonDocument(list).toJson();
  }
  QString out = hasTensors()
                    ? QStringLiteral("tensor,range,from,to,bytes\n")
                    : QStringLiteral("from,to,bytes,bytes_done,bytes_per_second,state,reason\n");
  for (const LinkRow& row : m_rows) {
    const QString ends = format::device(row.from) + QLatin1Char(',') + format::device(row.to) +
                         QLatin1Char(',') + QString::number(row.bytes);
    if (hasTensors()) {
      out += quotedCsv(tensorName(row)) + QLatin1Char(',') +
             quotedCsv(QString::fromStdString(ptc::ToString(*row.box))) + QLatin1Char(',') + ends +
             QLatin1Char('\n');
    } else {
      const std::string_view state = engine::ToString(row.state);
      out += ends + QLatin1Char(',') + QString::number(row.done) + QLatin1Char(',') +
             QString::number(row.rate, 'g', 17) + QLatin1Char(',') +
             QString::fromUtf8(state.data(), static_cast<qsizetype>(state.size())) +
             QLatin1Char(',') + quotedCsv(row.reason) + QLatin1Char('\n');
    }
  }
  return out.toUtf8();
}

QString text(engine::FlowState state) {
  switch (state) {
    case engine::FlowState::kWaiting:
      return LinkTableModel::tr("waiting");
    case engine::FlowState::kMoving:
      return LinkTableModel::tr("moving");
    case engine::FlowState::kStalled:
      return LinkTableModel::tr("stalled");
    case engine::FlowState::kDone:
      return LinkTableModel::tr("done");
  }
  return {};
}

}  // namespace tessera::ui
