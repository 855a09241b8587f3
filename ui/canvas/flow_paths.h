// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lines that flows are drawn along, in content coordinates of a MeshLayout.

#include <QPainterPath>
#include <QPointF>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class MeshLayout;

/// Flows drawn one by one; above it they are bundled by pair of nodes.
inline constexpr std::size_t kMaxSingleFlows = 64;
/// Bundles drawn, those with the most bytes first.
inline constexpr std::size_t kMaxBundles = 512;

/// One line with its dots.
struct FlowPath {
  QPainterPath line;
  QPainterPath head;  // arrow, open; of a bundle halfway along
  bool bundle = false;
  double width = 2.2;  // by the logarithm of bytes in a bundle
  bool live = false;
  bool stalled = false;
  bool dotted = true;           // false where the gutter is so full that its dots would be a blur
  double speed = 0;             // of the dots, pixels a second
  double spacing = 40;          // of the dots, divides the length
  std::vector<QPointF> points;  // the line as straight pieces
  std::vector<double> at;       // distance of each point from the start, the last is the length

  /// Whether the line looks the same; dots may run at another speed.
  bool looksLike(const FlowPath& other) const {
    return live == other.live && stalled == other.stalled && width == other.width &&
           points == other.points;
  }
  double length() const { return at.empty() ? 0 : at.back(); }
  /// Positions of the dots `seconds` after some fixed moment.
  void dots(double seconds, std::vector<QPointF>* out) const;
};

/// Cards: each flow leaves under its source, runs in the gutters between cells and frames, and ends
/// under its destination; flows that share a gutter take lanes. Tiles, or more than
/// kMaxSingleFlows: one curve for each pair of nodes. Flows within a node have no curve then.
std::vector<FlowPath> routeFlows(const MeshScene& scene, const MeshLayout& layout);

}  // namespace tessera::ui
