// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/legend.h"

#include <QKeyEvent>
#include <QLinearGradient>
#include <QMouseEvent>
#include <QPainter>
#include <QStringList>
#include <utility>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kLegendSwatch = 12;
constexpr int kLegendGap = 16;

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
  for (const MeshScene::LegendEntry& entry : m_entries) names << entry.text;
  setAccessibleName(isQuantity ? tr("Scale: %1").arg(names.join(QStringLiteral(", ")))
                               : tr("Shards: %1").arg(names.join(QStringLiteral(", "))));
  setToolTip(isQuantity || names.isEmpty()
                 ? QString()
                 : names.join(QLatin1Char('\n')) + QStringLiteral("\n\n") +
                       tr("Click an entry to fade the others."));
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
  const QFontMetrics metrics(uiFont(11.5));
  int wide = 0;
  for (const MeshScene::LegendEntry& entry : m_entries) wide += widthOf(metrics, entry.text);
  return {qBound(60, wide, 520), 20};
}

QRect Legend::entryRect(int index) const {
  const QFontMetrics metrics(uiFont(11.5));
  int x = 0;
  for (int i = 0; i < static_cast<int>(m_entries.size()); ++i) {
    const int wide = widthOf(metrics, m_entries[static_cast<std::size_t>(i)].text);
    const int rest = static_cast<int>(m_entries.size()) - i;
    const QString more = tr("+%1 more").arg(rest);
    const int room = width() - x - (rest > 1 ? metrics.horizontalAdvance(more) + kLegendGap : 0);
    if (wide - kLegendGap > room) return {};
    if (i == index) return QRect(x, 0, wide - kLegendGap, height());
    x += wide;
  }
  return {};
}

void Legend::toggle(int index) {
  const int swatch = m_entries[static_cast<std::size_t>(index)].swatch;
  emit isolateRequested(m_isolated == swatch ? std::nullopt : std::optional(swatch));
}

void Legend::mousePressEvent(QMouseEvent* event) {
  if (m_isQuantity || event->button() != Qt::LeftButton) return;
  for (int i = 0; i < static_cast<int>(m_entries.size()); ++i) {
    if (!entryRect(i).adjusted(-kLegendGap / 2, 0, kLegendGap / 2, 0).contains(event->pos()))
      continue;
    m_current = i;
    toggle(i);
    return;
  }
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

void Legend::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont font = uiFont(11.5);
  painter.setFont(font);
  const QFontMetrics metrics(font);
  if (m_isQuantity && m_entries.size() > 1) {
    const QString low = m_entries.front().text, high = m_entries.back().text;
    const int left = metrics.horizontalAdvance(low) + 8;
    const int right = width() - metrics.horizontalAdvance(high) - 8 - kLegendGap;
    QLinearGradient gradient(left, 0, right, 0);
    for (int i = 0; i <= 9; ++i) gradient.setColorAt(i / 9.0, quantity(i / 9.0));
    painter.setPen(theme.line);
    painter.setBrush(gradient);
    painter.drawRoundedRect(
        QRectF(left, (height() - kLegendSwatch) / 2.0, right - left, kLegendSwatch), 3, 3);
    painter.setPen(theme.dim);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, low);
    painter.drawText(rect().adjusted(0, 0, -kLegendGap, 0), Qt::AlignRight | Qt::AlignVCenter,
                     high);
    return;
  }
  int end = 0;
  for (int i = 0; i < static_cast<int>(m_entries.size()); ++i) {
    const MeshScene::LegendEntry& entry = m_entries[static_cast<std::size_t>(i)];
    const QRect area = entryRect(i);
    if (area.isNull()) {
      painter.setOpacity(1);
      painter.setPen(theme.dim);
      painter.drawText(QRect(end, 0, width() - end, height()), Qt::AlignLeft | Qt::AlignVCenter,
                       tr("+%1 more").arg(static_cast<int>(m_entries.size()) - i));
      return;
    }
    painter.setOpacity(m_isolated && m_isolated != entry.swatch ? 0.4 : 1.0);
    const QRectF swatch(area.left() + 0.5, (height() - kLegendSwatch) / 2.0, kLegendSwatch,
                        kLegendSwatch);
    painter.setPen(theme.line);
    painter.setBrush(identity(entry.swatch));
    painter.drawRoundedRect(swatch, 3, 3);
    paintPattern(painter, swatch, pattern(entry.swatch), identity(entry.swatch));
    painter.setPen(m_isolated == entry.swatch ? theme.text : theme.dim);
    painter.drawText(area.adjusted(kLegendSwatch + 6, 0, 4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.text);
    if (hasFocus() && i == m_current) {
      painter.setPen(QPen(theme.accent, 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, 3.5, -0.5), 4, 4);
    }
    end = area.right() + kLegendGap;
  }
}

}  // namespace tessera::ui
