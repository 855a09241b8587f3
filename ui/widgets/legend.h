// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which colour and pattern tells what. A click, or space on the focused entry, isolates it.

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  /// As many entries as fit are drawn, the rest is counted. A quantity is a scale, not a choice.
  void setEntries(std::vector<MeshScene::LegendEntry> entries, bool isQuantity = false);
  void setIsolated(std::optional<int> swatch);
  std::optional<int> isolated() const { return m_isolated; }
  const std::vector<MeshScene::LegendEntry>& entries() const { return m_entries; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 20}; }
  /// Where an entry is drawn; null where it is only counted.
  QRect entryRect(int index) const;

 signals:
  /// The user isolated a swatch, or none again.
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
