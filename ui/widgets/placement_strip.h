// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Bytes from left to right, and the device that holds each: a bar a copy, in the colours of the
/// mesh. Where runs are finer than a pixel, a column is divided as its bytes are.

#include <QWidget>
#include <optional>
#include <set>
#include <vector>

#include "ui/canvas/device_looks.h"
#include "ui/models/placed_bytes.h"

namespace tessera::ui {

class PlacementStrip : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMostBars = 4;

  explicit PlacementStrip(QWidget* parent = nullptr);
  /// May be null.
  void setBytes(PlacedBytesPtr bytes);
  void setLooks(const DeviceLooks& looks);
  /// These devices are framed, as in the mesh.
  void setSelection(const std::set<ptc::DeviceId>& devices);
  /// What is drawn was true a while ago.
  void setStale(bool stale);
  /// Bars that are drawn: a copy each, the last ones counted in words where there are too many.
  int bars() const;
  /// Most devices that hold the same byte, as far as columns show.
  std::size_t copies() const { return m_copies; }
  /// The run under a point of the widget, and the device whose bar it is.
  struct Hit {
    PlacedBytes::Run run;
    std::optional<ptc::DeviceId> device;
  };
  std::optional<Hit> hitAt(const QPointF& at) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 signals:
  void deviceChosen(ptc::DeviceId device);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// Columns that look the same.
  struct Segment {
    int from = 0, to = 0;  // columns
    PlacedBytes::Column shares;
  };
  void makeSegments();
  void sharpenEnds();
  void paintBar(QPainter& painter, std::size_t copy, double top) const;
  void paintShare(QPainter& painter, const QRectF& area, ptc::DeviceId device, bool labelled) const;
  void paintEnds(QPainter& painter, double top) const;

  PlacedBytesPtr m_bytes;
  DeviceLooks m_looks;
  std::set<ptc::DeviceId> m_selection;
  bool m_stale = false;
  std::size_t m_copies = 0;
  std::vector<Segment> m_segments;
};

}  // namespace tessera::ui
