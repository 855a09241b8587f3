// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/job_plots.h"

#include <QElapsedTimer>
#include <QMouseEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/plots/job_plots_impl.h"

namespace tessera::ui {
namespace {

constexpr int kDense = 4;  // samples per pixel

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
  if (change.restarts) canvas.clearLines();
  canvas.appendLines(change.added);
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
  const DrawnSamples::Extent extent = samples.extentIn(geometry.time);
  PlotRange loss = geometry.lossValues;
  if (extent.loss) {
    const double margin =
        std::max(extent.loss->size() * 0.08, 1e-3 * std::max(1.0, std::abs(extent.loss->to)));
    loss = {extent.loss->from - margin, extent.loss->to + margin};
  }
  canvas.showValues(loss, {0, extent.fastest > 0 ? extent.fastest * 1.18 : 1});
  const bool isDense = extent.points > kDense * std::max(200, geometry.loss.width());
  if (isDense == dense) return;
  dense = isDense;
  style();
}

void JobPlots::Impl::userMoved() {
  show(view.moveTo(canvas.geometry().time, known()));
  canvas.replot();
  emit widget.rangeChanged();
}

JobPlots::JobPlots(QWidget* parent) : QWidget(parent), m_impl(std::make_unique<Impl>(*this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Loss and tokens per second over time"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_impl->canvas.widget());
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
  if (now == m_impl->now) return;
  m_impl->now = now;
  m_impl->follow();
  m_impl->canvas.replot();
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

void JobPlots::goTo(double time) { m_impl->goTo(time); }
void JobPlots::goToStop(int direction) { m_impl->step(direction, Qt::NoModifier); }

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

void JobPlots::focusInEvent(QFocusEvent* event) {
  m_impl->canvas.replot();
  QWidget::focusInEvent(event);
}

void JobPlots::focusOutEvent(QFocusEvent* event) {
  m_impl->canvas.replot();
  QWidget::focusOutEvent(event);
}

}  // namespace tessera::ui
