// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The base of every dialog, and the rule for Enter that all windows have.

#include <QDialog>

class QKeyEvent;

namespace tessera::ui {

/// Presses the focused button of `window` if `event` is Enter. By itself Qt does so only for some
/// buttons of dialogs: for others Enter presses the default button instead, or nothing.
/// \return whether a button has the focus and the event is therefore handled
bool pressFocusedButton(const QWidget& window, const QKeyEvent& event);

/// Enter presses the focused button; where no button has the focus, the default one.
class Dialog : public QDialog {
  Q_OBJECT

 public:
  using QDialog::QDialog;

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace tessera::ui
