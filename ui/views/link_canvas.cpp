// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/link_canvas.h"

#include <QEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/views/accessible_link_canvas.h"

namespace tessera::ui {
namespace {

constexpr int kTop = 48;        // of the first row: "to" and the names of the columns
constexpr int kFromWidth = 44;  // the word "from"
constexpr int kNameGap = 10;    // between names and cells
constexpr int kBarsGap = 34;    // between cells and bars
constexpr int kBarWidth = 96;
constexpr int kBarNumber = 64;
constexpr int kBarColumn = kBarWidth + kBarNumber;
constexpr int kSentenceWidth = 190;
constexpr int kBars = kBarColumn + kSentenceWidth;
constexpr int kSentence = 40;     // below the last row
constexpr int kNumberCell = 26;   // the smallest cell with a number
constexpr int kClickCell = 6;     // the smallest cell that is easy to click
constexpr int kSomeParties = 64;  // up to this number cells have that size
constexpr int kFewParties = 16;   // up to this number cells keep room for their numbers
constexpr double kDimmed = 0.45;  // stale
constexpr double kLegible = 4.5;
constexpr double kSmallStrength = 0.35;

int gapOf(int pitch) { return pitch >= 12 ? 2 : pitch >= 6 ? 1 : 0; }
double radiusOf(int pitch) { return pitch >= 20 ? 4 : pitch >= 12 ? 2 : pitch >= 6 ? 1 : 0; }

}  // namespace

LinkCanvas::LinkCanvas(QWidget* parent) : QAbstractScrollArea(parent) {
  installAccessibleLinkCanvas();
  setAccessibleName(tr("Bytes between nodes"));
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  viewport()->setMouseTracking(true);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  horizontalScrollBar()->setSingleStep(24);
  verticalScrollBar()->setSingleStep(24);
}

void LinkCanvas::setMatrix(LinkMatrix matrix) {
  if (matrix == m_matrix) return;
  const auto keyOf = [](const LinkMatrix::Party& party) {
    return std::pair(party.node, party.index);
  };
  const bool sameParties = std::ranges::equal(matrix.parties, m_matrix.parties, {}, keyOf, keyOf);
  const LinkMatrix before = std::exchange(m_matrix, std::move(matrix));
  if (!sameParties) {
    const auto kept = [&](std::optional<Cell> cell) -> std::optional<Cell> {
      if (!cell) return {};
      const auto placeOf = [&](int party) {
        const auto at = std::ranges::find(m_matrix.parties, keyOf(before.party(party)), keyOf);
        return at == m_matrix.parties.end() ? -1 : static_cast<int>(at - m_matrix.parties.begin());
      };
      const Cell now{placeOf(cell->from), placeOf(cell->to)};
      return now.from < 0 || now.to < 0 ? std::nullopt : std::optional(now);
    };
    m_current = kept(m_current);
    setHovered({});
    resetAccessibleLinks(this);
    relayout();
    const auto chosen = kept(m_chosen);
    const bool differs = chosen != m_chosen;
    m_chosen = chosen;
    if (differs) emit chosenChanged();
    m_marked.clear();
    setMarked(std::exchange(m_markedDevices, {}));
  }
  setAccessibleName(m_matrix.ends == LinkEnds::Nodes ? tr("Bytes between nodes")
                                                     : tr("Bytes between GPUs"));
  viewport()->update();
}

void LinkCanvas::setStale(bool stale) {
  if (std::exchange(m_stale, stale) != stale) viewport()->update();
}

void LinkCanvas::setMarked(const std::set<ptc::DeviceId>& devices) {
  m_markedDevices = devices;
  std::set<int> marked;
  for (const ptc::DeviceId device : devices) {
    if (const int party = m_matrix.partyOf(device); party >= 0) marked.insert(party);
  }
  if (std::exchange(m_marked, marked) != marked) viewport()->update();
}

QPoint LinkCanvas::offset() const {
  return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

QRect LinkCanvas::body() const { return viewport()->rect().adjusted(m_left, kTop, 0, 0); }

int LinkCanvas::barsLeft() const {
  return m_left + m_matrix.size() * m_pitch + kBarsGap - offset().x();
}

QSize LinkCanvas::sizeHint() const {
  return {760, kTop + std::max(m_matrix.size(), 3) * kLargestCell + kSentence};
}

void LinkCanvas::relayout() {
  const QFontMetrics metrics(canvasFont(11));
  m_nameWidth = 0;
  for (const auto& party : m_matrix.parties) {
    m_nameWidth = std::max(m_nameWidth, metrics.horizontalAdvance(partyName(party)));
  }
  m_left = kFromWidth + m_nameWidth + kNameGap;
  const int size = std::max(1, m_matrix.size());
  const QSize room = maximumViewportSize() - QSize(m_left + kBarsGap + kBars, kTop + kSentence);
  const int least = size <= kFewParties    ? kNumberCell
                    : size <= kSomeParties ? kClickCell
                                           : kLeastCell;
  m_pitch = std::clamp(std::min(room.width(), room.height()) / size, least, kLargestCell);
  const QSize content(m_left + size * m_pitch + kBarsGap + kBars,
                      kTop + size * m_pitch + kSentence);
  const QSize visible = viewport()->size();
  horizontalScrollBar()->setRange(0, std::max(0, content.width() - visible.width()));
  horizontalScrollBar()->setPageStep(visible.width());
  verticalScrollBar()->setRange(0, std::max(0, content.height() - visible.height()));
  verticalScrollBar()->setPageStep(visible.height());
}

QRect LinkCanvas::cellRect(Cell cell) const {
  const int gap = gapOf(m_pitch);
  return QRect(m_left + cell.to * m_pitch, kTop + cell.from * m_pitch, m_pitch - gap, m_pitch - gap)
      .translated(-offset());
}

std::optional<LinkCanvas::Cell> LinkCanvas::cellAt(QPoint position) const {
  if (!body().contains(position)) return {};
  const QPoint inside = position + offset() - QPoint(m_left, kTop);
  const Cell cell{inside.y() / m_pitch, inside.x() / m_pitch};
  const bool within = cell.from < m_matrix.size() && cell.to < m_matrix.size();
  return within ? std::optional(cell) : std::nullopt;
}

std::optional<int> LinkCanvas::rowAt(QPoint position) const {
  if (position.y() < kTop || cellAt(position)) return {};
  const int row = (position.y() + offset().y() - kTop) / m_pitch;
  return row < m_matrix.size() ? std::optional(row) : std::nullopt;
}

QColor LinkCanvas::fillOf(double strength, bool inside) {
  const Theme& theme = Theme::current();
  const QColor& full = inside ? theme.dim : theme.accent;
  QColor fill = blend(full, theme.canvas, strength);
  // Between white and black no ink has enough contrast; the fill is then a little stronger.
  while (contrast(ink(fill), fill) < kLegible && strength < 1) {
    strength = std::min(1.0, strength + 0.02);
    fill = blend(full, theme.canvas, strength);
  }
  return fill;
}

// --- painting ---

void LinkCanvas::paintEvent(QPaintEvent* event) {
  ++m_paintCount;
  const Theme& theme = Theme::current();
  QPainter painter(viewport());
  painter.fillRect(event->rect(), theme.canvas);
  if (m_matrix.size() == 0) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(m_stale ? kDimmed : 1);
  painter.save();
  painter.setClipRect(body());
  paintCells(painter, event->rect());
  paintBars(painter);
  paintMarks(painter);
  painter.restore();
  paintNames(painter);
}

void LinkCanvas::paintCells(QPainter& painter, const QRect& exposed) const {
  const Theme& theme = Theme::current();
  const int size = m_matrix.size();
  painter.setPen(Qt::NoPen);
  if (gapOf(m_pitch) == 0) {
    const QPoint corner = cellRect({0, 0}).topLeft();
    painter.fillRect(QRect(corner, QSize(size * m_pitch, size * m_pitch)), theme.frame);
    for (int i = 0; i < size; ++i) painter.fillRect(cellRect({i, i}), theme.soft);
  } else {
    const auto within = [&](int from, int origin) {
      return std::clamp((from - origin) / m_pitch, 0, size - 1);
    };
    const QPoint origin = QPoint(m_left, kTop) - offset();
    for (int r = within(exposed.top(), origin.y()); r <= within(exposed.bottom(), origin.y());
         ++r) {
      for (int c = within(exposed.left(), origin.x()); c <= within(exposed.right(), origin.x());
           ++c) {
        painter.setBrush(r == c ? theme.soft : theme.frame);
        const double radius = radiusOf(m_pitch);
        painter.drawRoundedRect(cellRect({r, c}), radius, radius);
      }
    }
  }
  for (const LinkMatrix::Link& link : m_matrix.links) {
    if (cellRect({link.from, link.to}).intersects(exposed)) paintFill(painter, link);
  }
  paintDead(painter);
  if (m_pitch < kNumberCell) return;
  for (const LinkMatrix::Link& link : m_matrix.links) {
    if (cellRect({link.from, link.to}).intersects(exposed)) paintNumber(painter, link);
  }
}

void LinkCanvas::paintFill(QPainter& painter, const LinkMatrix::Link& link) const {
  const QRectF area = cellRect({link.from, link.to});
  // A small cell without a number must still differ from an empty one.
  const double least = m_pitch < kNumberCell ? kSmallStrength : 0;
  const QColor fill =
      fillOf(std::max(linkStrength(m_matrix, link.bytes), least), link.from == link.to);
  if (gapOf(m_pitch) == 0) {
    painter.fillRect(area, fill);
    return;
  }
  const double radius = radiusOf(m_pitch);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawRoundedRect(area, radius, radius);
}

void LinkCanvas::paintNumber(QPainter& painter, const LinkMatrix::Link& link) const {
  const QRectF area = cellRect({link.from, link.to});
  const QColor fill = fillOf(linkStrength(m_matrix, link.bytes), link.from == link.to);
  const QString number = format::bytesAs(link.bytes, m_matrix.largest);
  painter.setFont(canvasFont(m_pitch >= 34 ? 11 : 10, QFont::Medium));
  const QRectF text = painter.boundingRect(area, Qt::AlignCenter, number);
  if (text.width() <= area.width() - 2) {
    // The line through a dead row does not cross the number.
    if (m_matrix.party(link.from).dead || m_matrix.party(link.to).dead) {
      painter.fillRect(text.adjusted(-1, 0, 1, 0).intersected(area.adjusted(1, 1, -1, -1)), fill);
    }
    painter.setPen(ink(fill));
    painter.drawText(area, Qt::AlignCenter, number);
  }
  if (m_matrix.time != LinkTime::Moving) return;
  const double done = static_cast<double>(link.done) / static_cast<double>(link.bytes);
  const QRectF bar(area.left() + 4, area.bottom() - 5, area.width() - 8, 2);
  QColor track = ink(fill);
  track.setAlphaF(0.25F);
  painter.fillRect(bar, track);
  painter.fillRect(QRectF(bar.left(), bar.top(), bar.width() * std::min(done, 1.0), 2), ink(fill));
  if (!link.stalled) return;
  painter.setPen(QPen(Theme::current().warn, canvasLine(2), Qt::DashLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 4, 4);
}

void LinkCanvas::paintDead(QPainter& painter) const {
  const double half = (m_pitch - gapOf(m_pitch)) / 2.0;
  painter.setPen(QPen(Theme::current().bad, m_pitch >= 12 ? 1.5 : 1));
  for (int i = 0; i < m_matrix.size(); ++i) {
    if (!m_matrix.party(i).dead) continue;
    const int last = m_matrix.size() - 1;
    const QRectF left = cellRect({i, 0}), right = cellRect({i, last});
    painter.drawLine(QPointF(left.left(), left.top() + half),
                     QPointF(right.right(), right.top() + half));
    const QRectF top = cellRect({0, i}), bottom = cellRect({last, i});
    painter.drawLine(QPointF(top.left() + half, top.top()),
                     QPointF(bottom.left() + half, bottom.bottom()));
  }
}

void LinkCanvas::paintMarks(QPainter& painter) const {
  const Theme& theme = Theme::current();
  painter.setBrush(Qt::NoBrush);
  const double radius = radiusOf(m_pitch);
  const auto frame = [&](Cell cell, const QPen& pen, double outside) {
    painter.setPen(pen);
    painter.drawRoundedRect(QRectF(cellRect(cell)).adjusted(-outside, -outside, outside, outside),
                            radius, radius);
  };
  if (m_hovered && m_hovered != m_chosen) frame(*m_hovered, QPen(theme.dim, canvasLine(1)), 0);
  if (m_chosen) frame(*m_chosen, QPen(theme.text, canvasLine(2)), 0);
  if (m_current && hasFocus()) frame(*m_current, QPen(theme.accent, 1.5, Qt::DotLine), 2.5);
}

QColor LinkCanvas::nameColor(int party, bool row) const {
  const Theme& theme = Theme::current();
  if (m_matrix.party(party).dead) return theme.bad;
  const auto names = [&](const std::optional<Cell>& cell) {
    return cell && (row ? cell->from : cell->to) == party;
  };
  return names(m_hovered) || (!m_hovered && names(m_chosen)) || m_marked.contains(party)
             ? theme.accent
             : theme.text;
}

void LinkCanvas::paintNames(QPainter& painter) const {
  const Theme& theme = Theme::current();
  const int size = m_matrix.size();
  painter.setFont(canvasFont(11, QFont::DemiBold));
  painter.setPen(theme.dim);
  const QRect all(cellRect({0, 0}).topLeft(), QSize(size * m_pitch, size * m_pitch));
  const QRect shown = all.intersected(body());
  painter.drawText(QRect(shown.left(), 2, shown.width(), 18), Qt::AlignCenter, tr("to"));
  painter.drawText(QRect(0, shown.top(), kFromWidth, shown.height()), Qt::AlignCenter, tr("from"));

  // Names that do not fit are left out, at equal distances.
  const auto step = [this](int needed) { return std::max(1, (needed + m_pitch - 1) / m_pitch); };
  painter.save();
  // The first name may be wider than its column.
  painter.setClipRect(QRect(m_left - m_nameWidth / 2, 0, viewport()->width(), kTop));
  painter.drawText(QRect(barsLeft(), 26, kBarColumn, 18), Qt::AlignVCenter, tr("sends"));
  painter.drawText(QRect(barsLeft() + kBarColumn, 26, kBarColumn, 18), Qt::AlignVCenter,
                   tr("receives"));
  painter.setFont(canvasFont(11));
  const int stepX = step(m_nameWidth + 6);
  for (int i = 0; i < size; i += stepX) {
    const int middle = cellRect({0, i}).center().x();
    painter.setPen(nameColor(i, false));
    const int wide = stepX * m_pitch;
    painter.drawText(QRect(middle - wide / 2, 26, wide, 18), Qt::AlignCenter,
                     partyName(m_matrix.party(i)));
  }
  painter.restore();
  painter.save();
  painter.setClipRect(QRect(0, kTop - 6, m_left, viewport()->height()));
  painter.setFont(canvasFont(11));
  const int high = painter.fontMetrics().height();
  for (int i = 0; i < size; i += step(high)) {
    const int middle = cellRect({i, 0}).center().y();
    painter.setPen(nameColor(i, true));
    painter.drawText(QRect(kFromWidth, middle - high / 2, m_nameWidth, high),
                     Qt::AlignRight | Qt::AlignVCenter, partyName(m_matrix.party(i)));
  }
  painter.restore();
}

void LinkCanvas::paintBars(QPainter& painter) const {
  const Theme& theme = Theme::current();
  const int size = m_matrix.size();
  const int high = std::clamp(m_pitch - 2, 1, 8);
  const bool rounded = high >= 6;
  const auto paintBar = [&](int row, bool in) {
    const auto& party = m_matrix.party(row);
    const std::int64_t bytes = in ? party.receives : party.sends;
    const QRect beside = cellRect({row, 0});
    const QRectF track(barsLeft() + (in ? kBarColumn : 0), beside.center().y() - high / 2.0 + 0.5,
                       kBarWidth, high);
    const double radius = rounded ? high / 2.0 : 0;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.track);
    if (high >= 4) painter.drawRoundedRect(track, radius, radius);
    if (bytes > 0) {
      const double part = static_cast<double>(bytes) / static_cast<double>(m_matrix.largestPort);
      const bool busiest =
          m_matrix.busiest && m_matrix.busiest->party == row && m_matrix.busiest->in == in;
      painter.setBrush(busiest ? theme.warn : theme.accent);
      painter.drawRoundedRect(
          QRectF(track.left(), track.top(), std::max(rounded ? 4.0 : 1.0, track.width() * part),
                 track.height()),
          std::min(radius, track.width() * part / 2), radius);
    }
    if (m_pitch < 13) return;
    painter.setPen(theme.dim);
    painter.setFont(canvasFont(11));
    painter.drawText(
        QRectF(track.right() + 8, beside.top(), kBarNumber - 8, beside.height()), Qt::AlignVCenter,
        bytes == 0 ? QString(QChar(0x2013)) : format::bytesAs(bytes, m_matrix.largest));
  };
  for (int row = 0; row < size; ++row) {
    if (!cellRect({row, 0})
             .adjusted(0, 0, viewport()->width() * 64, 0)
             .intersects(QRect(0, 0, viewport()->width() * 64, viewport()->height()))) {
      continue;
    }
    paintBar(row, false);
    paintBar(row, true);
  }
  if (!m_matrix.busiest) return;
  const bool in = m_matrix.busiest->in;
  painter.setPen(theme.warn);
  painter.setFont(canvasFont(11));
  const int left = barsLeft() + (in ? kBarColumn : 0);
  const int wide = in ? kSentenceWidth : kBars;
  painter.drawText(QRect(left, cellRect({size, 0}).top() + 4, wide, kSentence - 4),
                   Qt::AlignLeft | Qt::TextWordWrap, m_matrix.busiest->sentence);
}

// --- input ---

void LinkCanvas::setCurrent(Cell cell) {
  if (m_current == cell) return;
  m_current = cell;
  ensureVisible(cell);
  viewport()->update();
  notifyAccessibleLink(this, cell);
  emit currentChanged();
}

void LinkCanvas::setChosen(std::optional<Cell> cell) {
  if (cell == m_chosen) return;
  m_chosen = cell;
  viewport()->update();
  emit chosenChanged();
}

void LinkCanvas::setHovered(std::optional<Cell> cell) {
  if (cell == m_hovered) return;
  m_hovered = cell;
  viewport()->update();
  emit hoveredChanged();
}

void LinkCanvas::ensureVisible(Cell cell) {
  const QRect at = cellRect(cell);
  const QRect area = body();
  const auto shift = [](int low, int high, int from, int to) {
    return low < from ? low - from : high > to ? high - to : 0;
  };
  horizontalScrollBar()->setValue(offset().x() +
                                  shift(at.left(), at.right(), area.left(), area.right()));
  verticalScrollBar()->setValue(offset().y() +
                                shift(at.top(), at.bottom(), area.top(), area.bottom()));
}

void LinkCanvas::keyPressEvent(QKeyEvent* event) {
  const int last = m_matrix.size() - 1;
  const bool control = event->modifiers().testFlag(Qt::ControlModifier);
  Cell cell = m_current.value_or(Cell{});
  switch (last < 0 ? 0 : event->key()) {
    case Qt::Key_Up:
      if (m_current) --cell.from;
      break;
    case Qt::Key_Down:
      if (m_current) ++cell.from;
      break;
    case Qt::Key_Left:
      if (m_current) --cell.to;
      break;
    case Qt::Key_Right:
      if (m_current) ++cell.to;
      break;
    case Qt::Key_Home:
      cell = {control ? 0 : cell.from, 0};
      break;
    case Qt::Key_End:
      cell = {control ? last : cell.from, last};
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      if (m_current) setChosen(m_current);
      return;
    case Qt::Key_Escape:
      // Without a choice the window goes back one level.
      if (!m_chosen) break;
      setChosen({});
      return;
    default:
      break;
  }
  switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Home:
    case Qt::Key_End:
      if (last < 0) return;
      setCurrent({std::clamp(cell.from, 0, last), std::clamp(cell.to, 0, last)});
      return;
    default:
      event->ignore();
  }
}

void LinkCanvas::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  if (!m_current && m_matrix.size() > 0) {
    const Cell first = m_matrix.links.empty()
                           ? Cell{}
                           : Cell{m_matrix.links.front().from, m_matrix.links.front().to};
    setCurrent(m_chosen.value_or(first));
  }
  if (m_current) notifyAccessibleLink(this, *m_current);
  viewport()->update();
}

void LinkCanvas::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

void LinkCanvas::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const auto cell = cellAt(event->position().toPoint());
  if (cell) setCurrent(*cell);
  setChosen(cell);
}

// The press has done everything; without this the parent would get the release.
void LinkCanvas::mouseReleaseEvent(QMouseEvent* event) { event->accept(); }

void LinkCanvas::mouseMoveEvent(QMouseEvent* event) {
  setHovered(cellAt(event->position().toPoint()));
}

QString LinkCanvas::toolTipAt(QPoint position) const {
  if (const auto cell = cellAt(position)) {
    QString text = describeLink(m_matrix, cell->from, cell->to);
    if (const LinkMatrix::Link* link = m_matrix.find(cell->from, cell->to)) {
      const QString alone = aloneText(m_matrix, *link);
      if (!alone.isEmpty()) text += QLatin1Char('\n') + alone;
    }
    return text;
  }
  const auto row = rowAt(position);
  return row ? describeParty(m_matrix, *row) : QString();
}

bool LinkCanvas::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString text = toolTipAt(help->pos());
    if (text.isEmpty()) {
      QToolTip::hideText();
    } else {
      QToolTip::showText(help->globalPos(), text, viewport());
    }
    return true;
  }
  if (event->type() == QEvent::Leave) setHovered({});
  return QAbstractScrollArea::viewportEvent(event);
}

void LinkCanvas::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  relayout();
}

void LinkCanvas::scrollContentsBy(int, int) {
  setHovered({});
  viewport()->update();
}

void LinkCanvas::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    relayout();
    viewport()->update();
  }
}

}  // namespace tessera::ui
