// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_canvas.h"

#include <qcustomplot.h>

#include <utility>

#include "ui/plots/plot_picture.h"
#include "ui/plots/plot_tickers.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

/// Draws its part of a layer with a function.
class Painting : public QCPLayerable {
 public:
  Painting(QCustomPlot* plot, const QString& layer, std::function<void(QPainter&)> paint)
      : QCPLayerable(plot, layer), m_paint(std::move(paint)) {}

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
    painter->setAntialiasing(true);
  }
  void draw(QCPPainter* painter) override { m_paint(*painter); }

 private:
  std::function<void(QPainter&)> m_paint;
};

QCPAxis* times(const QCPAxisRect* rect) { return rect->axis(QCPAxis::atBottom); }
QCPAxis* values(const QCPAxisRect* rect) { return rect->axis(QCPAxis::atLeft); }

PlotRange rangeOf(const QCPAxis* axis) { return {axis->range().lower, axis->range().upper}; }

QString layerName(PlotCanvas::Layer layer) {
  switch (layer) {
    case PlotCanvas::Layer::Bands:
      return QStringLiteral("bands");
    case PlotCanvas::Layer::Overlay:
      return QStringLiteral("overlay");
    case PlotCanvas::Layer::Pointer:
      return QStringLiteral("pointer");
  }
  return {};
}

}  // namespace

PlotCanvas::PlotCanvas(QWidget* parent) : m_plot(new QCustomPlot(parent)) {
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->plotLayout()->clear();
  m_plot->plotLayout()->setRowSpacing(0);
  m_plot->plotLayout()->setMargins({});
  m_plot->setNoAntialiasingOnDrag(false);
  m_lossRect = addRect(0, PlotGeometry::kTopMargin, PlotGeometry::kMarkStrip / 2);
  m_tokenRect = addRect(1, PlotGeometry::kMarkStrip / 2, PlotGeometry::kTimeStrip);
  m_plot->plotLayout()->setRowStretchFactors({1.35, 1.0});
  m_loss = m_plot->addGraph(times(m_lossRect), values(m_lossRect));
  m_tokens = m_plot->addGraph(times(m_tokenRect), values(m_tokenRect));
  for (QCPGraph* graph : {m_loss, m_tokens}) graph->setAdaptiveSampling(true);

  times(m_lossRect)->setTickLabels(false);
  times(m_lossRect)->setTicks(false);
  const auto clock = clockTicker();
  times(m_lossRect)->setTicker(clock);
  times(m_tokenRect)->setTicker(clock);
  values(m_lossRect)->setTicker(valueTicker(3));
  values(m_tokenRect)->setTicker(rateTicker(2));
  linkTimes();

  m_plot->addLayer(layerName(Layer::Bands), m_plot->layer(QStringLiteral("grid")),
                   QCustomPlot::limBelow);
  m_plot->addLayer(layerName(Layer::Pointer), m_plot->layer(layerName(Layer::Overlay)),
                   QCustomPlot::limAbove);
  m_plot->layer(layerName(Layer::Pointer))->setMode(QCPLayer::lmBuffered);

  m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  connect(m_plot, &QCustomPlot::mousePress, this, &PlotCanvas::mousePressed);
  connect(m_plot, &QCustomPlot::mouseMove, this, &PlotCanvas::mouseMoved);
  connect(m_plot, &QCustomPlot::mouseRelease, this, &PlotCanvas::mouseReleased);
  connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &PlotCanvas::mouseDoubleClicked);
}

QCPAxisRect* PlotCanvas::addRect(int row, int top, int bottom) {
  auto* rect = new QCPAxisRect(m_plot);
  rect->setAutoMargins(QCP::msNone);
  rect->setMargins(QMargins(PlotGeometry::kLeftMargin, top, PlotGeometry::kRightMargin, bottom));
  rect->setMinimumMargins({});
  rect->setRangeDrag(Qt::Horizontal);
  rect->setRangeZoom(Qt::Horizontal);
  m_plot->plotLayout()->addElement(row, 0, rect);
  for (QCPAxis* axis : rect->axes()) axis->setVisible(false);
  for (QCPAxis* axis : {times(rect), values(rect)}) axis->setVisible(true);
  return rect;
}

// Both time axes follow each other. Only the upper one emits a change, so that it is emitted once.
void PlotCanvas::linkTimes() {
  const auto changed = qOverload<const QCPRange&>(&QCPAxis::rangeChanged);
  connect(times(m_tokenRect), changed, this,
          [this](const QCPRange& range) { times(m_lossRect)->setRange(range); });
  connect(times(m_lossRect), changed, this, [this](const QCPRange& range) {
    times(m_tokenRect)->setRange(range);
    if (!m_showing) emit rangeMoved();
  });
}

QWidget* PlotCanvas::widget() const { return m_plot; }

PlotGeometry PlotCanvas::geometry() const {
  PlotGeometry geometry;
  geometry.loss = m_lossRect->rect();
  geometry.tokens = m_tokenRect->rect();
  geometry.time = rangeOf(times(m_lossRect));
  geometry.lossValues = rangeOf(values(m_lossRect));
  geometry.tokenValues = rangeOf(values(m_tokenRect));
  return geometry;
}

void PlotCanvas::addPainting(Layer layer, std::function<void(QPainter&)> paint) {
  new Painting(m_plot, layerName(layer), std::move(paint));  // owned by the plot
}

void PlotCanvas::show(const PlotRange& range) {
  m_showing = true;
  move(range);
  m_showing = false;
}

void PlotCanvas::move(const PlotRange& range) { times(m_lossRect)->setRange(range.from, range.to); }

void PlotCanvas::showValues(const PlotRange& loss, const PlotRange& tokensPerSecond) {
  values(m_lossRect)->setRange(loss.from, loss.to);
  values(m_tokenRect)->setRange(tokensPerSecond.from, tokensPerSecond.to);
}

void PlotCanvas::setPanning(bool pans) { m_plot->setInteraction(QCP::iRangeDrag, pans); }

void PlotCanvas::clearLines() {
  m_loss->data()->clear();
  m_tokens->data()->clear();
}

void PlotCanvas::appendLines(std::span<const SampleSeries::Point> points) {
  QVector<QCPGraphData> losses, rates;
  losses.reserve(std::ssize(points));
  rates.reserve(std::ssize(points));
  for (const SampleSeries::Point& point : points) {
    losses.push_back({point.time, point.loss});
    rates.push_back({point.time, point.tokensPerSecond});
  }
  m_loss->data()->add(losses, true);
  m_tokens->data()->add(rates, true);
}

void PlotCanvas::setStyle(bool stale, bool dense) {
  const Theme& theme = Theme::current();
  const double strength = stale ? 0.45 : 1.0;
  const auto shown = [&](const QColor& color) { return blend(color, theme.panel, strength); };
  m_plot->setBackground(theme.panel);
  const QFont small = uiFont(10.5);
  for (const QCPAxisRect* rect : {m_lossRect, m_tokenRect}) {
    for (QCPAxis* axis : {values(rect), times(rect)}) {
      axis->setBasePen(Qt::NoPen);
      axis->setTickPen(Qt::NoPen);
      axis->setSubTickPen(Qt::NoPen);
      axis->setTickLabelFont(small);
      axis->setTickLabelColor(theme.dim);
      axis->grid()->setSubGridVisible(false);
      axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    values(rect)->setTickLabelPadding(8);
    values(rect)->grid()->setPen(hairline(theme.soft));
    times(rect)->setTickLabelPadding(4);
    times(rect)->grid()->setVisible(false);
  }
  // With many points per pixel a line becomes a band; hairlines are a hundred times faster then.
  const auto line = [dense](const QColor& color, double wide) {
    return dense ? hairline(color) : QPen(color, wide, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  };
  for (QCPGraph* graph : {m_loss, m_tokens}) graph->setAntialiased(!dense);
  m_loss->setPen(line(shown(theme.accent), 1.6));
  m_tokens->setPen(line(shown(blend(theme.faint, theme.panel, theme.isDark ? 1.0 : 0.9)), 1.2));
  m_tokens->setBrush(blend(theme.faint, theme.panel, stale ? 0.14 : 0.30));
}

void PlotCanvas::replot() { m_plot->replot(QCustomPlot::rpQueuedReplot); }
void PlotCanvas::replotNow() { m_plot->replot(QCustomPlot::rpImmediateRefresh); }
void PlotCanvas::replotPointer() { m_plot->layer(layerName(Layer::Pointer))->replot(); }

QPixmap PlotCanvas::toPixmap(QSize size, double scale) const {
  return m_plot->toPixmap(size.width(), size.height(), scale);
}

void PlotCanvas::drawTo(QPaintDevice* device, QSize size) const {
  drawVectors(*m_plot, device, size);
}

}  // namespace tessera::ui
