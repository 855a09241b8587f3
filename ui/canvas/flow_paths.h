// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lines along which flows are drawn, in content coordinates of a MeshLayout.

#include <QPainterPath>
#include <QPointF>
#include <set>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class MeshLayout;

/// Up to this number flows are drawn one by one; above it they are bundled by pair of nodes.
inline constexpr std::size_t kMaxSingleFlows = 64;
/// The maximum number of bundles. Those with the most bytes are drawn.
inline constexpr std::size_t kMaxBundles = 512;

/// One line with its dots.
struct FlowPath {
  ptc::DeviceId from = {}, to = {};  // not of a bundle
  QPainterPath line;
  QPainterPath head;  // an open arrow; halfway along for a bundle
  bool bundle = false;
  double width = 2.2;  // of a bundle: by the logarithm of its bytes
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
           points == other.points;
  }
  double length() const { return at.empty() ? 0 : at.back(); }
  /// Appends the positions of the dots `seconds` after a fixed moment.
  void dots(double seconds, std::vector<QPointF>* out) const;
};

/// Routes all flows of `scene`.
///
/// In cards each flow leaves below its source, runs in the gutters between cells and frames, and
/// ends below its destination. Flows that share a gutter use separate lanes. In tiles, or above
/// kMaxSingleFlows, there is one curve per pair of nodes and none for flows within a node.
std::vector<FlowPath> routeFlows(const MeshScene& scene, const MeshLayout& layout);

/// Returns the lines of the flows from and to `devices`, each in full: those of `paths` where they
/// are drawn one by one, else a curve from cell to cell. Nothing if there are more than
/// kMaxSingleFlows: the bundles say more then.
std::vector<FlowPath> routeFlowsOf(const std::set<ptc::DeviceId>& devices, const MeshScene& scene,
                                   const MeshLayout& layout, const std::vector<FlowPath>& paths);

}  // namespace tessera::ui
