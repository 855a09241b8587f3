// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/mesh_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::ui {
namespace {

constexpr int kUsual = 148;  // the width of a card at scale 1
constexpr int kSmallestCard = 118;
constexpr int kSmallestCompact = 60;

// The cell widths that fitting tries, largest first. Few steps, so that resizing a window by a
// pixel does not resize every cell.
constexpr std::array kWidths = {260, 244, 228, 212, 196, 184, 172, 160, 148, 140, 132, 124, 118,
                                112, 104, 96,  88,  80,  72,  64,  60,  56,  52,  48,  44,  40,
                                36,  32,  28,  26,  24,  22,  20,  18,  17,  16,  15,  14,  13,
                                12,  11,  10,  9,   8,   7,   6,   5,   4,   3};

// The largest shares of the viewport's height for other jobs and pool.
constexpr double kRestShare = 0.26;         // among tiles
constexpr double kRestShareOfCards = 0.42;  // whose chips have names
constexpr int kLeastApart = 5;              // the width of cells that can still be told apart
constexpr double kApartRestShare = 0.42;    // of such cells, rather than a block per node
constexpr int kLeastRest = 110;
constexpr int kTrayInset = 14;
constexpr int kJobHeader = 24;
constexpr int kLeastJobWidth = 210;  // room for its title

// A power of two, so that groups of equal size line up; a frame is about twice as wide as high.
int columnsFor(int numCells, int wide = 2) {
  if (numCells <= 1) return 1;
  if (numCells <= 4) return 2;
  if (numCells <= 8) return 4;
  int columns = 8;
  while (columns * columns < wide * numCells) columns *= 2;
  return columns;
}

int rowsOf(int numCells, int columns) { return (numCells + columns - 1) / columns; }

int scaledBy(double scale, int length) { return static_cast<int>(std::lround(length * scale)); }

bool hasFreeDevice(const MeshScene& scene) {
  for (const auto& node : scene.nodes) {
    for (const auto& cell : node.cells) {
      if (!cell.inMesh && !cell.taken) return true;
    }
  }
  return false;
}

// The cells of the largest frame of the mesh. By node also idle cells count, so that frames keep
// their places while a draft is edited.
int largestFrame(const MeshScene& scene) {
  std::size_t most = 0;
  for (const auto& group : scene.groups) {
    if (group.kind == MeshLayout::Kind::Mesh) most = std::max(most, group.cells.size());
  }
  if (scene.groupBy == GroupBy::Node || most == 0) {
    for (const auto& node : scene.nodes) most = std::max(most, node.cells.size());
  }
  return most == 0 ? 4 : static_cast<int>(most);
}

// Returns a frame around `numCells` cells, at the origin.
MeshLayout::Box frameOf(const CellMetrics& metrics, int columns, int numCells) {
  MeshLayout::Box box;
  box.columns = columns;
  box.numCells = numCells;
  box.cell = QSize(metrics.width, metrics.height);
  box.pitch = box.cell + QSize(metrics.gap, metrics.gap);
  const int side = metrics.isTile() ? metrics.footer : metrics.gap;
  box.origin = QPoint(side, metrics.header);
  box.frame = QRect(0, 0, columns * box.pitch.width() - metrics.gap + 2 * side,
                    metrics.header + rowsOf(numCells, columns) * box.pitch.height() - metrics.gap +
                        metrics.footer);
  return box;
}

void moveTo(MeshLayout::Box* box, QPoint position) {
  box->origin += position - box->frame.topLeft();
  box->frame.moveTopLeft(position);
}

}  // namespace

CellMetrics CellMetrics::of(int cellWidth) {
  CellMetrics m;
  m.width = cellWidth;
  if (cellWidth >= kSmallestCard) {
    m.scale = cellWidth / static_cast<double>(kUsual);
    m.height = scaledBy(m.scale, 112);
    m.gap = scaledBy(m.scale, 12);
    m.header = scaledBy(m.scale, 34);
    m.footer = scaledBy(m.scale, 14);
    const double larger = std::max(1.0, m.scale);
    m.spacing = QSize(scaledBy(larger, 40), scaledBy(larger, 24));
    m.radius = scaledBy(larger, 10);
    m.cellRadius = scaledBy(larger, 8);
    return m;
  }
  if (cellWidth >= kSmallestCompact) {
    m.detail = Detail::Compact;
    m.height = cellWidth >= 88 ? 62 : 54;
    m.gap = 8;
    m.header = 28;
    m.footer = 9;
    m.spacing = QSize(26, 18);
    m.margin = 24;
    m.radius = 8;
    m.cellRadius = 6;
    return m;
  }
  m.height = cellWidth >= 36 ? cellWidth * 3 / 4 : cellWidth;
  m.detail = cellWidth >= 36   ? Detail::Label
             : cellWidth >= 16 ? Detail::Number
             : cellWidth >= 5  ? Detail::Plain
                               : Detail::Block;
  m.gap = cellWidth >= 36 ? 4 : cellWidth >= 24 ? 3 : cellWidth >= 12 ? 2 : cellWidth >= 5 ? 1 : 0;
  m.header = cellWidth >= 16 ? 18 : cellWidth >= 9 ? 13 : 3;
  m.footer = cellWidth >= 16 ? 6 : cellWidth >= 9 ? 4 : 3;
  m.spacing = cellWidth >= 16 ? QSize(10, 8) : cellWidth >= 9 ? QSize(6, 6) : QSize(3, 3);
  m.margin = 20;
  m.radius = cellWidth >= 16 ? 5 : cellWidth >= 9 ? 4 : 2;
  m.cellRadius = cellWidth >= 36 ? 4 : cellWidth >= 16 ? 3 : 0;
  return m;
}

const std::array<MeshLayout::Small, 9> MeshLayout::kSmall = {{{{56, 34}, 6, 0, true},
                                                              {{44, 26}, 6, 0, true},
                                                              {{28, 20}, 4, 0, true},
                                                              {{16, 16}, 2, 14, false},
                                                              {{12, 12}, 2, 13, false},
                                                              {{9, 9}, 1, 0, false},
                                                              {{7, 7}, 1, 0, false},
                                                              {{5, 5}, 1, 0, false},
                                                              {{3, 3}, 0, 0, false}}};

MeshLayout::MeshLayout(const MeshScene& scene, QSize viewport, double zoom, bool editable) {
  for (const int width : kWidths) {
    m_fittingWidth = width;
    arrange(scene, viewport, width, 1, editable);
    if (m_size.height() <= viewport.height() && m_size.width() <= viewport.width()) break;
  }
  const int wanted = std::clamp(static_cast<int>(std::lround(m_fittingWidth * zoom)), 3, 400);
  if (wanted != m_fittingWidth) arrange(scene, viewport, wanted, zoom, editable);
  index(scene);
}

void MeshLayout::arrange(const MeshScene& scene, QSize viewport, int cellWidth, double zoom,
                         bool editable) {
  m_metrics = CellMetrics::of(cellWidth);
  m_boxes.clear();
  m_rows.clear();
  m_dropZone = m_meshArea = m_jobsArea = m_pool = QRect();
  m_size = QSize();
  if (scene.nodes.empty()) return;
  int contentWidth = 0;
  const int below = arrangeMesh(scene, viewport.width(), editable, &contentWidth);
  const bool alone = m_boxes.empty();
  // While no device is known, all nodes are placed in the mesh area.
  const bool unknown = !alone && m_boxes.front().skeleton;
  if (unknown) {
    m_size = QSize(contentWidth + 2 * m_metrics.margin, below);
    return;
  }
  const bool hasRest = scene.groups.size() > m_boxes.size();
  if (m_metrics.isTile() && hasRest) {
    contentWidth = std::max(contentWidth, viewport.width() - 2 * m_metrics.margin);
  }
  const double share = (m_metrics.isTile() ? kRestShare : kRestShareOfCards) * zoom;
  const int limit = alone ? viewport.height() - below - m_metrics.spacing.height()
                          : std::max(kLeastRest, static_cast<int>(viewport.height() * share));
  const int bottom =
      arrangeRest(scene, below, contentWidth, limit, !m_metrics.isTile() || editable);
  m_size = QSize(contentWidth + 2 * m_metrics.margin, bottom + m_metrics.spacing.height());
}

void MeshLayout::closeRow(std::size_t first) {
  if (first == m_boxes.size()) return;
  Row row{m_boxes[first].frame.top(), 0, first, m_boxes.size() - first};
  for (std::size_t i = first; i < m_boxes.size(); ++i) {
    row.bottom = std::max(row.bottom, m_boxes[i].frame.bottom());
  }
  m_rows.push_back(row);
}

int MeshLayout::arrangeMesh(const MeshScene& scene, int width, bool editable, int* contentWidth) {
  const CellMetrics& m = m_metrics;
  const int most = largestFrame(scene);
  const int columns = columnsFor(most);
  const Box whole = frameOf(m, columns, most);
  const int stride = whole.frame.width() + m.spacing.width();
  const int perRow = std::max(1, (width - 2 * m.margin + m.spacing.width()) / stride);
  const bool withZone =
      editable && !m.isTile() && (scene.jobName.isEmpty() || hasFreeDevice(scene));

  int top = m.isTile() ? 16 : scaledBy(m.scale, 24);
  int slot = 0, mostFrames = 0;
  bool unknown = false;
  std::size_t first = 0;
  const auto nextRow = [&] {
    closeRow(first);
    if (m_rows.empty() || first == m_boxes.size()) return;
    top = m_rows.back().bottom + 1 + m.spacing.height();
    first = m_boxes.size();
    slot = 0;
  };
  for (std::size_t g = 0; g < scene.groups.size(); ++g) {
    const MeshScene::Group& group = scene.groups[g];
    if (group.kind != Kind::Mesh) break;  // the groups of the mesh come first
    if (slot == perRow) nextRow();
    unknown = group.skeleton;
    Box box = frameOf(m, columns, unknown ? most : static_cast<int>(group.cells.size()));
    box.group = static_cast<int>(g);
    box.skeleton = unknown;
    moveTo(&box, QPoint(m.margin + slot * stride, top));
    m_meshArea |= box.frame;
    m_boxes.push_back(std::move(box));
    mostFrames = std::max(mostFrames, ++slot);
  }
  // The tallest frame determines the height of the row.
  int rowHeight = 0;
  for (std::size_t i = first; i < m_boxes.size(); ++i) {
    rowHeight = std::max(rowHeight, m_boxes[i].frame.height());
  }
  const bool beside = slot < perRow;
  const int leastFrames = m.isTile() ? 1 : 2;
  const int wantedFrames =
      std::min(perRow, std::max(leastFrames, mostFrames + (withZone && beside)));
  *contentWidth = wantedFrames * stride - m.spacing.width();
  if (withZone && !unknown) {
    if (beside && slot > 0) {
      m_dropZone = QRect(m.margin + slot * stride, top, whole.frame.width(), rowHeight);
    } else {
      nextRow();
      const bool alone = m_boxes.empty();
      m_dropZone = QRect(m.margin, top, *contentWidth, alone ? scaledBy(m.scale, 160) : 64);
      rowHeight = m_dropZone.height();
    }
  }
  closeRow(first);
  return top + rowHeight + (rowHeight > 0 ? m.spacing.height() : 0);
}

int MeshLayout::arrangeRest(const MeshScene& scene, int top, int width, int limit, bool withTray) {
  const std::size_t boxes = m_boxes.size(), rows = m_rows.size();
  int bottom = top;
  for (const Small& small : kSmall) {
    const bool last = &small == &kSmall.back();
    // No cell of the pool is larger than those of the mesh.
    if (!last && small.cell.width() > std::max(m_metrics.width, 5)) continue;
    if (!last && small.cell.width() > 44 && m_metrics.detail != Detail::Card) continue;
    m_boxes.resize(boxes);
    m_rows.resize(rows);
    m_jobsArea = m_pool = QRect();
    bottom = placeSmall(scene, small, top, width, withTray);
    const bool barelyApart = small.cell.width() == kLeastApart;
    if (bottom - top <= (barelyApart ? scaledBy(kApartRestShare / kRestShare, limit) : limit))
      break;
  }
  return bottom;
}

int MeshLayout::placeSmall(const MeshScene& scene, const Small& small, int top, int width,
                           bool withTray) {
  const QSize pitch = small.cell + QSize(small.gap, small.gap);
  const bool tight = small.cell.width() <= kLeastApart;
  const int between = small.chips ? 10 : small.header > 0 ? 6 : tight ? 3 : 4;
  int left = m_metrics.margin, right = m_metrics.margin + width;  // exclusive
  int x = left, y = top;
  std::size_t first = m_boxes.size();
  const auto place = [&](Box box) {
    if (x + box.frame.width() > right && first != m_boxes.size()) {
      closeRow(first);
      first = m_boxes.size();
      x = left;
      y = m_rows.back().bottom + 1 + between;
    }
    moveTo(&box, QPoint(x, y));
    x = box.frame.right() + 1 + between;
    m_boxes.push_back(std::move(box));
  };
  const auto boxOf = [&](std::size_t g) {
    const MeshScene::Group& group = scene.groups[g];
    Box box;
    box.group = static_cast<int>(g);
    box.kind = group.kind;
    box.skeleton = group.skeleton;
    box.chips = small.chips;
    box.numCells = group.skeleton ? 4 : static_cast<int>(group.cells.size());
    box.cell = small.cell;
    box.pitch = pitch;
    return box;
  };

  std::size_t g = m_boxes.size();  // the groups of the mesh come first
  for (; g < scene.groups.size() && scene.groups[g].kind == Kind::Job; ++g) {
    Box box = boxOf(g);
    const int inset = small.chips ? 8 : 6;
    const int fitting = std::max(1, (width - 2 * inset + small.gap) / pitch.width());
    box.columns = std::min({box.numCells, fitting, columnsFor(box.numCells, 6)});
    box.origin = QPoint(inset, std::max(kJobHeader, inset + 1));
    const int wanted = box.columns * pitch.width() - small.gap + 2 * inset;
    box.frame = QRect(
        0, 0, std::min(width, std::max(wanted, kLeastJobWidth)),
        box.origin.y() + rowsOf(box.numCells, box.columns) * pitch.height() - small.gap + inset);
    place(std::move(box));
    m_jobsArea |= m_boxes.back().frame;
  }
  closeRow(first);
  if (!m_jobsArea.isNull()) y = m_jobsArea.bottom() + 1 + m_metrics.spacing.height();
  const bool hasPool = g < scene.groups.size();
  if (!hasPool && !withTray) return m_jobsArea.isNull() ? top : m_jobsArea.bottom() + 1;
  const int trayTop = y;
  if (!hasPool) {
    m_pool = QRect(left, trayTop, std::max(width, 320), m_metrics.isTile() ? 40 : 96);
    return m_pool.bottom() + 1;
  }

  y += small.header > 0 || small.chips ? 34 : 28;
  left += kTrayInset;
  right -= kTrayInset;
  x = left;
  first = m_boxes.size();
  for (; g < scene.groups.size(); ++g) {
    Box box = boxOf(g);
    if (small.chips) {
      const int label = scene.groups[g].name.size() > 3 ? 42 : 30;
      const int fitting = std::max(1, (right - left - label - 2) / pitch.width());
      box.columns = std::min(box.numCells, fitting);
      box.origin = QPoint(label, small.gap + 2);
      box.frame = QRect(0, 0, label + box.columns * pitch.width() + 2,
                        small.gap + 4 + rowsOf(box.numCells, box.columns) * pitch.height());
    } else {
      const int edge = tight ? 2 : small.gap + 2;
      box.columns = std::min(box.numCells, columnsFor(box.numCells));
      box.origin = QPoint(edge, small.header > 0 ? small.header : edge);
      box.frame = QRect(
          0, 0, box.columns * pitch.width() - small.gap + 2 * edge,
          box.origin.y() + rowsOf(box.numCells, box.columns) * pitch.height() - small.gap + edge);
    }
    place(std::move(box));
  }
  closeRow(first);
  int bottom = m_rows.back().bottom + 1 + (small.chips ? 12 : 9);
  if (small.chips) bottom = std::max(bottom, trayTop + 96);
  m_pool = QRect(m_metrics.margin, trayTop, width, bottom - trayTop);
  return bottom;
}

void MeshLayout::index(const MeshScene& scene) {
  m_boxCells.clear();
  m_order.clear();
  for (std::size_t b = 0; b < m_boxes.size(); ++b) {
    Box& box = m_boxes[b];
    box.cells = scene.groups[static_cast<std::size_t>(box.group)].cells;
    box.devices.reserve(box.cells.size());
    for (const MeshScene::Place place : box.cells) {
      const ptc::DeviceId device = scene.at(place).id;
      m_boxCells.emplace(device,
                         BoxCell{static_cast<int>(b), static_cast<int>(box.devices.size())});
      box.devices.push_back(device);
      m_order.push_back(device);
    }
  }
}

QRect MeshLayout::cellRect(ptc::DeviceId device) const {
  const auto found = m_boxCells.find(device);
  if (found == m_boxCells.end()) return {};
  return m_boxes[static_cast<std::size_t>(found->second.box)].cellRect(found->second.place);
}

std::optional<int> MeshLayout::boxOf(ptc::DeviceId device) const {
  const auto found = m_boxCells.find(device);
  if (found == m_boxCells.end()) return std::nullopt;
  return found->second.box;
}

std::optional<std::size_t> MeshLayout::boxAt(QPoint position) const {
  auto row = std::upper_bound(m_rows.begin(), m_rows.end(), position.y(),
                              [](int y, const Row& r) { return y < r.top; });
  if (row == m_rows.begin()) return std::nullopt;
  --row;
  const auto begin = m_boxes.begin() + static_cast<std::ptrdiff_t>(row->first);
  auto box = std::upper_bound(begin, begin + static_cast<std::ptrdiff_t>(row->count), position.x(),
                              [](int x, const Box& b) { return x < b.frame.left(); });
  if (box == begin) return std::nullopt;
  --box;
  if (!box->frame.contains(position)) return std::nullopt;
  return static_cast<std::size_t>(box - m_boxes.begin());
}

std::optional<ptc::DeviceId> MeshLayout::deviceAt(QPoint position) const {
  const auto at = boxAt(position);
  if (!at) return std::nullopt;
  const Box& box = m_boxes[*at];
  const QPoint local = position - box.origin;
  if (local.x() < 0 || local.y() < 0) return std::nullopt;
  const int column = local.x() / box.pitch.width();
  const int row = local.y() / box.pitch.height();
  if (column >= box.columns || local.x() % box.pitch.width() >= box.cell.width() ||
      local.y() % box.pitch.height() >= box.cell.height()) {
    return std::nullopt;
  }
  const auto place = static_cast<std::size_t>(row * box.columns + column);
  if (place >= box.devices.size()) return std::nullopt;
  return box.devices[place];
}

std::optional<int> MeshLayout::headerAt(QPoint position) const {
  const auto at = boxAt(position);
  if (!at || !m_boxes[*at].header().contains(position)) return std::nullopt;
  return static_cast<int>(*at);
}

bool MeshLayout::isPoolAt(QPoint position) const {
  if (m_pool.isNull()) return false;
  if (m_pool.contains(position)) return true;
  for (const QRect& area : {m_dropZone, m_meshArea, m_jobsArea}) {
    if (area.contains(position)) return false;
  }
  return position.y() > m_pool.bottom();
}

std::optional<int> MeshLayout::jobAt(QPoint position) const {
  const auto at = boxAt(position);
  if (!at || m_boxes[*at].kind != Kind::Job) return std::nullopt;
  return static_cast<int>(*at);
}

}  // namespace tessera::ui
