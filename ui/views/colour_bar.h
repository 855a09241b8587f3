// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The meaning of the colours, for all views: a choice and the legend. In the mesh also what its
/// frames contain. A narrow bar hides the choices, which the View menu has, too; the legend stays.

#include <QWidget>
#include <initializer_list>
#include <optional>

#include "ui/canvas/mesh_scene.h"

class QComboBox;
class QLabel;

namespace tessera::ui {

class Legend;

class ColourBar : public QWidget {
  Q_OBJECT

 public:
  explicit ColourBar(QWidget* parent = nullptr);
  ColourBy colouring() const;
  void setColouring(ColourBy by);
  GroupBy grouping() const;
  void setGrouping(GroupBy by);
  /// Returns why the frames cannot have this content, as one sentence; empty if they can.
  QString groupingBlockedReason(GroupBy by) const;
  /// Whether the shown view has frames.
  void setGroupingShown(bool shown);
  /// The swatch that is shown in full; the others are faded.
  std::optional<int> isolated() const { return m_isolated; }
  /// Shows the legend of a coloured scene, and what it isolates. Offers racks if it has any.
  void setScene(const MeshScene& scene);
  Legend* legend() const { return m_legend; }
  QComboBox* colourBox() const { return m_box; }
  QComboBox* groupBox() const { return m_groupBox; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  /// The colouring, the isolated swatch or the grouping changed.
  void changed();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fit();
  void offerRacks(bool offered);
  int widthOf(std::initializer_list<const QWidget*> widgets) const;
  int leastWidth() const;

  QLabel* m_groupCaption;
  QComboBox* m_groupBox;
  bool m_groupingShown = true;
  bool m_hasRacks = true;
  QLabel* m_caption;
  QComboBox* m_box;
  Legend* m_legend;
  std::optional<int> m_isolated;
};

}  // namespace tessera::ui
