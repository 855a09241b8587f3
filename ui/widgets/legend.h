// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The legend of colours and patterns. A click, or Space on the focused entry, isolates it. Where
/// there is no room for the names it shrinks to swatches, between the first and the last name.

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/canvas/mesh_scene.h"

class QPainter;

namespace tessera::ui {

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  /// A quantity is drawn as a scale and cannot be isolated.
  void setEntries(std::vector<MeshScene::LegendEntry> entries, bool isQuantity = false);
  void setIsolated(std::optional<int> swatch);
  std::optional<int> isolated() const { return m_isolated; }
  const std::vector<MeshScene::LegendEntry>& entries() const { return m_entries; }
  bool isQuantity() const { return m_isQuantity; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  /// Whether each entry has its name.
  bool hasNames() const;
  /// Returns the position of an entry; null if it is not drawn, because there are too many.
  QRect entryRect(int index) const;

 signals:
  /// The user isolated a swatch, or ended the isolation.
  void isolateRequested(std::optional<int> swatch);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void toggle(int index);
  int count() const { return static_cast<int>(m_entries.size()); }
  QString nameOf(int index) const { return m_entries[static_cast<std::size_t>(index)].text; }
  /// The room between the first and the last name.
  QRect swatchRoom() const;
  int numDrawn() const;
  std::optional<int> entryAt(QPoint position) const;
  void paintScale(QPainter& painter) const;
  void paintSwatch(QPainter& painter, const QRectF& area, int swatch) const;

  int m_namedWidth = 0;  // of all entries with their names
  bool m_isQuantity = false;
  std::optional<int> m_isolated;
  int m_current = 0;
  std::vector<MeshScene::LegendEntry> m_entries;
};

}  // namespace tessera::ui
