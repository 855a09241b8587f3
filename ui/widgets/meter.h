// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A thin bar that shows a fraction.

#include <QWidget>
#include <optional>

namespace tessera::ui {

class Meter : public QWidget {
  Q_OBJECT

 public:
  explicit Meter(QWidget* parent = nullptr);
  /// Sets the fraction, 0 to 1; nothing if unknown. `words` is for screen readers.
  void setFraction(std::optional<double> fraction, const QString& words);
  std::optional<double> fraction() const { return m_fraction; }
  QSize sizeHint() const override { return {120, 8}; }
  QSize minimumSizeHint() const override { return {40, 8}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::optional<double> m_fraction;
};

}  // namespace tessera::ui
