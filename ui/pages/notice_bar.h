// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A line above the canvas with a problem or a special state, and an action that resolves it.

#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;

namespace tessera::ui {

class NoticeBar : public Surface {
  Q_OBJECT

 public:
  explicit NoticeBar(QWidget* parent = nullptr);
  /// Shows the bar.
  /// \param action label of the button; may be empty
  /// \param command text to copy; may be empty
  void say(Tone tone, const QString& text, const QString& action = {}, const QString& command = {});
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
