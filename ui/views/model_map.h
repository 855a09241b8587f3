// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// All tensors of a model at once, or those of one layer: a row per layer, a column per kind of
/// tensor, each cut as the layout cuts it and coloured by the devices that hold it. With a change,
/// before and after it side by side.

#include <QAbstractScrollArea>
#include <QImage>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "ui/canvas/device_looks.h"
#include "ui/models/tensor_layouts.h"

namespace tessera::ui {

/// Keys: arrows move to the nearest tensor, Home and End to the first and last, Enter or Space
/// chooses it.
class ModelMap : public QAbstractScrollArea {
  Q_OBJECT

 public:
  /// What to draw.
  struct Content {
    TensorLayouts::Ptr layouts;              // null: nothing
    std::vector<std::size_t> groups;         // of layouts->groups(), those that are drawn
    DeviceLooks before, after;               // looks of the devices on each side
    bool compare = true;                     // draws after too, if there is a change
    std::optional<std::int64_t> layer = {};  // only this layer
    friend bool operator==(const Content&, const Content&) = default;
  };

  explicit ModelMap(QWidget* parent = nullptr);
  void setContent(Content content);
  const Content& content() const { return m_content; }
  /// Fades everything that none of these devices holds; empty: nothing is faded.
  void setHighlighted(const std::set<ptc::DeviceId>& devices);
  void setStale(bool stale);

  /// What is at a place of the viewport.
  struct Hit {
    std::size_t group = 0;
    int tensor = 0;
    bool after = false;
    std::vector<ptc::DeviceId> holders;
  };
  std::optional<Hit> hitAt(QPoint position) const;
  /// The tensor with the focus mark.
  std::optional<int> current() const { return m_current; }
  void setCurrent(std::optional<int> tensor);
  /// The place of a tensor in the viewport; null if it is not drawn.
  QRectF rectOf(int tensor, bool after) const;
  int paintCount() const { return m_paintCount; }
  /// The duration of the last drawing of the picture, in milliseconds.
  double drawingTime() const { return m_drawing; }

  QSize minimumSizeHint() const override { return {300, 180}; }

 signals:
  void hovered(const std::set<tessera::ptc::DeviceId>& devices);
  /// The user chose a tensor, and the devices that hold the part under the pointer.
  void chosen(std::size_t group, int tensor, const std::set<tessera::ptc::DeviceId>& devices);

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
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  /// A part of a tensor as fractions of its rectangle.
  struct Part {
    QRectF at;
    std::vector<ptc::DeviceId> holders;
  };
  /// Tensors that look alike have the same parts.
  struct Parts {
    std::vector<Part> parts;
    std::size_t rows = 1;                                     // cuts along the height
    std::vector<std::pair<ptc::DeviceId, std::size_t>> held;  // device and part, ascending
  };
  /// Tensors that look alike and have the same size in pixels have the same picture.
  struct Stamp {
    bool after = false;
    int lookAlike = 0;
    int width = 0, height = 0;  // of the device
    bool faded = false;
    friend auto operator<=>(const Stamp&, const Stamp&) = default;
  };
  struct Place {
    std::size_t group = 0;
    int tensor = 0;
    QRectF rect;  // content, of the side before
  };
  struct RowName {
    QString text;
    double middle = 0;
    bool strong = false;
  };

  bool comparing() const;
  const Parts& partsOf(bool after, int tensor) const;
  void relayout();
  double shift(bool after) const;  // of a side, to the right
  void draw();
  /// With `isStamped` tensors are images, which those that look alike share.
  void drawAll(QPainter& p, bool isStamped) const;
  void drawTensor(QPainter& painter, bool after, const Place& place, bool isStamped) const;
  const QImage& stampOf(const Stamp& stamp, int tensor) const;
  /// The parts that the highlighted devices hold, ascending.
  std::vector<std::size_t> heldOf(const Parts& parts) const;
  void drawParts(QPainter& painter, const QRectF& area, bool after, const Parts& parts,
                 std::span<const std::size_t> chosen, double strength) const;
  /// The place of a tensor on a side in the viewport, on whole pixels of the device.
  QRect pixelsOf(const Place& place, bool after) const;
  void drawNames(QPainter& painter) const;
  std::optional<int> neighbour(int tensor, int key) const;
  Content m_content;
  std::set<ptc::DeviceId> m_highlighted;
  bool m_stale = false;
  mutable std::map<std::pair<bool, int>, Parts> m_parts;  // by side and TensorLayouts::lookAlike
  mutable std::map<Stamp, QImage> m_stamps;
  std::vector<Place> m_places;
  std::vector<std::pair<QString, double>> m_columns;  // name, middle
  std::vector<RowName> m_rows;
  double m_side = 0;    // width of one side
  double m_height = 0;  // of the content
  QImage m_picture;
  bool m_dirty = true;
  int m_paintCount = 0;
  double m_drawing = 0;
  std::optional<int> m_current;
  std::optional<std::pair<int, bool>> m_hoveredTensor;
};

}  // namespace tessera::ui
