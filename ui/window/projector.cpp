// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/projector.h"

#include <QCoreApplication>
#include <QEvent>
#include <QWidget>

#include "ui/lessons/lesson_pane.h"
#include "ui/theme.h"
#include "ui/views/view.h"
#include "ui/widgets/key_caster.h"
#include "ui/widgets/pointer_ring.h"

namespace tessera::ui {

void Projector::setOn(bool on) {
  setCanvasEnlarged(on);
  m_lesson.setEnlarged(on);
  for (View* view : m_views) {
    for (QWidget* canvas : view->widget()->findChildren<QWidget*>()) {
      QEvent fonts(QEvent::FontChange);
      QCoreApplication::sendEvent(canvas, &fonts);
      canvas->update();
    }
  }
  if (on && m_keys == nullptr) {
    m_keys = new KeyCaster(m_window);
    m_ring = new PointerRing(m_window);
  }
  if (m_keys == nullptr) return;
  m_keys->setActive(on);
  m_ring->setActive(on);
}

}  // namespace tessera::ui
