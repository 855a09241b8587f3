// SPDX-License-Identifier: GPL-3.0-or-later
#undef QT_NO_FOREACH  // templates of qcustomplot.h use it
#include "ui/plots/job_plots.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QDateTime>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QStringList>
#include <QSvgGenerator>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kLabelColumn = 14;  // where "loss" and "tokens/s" begin
constexpr int kLeftMargin = 104;  // with the numbers of the axes
constexpr int kRightMargin = 20;
constexpr int kTopMargin = 16;     // of band labels
constexpr int kMarkStrip = 14;     // between both plots
constexpr int kTimeStrip = 20;     // clock times below
constexpr double kMinBand = 7;     // pixels
constexpr double kMinRange = 0.5;  // seconds
constexpr double kFirstRange = 30;
constexpr int kDense = 4;    // samples a pixel
constexpr double kGrab = 5;  // pixels beside the playhead
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

QDateTime clockOf(double time) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(std::llround(time * 1000)));
}

/// Clock times, as fine as the range needs. QCPAxisTickerDateTime keeps the strategy of the widest
/// range that it has seen, days of months, and then finds no tick within a minute.
class ClockTicker : public QCPAxisTicker {
 public:
  ClockTicker() { setTickCount(4); }

 protected:
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    return locale.toString(clockOf(tick), m_format);
  }
  double getTickStep(const QCPRange& range) override {
    static const QVector<double> steps{
        0.1, 0.2, 0.5,  1,    2,    5,     10,     15,     30,     60,           120,         300,
        600, 900, 1800, 3600, 7200, 10800, 21'600, 43'200, 86'400, 2 * 86'400.0, 7 * 86'400.0};
    const double wanted = range.size() / tickCount();
    const double step = wanted < steps.back() ? pickClosest(wanted, steps)
                                              : std::ceil(wanted / steps.back()) * steps.back();
    m_format = step >= 86'400 ? QStringLiteral("d MMM")
               : step >= 60   ? QStringLiteral("HH:mm")
               : step >= 1    ? QStringLiteral("HH:mm:ss")
                              : QStringLiteral("HH:mm:ss.zzz");
    return step;
  }

 private:
  QString m_format;
};

/// Numbers with as many decimals as tell the ticks apart.
class ValueTicker : public QCPAxisTicker {
 protected:
  double getTickStep(const QCPRange& range) override {
    m_step = QCPAxisTicker::getTickStep(range);
    return m_step;
  }
  QString getTickLabel(double tick, const QLocale& locale, QChar, int) override {
    int decimals = 0;
    double rest = m_step;  // 0.025 needs three decimals
    while (decimals < 6 && std::abs(rest - std::round(rest)) > 1e-6 * rest) {
      rest *= 10;
      ++decimals;
    }
    return locale.toString(tick, 'f', decimals);
  }

 private:
  double m_step = 1;
};

/// "950", "5.8 k": tokens a second.
class CountTicker : public QCPAxisTicker {
 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return format::shortCount(tick);
  }
};

QPen hairline(const QColor& color) {
  QPen pen(color, 1);
  pen.setCosmetic(true);
  return pen;
}

}  // namespace

struct JobPlots::Impl {
  /// Draws a part of the plots with the data of Impl.
  class Painting : public QCPLayerable {
   public:
    using Draw = void (Impl::*)(QPainter&);
    Painting(QCustomPlot* plot, const QString& layer, Impl& impl, Draw how)
        : QCPLayerable(plot, layer), m_impl(impl), m_draw(how) {}

   protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override {
      painter->setAntialiasing(true);
    }
    void draw(QCPPainter* painter) override { (m_impl.*m_draw)(*painter); }

   private:
    Impl& m_impl;
    Draw m_draw;
  };

  explicit Impl(JobPlots& w) : widget(w), plot(new QCustomPlot(&w)) {}

  void build();
  void style();
  void append(const std::vector<SampleSeries::Point>& source, std::size_t from);
  bool paused(double after, double until);
  void fitRange();
  void fitValues();
  void replot() { plot->replot(QCustomPlot::rpQueuedReplot); }
  void setRange(double from, double to);
  void userMoved();
  void onMouseMove(QMouseEvent* event);
  void onPress(QMouseEvent* event);
  void onRelease(QMouseEvent* event);
  /// Whether a drag from there moves the playhead.
  bool grabsPlayhead(QPointF position) const;
  double timeAt(double pixel) const {
    return lossRect->axis(QCPAxis::atBottom)->pixelToCoord(pixel);
  }
  /// Times of events and bands, ascending.
  std::vector<double> stops() const;
  void goTo(double time);
  const PlotBand* bandAt(QPointF position) const;
  const PlotMark* markAt(QPointF position) const;
  QRectF rectOf(const PlotBand& band) const;
  double x(double time) const { return lossRect->axis(QCPAxis::atBottom)->coordToPixel(time); }
  QRect plotArea() const { return lossRect->rect() | tokenRect->rect(); }
  void describe();

  void drawBands(QPainter& painter);
  void drawFrame(QPainter& painter);
  void drawPlayhead(QPainter& painter);
  void drawHover(QPainter& painter);
  void drawDots(QPainter& painter, double time);
  QRectF readoutBox(const QString& text, double at, double top) const;
  void drawReadout(QPainter& painter, const QRectF& box, const QString& text);
  /// Draws without what belongs to the screen alone.
  void exportTo(const std::function<void()>& draw);

  JobPlots& widget;
  QCustomPlot* plot;
  QCPAxisRect *lossRect = nullptr, *tokenRect = nullptr;
  QCPGraph *loss = nullptr, *tokens = nullptr;
  std::vector<SampleSeries::Point> points;  // as drawn
  std::size_t nextBand = 0;  // of `append`: bands before it lie before its last point
  std::uint64_t revision = 0;
  int segments = 0;
  std::vector<PlotBand> bands;
  std::vector<PlotMark> marks;
  std::optional<double> now;
  std::optional<std::int64_t> selected;
  bool stale = false;
  bool dense = false;  // many samples a pixel are in sight
  bool following = true;
  std::optional<double> width;  // seconds in sight while following; nothing: everything
  std::optional<double> playhead;
  bool dragging = false;  // the playhead
  bool exporting = false;
  std::optional<QPointF> pointer;
  QPoint pressed;
  bool setting = false;  // the range is changed from here, not by the user
};

void JobPlots::Impl::build() {
  plot->setFocusPolicy(Qt::NoFocus);
  plot->plotLayout()->clear();
  plot->plotLayout()->setRowSpacing(0);
  plot->plotLayout()->setMargins({});
  plot->setNoAntialiasingOnDrag(false);
  const auto add = [this](int row, int top, int bottom) {
    auto* rect = new QCPAxisRect(plot);
    rect->setAutoMargins(QCP::msNone);
    rect->setMargins(QMargins(kLeftMargin, top, kRightMargin, bottom));
    rect->setMinimumMargins({});
    rect->setRangeDrag(Qt::Horizontal);
    rect->setRangeZoom(Qt::Horizontal);
    plot->plotLayout()->addElement(row, 0, rect);
    for (QCPAxis* axis : rect->axes()) {
      axis->setVisible(axis->axisType() == QCPAxis::atLeft ||
                       axis->axisType() == QCPAxis::atBottom);
    }
    return rect;
  };
  lossRect = add(0, kTopMargin, kMarkStrip / 2);
  tokenRect = add(1, kMarkStrip / 2, kTimeStrip);
  plot->plotLayout()->setRowStretchFactors({1.35, 1.0});
  loss = plot->addGraph(lossRect->axis(QCPAxis::atBottom), lossRect->axis(QCPAxis::atLeft));
  tokens = plot->addGraph(tokenRect->axis(QCPAxis::atBottom), tokenRect->axis(QCPAxis::atLeft));
  loss->setAdaptiveSampling(true);
  tokens->setAdaptiveSampling(true);

  QCPAxis* above = lossRect->axis(QCPAxis::atBottom);
  QCPAxis* below = tokenRect->axis(QCPAxis::atBottom);
  above->setTickLabels(false);
  above->setTicks(false);
  auto clock = QSharedPointer<ClockTicker>::create();
  above->setTicker(clock);
  below->setTicker(clock);
  auto value = QSharedPointer<ValueTicker>::create();
  value->setTickCount(3);
  lossRect->axis(QCPAxis::atLeft)->setTicker(value);
  auto count = QSharedPointer<CountTicker>::create();
  count->setTickCount(2);
  tokenRect->axis(QCPAxis::atLeft)->setTicker(count);
  const auto link = [this](QCPAxis* from, QCPAxis* to) {
    QObject::connect(from, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), &widget,
                     [this, to](const QCPRange& range) {
                       to->setRange(range);
                       if (!setting) userMoved();
                     });
  };
  link(above, below);
  link(below, above);

  plot->addLayer(QStringLiteral("bands"), plot->layer(QStringLiteral("grid")),
                 QCustomPlot::limBelow);
  plot->addLayer(QStringLiteral("hover"), plot->layer(QStringLiteral("overlay")),
                 QCustomPlot::limAbove);
  plot->layer(QStringLiteral("hover"))->setMode(QCPLayer::lmBuffered);
  new Painting(plot, QStringLiteral("bands"), *this, &Impl::drawBands);
  new Painting(plot, QStringLiteral("overlay"), *this, &Impl::drawFrame);
  new Painting(plot, QStringLiteral("hover"), *this, &Impl::drawPlayhead);
  new Painting(plot, QStringLiteral("hover"), *this, &Impl::drawHover);

  plot->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  QObject::connect(plot, &QCustomPlot::mouseMove, &widget,
                   [this](QMouseEvent* event) { onMouseMove(event); });
  QObject::connect(plot, &QCustomPlot::mousePress, &widget,
                   [this](QMouseEvent* event) { onPress(event); });
  QObject::connect(plot, &QCustomPlot::mouseRelease, &widget,
                   [this](QMouseEvent* event) { onRelease(event); });
  QObject::connect(plot, &QCustomPlot::mouseDoubleClick, &widget, [this] { widget.fit(); });
  style();
}

void JobPlots::Impl::style() {
  const Theme& theme = Theme::current();
  const double strength = stale ? 0.45 : 1.0;
  const auto shown = [&](const QColor& color) { return blend(color, theme.panel, strength); };
  plot->setBackground(theme.panel);
  const QFont small = uiFont(10.5);
  for (QCPAxisRect* rect : {lossRect, tokenRect}) {
    for (QCPAxis* axis : {rect->axis(QCPAxis::atLeft), rect->axis(QCPAxis::atBottom)}) {
      axis->setBasePen(Qt::NoPen);
      axis->setTickPen(Qt::NoPen);
      axis->setSubTickPen(Qt::NoPen);
      axis->setTickLabelFont(small);
      axis->setTickLabelColor(theme.dim);
      axis->setTickLabelPadding(axis->axisType() == QCPAxis::atLeft ? 8 : 4);
      axis->grid()->setSubGridVisible(false);
      axis->grid()->setZeroLinePen(Qt::NoPen);
      axis->grid()->setPen(axis->axisType() == QCPAxis::atLeft ? hairline(theme.soft)
                                                               : QPen(Qt::NoPen));
    }
    rect->axis(QCPAxis::atBottom)->grid()->setVisible(false);
  }
  // Many points a pixel make a band, not a line: hairlines are drawn a hundred times faster there.
  const auto line = [this](const QColor& color, double wide) {
    return dense ? hairline(color) : QPen(color, wide, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  };
  for (QCPGraph* graph : {loss, tokens}) graph->setAntialiased(!dense);
  loss->setPen(line(shown(theme.accent), 1.6));
  tokens->setPen(line(shown(blend(theme.faint, theme.panel, theme.isDark ? 1.0 : 0.9)), 1.2));
  tokens->setBrush(blend(theme.faint, theme.panel, stale ? 0.14 : 0.30));
}

// Whether a band's pause lies between two samples. Called with ascending times.
bool JobPlots::Impl::paused(double after, double until) {
  while (nextBand < bands.size() && bands[nextBand].pauseEnd <= after) ++nextBand;
  return nextBand < bands.size() && bands[nextBand].pauseStart < until &&
         bands[nextBand].pauseEnd > bands[nextBand].pauseStart;
}

void JobPlots::Impl::append(const std::vector<SampleSeries::Point>& source, std::size_t from) {
  QVector<QCPGraphData> losses, rates;
  losses.reserve(static_cast<qsizetype>(source.size() - from));
  rates.reserve(static_cast<qsizetype>(source.size() - from));
  for (std::size_t i = from; i < source.size(); ++i) {
    const SampleSeries::Point& point = source[i];
    bool gap = i == 0;
    if (i > 0 && (point.afterGap || paused(source[i - 1].time, point.time))) {
      const double middle = (source[i - 1].time + point.time) / 2;
      losses.push_back({middle, kNaN});
      rates.push_back({middle, kNaN});
      gap = true;
    }
    segments += gap;
    losses.push_back({point.time, point.loss});
    rates.push_back({point.time, point.tokensPerSecond});
  }
  loss->data()->add(losses, true);
  tokens->data()->add(rates, true);
  points.insert(points.end(), source.begin() + static_cast<std::ptrdiff_t>(from), source.end());
}

void JobPlots::Impl::setRange(double from, double to) {
  if (to - from < kMinRange) to = from + kMinRange;
  setting = true;
  lossRect->axis(QCPAxis::atBottom)->setRange(from, to);
  setting = false;
  fitValues();
}

void JobPlots::Impl::fitRange() {
  if (!following || (points.empty() && !now)) return;
  const double last =
      std::max(points.empty() ? *now : points.back().time, bands.empty() ? 0.0 : bands.back().end);
  const double end = now ? std::max(*now, last) : last;
  const double whole =
      points.empty() ? kFirstRange : std::max(end - points.front().time, kFirstRange / 3);
  const double shown = width.value_or(whole);
  const double margin = shown * 0.015;
  setRange(width ? end - shown : points.empty() ? end - whole : points.front().time, end + margin);
}

// The values in sight fill the height; tokens start at zero.
void JobPlots::Impl::fitValues() {
  const QCPRange in = lossRect->axis(QCPAxis::atBottom)->range();
  double low = std::numeric_limits<double>::infinity(), high = -low, fastest = 0;
  std::ptrdiff_t inSight = 0;
  auto point = std::lower_bound(points.begin(), points.end(), in.lower,
                                [](const auto& p, double time) { return p.time < time; });
  for (; point != points.end() && point->time <= in.upper; ++point) {
    ++inSight;
    if (std::isfinite(point->loss)) {
      low = std::min(low, point->loss);
      high = std::max(high, point->loss);
    }
    if (std::isfinite(point->tokensPerSecond)) fastest = std::max(fastest, point->tokensPerSecond);
  }
  if (low <= high) {
    const double margin = std::max((high - low) * 0.08, 1e-3 * std::max(1.0, std::abs(high)));
    lossRect->axis(QCPAxis::atLeft)->setRange(low - margin, high + margin);
  }
  tokenRect->axis(QCPAxis::atLeft)->setRange(0, fastest > 0 ? fastest * 1.18 : 1);
  const bool isDense = inSight > kDense * std::max(200, lossRect->width());
  if (isDense != dense) {
    dense = isDense;
    style();
  }
}

void JobPlots::Impl::userMoved() {
  QCPRange range = lossRect->axis(QCPAxis::atBottom)->range();
  const double last = points.empty() ? now.value_or(range.upper) : points.back().time;
  const double first = points.empty() ? last - kFirstRange : points.front().time;
  // Never further than one view beyond the data, nor finer than the clock.
  const double most = std::max(4 * (last - first), 4 * kFirstRange);
  double size = std::clamp(range.size(), kMinRange, most);
  const double middle = std::clamp(range.center(), first - size / 4, last + size / 4);
  range = QCPRange(middle - size / 2, middle + size / 2);
  following = range.upper >= last;
  width = size;
  setRange(range.lower, range.upper);
  replot();
  emit widget.rangeChanged();
}

QRectF JobPlots::Impl::rectOf(const PlotBand& band) const {
  const QRect area = plotArea();
  double left = x(band.start), right = x(band.end);
  if (right - left < kMinBand) {
    const double middle = (left + right) / 2;
    left = middle - kMinBand / 2;
    right = middle + kMinBand / 2;
  }
  return QRectF(QPointF(left, area.top()), QPointF(right, area.bottom() + 1.0));
}

const PlotBand* JobPlots::Impl::bandAt(QPointF position) const {
  const PlotBand* found = nullptr;
  for (const PlotBand& band : bands) {
    if (rectOf(band).adjusted(-3, -kTopMargin, 3, 0).contains(position)) found = &band;
  }
  return found;
}

const PlotMark* JobPlots::Impl::markAt(QPointF position) const {
  const double y = lossRect->rect().bottom() + kMarkStrip / 2.0 + 1;
  if (std::abs(position.y() - y) > kMarkStrip / 2.0) return nullptr;
  const PlotMark* found = nullptr;
  for (const PlotMark& mark : marks) {
    if (std::abs(x(mark.time) - position.x()) <= 6) found = &mark;
  }
  return found;
}

void JobPlots::Impl::onMouseMove(QMouseEvent* event) {
  const QPointF at = event->position();
  const QRect area = plotArea().adjusted(0, -kTopMargin, 0, 0);
  pointer = area.contains(at.toPoint()) ? std::optional(at) : std::nullopt;
  if (dragging) {
    pointer.reset();
    widget.setPlayhead(timeAt(at.x()));
    return;
  }
  const bool scrubs = !(event->buttons() & Qt::LeftButton) && grabsPlayhead(at);
  plot->setCursor(scrubs                             ? Qt::SizeHorCursor
                  : pointer && bandAt(at) != nullptr ? Qt::PointingHandCursor
                                                     : Qt::ArrowCursor);
  plot->layer(QStringLiteral("hover"))->replot();
}

void JobPlots::Impl::onPress(QMouseEvent* event) {
  pressed = event->pos();
  widget.setFocus(Qt::MouseFocusReason);
  dragging = event->button() == Qt::LeftButton && grabsPlayhead(event->position());
  plot->setInteraction(QCP::iRangeDrag, !dragging);
  if (dragging) widget.setPlayhead(timeAt(event->position().x()));
}

bool JobPlots::Impl::grabsPlayhead(QPointF position) const {
  const QRect area = plotArea();
  if (points.empty() || position.x() < area.left() - kGrab || position.x() > area.right() + kGrab)
    return false;
  return position.y() > area.bottom() ||
         (playhead && std::abs(x(*playhead) - position.x()) <= kGrab);
}

std::vector<double> JobPlots::Impl::stops() const {
  std::vector<double> times;
  for (const PlotBand& band : bands) times.push_back(band.start);
  for (const PlotMark& mark : marks) times.push_back(mark.time);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  // The playhead stays with the samples, and so do the events that it goes to.
  std::erase_if(times, [this](double time) {
    return points.empty() || time < points.front().time || time > points.back().time;
  });
  return times;
}

// Moves the view only where the time is out of sight.
void JobPlots::Impl::goTo(double time) {
  widget.setPlayhead(time);
  const auto [from, to] = widget.range();
  if (!playhead || (*playhead >= from && *playhead <= to)) return;
  const double half = (to - from) / 2;
  widget.setRange(*playhead - half, *playhead + half);
}

void JobPlots::Impl::onRelease(QMouseEvent* event) {
  const bool dragged = std::exchange(dragging, false);
  plot->setInteraction(QCP::iRangeDrag, true);
  if (event->button() != Qt::LeftButton || dragged) return;
  if ((event->pos() - pressed).manhattanLength() > 4) return;
  const QPointF at = event->position();
  if (const PlotBand* band = bandAt(at)) {
    widget.setPlayhead(band->start);
    widget.setSelectedBand(band->txn);
    emit widget.bandChosen(band->txn);
  } else if (const PlotMark* mark = markAt(at)) {
    widget.setPlayhead(mark->time);
  } else if (plotArea().contains(at.toPoint())) {
    widget.setPlayhead(timeAt(at.x()));
  }
}

void JobPlots::Impl::drawBands(QPainter& painter) {
  const Theme& theme = Theme::current();
  const QRect area = plotArea();
  painter.save();
  painter.setClipRect(area.adjusted(0, -kTopMargin, kRightMargin, 0));
  const QFont font = uiFont(10.5, QFont::Medium);
  const QFontMetricsF metrics(font);
  double labelEnd = area.left();
  for (const PlotBand& band : bands) {
    const QRectF rect = rectOf(band);
    if (rect.right() < area.left() || rect.left() > area.right()) continue;
    const bool isSelected = selected == band.txn;
    const bool undone = band.outcome == PlotBand::Outcome::Undone;
    const QColor hue = undone ? theme.warn : theme.accent;
    const QColor tint = undone ? blend(theme.warn, theme.panel, 0.14) : theme.accentSoft;
    const QRectF inside = rect.intersected(QRectF(area));
    painter.fillRect(inside, blend(tint, theme.panel, 0.55));
    // The pause is the part that costs: the whole tint.
    QRectF pause(QPointF(x(band.pauseStart), rect.top()), QPointF(x(band.pauseEnd), rect.bottom()));
    if (pause.width() < kMinBand) {
      const double middle =
          std::clamp(pause.center().x(), rect.left() + kMinBand / 2,
                     std::max(rect.left() + kMinBand / 2, rect.right() - kMinBand / 2));
      pause.setLeft(middle - kMinBand / 2);
      pause.setRight(middle + kMinBand / 2);
    }
    painter.fillRect(pause.intersected(QRectF(area)),
                     isSelected ? blend(hue, theme.panel, theme.isDark ? 0.45 : 0.30) : tint);
    if (undone) {
      painter.save();
      painter.setClipRect(inside, Qt::IntersectClip);
      painter.setPen(QPen(blend(theme.warn, theme.panel, 0.55), 1));
      for (double at = inside.left() - inside.height(); at < inside.right(); at += 5) {
        painter.drawLine(QPointF(at, inside.bottom()), QPointF(at + inside.height(), inside.top()));
      }
      painter.restore();
    }
    if (isSelected) {
      painter.setPen(QPen(hue, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(inside.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    const double at = std::max(rect.left() + 1, static_cast<double>(area.left()));
    if (at >= labelEnd) {
      painter.setFont(font);
      painter.setPen(hue);
      painter.drawText(QPointF(at, area.top() - 4), band.label);
      labelEnd = at + metrics.horizontalAdvance(band.label) + 10;
    }
  }
  painter.restore();
}

void JobPlots::Impl::drawFrame(QPainter& painter) {
  const Theme& theme = Theme::current();
  const QRect area = plotArea();
  const QFont label = uiFont(11.5);
  painter.setFont(label);
  painter.setPen(theme.dim);
  const QFontMetricsF metrics(label);
  painter.drawText(QPointF(kLabelColumn, lossRect->rect().top() + metrics.ascent() - 3),
                   JobPlots::tr("loss"));
  painter.drawText(QPointF(kLabelColumn, tokenRect->rect().top() + metrics.ascent() - 3),
                   JobPlots::tr("tokens/s"));
  painter.setPen(hairline(theme.line));
  for (const QRect& rect : {lossRect->rect(), tokenRect->rect()}) {
    painter.drawLine(QPointF(area.left(), rect.bottom() + 0.5),
                     QPointF(area.right(), rect.bottom() + 0.5));
  }

  painter.save();
  painter.setClipRect(area.adjusted(0, -kTopMargin, kRightMargin, 0));
  const bool moving = !bands.empty() && bands.back().outcome == PlotBand::Outcome::Running;
  if (now && !stale && !moving) {
    QPen pen(blend(theme.accent, theme.panel, 0.7), 1, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({2, 3});
    painter.setPen(pen);
    const double at = std::round(x(*now)) + 0.5;
    painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
  }
  // Events, on the strip between both plots.
  const double y = lossRect->rect().bottom() + kMarkStrip / 2.0 + 1;
  double last = -1e9;
  for (const PlotMark& mark : marks) {
    const double at = x(mark.time);
    if (at < area.left() - 4 || at > area.right() + 4) continue;
    if (mark.shape == PlotMark::Shape::Dot && at - last < 5) continue;  // as good as the last one
    last = at;
    painter.setBrush(Qt::NoBrush);
    switch (mark.shape) {
      case PlotMark::Shape::Dot:
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.dim);
        painter.drawEllipse(QPointF(at, y), 2.2, 2.2);
        break;
      case PlotMark::Shape::Plus:
        painter.setPen(QPen(theme.accent, 1.8, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(at - 3.5, y), QPointF(at + 3.5, y));
        painter.drawLine(QPointF(at, y - 3.5), QPointF(at, y + 3.5));
        break;
      case PlotMark::Shape::Triangle: {
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.warn);
        const QPointF corners[] = {{at - 4.5, y + 3.5}, {at + 4.5, y + 3.5}, {at, y - 4}};
        painter.drawPolygon(corners, 3);
        break;
      }
      case PlotMark::Shape::Cross:
        painter.setPen(QPen(theme.bad, 1.8, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(at - 3.5, y - 3.5), QPointF(at + 3.5, y + 3.5));
        painter.drawLine(QPointF(at - 3.5, y + 3.5), QPointF(at + 3.5, y - 3.5));
        break;
    }
  }
  painter.restore();
  if (widget.hasFocus() && !exporting) {
    painter.setPen(QPen(theme.accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(plot->rect()).adjusted(1.5, 0.5, -1.5, -0.5), 5, 5);
  }
}

void JobPlots::Impl::drawPlayhead(QPainter& painter) {
  if (!playhead) return;
  const Theme& theme = Theme::current();
  const QRect area = plotArea();
  const double at = std::round(x(*playhead)) + 0.5;
  if (at < area.left() - 1 || at > area.right() + 1) return;
  painter.setPen(QPen(theme.text, 1.2));
  painter.drawLine(QPointF(at, area.top() - 2), QPointF(at, area.bottom() + 1));
  // Its handle hangs in the strip of times.
  const double y = area.bottom() + 1;
  const QPointF handle[] = {
      {at, y}, {at + 4.5, y + 5}, {at + 4.5, y + 10}, {at - 4.5, y + 10}, {at - 4.5, y + 5}};
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.text);
  painter.drawPolygon(handle, 5);
  drawDots(painter, *playhead);
  const QString text = widget.playheadText();
  drawReadout(painter, readoutBox(text, at, area.top() + 2), text);
}

void JobPlots::Impl::drawDots(QPainter& painter, double time) {
  if (widget.readout(time).isEmpty()) return;
  const Theme& theme = Theme::current();
  auto near = std::lower_bound(points.begin(), points.end(), time,
                               [](const auto& p, double value) { return p.time < value; });
  if (near == points.end()) return;
  const auto dot = [&](QCPAxisRect* rect, double value, const QColor& color) {
    const double py = rect->axis(QCPAxis::atLeft)->coordToPixel(value);
    if (!std::isfinite(py)) return;
    painter.setPen(QPen(theme.panel, 1.5));
    painter.setBrush(color);
    painter.drawEllipse(QPointF(x(near->time), py), 3.5, 3.5);
  };
  dot(lossRect, near->loss, theme.accent);
  dot(tokenRect, near->tokensPerSecond, theme.dim);
}

QRectF JobPlots::Impl::readoutBox(const QString& text, double at, double top) const {
  const QFontMetricsF metrics(uiFont(11, QFont::Medium));
  QRectF box(at + 8, top, metrics.horizontalAdvance(text) + 16, 22);
  if (box.right() > plotArea().right() + kRightMargin - 4) box.moveRight(at - 8);
  box.moveLeft(std::max(box.left(), 4.0));
  box.moveTop(std::clamp(box.top(), 1.0, std::max(1.0, plotArea().bottom() - 24.0)));
  return box;
}

void JobPlots::Impl::drawReadout(QPainter& painter, const QRectF& box, const QString& text) {
  const Theme& theme = Theme::current();
  painter.setPen(hairline(theme.line));
  painter.setBrush(theme.cell);
  painter.drawRoundedRect(box, 5, 5);
  painter.setFont(uiFont(11, QFont::Medium));
  painter.setPen(theme.text);
  painter.drawText(box, Qt::AlignCenter, text);
}

void JobPlots::Impl::drawHover(QPainter& painter) {
  if (!pointer || exporting) return;
  const Theme& theme = Theme::current();
  const QRect area = plotArea();
  const double time = lossRect->axis(QCPAxis::atBottom)->pixelToCoord(pointer->x());
  QString text;
  if (const PlotMark* mark = markAt(*pointer)) {
    text =
        clockOf(mark->time).toString(QStringLiteral("HH:mm:ss")) + QLatin1String("  ") + mark->text;
  } else if (const PlotBand* band = bandAt(*pointer)) {
    text = band->tooltip;
  } else {
    text = widget.readout(time);
  }
  painter.setPen(hairline(theme.faint));
  const double at = std::round(pointer->x()) + 0.5;
  painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
  drawDots(painter, time);
  if (text.isEmpty()) text = JobPlots::tr("no data");
  QRectF box = readoutBox(text, at, pointer->y() - 30);
  // What the playhead says stays readable.
  if (playhead) {
    const double mark = x(*playhead);
    const bool inSight = mark >= area.left() && mark <= area.right();
    const QRectF fixed = readoutBox(widget.playheadText(), mark, area.top() + 2);
    if (inSight && box.intersects(fixed)) box.moveTop(fixed.bottom() + 4);
  }
  drawReadout(painter, box, text);
}

void JobPlots::Impl::exportTo(const std::function<void()>& draw) {
  exporting = true;
  draw();
  exporting = false;
  replot();
}

// Screen readers hear what the eye sees last.
void JobPlots::Impl::describe() {
  QStringList parts;
  if (playhead) parts << JobPlots::tr("playhead at %1").arg(widget.playheadText());
  if (!points.empty()) parts << widget.readout(points.back().time);
  if (!bands.empty()) parts << bands.back().tooltip;
  widget.setAccessibleDescription(parts.join(QStringLiteral("; ")));
}

JobPlots::JobPlots(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(*this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Loss and tokens a second over time"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_impl->plot);
  m_impl->build();
}

JobPlots::~JobPlots() = default;

void JobPlots::setSeries(const SampleSeries& series) {
  Impl& impl = *m_impl;
  const bool grows =
      series.revision() == impl.revision && series.points().size() >= impl.points.size();
  if (grows && series.points().size() == impl.points.size()) return;
  std::size_t from = impl.points.size();
  if (!grows) {
    impl.points.clear();
    impl.loss->data()->clear();
    impl.tokens->data()->clear();
    impl.segments = 0;
    impl.nextBand = 0;
    from = 0;
  }
  impl.revision = series.revision();
  impl.append(series.points(), from);
  if (impl.playhead) setPlayhead(impl.playhead);  // not beyond what there is now
  impl.fitRange();
  impl.fitValues();
  impl.describe();
  impl.replot();
}

void JobPlots::setBands(std::vector<PlotBand> bands) {
  Impl& impl = *m_impl;
  if (bands == impl.bands) return;
  // Only a band's end moves while it runs; another set of bands has other gaps.
  const auto pauses = [](const std::vector<PlotBand>& all) {
    std::vector<std::pair<double, double>> times;
    for (const PlotBand& band : all) {
      if (band.outcome != PlotBand::Outcome::Running)
        times.emplace_back(band.pauseStart, band.pauseEnd);
    }
    return times;
  };
  const bool sameGaps = pauses(bands) == pauses(impl.bands);
  impl.bands = std::move(bands);
  if (!sameGaps) {
    const auto known = std::exchange(impl.points, {});
    impl.loss->data()->clear();
    impl.tokens->data()->clear();
    impl.segments = 0;
    impl.nextBand = 0;
    impl.append(known, 0);
  }
  impl.fitRange();
  impl.describe();
  impl.replot();
}

void JobPlots::setMarks(std::vector<PlotMark> marks) {
  if (marks == m_impl->marks) return;
  m_impl->marks = std::move(marks);
  m_impl->replot();
}

void JobPlots::setNow(std::optional<double> now) {
  if (now == m_impl->now) return;
  m_impl->now = now;
  m_impl->fitRange();
  m_impl->replot();
}

void JobPlots::setSelectedBand(std::optional<std::int64_t> txn) {
  if (txn == m_impl->selected) return;
  m_impl->selected = txn;
  m_impl->replot();
}

void JobPlots::setStale(bool stale) {
  if (stale == m_impl->stale) return;
  m_impl->stale = stale;
  m_impl->style();
  m_impl->replot();
}

const std::vector<PlotBand>& JobPlots::bands() const { return m_impl->bands; }
std::optional<std::int64_t> JobPlots::selectedBand() const { return m_impl->selected; }
bool JobPlots::isFollowing() const { return m_impl->following; }
double JobPlots::pixelOf(double time) const { return m_impl->x(time); }
int JobPlots::segments() const { return m_impl->segments; }

std::pair<double, double> JobPlots::range() const {
  const QCPRange range = m_impl->lossRect->axis(QCPAxis::atBottom)->range();
  return {range.lower, range.upper};
}

void JobPlots::setRange(double from, double to) {
  m_impl->lossRect->axis(QCPAxis::atBottom)->setRange(from, to);
}

void JobPlots::fit() {
  m_impl->following = true;
  m_impl->width.reset();
  m_impl->fitRange();
  m_impl->fitValues();
  m_impl->replot();
  emit rangeChanged();
}

std::optional<double> JobPlots::playhead() const { return m_impl->playhead; }

void JobPlots::setPlayhead(std::optional<double> time) {
  Impl& impl = *m_impl;
  if (impl.points.empty()) time.reset();
  if (time) time = std::clamp(*time, impl.points.front().time, impl.points.back().time);
  if (time == impl.playhead) return;
  impl.playhead = time;
  impl.describe();
  impl.replot();
  emit playheadChanged();
}

QString JobPlots::playheadText() const {
  if (!m_impl->playhead) return {};
  const double time = *m_impl->playhead;
  const QString words = readout(time);
  const auto& marks = m_impl->marks;
  const auto mark = std::find_if(marks.begin(), marks.end(),
                                 [time](const PlotMark& each) { return each.time == time; });
  QStringList parts;
  if (words.isEmpty()) {
    parts << clockOf(time).toString(QStringLiteral("HH:mm:ss")) << tr("no data");
  } else {
    parts << words;
  }
  if (mark != marks.end()) parts << mark->text;
  return parts.join(QStringLiteral(" · "));
}

QByteArray JobPlots::toPng(QSize size, double scale) const {
  QByteArray bytes;
  m_impl->exportTo([&] {
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    m_impl->plot->toPixmap(size.width(), size.height(), scale).save(&buffer, "PNG");
  });
  return bytes;
}

QByteArray JobPlots::toSvg(QSize size) const {
  QByteArray bytes;
  m_impl->exportTo([&] {
    QBuffer buffer(&bytes);
    QSvgGenerator file;
    file.setOutputDevice(&buffer);
    file.setSize(size);
    file.setViewBox(QRect(QPoint(), size));
    file.setTitle(accessibleName());
    file.setDescription(accessibleDescription());
    QCPPainter painter;
    painter.begin(&file);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    m_impl->plot->toPainter(&painter, size.width(), size.height());
    painter.end();
  });
  return bytes;
}

QString JobPlots::readout(double time) const {
  const auto& points = m_impl->points;
  if (points.empty()) return {};
  const auto after = std::lower_bound(points.begin(), points.end(), time,
                                      [](const auto& p, double value) { return p.time < value; });
  if (after == points.end() && time > points.back().time + 1) return {};
  if (after != points.end() && after != points.begin() && after->afterGap) return {};
  const SampleSeries::Point& point = after == points.end() ? points.back() : *after;
  QStringList parts{tr("step %1").arg(format::count(point.step)),
                    clockOf(point.time).toString(QStringLiteral("HH:mm:ss"))};
  parts << tr("loss %1").arg(std::isfinite(point.loss) ? QLocale().toString(point.loss, 'f', 4)
                                                       : format::orUnknown(std::nullopt));
  if (std::isfinite(point.tokensPerSecond)) {
    parts << tr("%1 tokens/s").arg(format::shortCount(point.tokensPerSecond));
  }
  return parts.join(QStringLiteral(" · "));
}

double JobPlots::measureReplot() {
  QElapsedTimer clock;
  clock.start();
  m_impl->plot->replot(QCustomPlot::rpImmediateRefresh);
  return static_cast<double>(clock.nsecsElapsed()) * 1e-9;
}

void JobPlots::keyPressEvent(QKeyEvent* event) {
  const auto [from, to] = range();
  const double size = to - from;
  const auto& points = m_impl->points;
  const auto zoom = [&](double factor) {
    const double middle = (from + to) / 2;
    setRange(middle - size * factor / 2, middle + size * factor / 2);
  };
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const int direction = event->key() == Qt::Key_Left ? -1 : 1;
      if (event->modifiers() & Qt::ControlModifier)
        return setRange(from + direction * size / 8, to + direction * size / 8);
      if (points.empty()) return;
      if (event->modifiers() & Qt::ShiftModifier)
        return m_impl->goTo(m_impl->playhead.value_or(points.back().time) + direction);
      const std::vector<double> stops = m_impl->stops();
      const double now = m_impl->playhead.value_or(direction < 0 ? points.back().time + 1
                                                                 : points.front().time - 1);
      const auto stop = direction < 0 ? std::lower_bound(stops.begin(), stops.end(), now)
                                      : std::upper_bound(stops.begin(), stops.end(), now);
      if (stop == (direction < 0 ? stops.begin() : stops.end())) return;
      m_impl->goTo(direction < 0 ? *(stop - 1) : *stop);
      for (const PlotBand& band : m_impl->bands) {
        if (band.start != m_impl->playhead) continue;
        setSelectedBand(band.txn);
        emit bandChosen(band.txn);
      }
      return;
    }
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(0.7);
    case Qt::Key_Minus:
      return zoom(1 / 0.7);
    case Qt::Key_0:
      return fit();
    case Qt::Key_Home:
      if (!points.empty()) m_impl->goTo(points.front().time);
      return;
    case Qt::Key_End: {
      if (!points.empty()) setPlayhead(points.back().time);
      m_impl->following = true;
      m_impl->width = size;
      m_impl->fitRange();
      m_impl->replot();
      return;
    }
    default:
      QWidget::keyPressEvent(event);
  }
}

void JobPlots::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
    m_impl->style();
    m_impl->replot();
  }
  QWidget::changeEvent(event);
}

void JobPlots::focusInEvent(QFocusEvent* event) {
  m_impl->replot();
  QWidget::focusInEvent(event);
}

void JobPlots::focusOutEvent(QFocusEvent* event) {
  m_impl->replot();
  QWidget::focusOutEvent(event);
}

}  // namespace tessera::ui
