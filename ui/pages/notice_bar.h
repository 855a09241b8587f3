// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A line above the canvas with a problem or a special state, and an action that resolves it.

#include <QString>
#include <optional>

#include "ui/widgets/alert_surface.h"

class QLabel;
class QPushButton;

namespace tessera::ui {

struct NoticeWords {
  Surface::Tone tone = Surface::Tone::Accent;
  QString text;
  QString action = {};   // label of the button; empty: there is none
  QString command = {};  // text to copy; may be empty
};

/// Tab reaches its buttons; a click on one leaves the keyboard focus where it is.
class NoticeBar : public AlertSurface {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  /// Shows the bar. Screen readers announce it, unless it said the same before. Ages and counts
  /// change each second and make no other text.
  void say(const NoticeWords& words);
  void say(Tone tone, const QString& text, const QString& action = {},
           const QString& command = {}) {
    say(NoticeWords{tone, text, action, command});
  }
  /// Without words the bar is hidden.
  void sayOrHide(const std::optional<NoticeWords>& words);
  QString text() const;
  QPushButton* actionButton() const { return m_action; }

 signals:
  void actionTriggered();

 private:
  QLabel* m_text;
  QLabel* m_command;
  QPushButton* m_copy;
  QPushButton* m_action;
};

}  // namespace tessera::ui
