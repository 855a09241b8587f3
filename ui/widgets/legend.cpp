// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/legend.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kLegendSwatch = 12;
constexpr int kLegendGap = 16;
// Of swatches without names, with the gap after each.
constexpr int kMostPitch = 16, kLeastPitch = 6;
constexpr int kLeastLegend = 60, kMostIcons = 180;
constexpr int kEndGap = 6;  // between a name and the swatches

int widthOf(const QFontMetrics& metrics, const QString& text) {
  return kLegendSwatch + 6 + metrics.horizontalAdvance(text) + kLegendGap;
}

}  // namespace

Legend::Legend(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
}

void Legend::setEntries(std::vector<MeshScene::LegendEntry> entries, bool isQuantity) {
  if (entries == m_entries && isQuantity == m_isQuantity) return;
  m_entries = std::move(entries);
  m_isQuantity = isQuantity;
  m_current = 0;
  QStringList names;
  const QFontMetrics metrics(uiFont(11.5));
  int wide = 0;
  for (const MeshScene::LegendEntry& entry : m_entries) {
    names << entry.text;
    wide += widthOf(metrics, entry.text);
  }
  m_namedWidth = std::max(0, wide - kLegendGap);
  setAccessibleName(isQuantity ? tr("Scale: %1").arg(names.join(QStringLiteral(", ")))
                               : tr("Shards: %1").arg(names.join(QStringLiteral(", "))));
  setToolTip(isQuantity || names.isEmpty() ? QString() : tr("Click an entry to fade the others."));
  setCursor(isQuantity ? Qt::ArrowCursor : Qt::PointingHandCursor);
  setFocusPolicy(isQuantity || m_entries.empty() ? Qt::NoFocus : Qt::TabFocus);
  updateGeometry();
  update();
}

void Legend::setIsolated(std::optional<int> swatch) {
  if (swatch == m_isolated) return;
  m_isolated = swatch;
  update();
}

QSize Legend::sizeHint() const {
  if (m_isQuantity) return {250, 20};
  return {qBound(kLeastLegend, m_namedWidth + kLegendGap, 520), 20};
}

QSize Legend::minimumSizeHint() const {
  if (m_isQuantity) return {kLeastLegend, 20};
  const int icons = qBound(kLeastLegend, count() * kLeastPitch, kMostIcons);
  return {std::min(icons, sizeHint().width()), 20};
}

bool Legend::hasNames() const { return m_namedWidth <= width(); }

QRect Legend::swatchRoom() const {
  if (m_entries.empty()) return {};
  const QFontMetrics metrics(uiFont(11.5));
  const int first = metrics.horizontalAdvance(nameOf(0)) + kEndGap;
  const int last = metrics.horizontalAdvance(nameOf(count() - 1)) + kEndGap;
  // The names go before the swatches do.
  const bool fits = first + last + count() * kLeastPitch <= width();
  return fits ? QRect(first, 0, width() - first - last, height()) : rect();
}

int Legend::numDrawn() const {
  const QRect room = swatchRoom();
  if (count() * kLeastPitch <= room.width()) return count();
  const QFontMetrics metrics(uiFont(11.5));
  const int more = metrics.horizontalAdvance(tr("+%1").arg(count())) + kEndGap;
  return std::max(0, (room.width() - more) / kLeastPitch);
}

QRect Legend::entryRect(int index) const {
  if (hasNames()) {
    const QFontMetrics metrics(uiFont(11.5));
    int x = 0;
    for (int i = 0; i < index; ++i) x += widthOf(metrics, nameOf(i));
    return QRect(x, 0, widthOf(metrics, nameOf(index)) - kLegendGap, height());
  }
  if (index >= numDrawn()) return {};
  const QRect room = swatchRoom();
  const int pitch = qBound(kLeastPitch, room.width() / count(), kMostPitch);
  return QRect(room.left() + index * pitch, 0, pitch, height());
}

std::optional<int> Legend::entryAt(QPoint position) const {
  const int reach = hasNames() ? kLegendGap / 2 : 0;
  for (int i = 0; i < count(); ++i) {
    if (entryRect(i).adjusted(-reach, 0, reach, 0).contains(position)) return i;
  }
  return std::nullopt;
}

bool Legend::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || m_isQuantity) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto index = entryAt(help->pos());
  if (!index) return QWidget::event(event);
  QToolTip::showText(help->globalPos(), nameOf(*index) + QLatin1Char('\n') + toolTip(), this,
                     entryRect(*index));
  return true;
}

void Legend::toggle(int index) {
  const int swatch = m_entries[static_cast<std::size_t>(index)].swatch;
  emit isolateRequested(m_isolated == swatch ? std::nullopt : std::optional(swatch));
}

void Legend::mousePressEvent(QMouseEvent* event) {
  if (m_isQuantity || event->button() != Qt::LeftButton) return;
  const auto index = entryAt(event->pos());
  if (!index) return;
  m_current = *index;
  toggle(*index);
}

void Legend::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(m_entries.size()) - 1;
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      m_current = qBound(0, m_current + (event->key() == Qt::Key_Left ? -1 : 1), last);
      update();
      return;
    case Qt::Key_Space:
    case Qt::Key_Return:
      if (last >= 0) toggle(m_current);
      return;
    default:
      QWidget::keyPressEvent(event);
  }
}

void Legend::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void Legend::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

void Legend::paintScale(QPainter& painter) const {
  const Theme& theme = Theme::current();
  const QString low = m_entries.front().text, high = m_entries.back().text;
  const int left = painter.fontMetrics().horizontalAdvance(low) + 8;
  const int right = width() - painter.fontMetrics().horizontalAdvance(high) - 8 - kLegendGap;
  QLinearGradient gradient(left, 0, right, 0);
  for (int i = 0; i <= 9; ++i) gradient.setColorAt(i / 9.0, quantity(i / 9.0));
  painter.setPen(theme.line);
  painter.setBrush(gradient);
  painter.drawRoundedRect(
      QRectF(left, (height() - kLegendSwatch) / 2.0, right - left, kLegendSwatch), 3, 3);
  painter.setPen(theme.dim);
  painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, low);
  painter.drawText(rect().adjusted(0, 0, -kLegendGap, 0), Qt::AlignRight | Qt::AlignVCenter, high);
}

void Legend::paintSwatch(QPainter& painter, const QRectF& area, int swatch) const {
  painter.setPen(Theme::current().line);
  painter.setBrush(identity(swatch));
  const double radius = area.width() < 9 ? 1 : 3;
  painter.drawRoundedRect(area, radius, radius);
  paintPattern(painter, area, pattern(swatch), identity(swatch));
}

void Legend::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(uiFont(11.5));
  if (m_isQuantity && m_entries.size() > 1) return paintScale(painter);
  const bool named = hasNames();
  const double top = (height() - kLegendSwatch) / 2.0;
  int end = 0;
  for (int i = 0; i < count(); ++i) {
    const MeshScene::LegendEntry& entry = m_entries[static_cast<std::size_t>(i)];
    const QRect area = entryRect(i);
    if (area.isNull()) break;
    painter.setOpacity(m_isolated && m_isolated != entry.swatch ? 0.4 : 1.0);
    const double wide = named ? kLegendSwatch : std::min(kLegendSwatch, area.width() - 1);
    paintSwatch(painter, QRectF(area.left() + 0.5, top, wide, kLegendSwatch), entry.swatch);
    if (named) {
      painter.setPen(m_isolated == entry.swatch ? theme.text : theme.dim);
      painter.drawText(area.adjusted(kLegendSwatch + 6, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                       entry.text);
    }
    if (hasFocus() && i == m_current) {
      painter.setPen(QPen(theme.accent, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, named ? 3.5 : -0.5, -0.5), 4, 4);
    }
    end = area.right() + 1;
  }
  if (named || m_entries.empty()) return;
  painter.setOpacity(1);
  painter.setPen(theme.dim);
  const QRect room = swatchRoom();
  const QRect after(end + kEndGap, 0, width() - end - kEndGap, height());
  if (room != rect()) {
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, nameOf(0));
    painter.drawText(after, Qt::AlignLeft | Qt::AlignVCenter, nameOf(count() - 1));
  } else if (const int rest = count() - numDrawn(); rest > 0) {
    painter.drawText(after, Qt::AlignLeft | Qt::AlignVCenter, tr("+%1").arg(rest));
  }
}

}  // namespace tessera::ui
