// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tensor_frame.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <set>

#include "ui/format.h"

namespace tessera::ui {
namespace {

constexpr double kSegmentGap = 8, kSheetGap = 10, kSheetName = 16;
constexpr double kFlattest = 0.35, kTallest = 1.7;

class TensorFrameWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::TensorFrame)
};

std::vector<ptc::Interval> intervalsOf(const std::vector<ptc::Box>& boxes, int dim,
                                       std::int64_t size) {
  std::set<std::int64_t> ends{0, size};
  for (const ptc::Box& box : boxes) {
    ends.insert(box[dim].begin);
    ends.insert(box[dim].end);
  }
  std::vector<ptc::Interval> intervals;
  for (auto at = ends.begin(); std::next(at) != ends.end(); ++at) {
    intervals.push_back({*at, *std::next(at)});
  }
  return intervals;
}

std::vector<std::int64_t> segmentEnds(const ptc::TensorSpec& spec, int dim) {
  if (dim < 0) return {1};
  if (!spec.segments || spec.segments->dim != dim) {
    return {spec.shape[static_cast<std::size_t>(dim)]};
  }
  std::vector<std::int64_t> ends;
  for (const ptc::Segment& segment : spec.segments->blocks) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + segment.size);
  }
  return ends;
}

/// What the blocks of well-known fused weights are called; else their numbers.
QStringList segmentNames(const ptc::TensorSpec& spec) {
  const QString name = QString::fromStdString(spec.name);
  const auto count = static_cast<qsizetype>(spec.segments->blocks.size());
  if (count == 3 &&
      (name.contains(QLatin1String("qkv")) || name.contains(QLatin1String("c_attn")))) {
    return {QStringLiteral("q"), QStringLiteral("k"), QStringLiteral("v")};
  }
  if (count == 2 && name.contains(QLatin1String("gate"))) {
    return {QStringLiteral("gate"), QStringLiteral("up")};
  }
  QStringList names;
  for (qsizetype i = 0; i < count; ++i) names << QString::number(i);
  return names;
}

/// The position of an element along `length` pixels that have a gap after each segment. A border
/// between segments belongs to the one that ends there if `end`, else to the one that begins.
double positionOf(const std::vector<std::int64_t>& ends, std::int64_t element, bool end,
                  double length) {
  const auto size = static_cast<double>(std::max<std::int64_t>(1, ends.back()));
  const double gap = std::min(kSegmentGap, length / 4 / static_cast<double>(ends.size()));
  const auto at =
      end ? std::ranges::lower_bound(ends, element) : std::ranges::upper_bound(ends, element);
  const auto before =
      std::min<std::ptrdiff_t>(at - ends.begin(), static_cast<std::ptrdiff_t>(ends.size()) - 1);
  const double filled = length - gap * static_cast<double>(ends.size() - 1);
  return static_cast<double>(element) / size * filled + gap * static_cast<double>(before);
}

}  // namespace

TensorFrame::Axes TensorFrame::axesFor(const ptc::TensorSpec& spec,
                                       const std::vector<ptc::Box>& boxes) {
  const int rank = static_cast<int>(spec.shape.size());
  if (rank == 0) return {};
  if (rank == 1) return {0, -1};
  if (rank == 2) return {0, 1};
  const auto size = [&](int dim) { return spec.shape[static_cast<std::size_t>(dim)]; };
  int row = rank - 2;
  for (int dim = rank - 1; dim >= 0; --dim) {
    if (intervalsOf(boxes, dim, size(dim)).size() > 1) row = dim;
  }
  int column = row == rank - 1 ? rank - 2 : rank - 1;
  for (int dim = 0; dim < rank; ++dim) {
    if (dim == row || dim == column) continue;
    // More sheets than can be drawn: their dimension becomes the columns.
    if (intervalsOf(boxes, dim, size(dim)).size() > kMostSheets) column = dim;
  }
  return {row, column};
}

double TensorFrame::heightFor(const ptc::TensorSpec& spec, Axes axes, double width, double most) {
  const auto size = [&](int dim) {
    return dim < 0 ? 1.0
                   : std::max(1.0, static_cast<double>(spec.shape[static_cast<std::size_t>(dim)]));
  };
  if (axes.row < 0) return std::min(most, 48.0);
  if (axes.column < 0) return std::min(most, width * 1.2);
  const double ratio = std::pow(size(axes.row) / size(axes.column), 0.4);
  return std::min(most, width * std::clamp(ratio, kFlattest, kTallest));
}

TensorFrame::TensorFrame(const ptc::TensorSpec& spec, const std::vector<ptc::Box>& boxes, Axes axes,
                         const QRectF& area)
    : m_axes(axes),
      m_area(area),
      m_shape(spec.shape),
      m_rowEnds(segmentEnds(spec, axes.row)),
      m_columnEnds(segmentEnds(spec, axes.column)) {
  const int rank = static_cast<int>(m_shape.size());
  std::vector<std::vector<ptc::Interval>> along;
  std::size_t count = 1;
  for (int dim = 0; dim < rank; ++dim) {
    const std::int64_t size = m_shape[static_cast<std::size_t>(dim)];
    along.push_back(dim == axes.row || dim == axes.column ? std::vector<ptc::Interval>{{0, size}}
                                                          : intervalsOf(boxes, dim, size));
    count *= std::max<std::size_t>(1, along.back().size());
  }
  const std::size_t drawn = std::min(count, kMostSheets);
  m_hidden = count - drawn;
  const double names = count > 1 ? kSheetName : 0;
  const double height =
      (area.height() - kSheetGap * static_cast<double>(drawn - 1)) / static_cast<double>(drawn);
  for (std::size_t i = 0; i < drawn; ++i) {
    Sheet sheet;
    QStringList words;
    std::size_t rest = i;
    for (int dim = rank - 1; dim >= 0; --dim) {
      const auto& all = along[static_cast<std::size_t>(dim)];
      const ptc::Interval at = all.empty() ? ptc::Interval{} : all[rest % all.size()];
      rest /= std::max<std::size_t>(1, all.size());
      sheet.at.insert(sheet.at.begin(), at);
      if (all.size() > 1) {
        words.prepend(at.size() == 1
                          ? TensorFrameWords::tr("dim %1: %2").arg(dim).arg(format::count(at.begin))
                          : TensorFrameWords::tr("dim %1: %2 to %3")
                                .arg(dim)
                                .arg(format::count(at.begin), format::count(at.end - 1)));
      }
    }
    sheet.name = words.join(QStringLiteral(", "));
    const double top = area.top() + static_cast<double>(i) * (height + kSheetGap) + names;
    sheet.area = QRectF(area.left(), top, area.width(), std::max(2.0, height - names));
    m_sheets.push_back(std::move(sheet));
  }
  if (!spec.segments || m_sheets.empty()) return;
  m_bandsAreRows = spec.segments->dim == axes.row;
  if (!m_bandsAreRows && spec.segments->dim != axes.column) return;
  const QStringList segments = segmentNames(spec);
  const std::vector<std::int64_t>& ends = m_bandsAreRows ? m_rowEnds : m_columnEnds;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t begin = i == 0 ? 0 : ends[i - 1];
    const Sheet& first = m_sheets.front();
    m_bands.push_back(
        {segments[static_cast<qsizetype>(i)],
         m_bandsAreRows ? rowAt(first, begin, false) : columnAt(first, begin, false),
         m_bandsAreRows ? rowAt(first, ends[i], true) : columnAt(first, ends[i], true)});
  }
}

double TensorFrame::rowAt(const Sheet& sheet, std::int64_t element, bool end) const {
  return sheet.area.top() + positionOf(m_rowEnds, element, end, sheet.area.height());
}

double TensorFrame::columnAt(const Sheet& sheet, std::int64_t element, bool end) const {
  return sheet.area.left() + positionOf(m_columnEnds, element, end, sheet.area.width());
}

std::vector<QRectF> TensorFrame::rectsOf(const ptc::Box& box) const {
  std::vector<QRectF> rects;
  const auto range = [&](int dim) { return dim < 0 ? ptc::Interval{0, 1} : box[dim]; };
  for (const Sheet& sheet : m_sheets) {
    bool reaches = true;
    for (int dim = 0; dim < box.rank(); ++dim) {
      const ptc::Interval& at = sheet.at[static_cast<std::size_t>(dim)];
      reaches = reaches && box[dim].begin < at.end && at.begin < box[dim].end;
    }
    if (!reaches) continue;
    const ptc::Interval rows = range(m_axes.row), columns = range(m_axes.column);
    rects.emplace_back(
        QPointF(columnAt(sheet, columns.begin, false), rowAt(sheet, rows.begin, false)),
        QPointF(columnAt(sheet, columns.end, true), rowAt(sheet, rows.end, true)));
  }
  return rects;
}

}  // namespace tessera::ui
