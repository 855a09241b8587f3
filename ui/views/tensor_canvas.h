// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One tensor as boxes of its shape, cut as the layout cuts it; with a change, before and after it
/// side by side, and between them what is sent.

#include <QWidget>
#include <optional>
#include <set>
#include <vector>

#include "ui/canvas/device_looks.h"
#include "ui/models/tensor_layouts.h"
#include "ui/views/tensor_frame.h"

namespace tessera::ui {

/// Keys: up and down move between shards, left and right between before and after, Home and End to
/// the first and last, Enter or Space selects the GPUs that hold the current one, Ctrl+C copies its
/// ranges.
class TensorCanvas : public QWidget {
  Q_OBJECT

 public:
  /// A shard of the picture.
  struct At {
    bool after = false;
    std::size_t shard = 0;
    friend bool operator==(const At&, const At&) = default;
  };
  /// More lines between before and after are not drawn.
  static constexpr std::size_t kMostLines = 64;

  explicit TensorCanvas(QWidget* parent = nullptr);

  /// Shows a tensor; null: nothing. `looks` are those of the devices before the change.
  void setTensor(TensorLayouts::Ptr layouts, int tensor, DeviceLooks looks);
  /// Shows the shards of after too, if there is a change.
  void setCompare(bool compare);
  bool isComparing() const { return m_compare && !m_picture.after.empty(); }
  /// Fades the shards that none of these devices holds; empty: none is faded.
  void setHighlighted(const std::set<ptc::DeviceId>& devices);
  void setStale(bool stale);

  const TensorPicture& picture() const { return m_picture; }
  std::optional<At> current() const { return m_current; }
  void setCurrent(std::optional<At> at);
  const Shard& shard(At at) const {
    return (at.after ? m_picture.after : m_picture.before)[at.shard];
  }
  /// The ranges of a shard, a line for each dim of each box: "rows 512 to 1,023".
  QString rangesOf(At at) const;
  /// "n0g0 stays", "n1g0 ← n0g0", by shard of after; before: its holders.
  QString holdersText(At at) const;
  /// "n0g0 +n1g0": those that receive it have a plus.
  QString shortHolders(At at) const;
  /// "now, shard 0b: dim 0: 0 to 511, 36 MiB, n0g0": a shard in words.
  QString describe(At at) const;
  /// Makes it current, and emits chosen().
  void choose(At at);
  /// Rectangles and points are in coordinates of the widget.
  std::vector<QRectF> rectsOf(At at) const;
  std::optional<At> shardAt(QPointF position) const;
  const TensorFrame& frame(bool after) const { return after ? m_after : m_before; }

  QSize minimumSizeHint() const override { return {300, 180}; }

 signals:
  void currentChanged();
  /// The pointer is over a shard that these devices hold; empty: over none.
  void hovered(const std::set<tessera::ptc::DeviceId>& devices);
  /// The user chose a shard that these devices hold.
  void chosen(const std::set<tessera::ptc::DeviceId>& devices);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  /// A rectangle to paint: a box of a shard, or a part of it that has another origin.
  struct Tile {
    QRectF rect;
    At at;
    DeviceLook look;
    bool labelled = false;  // the first box of a shard on this sheet
  };
  void relayout();
  void addTiles(bool after);
  double strengthOf(At at) const;
  void paintTile(QPainter& painter, const Tile& tile) const;
  void paintFrame(QPainter& painter, bool after) const;
  void paintNames(QPainter& painter, bool after) const;
  void paintLines(QPainter& painter) const;
  void paintMark(QPainter& painter) const;
  QString toolTipAt(QPointF position) const;

  TensorLayouts::Ptr m_layouts;
  int m_tensor = -1;
  DeviceLooks m_looks;
  bool m_compare = true;
  bool m_stale = false;
  std::set<ptc::DeviceId> m_highlighted;
  TensorPicture m_picture;
  TensorFrame m_before, m_after;
  bool m_rowsOnly = true;  // every box is as wide as the picture
  std::vector<Tile> m_tiles;
  std::optional<At> m_current, m_hovered;
};

}  // namespace tessera::ui
