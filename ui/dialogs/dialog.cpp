// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/dialog.h"

#include <QAbstractButton>
#include <QKeyEvent>

namespace tessera::ui {

bool pressFocusedButton(const QWidget& window, const QKeyEvent& event) {
  const bool isEnter = event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter;
  const bool isPlain = (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
  auto* button = qobject_cast<QAbstractButton*>(window.focusWidget());
  if (!isEnter || !isPlain || button == nullptr || !button->isEnabled()) return false;
  // A key that is held down must not press the button of the window that the first press opened.
  if (!event.isAutoRepeat()) button->click();
  return true;
}

void Dialog::keyPressEvent(QKeyEvent* event) {
  if (!pressFocusedButton(*this, *event)) QDialog::keyPressEvent(event);
}

}  // namespace tessera::ui
