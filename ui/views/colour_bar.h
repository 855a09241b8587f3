// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The meaning of the colours, for all views: a choice and the legend.

#include <QWidget>
#include <optional>

#include "ui/canvas/mesh_scene.h"

class QComboBox;

namespace tessera::ui {

class Legend;

class ColourBar : public QWidget {
  Q_OBJECT

 public:
  explicit ColourBar(QWidget* parent = nullptr);
  ColourBy colouring() const;
  void setColouring(ColourBy by);
  /// The swatch that is shown in full; the others are faded.
  std::optional<int> isolated() const { return m_isolated; }
  /// Shows the legend of a coloured scene, and what it isolates.
  void setScene(const MeshScene& scene);
  Legend* legend() const { return m_legend; }

 signals:
  /// The colouring or the isolated swatch changed.
  void changed();

 private:
  QComboBox* m_box;
  Legend* m_legend;
  std::optional<int> m_isolated;
};

}  // namespace tessera::ui
