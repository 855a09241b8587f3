// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The two plots drawn by QCustomPlot: axes, lines, and layers for overlays. Only this file,
/// plot_tickers, plot_picture and curve_plot use QCustomPlot.

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

/// Lives on the GUI thread. Wheel and drag change the visible time; other mouse events are emitted.
class PlotCanvas : public QObject {
  Q_OBJECT

 public:
  /// In painting order.
  enum class Layer {
    Bands,    // under grid and lines
    Overlay,  // over the lines
    Pointer,  // above everything; repainted separately
  };

  /// The plot widget becomes a child of `parent`, which must outlive this object.
  explicit PlotCanvas(QWidget* parent);

  QWidget* widget() const;
  /// The current layout; during an export that of the export.
  PlotGeometry geometry() const;
  /// Adds a painting to a layer, above those added before.
  void addPainting(Layer layer, std::function<void(QPainter&)> paint);

  /// Shows this time.
  /// \pre range.size() > 0
  void show(const PlotRange& range);
  /// Like show(), and emits rangeMoved().
  void move(const PlotRange& range);
  void showValues(const PlotRange& loss, const PlotRange& tokensPerSecond);
  /// Sets whether dragging moves the visible time.
  void setPanning(bool pans);

  void clearLines();
  /// Appends points, ascending in time and after the present ones. NaN interrupts a line.
  void appendLines(std::span<const SampleSeries::Point> points);
  /// Sets colours and pens of the current theme.
  /// \param stale whether to dim the lines
  /// \param dense whether there are many points per pixel
  void setStyle(bool stale, bool dense);

  /// Schedules a repaint of everything.
  void replot();
  /// Repaints everything now.
  void replotNow();
  /// Repaints the pointer layer now.
  void replotPointer();

  /// Renders the visible plots in another size.
  QPixmap toPixmap(QSize size, double scale) const;
  /// Draws with lines and text if `device` supports them.
  void drawTo(QPaintDevice* device, QSize size) const;

 signals:
  /// The user moved the visible time.
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
  bool m_showing = false;  // the range changes by the program, not by the user
};

}  // namespace tessera::ui
