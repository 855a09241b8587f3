// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_curve.h"

#include <algorithm>

#include "engine/cluster/metrics.h"
#include "ui/format.h"
#include "ui/plots/job_plots.h"

namespace tessera::ui {
namespace {

const QString& metricPrefix() {
  static const QString prefix = QStringLiteral("metrics.");
  return prefix;
}

}  // namespace

QString PlotCurve::key() const {
  switch (kind) {
    case Kind::Loss:
      return QStringLiteral("loss");
    case Kind::Tokens:
      return QStringLiteral("tokens_per_second");
    case Kind::GradNorm:
      return QStringLiteral("grad_norm");
    case Kind::StepTime:
      return QStringLiteral("step_seconds");
    case Kind::Metric:
      return metricPrefix() + QString::fromStdString(metric);
  }
  return {};
}

QString PlotCurve::title() const {
  switch (kind) {
    case Kind::Loss:
      return JobPlots::tr("loss");
    case Kind::Tokens:
      return JobPlots::tr("tokens/s");
    case Kind::GradNorm:
      return JobPlots::tr("gradient norm");
    case Kind::StepTime:
      return JobPlots::tr("step time, s");
    case Kind::Metric:
      return format::word(metric);
  }
  return {};
}

const std::vector<PlotCurve>& usualCurves() {
  static const std::vector<PlotCurve> curves{{PlotCurve::Kind::Loss}, {PlotCurve::Kind::Tokens}};
  return curves;
}

std::vector<PlotCurve> parseCurves(const QString& keys) {
  std::vector<PlotCurve> curves;
  const auto add = [&](const PlotCurve& curve) {
    if (std::ranges::find(curves, curve) == curves.end()) curves.push_back(curve);
  };
  for (const QString& key : keys.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    using Kind = PlotCurve::Kind;
    for (const Kind kind : {Kind::Loss, Kind::Tokens, Kind::GradNorm, Kind::StepTime}) {
      if (PlotCurve{kind}.key() == key) add({kind});
    }
    if (!key.startsWith(metricPrefix())) continue;
    const std::string name = key.mid(metricPrefix().size()).toStdString();
    if (engine::IsMetricName(name)) add(PlotCurve::ofMetric(name));
  }
  return curves;
}

QString printCurves(const std::vector<PlotCurve>& curves) {
  QStringList keys;
  for (const PlotCurve& curve : curves) keys << curve.key();
  return keys.join(QLatin1Char(','));
}

}  // namespace tessera::ui
