// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/job_plots.h"

#include <QElapsedTimer>
#include <QLocale>
#include <QMouseEvent>
#include <QStringList>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/plots/job_plots_impl.h"

namespace tessera::ui {
namespace {

constexpr int kDense = 4;           // samples per pixel
constexpr double kTimeStep = 0.05;  // of the shown time
constexpr int kFewValues = 60;      // are drawn as dots, too
constexpr QSize kUsualSize(820, 150), kLeastSize(260, 84);

int heightFor(std::size_t numStrips) {
  return PlotGeometry::kTopMargin + PlotGeometry::kMarkStrip + PlotGeometry::kTimeStrip +
         static_cast<int>(numStrips) * PlotGeometry::kLeastStrip +
         (static_cast<int>(numStrips) - 2) * PlotGeometry::kGap;
}

PlotRange shownValues(const PlotCurve& curve, const DrawnSamples::Extent& extent,
                      const PlotRange& now) {
  const bool isStepTime = curve.kind == PlotCurve::Kind::StepTime;
  if (curve.kind == PlotCurve::Kind::Tokens || isStepTime) {
    const double most = extent.range ? extent.range->to : 0;
    return {0, most > 0 ? most * (isStepTime ? 1.6 : 1.18) : 1};  // the key of lines is above
  }
  if (!extent.range) return now;
  double least = 1e-3 * std::max(1.0, std::abs(extent.range->to));
  if (curve.kind != PlotCurve::Kind::Loss) {  // may be as small as a learning rate
    least = extent.range->size() > 0 ? 0
            : extent.range->to != 0  ? 0.05 * std::abs(extent.range->to)
                                     : 1;
  }
  const double margin = std::max(extent.range->size() * 0.08, least);
  return {extent.range->from - margin, extent.range->to + margin};
}

}  // namespace

void JobPlots::Impl::build() {
  addPaintings();
  QObject::connect(&canvas, &PlotCanvas::rangeMoved, &widget, [this] { userMoved(); });
  QObject::connect(&canvas, &PlotCanvas::mouseMoved, &widget,
                   [this](QMouseEvent* event) { onMove(event); });
  QObject::connect(&canvas, &PlotCanvas::mousePressed, &widget,
                   [this](QMouseEvent* event) { onPress(event); });
  QObject::connect(&canvas, &PlotCanvas::mouseReleased, &widget,
                   [this](QMouseEvent* event) { onRelease(event); });
  QObject::connect(&canvas, &PlotCanvas::mouseDoubleClicked, &widget, [this] { widget.fit(); });
  style();
}

void JobPlots::Impl::take(const DrawnSamples::Change& change) {
  std::optional<double> after;
  if (change.from > 0) after = samples.points()[change.from - 1].time;
  for (std::size_t i = 0; i < curves.size(); ++i)
    canvas.setLine(i, after, samples.line(curves[i], change.from));
  drawComputing();
}

void JobPlots::Impl::drawComputing() {
  std::vector<std::vector<DrawnSamples::Value>> lines;
  for (const Computing& each : computing) lines.push_back(samples.line(each.values));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].kind == PlotCurve::Kind::StepTime) canvas.setFurtherLines(i, lines);
  }
}

std::optional<double> JobPlots::Impl::computingAt(const Computing& line,
                                                  const SampleSeries::Point& point) const {
  const auto next = std::ranges::upper_bound(line.values, point.time, {}, &BusySeries::Value::time);
  if (next == line.values.begin()) return std::nullopt;
  const BusySeries::Value& last = *(next - 1);
  if (std::isnan(last.seconds) || samples.isBroken(last.time, point.time)) return std::nullopt;
  return last.seconds;
}

TimeView::Known JobPlots::Impl::known() const {
  TimeView::Known known;
  if (!samples.empty())
    known.samples = PlotRange{samples.points().front().time, samples.points().back().time};
  known.now = now;
  if (!bands.empty()) known.lastBandEnd = bands.back().end;
  return known;
}

void JobPlots::Impl::follow() {
  if (const auto range = view.follow(known())) show(*range);
}

void JobPlots::Impl::show(const PlotRange& range) {
  canvas.show(range);
  fitValues();
}

void JobPlots::Impl::fitValues() {
  const PlotGeometry geometry = canvas.geometry();
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    DrawnSamples::Extent extent = samples.extentOf(curves[i], geometry.time);
    if (curves[i].kind == PlotCurve::Kind::StepTime) {
      for (const Computing& line : computing) {
        for (const BusySeries::Value& value : line.values) {
          if (!geometry.time.contains(value.time) || std::isnan(value.seconds)) continue;
          if (!extent.range) extent.range = PlotRange{0, 0};
          extent.range->to = std::max(extent.range->to, value.seconds);
        }
      }
    }
    most = std::max(most, extent.values);
    canvas.showValues(i, shownValues(curves[i], extent, geometry.strips[i].values));
    canvas.setDots(i, curves[i].kind == PlotCurve::Kind::Metric && extent.values <= kFewValues);
  }
  // Not the area of the plots, which follows the widget when it is painted.
  const bool isDense = most > kDense * widget.width();
  if (isDense == dense) return;
  dense = isDense;
  style();
}

void JobPlots::Impl::nameCurves() {
  if (curves == usualCurves())
    return widget.setAccessibleName(JobPlots::tr("Loss and tokens per second over time"));
  QStringList titles;
  for (const PlotCurve& curve : curves) titles << curve.title();
  widget.setAccessibleName(JobPlots::tr("%1 over time").arg(QLocale().createSeparatedList(titles)));
}

void JobPlots::Impl::userMoved() {
  show(view.moveTo(canvas.geometry().time, known()));
  canvas.replot();
  emit widget.rangeChanged();
}

JobPlots::JobPlots(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(*this)) {
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_impl->canvas.widget());
  m_impl->nameCurves();
  m_impl->build();
}

JobPlots::~JobPlots() = default;

void JobPlots::setSeries(const SampleSeries& series) {
  Impl& impl = *m_impl;
  const DrawnSamples::Change change = impl.samples.setSeries(series);
  if (!change.any) return;
  impl.take(change);
  if (impl.playhead) setPlayhead(impl.playhead);  // clamps it to the present samples
  impl.follow();
  impl.fitValues();
  impl.describe();
  impl.canvas.replot();
}

void JobPlots::setCurves(std::vector<PlotCurve> curves) {
  Impl& impl = *m_impl;
  if (curves == impl.curves) return;
  impl.curves = std::move(curves);
  impl.canvas.setCurves(impl.curves);
  impl.style();
  impl.take({true, 0});
  impl.fitValues();
  impl.nameCurves();
  impl.describe();
  updateGeometry();
  impl.canvas.replot();
}

void JobPlots::setComputing(std::vector<Computing> lines) {
  Impl& impl = *m_impl;
  if (lines.empty() && impl.computing.empty()) return;
  if (lines.size() > kMostFurtherLines) lines.resize(kMostFurtherLines);
  impl.computing = std::move(lines);
  impl.drawComputing();
  impl.fitValues();
  impl.describe();
  impl.canvas.replot();
}

const std::vector<JobPlots::Computing>& JobPlots::computing() const { return m_impl->computing; }

QSize JobPlots::sizeHint() const {
  const auto more = static_cast<int>(std::max<std::size_t>(m_impl->curves.size(), 2) - 2);
  return kUsualSize + QSize(0, more * PlotGeometry::kLeastStrip);
}

QSize JobPlots::minimumSizeHint() const {
  const std::size_t strips = m_impl->curves.size();
  return strips <= 2 ? kLeastSize : QSize(kLeastSize.width(), heightFor(strips));
}

void JobPlots::setBands(std::vector<PlotBand> bands) {
  Impl& impl = *m_impl;
  if (bands == impl.bands) return;
  impl.bands = std::move(bands);
  if (const auto change = impl.samples.setBands(impl.bands); change.any) impl.take(change);
  impl.follow();
  impl.describe();
  impl.canvas.replot();
}

void JobPlots::setMarks(std::vector<PlotMark> marks) {
  if (marks == m_impl->marks) return;
  m_impl->marks = std::move(marks);
  m_impl->canvas.replot();
}

void JobPlots::setNow(std::optional<double> now) {
  Impl& impl = *m_impl;
  if (now == impl.now) return;
  // Samples bring the plot up to date. Without any, time alone moves it in few steps.
  const double step = kTimeStep * impl.canvas.geometry().time.size();
  const bool isSmall = now && impl.drawnNow && std::abs(*now - *impl.drawnNow) < step;
  impl.now = now;
  if (isSmall) return;
  impl.drawnNow = now;
  impl.follow();
  impl.canvas.replot();
}

void JobPlots::setSelectedBand(std::optional<std::int64_t> txn) {
  if (txn == m_impl->selected) return;
  m_impl->selected = txn;
  m_impl->canvas.replot();
}

void JobPlots::setStale(bool stale) {
  if (stale == m_impl->stale) return;
  m_impl->stale = stale;
  m_impl->style();
  m_impl->canvas.replot();
}

void JobPlots::setRange(double from, double to) { m_impl->canvas.move({from, to}); }

void JobPlots::fit() {
  m_impl->view.followAll();
  m_impl->follow();
  m_impl->fitValues();
  m_impl->canvas.replot();
  emit rangeChanged();
}

void JobPlots::setPlayhead(std::optional<double> time) {
  Impl& impl = *m_impl;
  const auto samples = impl.known().samples;
  if (!samples) time.reset();
  if (time) time = std::clamp(*time, samples->from, samples->to);
  if (time == impl.playhead) return;
  impl.playhead = time;
  impl.describe();
  impl.canvas.replot();
  emit playheadChanged();
}

void JobPlots::setPinned(std::optional<double> time) {
  if (time == m_impl->pinned) return;
  m_impl->pinned = time;
  m_impl->canvas.replot();
}

void JobPlots::goTo(double time) { m_impl->goTo(time); }
void JobPlots::goToStop(int direction) { m_impl->step(direction, Qt::NoModifier); }

const std::vector<PlotCurve>& JobPlots::curves() const { return m_impl->curves; }
const std::vector<PlotBand>& JobPlots::bands() const { return m_impl->bands; }
std::optional<std::int64_t> JobPlots::selectedBand() const { return m_impl->selected; }
std::optional<double> JobPlots::playhead() const { return m_impl->playhead; }
bool JobPlots::isFollowing() const { return m_impl->view.isFollowing(); }
double JobPlots::pixelOf(double time) const { return m_impl->canvas.geometry().x(time); }
int JobPlots::segments() const { return m_impl->samples.segments(); }

std::pair<double, double> JobPlots::range() const {
  const PlotRange range = m_impl->canvas.geometry().time;
  return {range.from, range.to};
}

double JobPlots::measureReplot() {
  QElapsedTimer clock;
  clock.start();
  m_impl->canvas.replotNow();
  return static_cast<double>(clock.nsecsElapsed()) * 1e-9;
}

void JobPlots::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) {
    m_impl->style();
    m_impl->canvas.replot();
  }
  QWidget::changeEvent(event);
}

void JobPlots::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_impl->fitValues();  // the lines of another width have other pens
}

void JobPlots::focusInEvent(QFocusEvent* event) {
  m_impl->canvas.replot();
  QWidget::focusInEvent(event);
}

void JobPlots::focusOutEvent(QFocusEvent* event) {
  m_impl->canvas.replot();
  QWidget::focusOutEvent(event);
}

}  // namespace tessera::ui
