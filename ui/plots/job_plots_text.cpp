// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of the plots: at the pointer, at the playhead, for screen readers.
#include <QLocale>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "ui/format.h"
#include "ui/plots/band_painter.h"
#include "ui/plots/job_plots_impl.h"
#include "ui/plots/mark_painter.h"
#include "ui/plots/plot_tickers.h"

namespace tessera::ui {

QString JobPlots::Impl::textOf(const PlotCurve& curve, const SampleSeries::Point& point) const {
  const auto shown = samples.valueAt(curve, point);
  switch (curve.kind) {
    case PlotCurve::Kind::Loss:
      return JobPlots::tr("loss %1").arg(std::isfinite(point.loss)
                                             ? QLocale().toString(point.loss, 'f', 4)
                                             : format::orUnknown(std::nullopt));
    case PlotCurve::Kind::Tokens:
      if (!std::isfinite(point.tokensPerSecond)) return {};
      return JobPlots::tr("%1 tokens/s").arg(format::shortCount(point.tokensPerSecond));
    case PlotCurve::Kind::StepTime: {
      QStringList parts{JobPlots::tr("%1 per step")
                            .arg(shown ? format::seconds(shown->value) : format::unknown())};
      for (const Computing& line : computing) {
        if (const auto seconds = computingAt(line, point))
          parts << JobPlots::tr("%1 computes %2", "n0g1 computes 0.25 s")
                       .arg(format::device(line.device), format::seconds(*seconds));
      }
      return parts.join(QStringLiteral(" · "));
    }
    case PlotCurve::Kind::GradNorm:
    case PlotCurve::Kind::Metric:
      return curve.title() + QLatin1Char(' ') +
             (shown ? format::quantity(shown->value) : format::unknown());
  }
  return {};
}

QString JobPlots::Impl::textOf(const SampleSeries::Point* point, const PlotCurve* first) const {
  if (point == nullptr) return {};
  QStringList parts{JobPlots::tr("step %1").arg(format::count(point->step)),
                    clockText(point->time)};
  if (first != nullptr) parts << textOf(*first, *point);
  for (const PlotCurve& curve : curves) {
    if (first == nullptr || curve != *first) parts << textOf(curve, *point);
  }
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

QString JobPlots::Impl::computingHint(const SampleSeries::Point& point) const {
  if (computing.empty()) return JobPlots::tr("selected GPUs show what they compute");
  const bool any = std::ranges::any_of(
      computing, [&](const Computing& line) { return computingAt(line, point).has_value(); });
  return any ? QString()
             : JobPlots::tr("what GPUs compute is seen only while the panel is connected");
}

QString JobPlots::readout(double time) const { return m_impl->textOf(m_impl->samples.at(time)); }

QString JobPlots::playheadText() const {
  if (!m_impl->playhead) return {};
  const double time = *m_impl->playhead;
  QStringList parts{m_impl->textOf(m_impl->samples.before(time))};
  if (parts.front().isEmpty()) parts = {clockText(time), tr("no data")};
  const auto& marks = m_impl->marks;
  const auto mark = std::find_if(marks.begin(), marks.end(),
                                 [time](const PlotMark& each) { return each.time == time; });
  if (mark != marks.end()) parts << mark->text;
  return parts.join(QStringLiteral(" · "));
}

QString JobPlots::Impl::textAt(QPointF position) const {
  const PlotGeometry geometry = canvas.geometry();
  if (const PlotMark* mark = markAt(marks, geometry, position))
    return clockText(mark->time) + QLatin1String("  ") + mark->text;
  // The curve at the position is named first, unless it is a usual one.
  const PlotCurve* below = nullptr;
  for (const PlotStrip& strip : geometry.strips) {
    if (!strip.curve.isUsual() && strip.rect.contains(position.toPoint())) below = &strip.curve;
  }
  QString text;
  if (const PlotBand* band = bandAt(bands, geometry, position))
    text = band->tooltip;
  else if (const SampleSeries::Point* point = samples.at(geometry.timeAt(position.x()))) {
    QStringList parts{textOf(point, below)};
    if (below != nullptr && below->kind == PlotCurve::Kind::StepTime)
      parts << computingHint(*point);
    parts.removeAll(QString());
    text = parts.join(QStringLiteral(" · "));
  }
  return text.isEmpty() ? JobPlots::tr("no data") : text;
}

void JobPlots::Impl::describe() {
  QStringList parts;
  if (playhead) parts << JobPlots::tr("playhead at %1").arg(widget.playheadText());
  if (!samples.empty()) parts << widget.readout(samples.points().back().time);
  if (!bands.empty()) parts << bands.back().tooltip;
  widget.setAccessibleDescription(parts.join(QStringLiteral("; ")));
}

}  // namespace tessera::ui
