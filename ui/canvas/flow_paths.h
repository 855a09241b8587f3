// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lines along which flows are drawn, in content coordinates of a MeshLayout.

#include <QPainterPath>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstdint>
#include <set>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class MeshLayout;

/// Up to this number of GPUs all lines are drawn; above it those of the busiest port only.
inline constexpr std::size_t kMostGpusWithAllLines = 40;
/// The maximum number of lines between frames. Those with the most bytes are drawn.
inline constexpr std::size_t kMostLines = 24;
inline constexpr double kFlowLabelSize = 10.5;  // of canvasFont
/// The maximum number of lines of chosen devices.
inline constexpr std::size_t kMostOwnLines = 64;

/// One line with its dots.
struct FlowPath {
  ptc::DeviceId from = {}, to = {};  // one of the flows in it
  QPainterPath line;
  QPainterPath head;   // an open arrow at the end
  double width = 2.2;  // of a line between frames: by the logarithm of its bytes
  std::int64_t bytes = 0;
  QString label = {};     // the bytes: "37.4 MiB"; empty: no room for it
  QRectF labelArea = {};  // crosses no other label and, in cards, no frame
  bool live = false;
  bool stalled = false;
  bool dotted = true;           // false in a gutter too full for dots
  double speed = 0;             // of the dots, in pixels per second
  double spacing = 40;          // of the dots; divides the length
  std::vector<QPointF> points;  // the line as straight pieces
  std::vector<double> at;       // distance of each point from the start, the last is the length

  /// Returns whether the line looks the same. The speed of the dots may differ.
  bool looksLike(const FlowPath& other) const {
    return live == other.live && stalled == other.stalled && width == other.width &&
           label == other.label && labelArea == other.labelArea && points == other.points;
  }
  double length() const { return at.empty() ? 0 : at.back(); }
  /// Appends the positions of the dots `seconds` after a fixed moment.
  void dots(double seconds, std::vector<QPointF>* out) const;
};

/// Routes the flows of `scene`: one line for each pair of frames, and none within a node.
///
/// In cards a line leaves below its frame, runs in the gutters between the frames, and ends below
/// the other frame. Lines that share a gutter use separate lanes. In tiles it is a curve. Where
/// there are more than kMostGpusWithAllLines devices or kMostLines pairs, only the lines of the
/// busiest port are drawn: those out of the frame, or into it, that sends or receives the most.
std::vector<FlowPath> routeFlows(const MeshScene& scene, const MeshLayout& layout);

/// Returns a line for each flow between `devices` and devices of other nodes, from cell to cell.
/// Nothing if there are more than kMostOwnLines: the lines between frames say more then.
std::vector<FlowPath> routeFlowsOf(const std::set<ptc::DeviceId>& devices, const MeshScene& scene,
                                   const MeshLayout& layout);

}  // namespace tessera::ui
