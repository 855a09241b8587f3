// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/filled_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tessera::ui {
namespace {

constexpr double kNoLine = std::numeric_limits<double>::infinity();

/// Lowers `tops` (a pixel's y for each column from `left` on) to a straight piece of the line.
void coverColumns(std::vector<double>& tops, int left, QPointF from, QPointF to) {
  const auto columnOf = [&](double x) {
    return static_cast<int>(
        std::clamp(std::floor(x) - left, -1.0, static_cast<double>(tops.size())));
  };
  const int last = std::min(columnOf(to.x()), static_cast<int>(tops.size()) - 1);
  for (int i = std::max(columnOf(from.x()), 0); i <= last; ++i) {
    const double x = std::clamp(left + i + 0.5, from.x(), to.x());
    const double share = to.x() > from.x() ? (x - from.x()) / (to.x() - from.x()) : 1;
    double& top = tops[static_cast<std::size_t>(i)];
    top = std::min(top, from.y() + share * (to.y() - from.y()));
  }
}

}  // namespace

void FilledGraph::drawFill(QCPPainter* painter, QVector<QPointF>* lines) const {
  if (painter->brush().style() == Qt::NoBrush) return;
  if (painter->modes().testFlag(QCPPainter::pmVectorized))
    return QCPGraph::drawFill(painter, lines);
  const QRect area = clipRect();
  std::vector<double> tops(static_cast<std::size_t>(std::max(area.width(), 0)), kNoLine);
  for (qsizetype i = 1; i < lines->size(); ++i) {
    const QPointF from = (*lines)[i - 1], to = (*lines)[i];
    if (!std::isnan(from.y()) && !std::isnan(to.y())) coverColumns(tops, area.left(), from, to);
  }
  const double base = std::min<double>(valueAxis()->coordToPixel(0), area.bottom() + 1);
  painter->setAntialiasing(false);
  for (std::size_t i = 0; i < tops.size(); ++i) {
    if (tops[i] < base)
      painter->fillRect(QRectF(area.left() + static_cast<double>(i), tops[i], 1, base - tops[i]),
                        painter->brush());
  }
}

}  // namespace tessera::ui
