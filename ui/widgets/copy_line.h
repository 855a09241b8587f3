// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One line of text, a path or a command, with a Copy button. A text that does not fit is shortened
/// in the middle on the screen, never in the copy.

#include <QString>
#include <QWidget>

class QPushButton;

namespace tessera::ui {

class CopyLine : public QWidget {
  Q_OBJECT

 public:
  /// \param name name of the text for screen readers: "path"
  CopyLine(const QString& name, const QString& button, QWidget* parent = nullptr);
  void setText(const QString& text);
  const QString& text() const { return m_text; }
  QPushButton* button() const { return m_button; }
  QSize sizeHint() const override { return {260, 30}; }
  QSize minimumSizeHint() const override { return {140, 30}; }

 public slots:
  void copy();

 signals:
  void copied(const QString& text);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect textArea() const;

  QString m_text;
  QPushButton* m_button;
};

}  // namespace tessera::ui
