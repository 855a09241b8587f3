// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/surface.h"

#include <QPainter>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

class Mark : public QWidget {
 public:
  Mark(const Surface::Tone& tone, QWidget* parent) : QWidget(parent), m_tone(tone) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.fillRect(rect(), m_tone == Surface::Tone::Past ? theme.dim : theme.accent);
  }

 private:
  const Surface::Tone& m_tone;  // of the surface
};

}  // namespace

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

void Surface::setMark(int width, Tone tone) {
  if (width == m_markWidth && tone == m_markTone) return;
  m_markWidth = width;
  m_markTone = tone;
  if (m_mark == nullptr) m_mark = new Mark(m_markTone, this);
  m_mark->update();
  placeMark();
}

void Surface::placeMark() {
  if (m_mark == nullptr) return;
  m_mark->setVisible(m_markWidth > 0);
  m_mark->setGeometry(rect());
  const int w = m_markWidth;
  m_mark->setMask(QRegion(rect()) - QRegion(rect().adjusted(w, w, -w, -w)));
  m_mark->raise();
}

void Surface::resizeEvent(QResizeEvent*) { placeMark(); }

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
    case Tone::Past:
      fill = theme.soft;
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
}

Rule::Rule(QWidget* parent) : QWidget(parent) { setFixedHeight(1); }

void Rule::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), Theme::current().line);
}

}  // namespace tessera::ui
