// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/flow_paths.h"

#include <QFontMetricsF>
#include <QRectF>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "ui/canvas/mesh_layout.h"
#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kDotSpacing = 40;
constexpr double kThinnest = 1.8, kThickest = 4;
constexpr double kLabelOverlap = 3;  // px by which a label may cover the edge of a frame
constexpr std::size_t kMostLabelsOverTiles = 8;

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

// Where a line may leave or reach a cell or a frame: at the edge next to a gutter, in which lines
// run.
struct Port {
  QRect area;
  QRect frame;   // around the cell, or the area itself
  int gutter;    // y of its beginning
  int sign = 1;  // -1: lines run above `gutter`
  bool isBelow() const { return gutter > area.center().y(); }
  double edge() const { return isBelow() ? area.bottom() + 1 : area.top(); }
  double tip() const { return edge() + (isBelow() ? 1 : -1); }
};

// A line before it is routed.
struct Lead {
  Port from, to;
  FlowPath path;
};

// Distances in the gutters between cells, or between frames.
struct Gutters {
  double lead;  // from the edge to the first lane
  double laneStep;
  int maxLanes;
  double inside;   // from the left edge of a frame to a channel within it
  double channel;  // from a frame to the channel beside it
};

Gutters guttersOfCells(const CellMetrics& m) {
  // 4.5 px a lane in a gap of 12.
  return {m.gap / 3.0, m.gap * 0.375, 2, m.gap / 2.0, m.spacing.width() / 2.0};
}

Gutters guttersOfFrames(const CellMetrics& m) {
  const double step = m.spacing.height() / 4.0;
  return {step, step, 3, 0, m.spacing.width() / 2.0};
}

std::optional<Port> portOfCell(const MeshLayout& layout, ptc::DeviceId device) {
  const auto box = layout.boxOf(device);
  if (!box) return std::nullopt;
  const auto& found = layout.boxes()[static_cast<std::size_t>(*box)];
  const QRect cell = layout.cellRect(device);
  const bool pool = found.kind == MeshLayout::Kind::Pool;
  return Port{cell, found.frame, pool ? cell.top() : cell.bottom() + 1, pool ? -1 : 1};
}

Port portOfFrame(const MeshLayout& layout, int box) {
  const auto& found = layout.boxes()[static_cast<std::size_t>(box)];
  if (found.kind == MeshLayout::Kind::Pool) {
    // The line ends at the outline of the pool, above the GPUs of the node.
    QRect area = found.frame;
    area.setTop(layout.poolRect().top());
    return {area, area, area.top() - layout.metrics().spacing.height()};
  }
  // Below the tallest frame of the row.
  int bottom = found.frame.bottom();
  for (const auto& other : layout.boxes()) {
    if (other.frame.top() == found.frame.top()) bottom = std::max(bottom, other.frame.bottom());
  }
  return {found.frame, found.frame, bottom + 1};
}

void addHead(FlowPath* path, double back) {
  const QPointF tip = path->line.currentPosition();
  path->head.moveTo(tip + QPointF(-4, back));
  path->head.lineTo(tip);
  path->head.lineTo(tip + QPointF(4, back));
}

// Lanes are taken also by lines that are not drawn any more, so that others do not move.
std::vector<FlowPath> routeInGutters(std::vector<Lead> leads, const Gutters& g) {
  // Number of lines that leave and reach each area, to fan them out.
  std::map<std::pair<int, int>, int> leaving, arriving;
  const auto key = [](const Port& port) { return std::pair(port.area.x(), port.area.y()); };
  Lanes lanes;
  int channel = 0;
  std::vector<FlowPath> paths;
  for (Lead& line : leads) {
    const Port &from = line.from, &to = line.to;
    const int out = leaving[key(from)]++ % 5;
    const int in = arriving[key(to)]++ % 5;
    const double x1 = from.area.right() + 1 - from.area.width() * (0.23 + 0.06 * out);
    const double x2 = to.area.left() + to.area.width() * (0.2 + 0.06 * in);
    bool clear = true;  // in a separate lane
    const auto takeLane = [&](const Port& port, double start, double end) {
      const int lane = lanes.take(port.gutter, start, end);
      clear &= lane < g.maxLanes;
      return port.gutter + port.sign * (g.lead + g.laneStep * (lane % g.maxLanes));
    };
    std::vector<QPointF> corners;
    if (from.gutter == to.gutter && from.sign == to.sign) {
      const double y = takeLane(from, x1, x2);
      corners = {{x1, from.edge()}, {x1, y}, {x2, y}, {x2, to.tip()}};
    } else {
      // Down (or up) a channel beside the destination's frame, or inside it beside its cells.
      const double offset = (channel++ % 4 - 1.5) * g.laneStep;
      const bool fromLeft = x1 <= to.area.center().x();
      const bool within = from.frame == to.frame;
      const double xv = within     ? to.frame.left() + g.inside + offset / 3
                        : fromLeft ? to.frame.left() - g.channel + offset
                                   : to.frame.right() + g.channel + offset;
      const double y1 = takeLane(from, x1, xv);
      const double y2 = takeLane(to, xv, x2);
      corners = {{x1, from.edge()}, {x1, y1}, {xv, y1}, {xv, y2}, {x2, y2}, {x2, to.tip()}};
    }
    if (line.path.bytes == 0) continue;  // all is there
    FlowPath path = std::move(line.path);
    path.line = rounded(corners, 3);
    addHead(&path, to.isBelow() ? 5 : -5);
    path.dotted = clear;
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

// Adds an arrow at the end of a curve.
void pointAhead(FlowPath* path) {
  const QPointF tip = path->line.pointAtPercent(1);
  const double angle = -path->line.angleAtPercent(1) * M_PI / 180;
  const QPointF ahead(std::cos(angle), std::sin(angle));
  const QPointF aside(-ahead.y(), ahead.x());
  const double size = 3.5 + path->width / 2;
  path->head.moveTo(tip - ahead * size + aside * size);
  path->head.lineTo(tip);
  path->head.lineTo(tip - ahead * size - aside * size);
}

// All flows between two frames.
struct Bundle {
  int from = 0, to = 0;  // boxes
  ptc::DeviceId sender, receiver;
  std::int64_t bytes = 0;
  double rate = 0;
  int live = 0, stalled = 0, unfinished = 0;
};

std::vector<Bundle> bundlesOf(const MeshScene& scene, const MeshLayout& layout) {
  std::map<std::pair<int, int>, Bundle> bundles;
  for (const auto& flow : scene.flows) {
    const auto from = layout.boxOf(flow.from);
    const auto to = layout.boxOf(flow.to);
    if (!from || !to || *from == *to || flow.from.node == flow.to.node) continue;
    Bundle& bundle = bundles[{*from, *to}];
    if (bundle.bytes == 0) bundle = {*from, *to, flow.from, flow.to};
    bundle.bytes += flow.total;
    bundle.rate += flow.rate;
    bundle.live += flow.live;
    bundle.stalled += flow.stalled;
    bundle.unfinished += !flow.finished();
  }
  std::vector<Bundle> all;
  for (const auto& [boxes, bundle] : bundles) all.push_back(bundle);
  return all;
}

// Keeps the bundles out of one frame, or into one, that together have the most bytes. It counts all
// bytes of the change, so that the choice does not alternate while they move.
void keepBusiestPort(std::vector<Bundle>* bundles) {
  std::map<std::pair<bool, int>, std::int64_t> ports;
  for (const Bundle& bundle : *bundles) {
    ports[{false, bundle.from}] += bundle.bytes;
    ports[{true, bundle.to}] += bundle.bytes;
  }
  const auto busiest = std::ranges::max_element(
      ports, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (busiest == ports.end()) return;
  const auto [receives, box] = busiest->first;
  std::erase_if(*bundles, [receives = receives, box = box](const Bundle& bundle) {
    return (receives ? bundle.to : bundle.from) != box;
  });
  if (bundles->size() <= kMostLines) return;
  std::ranges::stable_sort(*bundles, std::ranges::greater(), &Bundle::bytes);
  bundles->resize(kMostLines);
  std::ranges::sort(*bundles, {}, [](const Bundle& b) { return std::pair(b.from, b.to); });
}

// The labels of the lines, at the first place along each that is free.
void placeLabels(std::vector<FlowPath>* paths, const MeshLayout& layout) {
  const bool cards = !layout.metrics().isTile();
  if (!cards && paths->size() > kMostLabelsOverTiles) return;
  const QFontMetricsF metrics(canvasFont(kFlowLabelSize, QFont::Medium));
  std::vector<QRectF> taken;
  const auto isFree = [&](const QRectF& area) {
    if (std::ranges::any_of(taken, [&](const QRectF& each) { return each.intersects(area); }))
      return false;
    const QRectF core = area.adjusted(0, kLabelOverlap, 0, -kLabelOverlap);
    return !cards || std::ranges::none_of(layout.boxes(), [&](const MeshLayout::Box& box) {
      return core.intersects(box.frame);
    });
  };
  for (FlowPath& path : *paths) {
    const QString text = format::bytes(path.bytes);
    const QSizeF size(metrics.horizontalAdvance(text) + 10, metrics.height() + 1);
    for (const double at : {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8}) {
      const QPointF middle = path.line.pointAtPercent(at);
      const QRectF area(middle - QPointF(size.width() / 2, size.height() / 2), size);
      if (!isFree(area)) continue;
      path.label = text;
      path.labelArea = area;
      taken.push_back(area);
      break;
    }
  }
}

std::vector<FlowPath> routeBundles(const MeshScene& scene, const MeshLayout& layout) {
  std::vector<Bundle> bundles = bundlesOf(scene, layout);
  if (layout.order().size() > kMostGpusWithAllLines || bundles.size() > kMostLines) {
    keepBusiestPort(&bundles);
  }
  if (bundles.empty()) return {};
  double fastest = 0;
  for (const Bundle& bundle : bundles) fastest = std::max(fastest, bundle.rate);
  const auto weightOf = [](const Bundle& bundle) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(1, bundle.bytes)));
  };
  const auto [least, most] = std::ranges::minmax(bundles, {}, weightOf);
  const double low = weightOf(least), high = weightOf(most);

  std::vector<Lead> leads;
  for (const Bundle& bundle : bundles) {
    const double share = high > low ? (weightOf(bundle) - low) / (high - low) : 0.3;
    FlowPath path;
    path.from = bundle.sender;
    path.to = bundle.receiver;
    path.bytes = bundle.unfinished == 0 ? 0 : bundle.bytes;
    path.width = kThinnest + (kThickest - kThinnest) * share;
    path.stalled = bundle.unfinished > 0 && bundle.stalled == bundle.unfinished;
    path.live = bundle.live > 0;
    path.speed = speedOf(bundle.rate, fastest);
    leads.push_back({portOfFrame(layout, bundle.from), portOfFrame(layout, bundle.to), path});
  }
  std::vector<FlowPath> paths;
  if (layout.metrics().isTile()) {
    for (Lead& lead : leads) {
      if (lead.path.bytes == 0) continue;
      FlowPath path = std::move(lead.path);
      path.line = curveBetween(lead.from.area, lead.to.area);
      pointAhead(&path);
      flatten(&path);
      paths.push_back(std::move(path));
    }
  } else {
    paths = routeInGutters(std::move(leads), guttersOfFrames(layout.metrics()));
  }
  placeLabels(&paths, layout);
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
  return routeBundles(scene, layout);
}

std::vector<FlowPath> routeFlowsOf(const std::set<ptc::DeviceId>& devices, const MeshScene& scene,
                                   const MeshLayout& layout) {
  std::vector<FlowPath> own;
  if (devices.empty()) return own;
  double fastest = 0;
  for (const auto& flow : scene.flows) fastest = std::max(fastest, flow.rate);
  std::vector<Lead> leads;
  for (const auto& flow : scene.flows) {
    if (!devices.contains(flow.from) && !devices.contains(flow.to)) continue;
    if (flow.finished() || flow.from.node == flow.to.node) continue;
    const auto from = portOfCell(layout, flow.from), to = portOfCell(layout, flow.to);
    if (!from || !to) continue;
    if (leads.size() == kMostOwnLines) return {};
    FlowPath path;
    path.from = flow.from;
    path.to = flow.to;
    path.bytes = flow.total;
    path.width = kThinnest;
    path.live = flow.live;
    path.stalled = flow.stalled;
    path.speed = speedOf(flow.rate, fastest);
    leads.push_back({*from, *to, std::move(path)});
  }
  if (!layout.metrics().isTile()) {
    return routeInGutters(std::move(leads), guttersOfCells(layout.metrics()));
  }
  for (Lead& lead : leads) {
    FlowPath path = std::move(lead.path);
    path.line = curveBetween(lead.from.area, lead.to.area);
    pointAhead(&path);
    flatten(&path);
    own.push_back(std::move(path));
  }
  return own;
}

}  // namespace tessera::ui
