// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/copy_line.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QPushButton>
#include <QToolTip>
#include <algorithm>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kPadding = 9, kCopyGap = 8;

QFont fixedFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPointSizeF(8.6);
  return font;
}

}  // namespace

CopyLine::CopyLine(const QString& name, const QString& button, QWidget* parent)
    : QWidget(parent), m_button(new QPushButton(button, this)) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(name);
  m_button->setAccessibleName(tr("Copy the %1").arg(name));
  connect(m_button, &QPushButton::clicked, this, &CopyLine::copy);
}

void CopyLine::setText(const QString& text) {
  if (text == m_text) return;
  m_text = text;
  setAccessibleDescription(text);
  update();
}

void CopyLine::copy() {
  QGuiApplication::clipboard()->setText(m_text);
  emit copied(m_text);
}

QRect CopyLine::textArea() const {
  return QRect(0, 0, std::max(0, m_button->x() - kCopyGap), height());
}

void CopyLine::resizeEvent(QResizeEvent*) {
  const int wide = m_button->sizeHint().width();
  m_button->setGeometry(width() - wide, 0, wide, height());
}

void CopyLine::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.soft);
  painter.drawRoundedRect(textArea(), 6, 6);
  painter.setFont(fixedFont());
  painter.setPen(theme.text);
  const QRect room = textArea().adjusted(kPadding, 0, -kPadding, 0);
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_text, Qt::ElideMiddle, room.width()));
}

bool CopyLine::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (textArea().contains(help->pos())) QToolTip::showText(help->globalPos(), m_text, this);
  return true;
}

}  // namespace tessera::ui
