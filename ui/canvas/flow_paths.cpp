// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/flow_paths.h"

#include <QRectF>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "ui/canvas/mesh_layout.h"

namespace tessera::ui {
namespace {

constexpr double kDotSpacing = 40;

// Four speeds, so that equal rates look equal and slow flows are visibly slow.
double speedOf(double rate, double fastest) {
  static constexpr std::array<double, 4> kSpeeds{24, 44, 72, 110};
  const double share = fastest > 0 ? rate / fastest : 0;
  return kSpeeds[static_cast<std::size_t>(std::clamp(share * 4 - 0.001, 0.0, 3.0))];
}

void flatten(FlowPath* path) {
  const auto polygons = path->line.toSubpathPolygons();
  if (polygons.isEmpty()) return;
  double distance = 0;
  for (const QPointF& point : polygons.front()) {
    if (!path->points.empty()) {
      const QPointF step = point - path->points.back();
      distance += std::hypot(step.x(), step.y());
    }
    path->points.push_back(point);
    path->at.push_back(distance);
  }
  const double dots = std::max(1.0, std::round(distance / kDotSpacing));
  path->spacing = distance / dots;
}

// A polyline with its corners rounded.
QPainterPath rounded(const std::vector<QPointF>& corners, double radius) {
  QPainterPath path(corners.front());
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    const auto towards = [&](QPointF to) {
      const QPointF step = to - corners[i];
      const double size = std::hypot(step.x(), step.y());
      return size == 0 ? corners[i] : corners[i] + step * (std::min(radius, size / 2) / size);
    };
    path.lineTo(towards(corners[i - 1]));
    path.quadTo(corners[i], towards(corners[i + 1]));
  }
  path.lineTo(corners.back());
  return path;
}

// Assigns lanes in a gutter, so that lines over the same stretch do not hide each other.
class Lanes {
 public:
  int take(int gutter, double from, double to) {
    auto& lanes = m_busy[gutter];
    const auto [low, high] = std::minmax(from, to);
    for (std::size_t lane = 0;; ++lane) {
      if (lane == lanes.size()) lanes.emplace_back();
      const bool free = std::none_of(lanes[lane].begin(), lanes[lane].end(), [&](const auto& span) {
        return span.first < high + 6 && low - 6 < span.second;
      });
      if (!free) continue;
      lanes[lane].emplace_back(low, high);
      return static_cast<int>(lane);
    }
  }

 private:
  std::map<int, std::vector<std::vector<std::pair<double, double>>>> m_busy;
};

struct Port {
  QRect cell;
  QRect frame;
  bool pool = false;
  // The gutter of the cell: below it, or above it for chips in the pool tray.
  int edge() const { return pool ? cell.top() : cell.bottom() + 1; }
  int sign() const { return pool ? -1 : 1; }
};

std::optional<Port> portOf(const MeshLayout& layout, ptc::DeviceId device) {
  const auto box = layout.boxOf(device);
  if (!box) return std::nullopt;
  const auto& found = layout.boxes()[static_cast<std::size_t>(*box)];
  return Port{layout.cellRect(device), found.frame, found.kind == MeshLayout::Kind::Pool};
}

std::vector<FlowPath> routeSingly(const MeshScene& scene, const MeshLayout& layout) {
  const CellMetrics& m = layout.metrics();
  const double gap = m.gap;
  const double lead = gap / 3;          // from the cell to the first lane
  const double laneStep = gap * 0.375;  // 4.5 px in a gap of 12
  const int maxLanes = 2;
  double fastest = 0;
  for (const auto& flow : scene.flows) fastest = std::max(fastest, flow.rate);

  // Number of lines that leave and reach each cell, to fan them out.
  std::map<ptc::DeviceId, int> leaving, arriving;
  Lanes lanes;
  int channel = 0;
  std::vector<FlowPath> paths;
  for (const auto& flow : scene.flows) {
    const auto from = portOf(layout, flow.from);
    const auto to = portOf(layout, flow.to);
    if (!from || !to) continue;
    const int out = leaving[flow.from]++ % 5;
    const int in = arriving[flow.to]++ % 5;
    const double fan = from->cell.width() * 0.06;
    const double x1 = from->cell.right() + 1 - from->cell.width() * 0.23 - fan * out;
    const double x2 = to->cell.left() + to->cell.width() * 0.2 + fan * in;
    const auto gutterY = [&](const Port& port, int lane) {
      return port.edge() + port.sign() * (lead + laneStep * (lane % maxLanes));
    };

    std::vector<QPointF> corners;
    bool clear = true;  // in a separate lane
    const auto takeLane = [&](const Port& port, double start, double end) {
      const int lane = lanes.take(port.edge(), start, end);
      clear &= lane < maxLanes;
      return gutterY(port, lane);
    };
    if (from->edge() == to->edge() && from->pool == to->pool) {
      const double y = takeLane(*from, x1, x2);
      corners = {{x1, static_cast<double>(from->edge())},
                 {x1, y},
                 {x2, y},
                 {x2, static_cast<double>(to->edge() + to->sign())}};
    } else {
      // Down (or up) a channel beside the destination's frame, or inside it beside its cells.
      const double offset = (channel++ % 4 - 1.5) * laneStep;
      const bool fromLeft = x1 <= to->cell.center().x();
      const bool within = from->frame == to->frame;
      const double xv = within     ? to->frame.left() + gap / 2 + offset / 3
                        : fromLeft ? to->frame.left() - m.spacing.width() / 2.0 + offset
                                   : to->frame.right() + m.spacing.width() / 2.0 + offset;
      const double y1 = takeLane(*from, x1, xv);
      const double y2 = takeLane(*to, xv, x2);
      corners = {
          {x1, static_cast<double>(from->edge())},           {x1, y1}, {xv, y1}, {xv, y2}, {x2, y2},
          {x2, static_cast<double>(to->edge() + to->sign())}};
    }
    if (flow.finished()) continue;  // keeps its lane, so that other lines do not move
    FlowPath path;
    path.from = flow.from;
    path.to = flow.to;
    path.line = rounded(corners, 3);
    const QPointF tip = corners.back();
    const double back = 5 * to->sign();
    path.head.moveTo(tip + QPointF(-4, back));
    path.head.lineTo(tip);
    path.head.lineTo(tip + QPointF(4, back));
    path.live = flow.live;
    path.stalled = flow.stalled;
    path.dotted = clear;
    path.speed = speedOf(flow.rate, fastest);
    flatten(&path);
    paths.push_back(std::move(path));
  }
  return paths;
}

// A curve between two frames with vertical ends.
QPainterPath curveBetween(const QRectF& from, const QRectF& to) {
  const double x1 = from.center().x();
  const double x2 = to.center().x();
  if (from.bottom() <= to.top() || to.bottom() <= from.top()) {
    const bool down = from.bottom() <= to.top();
    const double y1 = down ? from.bottom() : from.top();
    const double y2 = down ? to.top() : to.bottom();
    QPainterPath path(QPointF(x1, y1));
    path.cubicTo(QPointF(x1, (y1 + y2) / 2), QPointF(x2, (y1 + y2) / 2), QPointF(x2, y2));
    return path;
  }
  // Side by side: an arc below both.
  const double y = std::max(from.bottom(), to.bottom());
  const double sag = std::min(48.0, 10 + std::abs(x2 - x1) * 0.08);
  QPainterPath path(QPointF(x1, from.bottom()));
  path.cubicTo(QPointF(x1, y + sag), QPointF(x2, y + sag), QPointF(x2, to.bottom()));
  return path;
}

// Adds an arrow halfway along.
void pointAlong(FlowPath* path) {
  const QPointF middle = path->line.pointAtPercent(0.5);
  const double angle = -path->line.angleAtPercent(0.5) * M_PI / 180;
  const QPointF ahead(std::cos(angle), std::sin(angle));
  const QPointF aside(-ahead.y(), ahead.x());
  const double size = 3 + path->width / 2;
  path->head.moveTo(middle - ahead * size + aside * size);
  path->head.lineTo(middle);
  path->head.lineTo(middle - ahead * size - aside * size);
}

std::vector<FlowPath> routeBundles(const MeshScene& scene, const MeshLayout& layout) {
  struct Bundle {
    std::int64_t bytes = 0;
    double rate = 0;
    int live = 0, stalled = 0, unfinished = 0;
  };
  std::map<std::pair<int, int>, Bundle> bundles;  // by boxes
  for (const auto& flow : scene.flows) {
    const auto from = layout.boxOf(flow.from);
    const auto to = layout.boxOf(flow.to);
    if (!from || !to || *from == *to) continue;
    Bundle& bundle = bundles[{*from, *to}];
    bundle.bytes += flow.total;
    bundle.rate += flow.rate;
    bundle.live += flow.live;
    bundle.stalled += flow.stalled;
    bundle.unfinished += !flow.finished();
  }
  std::vector<std::pair<std::pair<int, int>, Bundle>> largest(bundles.begin(), bundles.end());
  std::stable_sort(largest.begin(), largest.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  if (largest.size() > kMaxBundles) largest.resize(kMaxBundles);
  if (largest.empty()) return {};
  double fastest = 0;
  for (const auto& entry : largest) fastest = std::max(fastest, entry.second.rate);
  const double most =
      std::log2(static_cast<double>(std::max<std::int64_t>(1, largest.front().second.bytes)));
  const double least =
      std::log2(static_cast<double>(std::max<std::int64_t>(1, largest.back().second.bytes)));
  // Many bundles are drawn thinner, so that the cells stay visible.
  const double thickest = largest.size() <= 16 ? 6 : largest.size() <= 64 ? 4 : 2.2;
  const double thinnest = largest.size() <= 64 ? 2 : 1.2;

  std::vector<FlowPath> paths;
  for (const auto& [boxes, bundle] : largest) {
    const double weight = std::log2(static_cast<double>(std::max<std::int64_t>(1, bundle.bytes)));
    const double share = most > least ? (weight - least) / (most - least) : 0.5;
    if (bundle.unfinished == 0) continue;
    FlowPath path;
    path.line = curveBetween(layout.boxes()[static_cast<std::size_t>(boxes.first)].frame,
                             layout.boxes()[static_cast<std::size_t>(boxes.second)].frame);
    path.bundle = true;
    path.width = thinnest + (thickest - thinnest) * share;
    path.stalled = bundle.stalled == bundle.unfinished;
    path.live = bundle.live > 0;
    path.speed = speedOf(bundle.rate, fastest);
    flatten(&path);
    if (largest.size() <= 64) pointAlong(&path);
    // Few dots: more would be noise among many curves.
    path.spacing =
        path.length() / std::max(1.0, std::round(path.length() / (largest.size() > 64 ? 260 : 70)));
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

void FlowPath::dots(double seconds, std::vector<QPointF>* out) const {
  if (points.size() < 2 || spacing <= 0) return;
  std::size_t piece = 1;
  for (double distance = std::fmod(seconds * speed, spacing); distance < length();
       distance += spacing) {
    while (piece + 1 < at.size() && at[piece] < distance) ++piece;
    const double size = at[piece] - at[piece - 1];
    const double share = size > 0 ? (distance - at[piece - 1]) / size : 0;
    out->push_back(points[piece - 1] + (points[piece] - points[piece - 1]) * share);
  }
}

std::vector<FlowPath> routeFlows(const MeshScene& scene, const MeshLayout& layout) {
  if (layout.metrics().isTile() || scene.flows.size() > kMaxSingleFlows) {
    return routeBundles(scene, layout);
  }
  return routeSingly(scene, layout);
}

std::vector<FlowPath> routeFlowsOf(const std::set<ptc::DeviceId>& devices, const MeshScene& scene,
                                   const MeshLayout& layout, const std::vector<FlowPath>& paths) {
  std::vector<FlowPath> own;
  if (devices.empty()) return own;
  const auto concerns = [&](const auto& line) {
    return devices.contains(line.from) || devices.contains(line.to);
  };
  if (!paths.empty() && !paths.front().bundle) {
    std::ranges::copy_if(paths, std::back_inserter(own), concerns);
    return own;
  }
  double fastest = 0;
  for (const auto& flow : scene.flows) fastest = std::max(fastest, flow.rate);
  for (const auto& flow : scene.flows) {
    if (!concerns(flow) || flow.finished()) continue;
    const QRect from = layout.cellRect(flow.from), to = layout.cellRect(flow.to);
    if (from.isNull() || to.isNull()) continue;
    if (own.size() == kMaxSingleFlows) return {};
    FlowPath path;
    path.from = flow.from;
    path.to = flow.to;
    path.line = curveBetween(from, to);
    path.width = 1.6;
    path.live = flow.live;
    path.stalled = flow.stalled;
    path.speed = speedOf(flow.rate, fastest);
    flatten(&path);
    pointAlong(&path);
    own.push_back(std::move(path));
  }
  return own;
}

}  // namespace tessera::ui
