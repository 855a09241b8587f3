// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The base of lines that appear by themselves while the user works elsewhere.

#include <QPointer>
#include <QString>
#include <functional>

#include "ui/widgets/surface.h"

namespace tessera::ui {

/// Gives `widget` this accessible name and has screen readers announce it, wherever the keyboard
/// focus is.
void announce(QWidget* widget, const QString& text);
/// What `announce` calls to send its event; a test listens here, because Qt drops events while no
/// screen reader runs.
std::function<void(QWidget*)>& alertSender();

/// An alert never takes the keyboard focus: the user's work goes on, and screen readers announce
/// the text. If the alert, or a part of it, disappears while it has the focus, the focus returns to
/// the widget that had it before.
class AlertSurface : public Surface {
  Q_OBJECT

 protected:
  explicit AlertSurface(Tone tone, QWidget* parent = nullptr);
  /// Shows or hides a child.
  void showPart(QWidget* part, bool on);
  void hideEvent(QHideEvent* event) override;

 private:
  void giveFocusBack(const QWidget* gone);

  QPointer<QWidget> m_focusBefore;  // outside of the alert
};

}  // namespace tessera::ui
