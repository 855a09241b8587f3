// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The plots drawn by QCustomPlot: axes, lines, and layers for overlays. Only this file,
/// filled_graph, plot_tickers, plot_picture and curve_plot use QCustomPlot.

#include <QObject>
#include <QPixmap>
#include <functional>
#include <span>
#include <vector>

#include "ui/plots/drawn_samples.h"
#include "ui/plots/plot_geometry.h"

class QCPAxisRect;
class QCPGraph;
class QCustomPlot;
class QMouseEvent;
class QPaintDevice;
class QPainter;

namespace tessera::ui {

/// The most further lines of a strip, and the pen of each in the current theme: four colours, solid
/// and dashed.
inline constexpr std::size_t kMostFurtherLines = 8;
QPen furtherPen(std::size_t line);

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

  /// The plot widget becomes a child of `parent`, which must outlive this object. Draws the usual
  /// curves.
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
  void showValues(std::size_t strip, const PlotRange& values);
  /// Sets whether dragging moves the visible time.
  void setPanning(bool pans);

  /// Replaces the plots by one for each of these, without lines; the visible time stays. setStyle()
  /// must follow.
  /// \pre curves is not empty
  void setCurves(const std::vector<PlotCurve>& curves);
  /// Replaces the part of a line after a time, all of it without one. Times ascend; NaN interrupts
  /// the line.
  void setLine(std::size_t strip, std::optional<double> after,
               std::span<const DrawnSamples::Value> values);
  /// Replaces the further lines of a strip, drawn with pens of furtherPen().
  void setFurtherLines(std::size_t strip,
                       const std::vector<std::vector<DrawnSamples::Value>>& lines);
  /// Whether to draw each value as a dot, because there are few.
  void setDots(std::size_t strip, bool dots);
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
  struct Strip {
    PlotCurve curve;
    QCPAxisRect* rect = nullptr;
    QCPGraph* line = nullptr;
    std::vector<QCPGraph*> further = {};
    bool dots = false;
  };

  QCPAxisRect* addRect(int row, int numRows);
  void linkTimes();
  void applyDots(const Strip& strip);
  void thinTicks();
  void styleFurther(const Strip& strip);

  QCustomPlot* m_plot;
  std::vector<Strip> m_strips;  // from above
  bool m_stale = false;
  bool m_showing = false;  // the range changes by the program, not by the user
};

}  // namespace tessera::ui
