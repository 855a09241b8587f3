// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/tensor_canvas.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "ui/canvas/paint_tools.h"
#include "ui/format.h"
#include "ui/models/device_names.h"
#include "ui/theme.h"
#include "ui/views/accessible_tensor_canvas.h"
#include "ui/views/shard_looks.h"

namespace tessera::ui {
namespace {

constexpr double kBoxMargin = 16, kBoxTop = 30, kBandNames = 26, kHolders = 100, kBetween = 44;
constexpr double kShareOfBoxes = 0.6;  // of the height; the rest names the holders
constexpr double kWidest = 300, kNarrowest = 90, kBoxBottom = 16;
constexpr double kSlit = 1.5;      // between boxes, if there is room
constexpr double kReceivers = 44;  // further room for the names of those that receive
constexpr double kCutRow = 20;     // a shard is this high, if there is room
constexpr double kListRow = 17;
constexpr double kTextRoom = 13;    // height of a line of text
constexpr int kMostDescribed = 32;  // shards in the accessible description
constexpr double kStaleStrength = 0.45;

std::vector<ptc::Box> allBoxes(const TensorPicture& picture) {
  std::vector<ptc::Box> boxes;
  for (const auto* side : {&picture.before, &picture.after}) {
    for (const Shard& shard : *side) {
      boxes.insert(boxes.end(), shard.boxes.begin(), shard.boxes.end());
    }
  }
  return boxes;
}

QRectF slitted(const QRectF& rect) {
  const double x = rect.width() > 4 ? kSlit / 2 : 0, y = rect.height() > 4 ? kSlit / 2 : 0;
  return rect.adjusted(x, y, -x, -y);
}

}  // namespace

TensorCanvas::TensorCanvas(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("tensorCanvas"));
  setAccessibleName(tr("Shards of the tensor"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  installAccessibleTensorCanvas();
}

void TensorCanvas::setTensor(TensorLayouts::Ptr layouts, int tensor, DeviceLooks looks) {
  const bool same = layouts == m_layouts && tensor == m_tensor;
  if (same && looks == m_looks) return;
  m_looks = std::move(looks);
  if (!same) {
    m_layouts = std::move(layouts);
    m_tensor = tensor;
    m_picture = m_layouts ? m_layouts->picture(tensor) : TensorPicture();
    m_hovered.reset();
    m_current.reset();
    emit currentChanged();
  }
  QStringList words;
  for (std::size_t i = 0; i < std::min<std::size_t>(kMostDescribed, m_picture.before.size()); ++i) {
    words << tr("%1, held by %2").arg(rangesOf({false, i}), holdersText({false, i}));
  }
  setAccessibleDescription(words.join(QLatin1Char('\n')));
  resetAccessibleShards(this);
  relayout();
}

void TensorCanvas::setCompare(bool compare) {
  if (std::exchange(m_compare, compare) == compare) return;
  if (!compare && m_current && m_current->after) setCurrent(std::nullopt);
  resetAccessibleShards(this);
  relayout();
}

void TensorCanvas::setHighlighted(const std::set<ptc::DeviceId>& devices) {
  if (devices == m_highlighted) return;
  m_highlighted = devices;
  update();
}

void TensorCanvas::setStale(bool stale) {
  if (std::exchange(m_stale, stale) != stale) update();
}

void TensorCanvas::setCurrent(std::optional<At> at) {
  if (at == m_current) return;
  m_current = at;
  if (at) notifyAccessibleShard(this, *at);
  update();
  emit currentChanged();
}

void TensorCanvas::relayout() {
  m_tiles.clear();
  m_rowsOnly = true;
  m_before = m_after = TensorFrame();
  if (m_layouts && !m_picture.before.empty()) {
    const ptc::TensorSpec& spec = m_layouts->spec(m_tensor);
    const std::vector<ptc::Box> boxes = allBoxes(m_picture);
    const TensorFrame::Axes axes = TensorFrame::axesFor(spec, boxes);
    m_rowsOnly = std::ranges::all_of(boxes, [&](const ptc::Box& box) {
      return axes.column < 0 ||
             box[axes.column].size() == spec.shape[static_cast<std::size_t>(axes.column)];
    });
    const double shown = this->width();
    const double pictures = isComparing() ? 2 : 1;
    const double room =
        (shown - 2 * kBoxMargin - (pictures - 1) * kBetween - kReceivers) / pictures;
    const double wide = axes.column < 0 ? kNarrowest * 1.4 : kWidest;
    const double names = kBandNames + (m_rowsOnly ? kHolders : 0);
    const double width = std::clamp(room - names, kNarrowest, wide);
    const double most =
        std::max(60.0, (this->height() - kBoxTop - kBoxBottom) * (m_rowsOnly ? 1 : kShareOfBoxes));
    std::set<std::int64_t> starts;
    for (const ptc::Box& box : boxes) {
      if (axes.row >= 0) starts.insert(box[axes.row].begin);
    }
    const double height = std::min(most, std::max(TensorFrame::heightFor(spec, axes, width, most),
                                                  kCutRow * static_cast<double>(starts.size())));
    const double left = kBoxMargin + kBandNames;
    m_before = TensorFrame(spec, boxes, axes, QRectF(left, kBoxTop, width, height));
    addTiles(false);
    if (isComparing()) {
      const double right = left + width + (m_rowsOnly ? kHolders : 0) + kBetween + kBandNames;
      m_after = TensorFrame(spec, boxes, axes, QRectF(right, kBoxTop, width, height));
      addTiles(true);
    }
  }
  update();
}

void TensorCanvas::addTiles(bool after) {
  const TensorFrame& frame = after ? m_after : m_before;
  const auto add = [&](const ptc::Box& box, At at, const DeviceLook& look, bool labelled) {
    for (const QRectF& rect : frame.rectsOf(box)) {
      m_tiles.push_back({rect, at, look, labelled});
    }
  };
  if (!after) {
    for (std::size_t i = 0; i < m_picture.before.size(); ++i) {
      const Shard& shard = m_picture.before[i];
      const DeviceLook look = lookOfShard(m_looks, shard.holders);
      for (const ptc::Box& box : shard.boxes) add(box, {false, i}, look, true);
    }
    return;
  }
  // A cell has the hue of the shard that it comes from, so that splits and merges show themselves.
  std::vector<DeviceLook> looks;
  for (const Shard& shard : m_picture.before) looks.push_back(lookOfShard(m_looks, shard.holders));
  for (const ShardCell& cell : m_picture.cells) {
    add(cell.box, {true, cell.to}, lookOfPart(looks[cell.from], cell.part), true);
  }
}

double TensorCanvas::strengthOf(At at) const {
  if (m_stale) return kStaleStrength;
  if (m_highlighted.empty()) return 1;
  const bool held = std::ranges::any_of(
      shard(at).holders, [this](ptc::DeviceId device) { return m_highlighted.contains(device); });
  return held ? 1 : kFadedShard;
}

std::vector<QRectF> TensorCanvas::rectsOf(At at) const {
  std::vector<QRectF> rects;
  for (const ptc::Box& box : shard(at).boxes) {
    const auto more = frame(at.after).rectsOf(box);
    rects.insert(rects.end(), more.begin(), more.end());
  }
  return rects;
}

std::optional<TensorCanvas::At> TensorCanvas::shardAt(QPointF position) const {
  // The last tile is on top, where shards overlap.
  const auto tile = std::find_if(m_tiles.rbegin(), m_tiles.rend(),
                                 [&](const Tile& each) { return each.rect.contains(position); });
  return tile == m_tiles.rend() ? std::nullopt : std::optional(tile->at);
}

QString TensorCanvas::rangesOf(At at) const {
  QStringList lines;
  for (const ptc::Box& box : shard(at).boxes) {
    QStringList dims;
    for (int dim = 0; dim < box.rank(); ++dim) {
      dims << tr("dim %1: %2 to %3")
                  .arg(dim)
                  .arg(format::count(box[dim].begin), format::count(box[dim].end - 1));
    }
    lines << (dims.isEmpty() ? tr("the scalar") : dims.join(QStringLiteral(", ")));
  }
  return lines.join(QLatin1Char('\n'));
}

QString TensorCanvas::holdersText(At at) const {
  if (!at.after) return deviceNames(shard(at).holders);
  std::set<ptc::DeviceId> needers, sources;
  for (const ShardCell& cell : m_picture.cells) {
    if (cell.to != at.shard || cell.needers.empty()) continue;
    needers.insert(cell.needers.begin(), cell.needers.end());
    sources.insert(cell.sources.begin(), cell.sources.end());
  }
  QStringList words;
  std::vector<ptc::DeviceId> stay;
  std::ranges::set_difference(shard(at).holders, needers, std::back_inserter(stay));
  if (stay.size() == 1) words << tr("%1 stays").arg(deviceNames(stay));
  if (stay.size() > 1) words << tr("%1 stay").arg(deviceNames(stay));
  if (!needers.empty()) {
    words << tr("%1 ← %2").arg(deviceNames({needers.begin(), needers.end()}),
                               deviceNames({sources.begin(), sources.end()}));
  }
  return words.join(QStringLiteral(" · "));
}

QString TensorCanvas::shortHolders(At at) const {
  const auto& holders = shard(at).holders;
  if (!at.after) return deviceNames(holders);
  std::set<ptc::DeviceId> needers;
  for (const ShardCell& cell : m_picture.cells) {
    if (cell.to == at.shard) needers.insert(cell.needers.begin(), cell.needers.end());
  }
  std::vector<ptc::DeviceId> stay;
  std::ranges::set_difference(holders, needers, std::back_inserter(stay));
  QStringList words;
  if (!stay.empty()) words << deviceNames(stay);
  if (!needers.empty()) {
    words << QLatin1Char('+') + deviceNames({needers.begin(), needers.end()});
  }
  return words.join(QLatin1Char(' '));
}

void TensorCanvas::paintTile(QPainter& p, const Tile& tile) const {
  const double strength = strengthOf(tile.at);
  const QRectF rect = slitted(tile.rect);
  paintShard(p, rect, tile.look, strength);
}

void TensorCanvas::paintFrame(QPainter& p, bool after) const {
  const TensorFrame& shown = frame(after);
  const Theme& theme = Theme::current();
  const QFont heading = canvasFont(12, QFont::DemiBold), caption = canvasFont(11);
  const auto shape = [](const ptc::Layout& layout) { return format::shape(layout.mesh().shape()); };
  const QString title =
      !after              ? (isComparing() ? tr("now, %1") : tr("%1")).arg(shape(m_layouts->now()))
      : m_layouts->next() ? tr("after, %1").arg(shape(*m_layouts->next()))
                          : QString();
  textLeft(p, shown.area().left(), kBoxTop - 11, title, heading, theme.text);
  for (const TensorFrame::Sheet& sheet : shown.sheets()) {
    if (sheet.name.isEmpty()) continue;
    textLeft(p, sheet.area.left(), sheet.area.top() - 4, sheet.name, caption, theme.dim);
  }
  if (shown.hiddenSheets() > 0) {
    textLeft(p, shown.area().left(), shown.area().bottom() + 13,
             tr("and %1 more sheets")
                 .arg(format::count(static_cast<std::int64_t>(shown.hiddenSheets()))),
             caption, theme.dim);
  }
  for (const TensorFrame::Band& band : shown.bands()) {
    const double middle = (band.from + band.to) / 2;
    if (shown.bandsAreRows()) {
      textRight(p, shown.area().left() - 9, baselineAt(caption, middle), band.name, caption,
                theme.dim);
    } else {
      textCentered(p, middle, shown.sheets().front().area.top() - 4, band.name, caption, theme.dim);
    }
  }
}

// The label of a shard is in its box. The holders are beside the box if it reaches the right edge,
// else in a list below the picture.
void TensorCanvas::paintNames(QPainter& p, bool after) const {
  const Theme& theme = Theme::current();
  const QFont bold = canvasFont(11.5, QFont::DemiBold), small = canvasFont(11);
  const QRectF& area = frame(after).area();
  std::vector<double> used;
  for (const Tile& tile : m_tiles) {
    if (tile.at.after != after) continue;
    const QRectF rect = slitted(tile.rect);
    const double strength = strengthOf(tile.at);
    const QColor fill = fillOfShard(tile.look, strength);
    const QString label = shard(tile.at).label;
    const double width = widthOf(bold, label);
    if (rect.height() >= kTextRoom && rect.width() >= width + 12) {
      const QRectF back(rect.left() + 5, rect.top() + std::min(rect.height(), 24.0) / 2 - 7,
                        width + 8, 14);
      if (tile.look.pattern != Pattern::Solid) p.fillRect(back.intersected(rect), fill);
      textLeft(p, rect.left() + 9, baselineAt(bold, back.center().y()), label, bold, ink(fill));
    }
    const double middle = rect.center().y();
    const bool crowded = std::ranges::any_of(
        used, [&](double other) { return std::abs(other - middle) < kTextRoom; });
    if (!m_rowsOnly || crowded) continue;
    const double room = kHolders - 10 + (after || !isComparing() ? kReceivers : 0);
    textLeft(p, area.right() + 10, baselineAt(small, middle),
             QFontMetricsF(small).elidedText(shortHolders(tile.at), Qt::ElideRight, room), small,
             strength < 1 ? blend(theme.dim, theme.canvas, 0.6) : theme.dim);
    used.push_back(middle);
  }
  if (m_rowsOnly) return;
  const auto& shards = after ? m_picture.after : m_picture.before;
  double y = area.bottom() + 20;
  for (std::size_t i = 0; i < shards.size() && y < height() - 4; ++i, y += kListRow) {
    const bool last = y + kListRow >= height() - 4 && i + 1 < shards.size();
    if (last) {
      textLeft(
          p, area.left(), y,
          tr("and %1 more shards").arg(format::count(static_cast<std::int64_t>(shards.size() - i))),
          small, theme.dim);
      break;
    }
    textLeft(p, area.left(), y, shards[i].label, bold, theme.text);
    const double x = area.left() + std::max(22.0, widthOf(bold, shards[i].label) + 10);
    const double room = area.width() + kBetween - (x - area.left());
    textLeft(p, x, y,
             QFontMetricsF(small).elidedText(shortHolders({after, i}), Qt::ElideRight, room), small,
             strengthOf({after, i}) < 1 ? blend(theme.dim, theme.canvas, 0.6) : theme.dim);
  }
}

// Lines from the shards of before to the cells that are sent.
void TensorCanvas::paintLines(QPainter& p) const {
  std::vector<const ShardCell*> sent;
  for (const ShardCell& cell : m_picture.cells) {
    if (!cell.needers.empty()) sent.push_back(&cell);
  }
  const Theme& theme = Theme::current();
  const double from = m_before.area().right() + (m_rowsOnly ? kHolders - 8 : 8);
  const double to = m_after.area().left() - (m_after.bands().empty() ? 8 : kBandNames);
  p.setRenderHint(QPainter::Antialiasing);
  p.setBrush(Qt::NoBrush);
  if (sent.empty()) return;
  if (sent.size() > kMostLines) {
    const double y = m_before.area().center().y();
    p.setPen(QPen(theme.faint, canvasLine(1.6)));
    p.drawLine(QPointF(from + 8, y), QPointF(to - 2, y));
    p.drawPolyline(QPolygonF{{to - 9, y - 5}, {to - 2, y}, {to - 9, y + 5}});
    return;
  }
  for (const ShardCell* cell : sent) {
    const auto after = m_after.rectsOf(cell->box);
    const auto before = m_before.rectsOf(cell->box);
    if (after.empty() || before.empty()) continue;
    QColor color = theme.accent;
    color.setAlphaF(static_cast<float>(strengthOf({true, cell->to}) * 0.75));
    p.setPen(QPen(color, canvasLine(1.3)));
    const QPointF start(from, before.front().center().y()), end(to, after.front().center().y());
    const double bend = (to - from) * 0.5;
    QPainterPath path(start);
    path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end);
    p.drawPath(path);
    p.drawPolyline(QPolygonF{end + QPointF(-5, -3), end, end + QPointF(-5, 3)});
  }
}

void TensorCanvas::paintMark(QPainter& p) const {
  const auto outline = [&](At at, const QPen& pen) {
    p.setRenderHint(QPainter::Antialiasing, false);
    p.setBrush(Qt::NoBrush);
    p.setPen(pen);
    for (const QRectF& rect : rectsOf(at)) {
      p.drawRect(slitted(rect).toAlignedRect().adjusted(0, 0, -1, -1));
    }
  };
  const Theme& theme = Theme::current();
  if (m_hovered && m_hovered != m_current) outline(*m_hovered, QPen(theme.accent, canvasLine(1)));
  if (!m_current) return;
  outline(*m_current, QPen(theme.accent, canvasLine(2)));
  if (!hasFocus()) return;
  QPen focus(theme.text, 1, Qt::CustomDashLine, Qt::FlatCap);
  focus.setDashPattern({1, 2});
  p.setPen(focus);
  for (const QRectF& rect : rectsOf(*m_current)) {
    p.drawRect(rect.toAlignedRect().adjusted(-3, -3, 2, 2));
  }
}

void TensorCanvas::paintEvent(QPaintEvent*) {
  QPainter p(this);
  p.fillRect(rect(), Theme::current().canvas);
  if (m_tiles.empty()) return;
  for (const Tile& tile : m_tiles) paintTile(p, tile);
  p.setRenderHint(QPainter::Antialiasing);
  for (const bool after : {false, true}) {
    if (after && !isComparing()) break;
    paintFrame(p, after);
    paintNames(p, after);
  }
  if (isComparing()) paintLines(p);
  paintMark(p);
}

void TensorCanvas::resizeEvent(QResizeEvent*) { relayout(); }

void TensorCanvas::choose(At at) {
  setCurrent(at);
  const auto& holders = shard(at).holders;
  emit chosen({holders.begin(), holders.end()});
}

void TensorCanvas::keyPressEvent(QKeyEvent* event) {
  if (m_picture.before.empty()) return QWidget::keyPressEvent(event);
  const auto count = [this](bool after) {
    return (after ? m_picture.after : m_picture.before).size();
  };
  At at = m_current.value_or(At{});
  const bool moves = m_current.has_value();
  if (event->matches(QKeySequence::Copy)) {
    if (m_current) QGuiApplication::clipboard()->setText(rangesOf(*m_current));
    return;
  }
  switch (event->key()) {
    case Qt::Key_Down:
      if (moves && at.shard + 1 < count(at.after)) ++at.shard;
      break;
    case Qt::Key_Up:
      if (moves && at.shard > 0) --at.shard;
      break;
    case Qt::Key_Home:
      at.shard = 0;
      break;
    case Qt::Key_End:
      at.shard = count(at.after) - 1;
      break;
    case Qt::Key_Left:
    case Qt::Key_Right:
      at.after = isComparing() && event->key() == Qt::Key_Right;
      at.shard = std::min(at.shard, count(at.after) - 1);
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      choose(at);
      return;
    default:
      QWidget::keyPressEvent(event);
      event->ignore();  // so that Esc reaches the window
      return;
  }
  setCurrent(at);
}

void TensorCanvas::focusInEvent(QFocusEvent* event) {
  if (!m_current && !m_picture.before.empty() && event->reason() != Qt::MouseFocusReason) {
    setCurrent(At{});
  }
  update();
}

void TensorCanvas::focusOutEvent(QFocusEvent*) { update(); }

void TensorCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto at = shardAt(event->position())) choose(*at);
}

void TensorCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto at = shardAt(event->position());
  if (at == m_hovered) return;
  m_hovered = at;
  setCursor(at ? Qt::PointingHandCursor : Qt::ArrowCursor);
  update();
  std::set<ptc::DeviceId> devices;
  if (at) devices.insert(shard(*at).holders.begin(), shard(*at).holders.end());
  emit hovered(devices);
}

QString TensorCanvas::describe(At at) const {
  const Shard& each = shard(at);
  const QString words =
      tr("shard %1: %2, %3, %4")
          .arg(each.label, rangesOf(at).replace(QLatin1Char('\n'), QStringLiteral("; ")),
               format::bytes(each.bytes), holdersText(at));
  if (!isComparing()) return words;
  return at.after ? tr("after, %1").arg(words) : tr("now, %1").arg(words);
}

QString TensorCanvas::toolTipAt(QPointF position) const {
  const auto at = shardAt(position);
  if (!at) return {};
  const Shard& each = shard(*at);
  return tr("Shard %1\n%2\n%3, %4")
      .arg(each.label, rangesOf(*at), format::bytes(each.bytes), holdersText(*at));
}

bool TensorCanvas::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::ToolTip: {
      const auto* help = static_cast<QHelpEvent*>(event);
      const QString text = toolTipAt(help->pos());
      if (text.isEmpty()) {
        QToolTip::hideText();
      } else {
        QToolTip::showText(help->globalPos(), text, this);
      }
      return true;
    }
    case QEvent::Leave:
      if (m_hovered) {
        m_hovered.reset();
        update();
        emit hovered({});
      }
      break;
    case QEvent::PaletteChange:
      relayout();
      break;
    default:
      break;
  }
  return QWidget::event(event);
}

}  // namespace tessera::ui
