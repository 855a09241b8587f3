// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/pass_strip.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>
#include <utility>

#include "ui/format.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr double kStripTop = 20, kPassBarHeight = 22;
constexpr double kMarkReach = 5;  // pixels beside a mark in which it is hit
constexpr double kLabelGap = 6;

}  // namespace

PassStrip::PassStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("The pass over the data"));
  setMouseTracking(true);
}

void PassStrip::setView(const DataView& view) {
  m_view = view;
  const QString done =
      tr("%1 of %2 samples done").arg(format::count(view.next), format::count(view.numSamples));
  const QString changes = view.changes.size() == 1
                              ? tr("1 change of the mesh")
                              : tr("%1 changes of the mesh").arg(view.changes.size());
  setAccessibleDescription(done + QStringLiteral(", ") + changes);
  update();
}

void PassStrip::setSelected(std::optional<std::int64_t> txn) {
  if (std::exchange(m_selected, txn) != txn) update();
}

double PassStrip::xOf(std::int64_t position) const {
  if (m_view.numSamples < 1) return 0;
  return width() * static_cast<double>(position) / static_cast<double>(m_view.numSamples);
}

std::optional<std::int64_t> PassStrip::changeAt(double x) const {
  std::optional<std::int64_t> found;
  double nearest = kMarkReach;
  for (const DataView::Change& change : m_view.changes) {
    const double distance = std::abs(xOf(change.position) - x);
    if (distance <= nearest) {
      nearest = distance;
      found = change.txn;
    }
  }
  return found;
}

void PassStrip::paintEvent(QPaintEvent*) {
  if (m_view.numSamples < 1) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF bar(0, kStripTop, width(), kPassBarHeight);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.track);
  painter.drawRoundedRect(bar, 4, 4);
  const double here = xOf(m_view.next);
  if (here > 0) {
    painter.save();
    painter.setClipRect(QRectF(0, kStripTop, here, kPassBarHeight));
    painter.setBrush(blend(theme.accent, theme.canvas, 0.45));
    painter.drawRoundedRect(bar, 4, 4);
    painter.restore();
  }

  painter.setFont(uiFont(11));
  double free = 0;  // left limit of the next label, to avoid overlaps
  for (const DataView::Change& change : m_view.changes) {
    const double x = std::round(xOf(change.position)) + 0.5;
    const bool selected = m_selected == change.txn;
    painter.setPen(QPen(selected ? theme.accent : theme.text, selected ? 2 : 1));
    painter.drawLine(QPointF(x, kStripTop - 4), QPointF(x, kStripTop + kPassBarHeight + 3));
    const QString label = change.fromDp == change.toDp
                              ? tr("dp %1").arg(change.toDp)
                              : tr("dp %1 → %2").arg(change.fromDp).arg(change.toDp);
    const double wide = painter.fontMetrics().horizontalAdvance(label);
    const double left = qBound(0.0, x - wide / 2, width() - wide);
    if (left < free) continue;
    painter.setPen(selected ? theme.accent : theme.dim);
    painter.drawText(QRectF(left, 0, wide + 1, kStripTop - 5), Qt::AlignLeft | Qt::AlignVCenter,
                     label);
    free = left + wide + kLabelGap;
  }

  // The position of the job: a triangle below, and the position as text.
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.accent);
  const double base = kStripTop + kPassBarHeight;
  painter.drawRect(
      QRectF(qBound(0.0, here - 1, width() - 2.0), kStripTop - 2, 2, kPassBarHeight + 4));
  painter.setPen(theme.text);
  const QString text = format::count(m_view.next);
  const double wide = painter.fontMetrics().horizontalAdvance(text);
  painter.drawText(QRectF(qBound(0.0, here - wide / 2, width() - wide), base + 3, wide + 1, 16),
                   Qt::AlignLeft | Qt::AlignVCenter, text);
  painter.setPen(theme.dim);
  const QString last = format::count(m_view.numSamples);
  const double lastWide = painter.fontMetrics().horizontalAdvance(last);
  if (here + wide / 2 < width() - lastWide - kLabelGap) {
    painter.drawText(QRectF(width() - lastWide, base + 3, lastWide + 1, 16),
                     Qt::AlignLeft | Qt::AlignVCenter, last);
  }
}

void PassStrip::mousePressEvent(QMouseEvent* event) {
  if (const auto txn = changeAt(event->position().x())) emit changeChosen(*txn);
}

bool PassStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto txn = changeAt(help->pos().x());
  QString text;
  for (const DataView::Change& change : m_view.changes) {
    if (change.txn != txn) continue;
    text = tr("change %1, after step %2: %3 samples were done, dp %4 → %5")
               .arg(change.txn)
               .arg(format::count(change.step), format::count(change.position))
               .arg(change.fromDp)
               .arg(change.toDp);
  }
  if (text.isEmpty()) {
    const auto position = static_cast<std::int64_t>(static_cast<double>(m_view.numSamples) *
                                                    help->pos().x() / qMax(1, width()));
    text = position < m_view.next ? tr("position %1: done").arg(format::count(position))
                                  : tr("position %1: not read yet").arg(format::count(position));
  }
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace tessera::ui
