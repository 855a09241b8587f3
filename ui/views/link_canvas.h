// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Paints a LinkMatrix: a cell per link, from rows to columns, and beside each row the bytes that
/// it sends and receives. The size of cells depends on the number of rows and on the window only,
/// so that it does not change with the data.

#include <QAbstractScrollArea>
#include <optional>
#include <set>

#include "ui/models/link_matrix.h"

namespace tessera::ui {

/// Keys: arrows move the current cell, Home and End go to the first and last column, with Ctrl to
/// the first and last row too, Enter or Space chooses the current cell, Esc chooses none.
class LinkCanvas : public QAbstractScrollArea {
  Q_OBJECT

 public:
  /// A cell, by indices of parties.
  struct Cell {
    int from = 0, to = 0;
    friend auto operator<=>(const Cell&, const Cell&) = default;
  };
  static constexpr int kLeastCell = 3, kLargestCell = 40;

  explicit LinkCanvas(QWidget* parent = nullptr);

  /// The current and the chosen cell stay, if their nodes or GPUs are still there.
  void setMatrix(LinkMatrix matrix);
  const LinkMatrix& matrix() const { return m_matrix; }
  /// Draws pale.
  void setStale(bool stale);
  /// Marks the names of the parties of these devices.
  void setMarked(const std::set<ptc::DeviceId>& devices);

  std::optional<Cell> current() const { return m_current; }
  void setCurrent(Cell cell);
  std::optional<Cell> chosen() const { return m_chosen; }
  /// Emits chosenChanged if the cell differs.
  void setChosen(std::optional<Cell> cell);
  std::optional<Cell> hovered() const { return m_hovered; }

  /// The distance of neighbouring cells, in pixels.
  int cellSize() const { return m_pitch; }
  /// Rectangles and points are in viewport coordinates.
  QRect cellRect(Cell cell) const;
  std::optional<Cell> cellAt(QPoint position) const;
  int paintCount() const { return m_paintCount; }

  /// The fill of a link of this strength, 0 to 1. Its ink has a contrast of at least 4.5.
  static QColor fillOf(double strength, bool inside);

  /// The height is that of the largest cells.
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {320, 150}; }

 signals:
  void chosenChanged();
  void currentChanged();
  /// The pointer is over another cell, or over none.
  void hoveredChanged();

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QPoint offset() const;
  /// The cells and what is right of them, without the names.
  QRect body() const;
  int barsLeft() const;  // viewport
  void relayout();
  void setHovered(std::optional<Cell> cell);
  void ensureVisible(Cell cell);
  /// The party of a row at this place, if it is beside the cells.
  std::optional<int> rowAt(QPoint position) const;
  QString toolTipAt(QPoint position) const;
  void paintCells(QPainter& painter, const QRect& exposed) const;
  void paintFill(QPainter& painter, const LinkMatrix::Link& link) const;
  void paintNumber(QPainter& painter, const LinkMatrix::Link& link) const;
  void paintDead(QPainter& painter) const;
  void paintMarks(QPainter& painter) const;
  void paintNames(QPainter& painter) const;
  void paintBars(QPainter& painter) const;
  QColor nameColor(int party, bool row) const;

  LinkMatrix m_matrix;
  bool m_stale = false;
  std::set<int> m_marked;
  std::set<ptc::DeviceId> m_markedDevices;
  std::optional<Cell> m_current, m_chosen, m_hovered;
  int m_pitch = kLargestCell;
  int m_left = 0;       // of the first column: names of the rows
  int m_nameWidth = 0;  // of the widest name
  int m_paintCount = 0;
};

}  // namespace tessera::ui
