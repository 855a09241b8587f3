// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two plots as QCustomPlot draws them: axes, lines and layers for what is painted over them.
/// With plot_tickers.cpp the only part that sees QCustomPlot.

#include <QObject>
#include <QPixmap>
#include <functional>
#include <span>

#include "ui/plots/plot_geometry.h"
#include "ui/plots/sample_series.h"

class QCPAxisRect;
class QCPGraph;
class QCustomPlot;
class QMouseEvent;
class QPaintDevice;
class QPainter;

namespace tessera::ui {

/// GUI thread. Wheel and drag change the time in sight; what more the mouse does is told only.
class PlotCanvas : public QObject {
  Q_OBJECT

 public:
  /// From below to above.
  enum class Layer {
    Bands,    // under grid and lines
    Overlay,  // over the lines
    Pointer,  // over all; repainted by itself
  };

  /// The widget that is drawn on becomes a child of `parent`, which outlives this.
  explicit PlotCanvas(QWidget* parent);

  QWidget* widget() const;
  /// As laid out last; while something is drawn, as it is drawn.
  PlotGeometry geometry() const;
  /// `paint` draws a part of that layer, after those that were added to it before.
  void addPainting(Layer layer, std::function<void(QPainter&)> paint);

  /// Shows that time. \pre range.size() > 0
  void show(const PlotRange& range);
  /// As show(), as if the user had done it: rangeMoved().
  void move(const PlotRange& range);
  void showValues(const PlotRange& loss, const PlotRange& tokensPerSecond);
  /// Whether dragging moves the time in sight.
  void setPanning(bool pans);

  void clearLines();
  /// Ascending in time and after what is there. NaN breaks a line.
  void appendLines(std::span<const SampleSeries::Point> points);
  /// Colours and pens of the current theme. `dense`: many points a pixel; `stale`: dimmed
  void setStyle(bool stale, bool dense);

  /// Draws everything soon.
  void replot();
  /// Draws everything now.
  void replotNow();
  /// Draws what the pointer changes now.
  void replotPointer();

  /// What is in sight, in another size.
  QPixmap toPixmap(QSize size, double scale) const;
  /// As lines and text where `device` has them.
  void drawTo(QPaintDevice* device, QSize size) const;

 signals:
  /// The user moved the time in sight.
  void rangeMoved();
  void mousePressed(QMouseEvent* event);
  void mouseMoved(QMouseEvent* event);
  void mouseReleased(QMouseEvent* event);
  void mouseDoubleClicked(QMouseEvent* event);

 private:
  QCPAxisRect* addRect(int row, int top, int bottom);
  void linkTimes();

  QCustomPlot* m_plot;
  QCPAxisRect *m_lossRect = nullptr, *m_tokenRect = nullptr;
  QCPGraph *m_loss = nullptr, *m_tokens = nullptr;
  bool m_showing = false;  // the range is changed from here, not by the user
};

}  // namespace tessera::ui
