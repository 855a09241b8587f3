// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/mesh_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::ui {
namespace {

constexpr int kLargest = 148;  // fitting does not make cards wider than this
constexpr int kSmallestCard = 118;
constexpr int kSmallestCompact = 60;

// The cell widths that fitting tries, largest first. Few steps, so that resizing a window by a
// pixel does not resize every cell.
constexpr std::array kWidths = {148, 140, 132, 124, 118, 112, 104, 96, 88, 80, 72, 64, 60, 56,
                                52,  48,  44,  40,  36,  32,  28,  26, 24, 22, 20, 18, 17, 16,
                                15,  14,  13,  12,  11,  10,  9,   8,  7,  6,  5,  4,  3};

int columnsFor(int numCells) {
  if (numCells <= 1) return 1;
  if (numCells <= 4) return 2;
  return numCells <= 8 ? 4 : 8;
}

int rowsOf(int numCells, int columns) { return (numCells + columns - 1) / columns; }

int scaledBy(double scale, int length) { return static_cast<int>(std::lround(length * scale)); }

bool inMesh(const MeshScene::Node& node) {
  return std::any_of(node.cells.begin(), node.cells.end(),
                     [](const MeshScene::Cell& cell) { return cell.inMesh; });
}

bool hasFreeDevice(const MeshScene& scene) {
  for (const auto& node : scene.nodes) {
    for (const auto& cell : node.cells) {
      if (!cell.inMesh && !cell.taken) return true;
    }
  }
  return false;
}

int largestNode(const MeshScene& scene) {
  std::size_t most = 0;
  for (const auto& node : scene.nodes) most = std::max(most, node.cells.size());
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

void addCell(MeshLayout::Box* box, const MeshScene::Node& node, std::size_t cell) {
  box->cells.push_back(static_cast<int>(cell));
  box->devices.push_back(node.cells[cell].id);
}

}  // namespace

CellMetrics CellMetrics::of(int cellWidth) {
  CellMetrics m;
  m.width = cellWidth;
  if (cellWidth >= kSmallestCard) {
    m.scale = cellWidth / static_cast<double>(kLargest);
    m.height = scaledBy(m.scale, 112);
    m.gap = scaledBy(m.scale, 12);
    m.header = scaledBy(m.scale, 34);
    m.footer = scaledBy(m.scale, 14);
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

MeshLayout::MeshLayout(const MeshScene& scene, QSize viewport, double zoom, bool editable) {
  for (const int width : kWidths) {
    m_fittingWidth = width;
    arrange(scene, viewport.width(), width, editable);
    if (m_size.height() <= viewport.height() && m_size.width() <= viewport.width()) break;
  }
  const int wanted = std::clamp(static_cast<int>(std::lround(m_fittingWidth * zoom)), 3, 400);
  if (wanted != m_fittingWidth) arrange(scene, viewport.width(), wanted, editable);
  index();
}

void MeshLayout::arrange(const MeshScene& scene, int width, int cellWidth, bool editable) {
  m_metrics = CellMetrics::of(cellWidth);
  m_boxes.clear();
  m_rows.clear();
  m_poolAreas.clear();
  m_hasTray = false;
  m_dropZone = m_meshArea = QRect();
  m_size = QSize();
  if (scene.nodes.empty()) return;
  if (m_metrics.isTile()) {
    arrangeTiles(scene, width, editable);
  } else {
    arrangeCards(scene, width, editable);
  }
}

void MeshLayout::closeRow(std::size_t first) {
  if (first == m_boxes.size()) return;
  Row row{m_boxes[first].frame.top(), 0, first, m_boxes.size() - first};
  for (std::size_t i = first; i < m_boxes.size(); ++i) {
    row.bottom = std::max(row.bottom, m_boxes[i].frame.bottom());
  }
  m_rows.push_back(row);
}

void MeshLayout::arrangeCards(const MeshScene& scene, int width, bool editable) {
  const CellMetrics& m = m_metrics;
  const int most = largestNode(scene);
  const int columns = columnsFor(most);
  const Box whole = frameOf(m, columns, most);
  const int stride = whole.frame.width() + m.spacing.width();
  const int perRow = std::max(1, (width - 2 * m.margin + m.spacing.width()) / stride);
  const bool withZone = editable && (scene.jobName.isEmpty() || hasFreeDevice(scene));
  // While no device is known, all nodes are placed in the mesh area.
  const bool unknown = std::all_of(scene.nodes.begin(), scene.nodes.end(),
                                   [](const auto& node) { return node.cells.empty(); });

  int top = scaledBy(m.scale, 24);
  int slot = 0, mostFrames = 0;
  std::size_t first = 0;
  const auto nextRow = [&] {
    closeRow(first);
    if (m_rows.empty() || first == m_boxes.size()) return;
    top = m_rows.back().bottom + 1 + m.spacing.height();
    first = m_boxes.size();
    slot = 0;
  };
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const auto& node = scene.nodes[n];
    if (!unknown && !inMesh(node)) continue;
    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < node.cells.size(); ++c) {
      if (node.cells[c].inMesh) shown.push_back(c);
    }
    if (slot == perRow) nextRow();
    Box box = frameOf(m, columns, unknown ? most : static_cast<int>(shown.size()));
    box.node = static_cast<int>(n);
    box.skeleton = unknown;
    for (const std::size_t c : shown) addCell(&box, node, c);
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
  const int wantedFrames = std::min(perRow, std::max(2, mostFrames + (withZone && beside)));
  const int contentWidth = wantedFrames * stride - m.spacing.width();
  if (withZone && !unknown) {
    if (beside && slot > 0) {
      m_dropZone = QRect(m.margin + slot * stride, top, whole.frame.width(), rowHeight);
    } else {
      nextRow();
      const bool alone = m_boxes.empty();
      m_dropZone = QRect(m.margin, top, contentWidth, alone ? scaledBy(m.scale, 160) : 64);
      rowHeight = m_dropZone.height();
    }
  }
  closeRow(first);
  top += rowHeight + (rowHeight > 0 ? m.spacing.height() : 0);
  if (!unknown) {
    arrangeTray(scene, top, contentWidth);
    top = m_poolAreas.back().bottom() + 1 + m.spacing.height();
  }
  m_size = QSize(contentWidth + 2 * m.margin, top);
}

void MeshLayout::arrangeTray(const MeshScene& scene, int top, int width) {
  const bool roomy = m_metrics.detail == Detail::Card;
  const QSize chip = roomy ? QSize(56, 34) : QSize(44, 26);
  const QSize pitch = chip + QSize(6, 6);
  const int heading = 34;
  const int inset = 14;
  const int right = m_metrics.margin + width - inset;
  int x = m_metrics.margin + inset;
  int y = top + heading;
  int bottom = y + 50;
  std::size_t first = m_boxes.size();
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const auto& node = scene.nodes[n];
    Box box;
    box.node = static_cast<int>(n);
    box.pool = true;
    for (std::size_t c = 0; c < node.cells.size(); ++c) {
      if (!node.cells[c].inMesh) addCell(&box, node, c);
    }
    box.skeleton = node.cells.empty();
    box.numCells = box.skeleton ? 4 : static_cast<int>(box.cells.size());
    if (box.numCells == 0) continue;
    const int label = node.name.size() > 3 ? 42 : 30;
    const int fitting = std::max(1, (width - 2 * inset - label - 2) / pitch.width());
    box.cell = chip;
    box.pitch = pitch;
    box.columns = std::min(box.numCells, fitting);
    box.origin = QPoint(label, 8);
    box.frame = QRect(0, 0, label + box.columns * pitch.width() + 2,
                      10 + rowsOf(box.numCells, box.columns) * pitch.height());
    if (x + box.frame.width() - 1 > right && first != m_boxes.size()) {
      closeRow(first);
      first = m_boxes.size();
      x = m_metrics.margin + inset;
      y = m_rows.back().bottom + 11;
    }
    moveTo(&box, QPoint(x, y));
    x = box.frame.right() + 11;
    bottom = std::max(bottom, box.frame.bottom() + 1);
    m_boxes.push_back(std::move(box));
  }
  closeRow(first);
  m_poolAreas.push_back(QRect(m_metrics.margin, top, width, bottom + 12 - top));
  m_hasTray = true;
}

void MeshLayout::arrangeTiles(const MeshScene& scene, int width, bool withTray) {
  const CellMetrics& m = m_metrics;
  const int most = largestNode(scene);
  const Box whole = frameOf(m, columnsFor(most), most);
  const QSize stride = whole.frame.size() + m.spacing;
  const int perRow = std::max(1, (width - 2 * m.margin + m.spacing.width()) / stride.width());
  std::vector<std::size_t> sequence;
  for (const bool pool : {false, true}) {
    for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
      if (inMesh(scene.nodes[n]) != pool) sequence.push_back(n);
    }
  }
  const int top = 16;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto slot = static_cast<int>(i);
    if (slot % perRow == 0 && slot > 0) {
      closeRow(first);
      first = m_boxes.size();
    }
    const auto& node = scene.nodes[sequence[i]];
    Box box = whole;
    box.node = static_cast<int>(sequence[i]);
    box.pool = !inMesh(node);
    box.skeleton = node.cells.empty();
    if (!box.skeleton) box.numCells = static_cast<int>(node.cells.size());
    for (std::size_t c = 0; c < node.cells.size(); ++c) addCell(&box, node, c);
    moveTo(&box, QPoint(m.margin + slot % perRow * stride.width(),
                        top + slot / perRow * stride.height()));
    if (!box.pool) {
      m_meshArea |= box.frame;
    } else {
      // One outline per row of idle nodes. Adjacent rows of equal width share an outline.
      const int out = std::min(3, m.spacing.height() / 2);
      const QRect outline = box.frame.adjusted(-out - 1, -out, out + 1, out);
      if (!m_poolAreas.empty() && m_poolAreas.back().top() == outline.top()) {
        m_poolAreas.back() |= outline;
      } else {
        m_poolAreas.push_back(outline);
      }
    }
    m_boxes.push_back(std::move(box));
  }
  closeRow(first);
  std::vector<QRect> merged;
  for (const QRect& area : m_poolAreas) {
    if (!merged.empty() && merged.back().left() == area.left() &&
        merged.back().right() == area.right()) {
      merged.back() |= area;
    } else {
      merged.push_back(area);
    }
  }
  m_poolAreas = std::move(merged);

  const int usedFrames = std::min(perRow, static_cast<int>(sequence.size()));
  const int contentWidth = usedFrames * stride.width() - m.spacing.width();
  int bottom = m_rows.empty() ? top : m_rows.back().bottom + 1;
  if (m_poolAreas.empty() && withTray) {
    m_poolAreas.push_back(QRect(m.margin, bottom + 10, std::max(contentWidth, 320), 40));
    m_hasTray = true;
    bottom = m_poolAreas.back().bottom() + 1;
  }
  m_size = QSize(contentWidth + 2 * m.margin, bottom + 12);
}

void MeshLayout::index() {
  m_boxCells.clear();
  m_order.clear();
  for (std::size_t b = 0; b < m_boxes.size(); ++b) {
    const auto& devices = m_boxes[b].devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      m_boxCells.emplace(devices[i], BoxCell{static_cast<int>(b), static_cast<int>(i)});
      m_order.push_back(devices[i]);
    }
  }
}

QRect MeshLayout::poolRect() const {
  QRect all;
  for (const QRect& area : m_poolAreas) all |= area;
  return all;
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
  if (m_poolAreas.empty()) return false;
  for (const QRect& area : m_poolAreas) {
    if (area.contains(position)) return true;
  }
  if (m_dropZone.contains(position) || m_meshArea.contains(position)) return false;
  return position.y() > m_poolAreas.back().bottom();
}

}  // namespace tessera::ui
