// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Bytes from left to right and the devices that hold them: one bar per replica, in the colours of
/// the mesh. A column with runs shorter than a pixel is divided by their share of bytes.

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
  /// Frames these devices, as in the mesh.
  void setSelection(const std::set<ptc::DeviceId>& devices);
  /// Dims the strip, because its data are old.
  void setStale(bool stale);
  /// The number of bars drawn, one per replica. Further replicas are shown as a number.
  int bars() const;
  /// The largest number of devices that hold the same byte, over all columns.
  std::size_t copies() const { return m_copies; }
  /// The run at a point of the widget, and the device of the bar.
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
  /// Adjacent columns that look the same.
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
