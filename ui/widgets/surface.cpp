// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/surface.h"

#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {

Surface::Surface(Tone tone, QWidget* parent) : QWidget(parent), m_tone(tone) {}

void Surface::setTone(Tone tone) {
  if (tone == m_tone) return;
  m_tone = tone;
  update();
}

void Surface::setEdge(Qt::Edges edges) {
  m_edges = edges;
  update();
}

void Surface::setMark(int width) {
  if (width == m_mark) return;
  m_mark = width;
  update();
}

void Surface::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::current();
  QPainter painter(this);
  QColor fill;
  switch (m_tone) {
    case Tone::Panel:
      fill = theme.panel;
      break;
    case Tone::Canvas:
      fill = theme.canvas;
      break;
    case Tone::Window:
      fill = theme.window;
      break;
    case Tone::Accent:
      fill = theme.accentSoft;
      break;
    case Tone::Warning:
      fill = blend(theme.warn, theme.panel, 0.12);
      break;
    case Tone::Problem:
      fill = blend(theme.bad, theme.panel, 0.12);
      break;
  }
  painter.fillRect(rect(), fill);
  if (m_edges & Qt::LeftEdge) painter.fillRect(0, 0, 1, height(), theme.line);
  if (m_edges & Qt::RightEdge) painter.fillRect(width() - 1, 0, 1, height(), theme.line);
  if (m_edges & Qt::TopEdge) painter.fillRect(0, 0, width(), 1, theme.line);
  if (m_edges & Qt::BottomEdge) painter.fillRect(0, height() - 1, width(), 1, theme.line);
  if (m_mark > 0) {
    painter.fillRect(0, 0, width(), m_mark, theme.accent);
    painter.fillRect(0, height() - m_mark, width(), m_mark, theme.accent);
    painter.fillRect(0, 0, m_mark, height(), theme.accent);
    painter.fillRect(width() - m_mark, 0, m_mark, height(), theme.accent);
  }
}

Rule::Rule(QWidget* parent) : QWidget(parent) { setFixedHeight(1); }

void Rule::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme::current().line);
}

}  // namespace tessera::ui
