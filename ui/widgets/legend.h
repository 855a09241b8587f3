// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The legend of colours and patterns. A click, or Space on the focused entry, isolates it.

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  /// Draws as many entries as fit and the number of the others. A quantity is drawn as a scale and
  /// cannot be isolated.
  void setEntries(std::vector<MeshScene::LegendEntry> entries, bool isQuantity = false);
  void setIsolated(std::optional<int> swatch);
  std::optional<int> isolated() const { return m_isolated; }
  const std::vector<MeshScene::LegendEntry>& entries() const { return m_entries; }
  bool isQuantity() const { return m_isQuantity; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 20}; }
  /// Returns the position of an entry; null if it is not drawn.
  QRect entryRect(int index) const;

 signals:
  /// The user isolated a swatch, or ended the isolation.
  void isolateRequested(std::optional<int> swatch);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void toggle(int index);

  bool m_isQuantity = false;
  std::optional<int> m_isolated;
  int m_current = 0;
  std::vector<MeshScene::LegendEntry> m_entries;
};

}  // namespace tessera::ui
