// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/button_row.h"

#include <QBoxLayout>
#include <QEvent>
#include <algorithm>

namespace tessera::ui {
namespace {

int widthOf(const QWidget& button) {
  return std::max(button.sizeHint().width(), button.minimumWidth());
}

}  // namespace

ButtonRow::ButtonRow(int spacing, QWidget* parent)
    : QWidget(parent), m_row(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(spacing);
}

void ButtonRow::add(QWidget* button, int stretch) { m_row->addWidget(button, stretch); }

void ButtonRow::addStretch() { m_row->addStretch(); }

QSize ButtonRow::minimumSizeHint() const {
  int widest = 0;
  for (int i = 0; i < m_row->count(); ++i) {
    const QWidget* button = m_row->itemAt(i)->widget();
    if (button != nullptr && !button->isHidden()) {
      widest = std::max(widest, widthOf(*button));
    }
  }
  return {widest, m_row->minimumSize().height()};
}

bool ButtonRow::event(QEvent* event) {
  // Before the layout hears of it.
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) arrange();
  return QWidget::event(event);
}

void ButtonRow::arrange() {
  int needed = -m_row->spacing();
  for (int i = 0; i < m_row->count(); ++i) {
    const QWidget* button = m_row->itemAt(i)->widget();
    if (button != nullptr && !button->isHidden()) {
      needed += widthOf(*button) + m_row->spacing();
    }
  }
  const auto direction = needed > width() ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
  if (direction == m_row->direction()) return;
  m_row->setDirection(direction);
  updateGeometry();
}

}  // namespace tessera::ui
