// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The colours that name pieces and states, as people with each kind of colour vision see them.

#include <QWidget>

#include "ui/settings/colour_vision.h"

namespace tessera::ui {

class PalettePreview : public QWidget {
  Q_OBJECT

 public:
  explicit PalettePreview(QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }
  /// The smallest CIEDE2000 difference between any two of the colours that name pieces.
  static double smallestDifference(ColourVision vision);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace tessera::ui
