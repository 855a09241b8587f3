// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/model_map.h"

#include <QElapsedTimer>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ui/canvas/paint_tools.h"
#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/picture/svg_device.h"
#include "ui/theme.h"
#include "ui/views/shard_looks.h"
#include "ui/views/tensor_frame.h"

namespace tessera::ui {
namespace {

constexpr double kMapNames = 104, kMapMargin = 16, kColumnGap = 6, kMapHeader = 46, kSideGap = 30;
constexpr double kMapStrip = 14, kStripGap = 8, kStageGap = 10, kLargestRow = 40, kLayerRow = 260;
constexpr std::int64_t kSmall = 100;  // tensors with this share of the bytes of the largest
constexpr double kLeastRow = 5, kLeastCut = 1.5, kLeastColumn = 12;
constexpr int kStaleAlpha = 130;

/// "gate_proj" of "mlp.gate_proj": columns are narrow.
QString columnName(const TensorGroup& group) {
  return group.shortName.section(QLatin1Char('.'), -1);
}

}  // namespace

ModelMap::ModelMap(QWidget* parent) : QAbstractScrollArea(parent) {
  setObjectName(QStringLiteral("modelMap"));
  setAccessibleName(tr("Tensors of the model"));
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  verticalScrollBar()->setSingleStep(24);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
}

bool ModelMap::comparing() const {
  return m_content.compare && m_content.layouts && m_content.layouts->next() != nullptr;
}

void ModelMap::setContent(Content content) {
  if (content == m_content) return;
  if (content.layouts != m_content.layouts) {
    m_parts.clear();
    m_current.reset();
    m_hoveredTensor.reset();
  }
  m_content = std::move(content);
  relayout();
}

void ModelMap::setHighlighted(const std::set<ptc::DeviceId>& devices) {
  if (devices == m_highlighted) return;
  m_highlighted = devices;
  m_dirty = true;
  viewport()->update();
}

void ModelMap::setStale(bool stale) {
  if (std::exchange(m_stale, stale) != stale) viewport()->update();
}

const ModelMap::Parts& ModelMap::partsOf(bool after, int tensor) const {
  const auto key = std::pair(after, m_content.layouts->lookAlike(after, tensor));
  const auto [at, added] = m_parts.try_emplace(key);
  Parts& out = at->second;
  if (!added) return out;
  const ptc::TensorSpec& spec = m_content.layouts->spec(tensor);
  std::vector<ptc::Box> boxes;
  std::vector<const std::vector<ptc::DeviceId>*> holders;
  m_content.layouts->forEachBox(after, tensor, [&](const ptc::Box& box, const auto& devices) {
    boxes.push_back(box);
    holders.push_back(&devices);
  });
  TensorFrame::Axes axes = TensorFrame::axesFor(spec, boxes);
  // A vector lies in its row.
  if (axes.column < 0) std::swap(axes.row, axes.column);
  const auto range = [&](const ptc::Box& box, int dim) {
    if (dim < 0) return std::pair(0.0, 1.0);
    const auto size = static_cast<double>(spec.shape[static_cast<std::size_t>(dim)]);
    return std::pair(static_cast<double>(box[dim].begin) / size,
                     static_cast<double>(box[dim].end) / size);
  };
  std::set<double> starts;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const auto [top, bottom] = range(boxes[i], axes.row);
    const auto [left, right] = range(boxes[i], axes.column);
    starts.insert(top);
    out.parts.push_back({QRectF(QPointF(left, top), QPointF(right, bottom)), *holders[i]});
  }
  out.rows = std::max<std::size_t>(1, starts.size());
  for (std::size_t i = 0; i < out.parts.size(); ++i) {
    for (const ptc::DeviceId device : out.parts[i].holders) out.held.emplace_back(device, i);
  }
  std::ranges::sort(out.held);
  return out;
}

double ModelMap::shift(bool after) const { return after ? m_side + kSideGap : 0; }

void ModelMap::relayout() {
  m_places.clear();
  m_columns.clear();
  m_rows.clear();
  m_stamps.clear();
  m_dirty = true;
  m_height = 0;
  viewport()->update();
  if (!m_content.layouts) return;
  const TensorLayouts& layouts = *m_content.layouts;
  const double sides = comparing() ? 2 : 1;
  m_side = (viewport()->width() - kMapNames - 2 * kMapMargin - (sides - 1) * kSideGap) / sides;
  if (m_side < 40) return;

  std::vector<std::size_t> inLayers, first, last;
  std::size_t cuts = 1;  // along the height of any tensor
  std::int64_t largest = 0;
  for (const std::size_t g : m_content.groups) {
    const TensorGroup& group = layouts.groups()[g];
    const ptc::TensorSpec& spec = layouts.spec(group.tensors.front());
    if (spec.place == ptc::StagePlace::kLayer) {
      inLayers.push_back(g);
      largest = std::max(largest, group.bytes);
      cuts = std::max(cuts, partsOf(false, group.tensors.front()).rows);
      if (comparing()) cuts = std::max(cuts, partsOf(true, group.tensors.front()).rows);
    } else if (!m_content.layer) {
      (spec.place == ptc::StagePlace::kLast ? last : first).push_back(g);
    }
  }
  // Norms and biases share the last column.
  std::vector<std::vector<std::size_t>> columns;
  std::vector<std::size_t> small;
  for (const std::size_t g : inLayers) {
    const bool isSmall = layouts.groups()[g].bytes < largest / kSmall;
    if (isSmall) {
      small.push_back(g);
    } else {
      columns.push_back({g});
    }
  }
  if (!small.empty()) columns.push_back(small);
  const std::int64_t numLayers = m_content.layer ? 1 : layouts.now().collection().num_layers();
  const auto& stages = layouts.now().stage_of_layer();
  const std::int64_t numStages = layouts.now().mesh().shape()[ptc::Axis::kPp];
  const double strips = static_cast<double>(first.size() + last.size()) * (kMapStrip + kStripGap);
  const double gaps = m_content.layer ? 0 : kStageGap * static_cast<double>(numStages);
  const double room = viewport()->height() - kMapHeader - kMapMargin - strips - gaps;
  const double least =
      std::max(kLeastRow, kLeastCut * static_cast<double>(std::min<std::size_t>(cuts, 8)) + 1.5);
  const double row = std::clamp(room / static_cast<double>(std::max<std::int64_t>(1, numLayers)),
                                least, m_content.layer ? kLayerRow : kLargestRow);

  double y = kMapHeader;
  const auto strip = [&](std::size_t g) {
    const TensorGroup& group = layouts.groups()[g];
    const double width = (m_side - kColumnGap * static_cast<double>(group.tensors.size() - 1)) /
                         static_cast<double>(group.tensors.size());
    double x = kMapNames + kMapMargin;
    for (const int tensor : group.tensors) {
      m_places.push_back({g, tensor, QRectF(x, y, std::max(1.0, width), kMapStrip)});
      x += width + kColumnGap;
    }
    m_rows.push_back({group.shortName, y + kMapStrip / 2, true});
    y += kMapStrip + kStripGap;
  };
  for (const std::size_t g : first) strip(g);

  // Columns are as wide as the square root of their bytes: large tensors are large, small ones
  // stay visible.
  double weights = 0;
  const auto weight = [&](const std::vector<std::size_t>& column) {
    std::int64_t bytes = 1;
    for (const std::size_t g : column) bytes += layouts.groups()[g].bytes;
    return std::sqrt(static_cast<double>(bytes));
  };
  for (const auto& column : columns) weights += weight(column);
  std::map<std::size_t, std::pair<double, double>> spans;  // by group: left, width
  const auto count = static_cast<double>(columns.size());
  const double narrow =
      std::min(kLeastColumn, (m_side - kColumnGap * (count - 1)) / std::max(1.0, count) * 0.6);
  const double shared = m_side - kColumnGap * (count - 1) - narrow * count;
  double x = kMapNames + kMapMargin;
  for (const auto& column : columns) {
    const double width = narrow + shared * weight(column) / weights;
    const double each = width / static_cast<double>(column.size());
    for (std::size_t i = 0; i < column.size(); ++i) {
      spans[column[i]] = {x + each * static_cast<double>(i), each};
    }
    m_columns.emplace_back(column.size() == 1 ? columnName(layouts.groups()[column.front()])
                                              : tr("small (%1)").arg(column.size()),
                           x + width / 2);
    x += width + kColumnGap;
  }
  std::map<std::int64_t, double> tops;
  for (std::int64_t layer = 0; layer < layouts.now().collection().num_layers(); ++layer) {
    if (m_content.layer && *m_content.layer != layer) continue;
    const auto at = static_cast<std::size_t>(layer);
    if (!tops.empty() && at < stages.size() && stages[at] != stages[at - 1]) y += kStageGap;
    tops[layer] = y;
    const bool opens = layer == 0 || (at < stages.size() && stages[at] != stages[at - 1]);
    const auto every = static_cast<std::int64_t>(std::ceil(14 / row));
    if (m_content.layer || opens || layer % std::max<std::int64_t>(1, every) == 0) {
      QString name = tr("layer %1").arg(layer);
      if (numStages > 1 && (opens || m_content.layer))
        name = tr("pp %1 · layer %2").arg(stages[at]).arg(layer);
      if (m_rows.empty() || y + row / 2 - m_rows.back().middle >= 12) {
        m_rows.push_back({name, y + row / 2, false});
      }
    }
    y += row;
  }
  for (const std::size_t g : inLayers) {
    std::map<std::int64_t, std::vector<int>> byLayer;
    for (const int tensor : layouts.groups()[g].tensors) {
      byLayer[layouts.spec(tensor).layer].push_back(tensor);
    }
    const auto [left, width] = spans[g];
    for (const auto& [layer, tensors] : byLayer) {
      const auto top = tops.find(layer);
      if (top == tops.end()) continue;
      const double each = width / static_cast<double>(tensors.size());
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        m_places.push_back(
            {g, tensors[i],
             QRectF(left + each * static_cast<double>(i), top->second,
                    std::max(1.0, each - (each > 3 ? 1 : 0)), row - std::min(2.0, row * 0.2))});
      }
    }
  }
  y += kStripGap;
  for (const std::size_t g : last) strip(g);
  m_height = y + kMapMargin;
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(m_height) - viewport()->height()));
}

QRect ModelMap::pixelsOf(const Place& place, bool after) const {
  const qreal ratio = devicePixelRatioF();
  const QRectF area = place.rect.translated(shift(after), -verticalScrollBar()->value());
  const auto pixel = [ratio](double at) { return static_cast<int>(std::lround(at * ratio)); };
  const int left = pixel(area.left()), top = pixel(area.top());
  return {left, top, std::max(1, pixel(area.right()) - left),
          std::max(1, pixel(area.bottom()) - top)};
}

void ModelMap::drawParts(QPainter& p, const QRectF& area, bool after, const Parts& parts,
                         std::span<const std::size_t> chosen, double strength) const {
  QPoint last(-1, -1);
  for (const std::size_t index : chosen) {
    const Part& part = parts.parts[index];
    QRectF rect(area.left() + part.at.left() * area.width(),
                area.top() + part.at.top() * area.height(), part.at.width() * area.width(),
                part.at.height() * area.height());
    // Thousands of parts, as of a shard per GPU, cost no more than their pixels.
    if (rect.width() < 1 || rect.height() < 1) {
      const QPoint pixel(static_cast<int>(rect.center().x()), static_cast<int>(rect.center().y()));
      if (std::exchange(last, pixel) == pixel) continue;
      rect.setWidth(std::max(1.0, rect.width()));
      rect.setHeight(std::max(1.0, rect.height()));
    }
    const double x = rect.width() > 5 && part.at.width() < 1 ? 0.5 : 0;
    const double y = rect.height() > 4 && part.at.height() < 1 ? 0.5 : 0;
    rect.adjust(x, y, -x, -y);
    paintShard(p, rect, lookOfShard(after ? m_content.after : m_content.before, part.holders),
               strength);
  }
}

const QImage& ModelMap::stampOf(const Stamp& stamp, int tensor) const {
  const auto [at, added] = m_stamps.try_emplace(stamp);
  QImage& image = at->second;
  if (!added) return image;
  const qreal ratio = devicePixelRatioF();
  image = QImage(stamp.width, stamp.height, QImage::Format_RGB32);
  image.setDevicePixelRatio(ratio);
  image.fill(Theme::current().canvas);
  const Parts& parts = partsOf(stamp.after, tensor);
  std::vector<std::size_t> all(parts.parts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  QPainter p(&image);
  drawParts(p, QRectF(QPointF(0, 0), QSizeF(image.size()) / ratio), stamp.after, parts, all,
            stamp.faded ? kFadedShard : 1);
  return image;
}

std::vector<std::size_t> ModelMap::heldOf(const Parts& parts) const {
  std::vector<std::size_t> held;
  if (m_highlighted.size() < parts.held.size()) {
    for (const ptc::DeviceId device : m_highlighted) {
      auto at = std::ranges::lower_bound(parts.held, std::pair(device, std::size_t{0}));
      for (; at != parts.held.end() && at->first == device; ++at) held.push_back(at->second);
    }
  } else {
    for (const auto& [device, part] : parts.held) {
      if (m_highlighted.contains(device)) held.push_back(part);
    }
  }
  std::ranges::sort(held);
  held.erase(std::ranges::unique(held).begin(), held.end());
  return held;
}

void ModelMap::drawTensor(QPainter& p, bool after, const Place& place, bool isStamped) const {
  const qreal ratio = devicePixelRatioF();
  const QRect pixels = pixelsOf(place, after);
  const QRectF area(QPointF(pixels.topLeft()) / ratio, QSizeF(pixels.size()) / ratio);
  const Parts& parts = partsOf(after, place.tensor);
  const std::vector<std::size_t> held =
      m_highlighted.empty() ? std::vector<std::size_t>() : heldOf(parts);
  const bool faded = !m_highlighted.empty() && held.size() < parts.parts.size();
  const Stamp stamp{after, m_content.layouts->lookAlike(after, place.tensor), pixels.width(),
                    pixels.height(), faded};
  if (!isStamped) {
    std::vector<std::size_t> all(parts.parts.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    drawParts(p, area, after, parts, all, faded ? kFadedShard : 1);
  } else {
    p.drawImage(area.topLeft(), stampOf(stamp, place.tensor));
  }
  if (faded) drawParts(p, area, after, parts, held, 1);
}

void ModelMap::drawNames(QPainter& p) const {
  const Theme& theme = Theme::current();
  const QFont small = canvasFont(11), strong = canvasFont(11, QFont::DemiBold);
  for (const RowName& row : m_rows) {
    const QFont& font = row.strong ? strong : small;
    const QString text = QFontMetricsF(font).elidedText(row.text, Qt::ElideMiddle, kMapNames);
    textRight(p, kMapNames + kMapMargin - 9, baselineAt(font, row.middle), text, font,
              row.strong ? theme.text : theme.dim);
  }
  const TensorLayouts& layouts = *m_content.layouts;
  for (const bool after : {false, true}) {
    if (after && !comparing()) break;
    const double left = kMapNames + kMapMargin + shift(after);
    const QString shape = format::shape((after ? *layouts.next() : layouts.now()).mesh().shape());
    const QString title = !comparing() ? tr("mesh %1").arg(shape)
                          : after      ? tr("after, %1").arg(shape)
                                       : tr("now, %1").arg(shape);
    textLeft(p, left, 18, title, canvasFont(12, QFont::DemiBold), theme.text);
    double free = left;
    for (const auto& [name, middle] : m_columns) {
      const double width = widthOf(small, name);
      const double from = std::max(free, middle + shift(after) - width / 2);
      if (from + width > left + m_side + 12 || from > middle + shift(after)) continue;
      textLeft(p, from, kMapHeader - 8, name, small, theme.dim);
      free = from + width + 8;
    }
  }
}

void ModelMap::draw() {
  QElapsedTimer timer;
  timer.start();
  const qreal ratio = devicePixelRatioF();
  const QSize pixels = (QSizeF(viewport()->size()) * ratio).toSize();
  if (m_picture.size() != pixels) m_picture = QImage(pixels, QImage::Format_RGB32);
  if (m_picture.devicePixelRatio() != ratio) m_stamps.clear();
  m_picture.setDevicePixelRatio(ratio);
  m_picture.fill(Theme::current().canvas);
  QPainter p(&m_picture);
  drawAll(p, true);
  m_dirty = false;
  m_drawing = static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void ModelMap::drawAll(QPainter& p, bool isStamped) const {
  const int scrolled = verticalScrollBar()->value();
  const double top = scrolled, bottom = scrolled + viewport()->height();
  for (const bool after : {false, true}) {
    if (after && !comparing()) break;
    for (const Place& place : m_places) {
      if (place.rect.bottom() < top || place.rect.top() > bottom) continue;
      drawTensor(p, after, place, isStamped);
    }
  }
  p.save();
  p.translate(0, -scrolled);
  p.setRenderHint(QPainter::Antialiasing);
  if (m_content.layouts && m_height > 0) drawNames(p);
  p.restore();
}

void ModelMap::paintEvent(QPaintEvent* event) {
  ++m_paintCount;
  if (m_dirty) draw();
  QPainter p(viewport());
  if (paintsPicture(p, *viewport())) {
    p.fillRect(viewport()->rect(), Theme::current().canvas);
    drawAll(p, false);
  } else {
    p.drawImage(QPoint(0, 0), m_picture);
  }
  if (m_hoveredTensor) {
    const QRectF rect = rectOf(m_hoveredTensor->first, m_hoveredTensor->second);
    p.setPen(QPen(Theme::current().accent, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(rect.toAlignedRect().adjusted(-1, -1, 0, 0));
  }
  if (hasFocus() && m_current) {
    QPen focus(Theme::current().text, 1, Qt::CustomDashLine, Qt::FlatCap);
    focus.setDashPattern({1, 2});
    p.setPen(focus);
    p.drawRect(rectOf(*m_current, false).toAlignedRect().adjusted(-3, -3, 2, 2));
  }
  if (m_stale) {
    QColor veil = Theme::current().canvas;
    veil.setAlpha(kStaleAlpha);
    p.fillRect(event->rect(), veil);
  }
}

QRectF ModelMap::rectOf(int tensor, bool after) const {
  const auto place = std::ranges::find(m_places, tensor, &Place::tensor);
  if (place == m_places.end()) return {};
  return place->rect.translated(shift(after), -verticalScrollBar()->value());
}

std::optional<ModelMap::Hit> ModelMap::hitAt(QPoint position) const {
  if (!m_content.layouts) return {};
  for (const bool after : {false, true}) {
    if (after && !comparing()) break;
    const QPointF at = position + QPointF(-shift(after), verticalScrollBar()->value());
    const auto place =
        std::ranges::find_if(m_places, [&](const Place& each) { return each.rect.contains(at); });
    if (place == m_places.end()) continue;
    const QPointF inside((at.x() - place->rect.left()) / place->rect.width(),
                         (at.y() - place->rect.top()) / place->rect.height());
    Hit hit{place->group, place->tensor, after, {}};
    for (const Part& part : partsOf(after, place->tensor).parts) {
      if (part.at.contains(inside)) hit.holders = part.holders;
    }
    return hit;
  }
  return {};
}

void ModelMap::resizeEvent(QResizeEvent*) { relayout(); }

void ModelMap::scrollContentsBy(int, int) {
  m_dirty = true;
  viewport()->update();
}

void ModelMap::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    m_stamps.clear();
    m_dirty = true;
    viewport()->update();
  }
  QAbstractScrollArea::changeEvent(event);
}

void ModelMap::setCurrent(std::optional<int> tensor) {
  m_current = tensor;
  if (tensor) {
    const QRectF rect = rectOf(*tensor, false);
    QScrollBar* bar = verticalScrollBar();
    if (rect.top() < 8) bar->setValue(bar->value() + static_cast<int>(rect.top()) - 8);
    if (rect.bottom() > viewport()->height() - 8) {
      bar->setValue(bar->value() + static_cast<int>(rect.bottom()) - viewport()->height() + 8);
    }
    setAccessibleDescription(QString::fromStdString(m_content.layouts->spec(*tensor).name));
  }
  viewport()->update();
}

// The nearest tensor in a direction: along the axis of the key first.
std::optional<int> ModelMap::neighbour(int tensor, int key) const {
  const QPointF from = rectOf(tensor, false).center();
  const bool across = key == Qt::Key_Left || key == Qt::Key_Right;
  const double sign = key == Qt::Key_Left || key == Qt::Key_Up ? -1 : 1;
  std::optional<int> best;
  double least = 0;
  for (const Place& place : m_places) {
    const QPointF by = rectOf(place.tensor, false).center() - from;
    const double along = sign * (across ? by.x() : by.y());
    const double aside = std::abs(across ? by.y() : by.x());
    if (along < 0.5) continue;
    const double distance = along + 20 * aside;
    if (best && distance >= least) continue;
    best = place.tensor;
    least = distance;
  }
  return best;
}

void ModelMap::keyPressEvent(QKeyEvent* event) {
  const bool known =
      m_current && std::ranges::find(m_places, *m_current, &Place::tensor) != m_places.end();
  if (m_places.empty()) return event->ignore();
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const auto next =
          known ? neighbour(*m_current, event->key()) : std::optional(m_places.front().tensor);
      if (next) setCurrent(next);
      return;
    }
    case Qt::Key_Home:
      return setCurrent(m_places.front().tensor);
    case Qt::Key_End:
      return setCurrent(m_places.back().tensor);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (!known) return;
      emit chosen(std::ranges::find(m_places, *m_current, &Place::tensor)->group, *m_current, {});
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
      if (event->key() == Qt::Key_Escape) event->ignore();
  }
}

void ModelMap::focusInEvent(QFocusEvent* event) {
  const bool byKey =
      event->reason() != Qt::MouseFocusReason && event->reason() != Qt::ActiveWindowFocusReason;
  if (byKey && !m_current && !m_places.empty()) setCurrent(m_places.front().tensor);
  viewport()->update();
}

void ModelMap::focusOutEvent(QFocusEvent*) { viewport()->update(); }

void ModelMap::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto hit = hitAt(event->position().toPoint())) {
    emit chosen(hit->group, hit->tensor, {hit->holders.begin(), hit->holders.end()});
  }
}

void ModelMap::mouseMoveEvent(QMouseEvent* event) {
  const auto hit = hitAt(event->position().toPoint());
  viewport()->setCursor(hit ? Qt::PointingHandCursor : Qt::ArrowCursor);
  m_hoveredTensor = hit ? std::optional(std::pair(hit->tensor, hit->after)) : std::nullopt;
  viewport()->update();
  std::set<ptc::DeviceId> devices;
  if (hit) devices.insert(hit->holders.begin(), hit->holders.end());
  emit hovered(devices);
}

bool ModelMap::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto hit = hitAt(help->pos());
    if (hit) {
      const ptc::TensorSpec& spec = m_content.layouts->spec(hit->tensor);
      QToolTip::showText(help->globalPos(),
                         tr("%1\n%2 %3, %4\nthis part on %5")
                             .arg(QString::fromStdString(spec.name),
                                  QString::fromStdString(ptc::ToString(spec.shape)),
                                  format::word(ptc::ToString(spec.dtype)),
                                  format::bytes(m_content.layouts->bytesOf(hit->tensor)),
                                  deviceNames(hit->holders)),
                         viewport());
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  if (event->type() == QEvent::Leave && m_hoveredTensor) {
    m_hoveredTensor.reset();
    viewport()->update();
    emit hovered({});
  }
  return QAbstractScrollArea::viewportEvent(event);
}

}  // namespace tessera::ui
