// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// An on/off switch with its name beside it, which a narrow window may leave out.

#include <QAbstractButton>

namespace tessera::ui {

class ToggleSwitch : public QAbstractButton {
  Q_OBJECT

 public:
  explicit ToggleSwitch(const QString& text, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }
  bool isTextShown() const { return m_textShown; }
  void setTextShown(bool shown);
  /// What the text takes of the width, shown or not.
  int textRoom() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool m_textShown = true;
};

}  // namespace tessera::ui
