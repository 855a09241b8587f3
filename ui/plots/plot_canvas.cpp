// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_canvas.h"

#include <qcustomplot.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ui/plots/filled_graph.h"
#include "ui/plots/plot_picture.h"
#include "ui/plots/plot_tickers.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kTickRoom = 15;    // px of height for the text of a value
constexpr double kStale = 0.45;  // of the strength of a line

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

QPen furtherPen(std::size_t line) {
  const Theme& theme = Theme::current();
  const std::array colours = {theme.ok, theme.warn, theme.bad, theme.dim};
  static_assert(2 * colours.size() == kMostFurtherLines);
  const QColor& color = colours[line % colours.size()];
  if (line < colours.size()) return {color, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin};
  QPen dashed = hairline(color);  // a wider one of 1,600 noisy values takes 0.2 s
  dashed.setDashPattern({4, 3});
  return dashed;
}

PlotCanvas::PlotCanvas(QWidget* parent) : m_plot(new QCustomPlot(parent)) {
  m_plot->setFocusPolicy(Qt::NoFocus);
  m_plot->plotLayout()->clear();
  m_plot->plotLayout()->setRowSpacing(0);
  m_plot->plotLayout()->setMargins({});
  m_plot->setNoAntialiasingOnDrag(false);
  // Piece by piece: as one path, 1,600 noisy values take 0.3 s. Round caps join the pieces.
  m_plot->setPlottingHint(QCP::phFastPolylines, true);
  setCurves(usualCurves());

  m_plot->addLayer(layerName(Layer::Bands), m_plot->layer(QStringLiteral("grid")),
                   QCustomPlot::limBelow);
  m_plot->addLayer(layerName(Layer::Pointer), m_plot->layer(layerName(Layer::Overlay)),
                   QCustomPlot::limAbove);
  m_plot->layer(layerName(Layer::Pointer))->setMode(QCPLayer::lmBuffered);

  m_plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  connect(m_plot, &QCustomPlot::afterLayout, this, &PlotCanvas::thinTicks);
  connect(m_plot, &QCustomPlot::mousePress, this, &PlotCanvas::mousePressed);
  connect(m_plot, &QCustomPlot::mouseMove, this, &PlotCanvas::mouseMoved);
  connect(m_plot, &QCustomPlot::mouseRelease, this, &PlotCanvas::mouseReleased);
  connect(m_plot, &QCustomPlot::mouseDoubleClick, this, &PlotCanvas::mouseDoubleClicked);
}

void PlotCanvas::setCurves(const std::vector<PlotCurve>& curves) {
  const std::optional<PlotRange> time =
      m_strips.empty() ? std::nullopt : std::optional(rangeOf(times(m_strips.front().rect)));
  m_plot->clearGraphs();
  m_plot->plotLayout()->clear();
  m_strips.clear();
  const auto clock = clockTicker();
  QList<double> heights;
  for (const PlotCurve& curve : curves) {
    Strip strip{curve, addRect(static_cast<int>(m_strips.size()), static_cast<int>(curves.size()))};
    strip.line = new FilledGraph(times(strip.rect), values(strip.rect));  // owned by the plot
    strip.line->setAdaptiveSampling(true);
    const bool isLast = m_strips.size() + 1 == curves.size();
    times(strip.rect)->setTickLabels(isLast);
    times(strip.rect)->setTicks(isLast);
    times(strip.rect)->setTicker(clock);
    values(strip.rect)
        ->setTicker(curve.kind == PlotCurve::Kind::Loss     ? valueTicker(3)
                    : curve.kind == PlotCurve::Kind::Tokens ? rateTicker(2)
                                                            : quantityTicker(2));
    heights << (m_strips.empty() ? 1.35 : 1.0);
    m_strips.push_back(strip);
  }
  m_plot->plotLayout()->setRowStretchFactors(heights);
  linkTimes();
  if (time) show(*time);
}

QCPAxisRect* PlotCanvas::addRect(int row, int numRows) {
  const bool isFirst = row == 0, isLast = row + 1 == numRows;
  const int marks = PlotGeometry::kMarkStrip / 2;  // half above the border of two plots
  int top = row == 1 ? marks : PlotGeometry::kGap / 2;
  int bottom = PlotGeometry::kGap / 2;
  if (isFirst) {
    top = PlotGeometry::kTopMargin;
    bottom = isLast ? 2 * marks : marks;
  } else if (isLast) {
    bottom = 0;
  }
  if (isLast) bottom += PlotGeometry::kTimeStrip;
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

// All time axes follow each other. Only the first one emits a change, so that it is emitted once.
void PlotCanvas::linkTimes() {
  const auto changed = qOverload<const QCPRange&>(&QCPAxis::rangeChanged);
  QCPAxis* const first = times(m_strips.front().rect);
  for (std::size_t i = 1; i < m_strips.size(); ++i) {
    QCPAxis* const other = times(m_strips[i].rect);
    connect(other, changed, first, [first](const QCPRange& range) { first->setRange(range); });
    connect(first, changed, other, [other](const QCPRange& range) { other->setRange(range); });
  }
  connect(first, changed, this, [this] {
    if (!m_showing) emit rangeMoved();
  });
}

QWidget* PlotCanvas::widget() const { return m_plot; }

PlotGeometry PlotCanvas::geometry() const {
  PlotGeometry geometry;
  geometry.time = rangeOf(times(m_strips.front().rect));
  for (const Strip& strip : m_strips)
    geometry.strips.push_back({strip.curve, strip.rect->rect(), rangeOf(values(strip.rect))});
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

void PlotCanvas::move(const PlotRange& range) {
  times(m_strips.front().rect)->setRange(range.from, range.to);
}

void PlotCanvas::showValues(std::size_t strip, const PlotRange& range) {
  values(m_strips[strip].rect)->setRange(range.from, range.to);
}

void PlotCanvas::setPanning(bool pans) { m_plot->setInteraction(QCP::iRangeDrag, pans); }

void PlotCanvas::setLine(std::size_t strip, std::optional<double> after,
                         std::span<const DrawnSamples::Value> values) {
  QCPGraphDataContainer& data = *m_strips[strip].line->data();
  if (after) {
    data.removeAfter(*after);
  } else {
    data.clear();
  }
  QVector<QCPGraphData> added;
  added.reserve(std::ssize(values));
  for (const DrawnSamples::Value& each : values) added.push_back({each.time, each.value});
  data.add(added, true);
}

void PlotCanvas::setFurtherLines(std::size_t index,
                                 const std::vector<std::vector<DrawnSamples::Value>>& lines) {
  Strip& strip = m_strips[index];
  while (strip.further.size() > lines.size()) {
    m_plot->removeGraph(strip.further.back());
    strip.further.pop_back();
  }
  while (strip.further.size() < lines.size()) {
    QCPGraph* const added = m_plot->addGraph(times(strip.rect), values(strip.rect));
    added->setAdaptiveSampling(true);
    strip.further.push_back(added);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    QVector<QCPGraphData> data;
    data.reserve(std::ssize(lines[i]));
    for (const DrawnSamples::Value& each : lines[i]) data.push_back({each.time, each.value});
    strip.further[i]->data()->set(data, true);
  }
  styleFurther(strip);
}

void PlotCanvas::styleFurther(const Strip& strip) {
  for (std::size_t i = 0; i < strip.further.size(); ++i) {
    QPen pen = furtherPen(i);
    if (m_stale) pen.setColor(blend(pen.color(), Theme::current().panel, kStale));
    strip.further[i]->setPen(pen);
  }
}

void PlotCanvas::setDots(std::size_t strip, bool dots) {
  if (m_strips[strip].dots == dots) return;
  m_strips[strip].dots = dots;
  applyDots(m_strips[strip]);
}

void PlotCanvas::applyDots(const Strip& strip) {
  const QColor color = strip.line->pen().color();
  strip.line->setScatterStyle(
      strip.dots ? QCPScatterStyle(QCPScatterStyle::ssDisc, color, color, 3.5) : QCPScatterStyle());
}

void PlotCanvas::setStyle(bool stale, bool dense) {
  const Theme& theme = Theme::current();
  const double strength = stale ? kStale : 1.0;
  m_stale = stale;
  const auto shown = [&](const QColor& color) { return blend(color, theme.panel, strength); };
  m_plot->setBackground(theme.panel);
  const QFont small = uiFont(10.5);
  for (const Strip& strip : m_strips) {
    const QCPAxisRect* rect = strip.rect;
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
  for (const Strip& strip : m_strips) {
    strip.line->setAntialiased(!dense);
    if (strip.curve.kind == PlotCurve::Kind::Tokens) {
      strip.line->setPen(
          line(shown(blend(theme.faint, theme.panel, theme.isDark ? 1.0 : 0.9)), 1.2));
      strip.line->setBrush(blend(theme.faint, theme.panel, stale ? 0.14 : 0.30));
    } else {
      strip.line->setPen(line(shown(theme.accent), 1.6));
    }
    applyDots(strip);
    styleFurther(strip);
  }
}

// No more values beside a low strip than there is room for.
void PlotCanvas::thinTicks() {
  bool differs = false;
  for (const Strip& strip : m_strips) {
    const int most = strip.curve.kind == PlotCurve::Kind::Loss ? 3 : 2;
    const int count = std::clamp(strip.rect->height() / kTickRoom, 1, most);
    QCPAxisTicker& ticker = *values(strip.rect)->ticker();
    differs |= ticker.tickCount() != count;
    ticker.setTickCount(count);
  }
  if (differs) replot();  // the ticks of this one are made already
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
