// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The numbers of the samples that can be drawn over time, and their names.

#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

namespace tessera::ui {

struct PlotCurve {
  enum class Kind { Loss, Tokens, GradNorm, StepTime, Metric };
  Kind kind = Kind::Loss;
  std::string metric = {};  // the name of a Metric

  static PlotCurve ofMetric(const std::string& name) { return {Kind::Metric, name}; }
  /// The name in the settings: "loss", "tokens_per_second", "grad_norm", "step_seconds",
  /// "metrics.NAME".
  QString key() const;
  /// Whether it is one of usualCurves().
  bool isUsual() const { return kind == Kind::Loss || kind == Kind::Tokens; }
  /// The name for the user: "tokens/s"; that of a metric is as the program gave it.
  QString title() const;
  friend bool operator==(const PlotCurve&, const PlotCurve&) = default;
};

/// Loss and tokens per second.
const std::vector<PlotCurve>& usualCurves();
/// Reads keys separated by commas; what is no key is left out.
std::vector<PlotCurve> parseCurves(const QString& keys);
QString printCurves(const std::vector<PlotCurve>& curves);

}  // namespace tessera::ui
