// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A few named curves over one axis, with a marked position, for lessons.

#include <QByteArray>
#include <QWidget>
#include <optional>
#include <utility>
#include <vector>

class QCPItemStraightLine;
class QCPItemText;
class QCustomPlot;

namespace tessera::ui {

struct Curve {
  QString name;
  std::vector<std::pair<double, double>> points;  // ascending x, finite
  friend bool operator==(const Curve&, const Curve&) = default;
};

/// The first curve is the reference: solid, in the accent colour. The others differ by dashes and
/// by colour.
class CurvePlot : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMostCurves = 4;

  CurvePlot(const QString& xLabel, const QString& yLabel, QWidget* parent = nullptr);

  /// Sets at most kMostCurves curves. The axes cover all of them, at least up to `right`.
  void setCurves(std::vector<Curve> curves, double right = 0);
  const std::vector<Curve>& curves() const { return m_curves; }
  /// Sets a dashed vertical line with a label; nothing removes it.
  void setMark(std::optional<double> x, const QString& words);
  QByteArray toPng(QSize size, double scale) const;
  QByteArray toSvg(QSize size) const;
  QSize sizeHint() const override { return {620, 400}; }
  QSize minimumSizeHint() const override { return {320, 220}; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void restyle();
  void fit();

  QCustomPlot* m_plot;
  QCPItemStraightLine* m_line;
  QCPItemText* m_words;
  std::vector<Curve> m_curves;
  double m_right = 0;
};

}  // namespace tessera::ui
