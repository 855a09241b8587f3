// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/curve_plot.h"

#include <qcustomplot.h>

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <limits>

#include "ui/plots/plot_geometry.h"
#include "ui/plots/plot_picture.h"
#include "ui/plots/plot_tickers.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

QPen penOf(int index) {
  const Theme& theme = Theme::current();
  const std::array<QColor, CurvePlot::kMostCurves> colours = {theme.accent, theme.bad, theme.warn,
                                                              theme.dim};
  static const std::array<QVector<qreal>, CurvePlot::kMostCurves> dashes = {
      QVector<qreal>{}, QVector<qreal>{5, 2.5}, QVector<qreal>{1.2, 2.4}, QVector<qreal>{8, 4}};
  const auto i = static_cast<std::size_t>(index);
  QPen pen(colours[i], index == 0 ? 2.2 : 1.9, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  if (!dashes[i].isEmpty()) pen.setDashPattern(dashes[i]);
  return pen;
}

}  // namespace

CurvePlot::CurvePlot(const QString& xLabel, const QString& yLabel, QWidget* parent)
    : QWidget(parent), m_plot(new QCustomPlot(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins({});
  column->addWidget(m_plot);
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->setAttribute(Qt::WA_TransparentForMouseEvents);
  m_plot->xAxis->setLabel(xLabel);
  m_plot->yAxis->setLabel(yLabel);
  m_plot->xAxis->setTicker(valueTicker(6));
  m_plot->yAxis->setTicker(valueTicker(5));
  // Above the curves, in one row, so that it covers no curve.
  auto* row = new QCPLayoutGrid;
  m_plot->plotLayout()->insertRow(0);
  m_plot->plotLayout()->addElement(0, 0, row);
  row->addElement(0, 0, m_plot->legend);
  m_plot->legend->setFillOrder(QCPLegend::foColumnsFirst);
  m_plot->legend->setColumnSpacing(22);
  m_plot->plotLayout()->setRowStretchFactor(0, 0.001);
  m_plot->legend->setVisible(true);
  for (int i = 0; i < kMostCurves; ++i) {
    QCPGraph* graph = m_plot->addGraph();
    graph->setAntialiased(true);
    graph->removeFromLegend();
  }
  m_line = new QCPItemStraightLine(m_plot);
  m_words = new QCPItemText(m_plot);
  m_words->position->setTypeX(QCPItemPosition::ptPlotCoords);
  m_words->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  m_words->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_words->setPadding(QMargins(7, 5, 0, 0));
  setMark(std::nullopt, {});
  restyle();
}

void CurvePlot::setCurves(std::vector<Curve> curves, double right) {
  curves.resize(std::min<std::size_t>(curves.size(), kMostCurves));
  m_curves = std::move(curves);
  m_right = right;
  m_plot->legend->clearItems();
  for (int i = 0; i < kMostCurves; ++i) {
    QCPGraph* graph = m_plot->graph(i);
    QVector<QCPGraphData> points;
    const bool isThere = i < static_cast<int>(m_curves.size());
    if (isThere) {
      const Curve& curve = m_curves[static_cast<std::size_t>(i)];
      for (const auto& [x, y] : curve.points) points.push_back({x, y});
      graph->setName(curve.name);
    }
    graph->data()->set(points, true);
    if (isThere) graph->addToLegend();
  }
  fit();
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::fit() {
  double left = std::numeric_limits<double>::infinity(), right = m_right;
  double low = left, high = -left;
  for (const Curve& curve : m_curves) {
    for (const auto& [x, y] : curve.points) {
      left = std::min(left, x);
      right = std::max(right, x);
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  if (high < low) left = 0, low = 0, high = 1;
  const double room = high > low ? 0.06 * (high - low) : 0.5;
  m_plot->xAxis->setRange(std::min(left, right), right > left ? right : left + 1);
  m_plot->yAxis->setRange(low - room, high + room);
}

void CurvePlot::setMark(std::optional<double> x, const QString& words) {
  m_line->setVisible(x.has_value());
  m_words->setVisible(x.has_value());
  if (!x) return;
  m_line->point1->setCoords(*x, 0);
  m_line->point2->setCoords(*x, 1);
  m_words->position->setCoords(*x, 0);
  m_words->setText(words);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void CurvePlot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) restyle();
}

void CurvePlot::restyle() {
  const Theme& theme = Theme::current();
  m_plot->setBackground(theme.canvas);
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
    axis->setBasePen(axis == m_plot->xAxis ? hairline(theme.line) : QPen(Qt::NoPen));
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelFont(uiFont(11));
    axis->setTickLabelColor(theme.dim);
    axis->setLabelFont(uiFont(11.5));
    axis->setLabelColor(theme.dim);
    axis->setLabelPadding(8);
    axis->grid()->setPen(axis == m_plot->yAxis ? hairline(theme.soft) : QPen(Qt::NoPen));
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  m_plot->legend->setFont(uiFont(12));
  m_plot->legend->setTextColor(theme.text);
  m_plot->legend->setBorderPen(Qt::NoPen);
  m_plot->legend->setBrush(Qt::NoBrush);
  m_plot->legend->setIconSize(30, 12);
  for (int i = 0; i < kMostCurves; ++i) m_plot->graph(i)->setPen(penOf(i));
  QPen mark = hairline(theme.faint);
  mark.setDashPattern({4, 4});
  m_line->setPen(mark);
  m_words->setFont(uiFont(11));
  m_words->setColor(theme.dim);
  m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QByteArray CurvePlot::toPng(QSize size, double scale) const {
  const QByteArray bytes = pngOf(m_plot->toPixmap(size.width(), size.height(), scale));
  m_plot->replot(QCustomPlot::rpQueuedReplot);
  return bytes;
}

QByteArray CurvePlot::toSvg(QSize size) const {
  const QByteArray bytes =
      svgOf(*this, size, [&](QPaintDevice* file) { drawVectors(*m_plot, file, size); });
  m_plot->replot(QCustomPlot::rpQueuedReplot);
  return bytes;
}

}  // namespace tessera::ui
