// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A preview of the colours of pieces and states for each kind of colour vision.

#include <QWidget>

#include "ui/settings/colour_vision.h"

namespace tessera::ui {

class PalettePreview : public QWidget {
  Q_OBJECT

 public:
  explicit PalettePreview(QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }
  /// Returns the smallest CIEDE2000 difference between any two colours of pieces.
  static double smallestDifference(ColourVision vision);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tessera::ui
