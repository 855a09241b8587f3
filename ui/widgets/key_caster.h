// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Shows the keys that are pressed, for the audience of a projector: shortcuts and keys that act,
/// not what is typed into fields.

#include <QTimer>
#include <QWidget>

namespace tessera::ui {

class KeyCaster : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kShowMs = 1500;

  /// Lies over `window`, at its lower edge.
  explicit KeyCaster(QWidget* window);
  void setActive(bool active);
  /// The keys shown; empty: none.
  const QString& text() const { return m_text; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void say(const QString& text);
  void place();

  QString m_text;
  QTimer m_timer;
  bool m_active = false;
};

}  // namespace tessera::ui
