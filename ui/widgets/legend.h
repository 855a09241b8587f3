// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Which colour and pattern names which piece.

#include <QWidget>
#include <vector>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

class Legend : public QWidget {
  Q_OBJECT

 public:
  explicit Legend(QWidget* parent = nullptr);
  /// As many entries as fit are drawn, the rest is counted.
  void setEntries(std::vector<MeshScene::LegendEntry> entries);
  const std::vector<MeshScene::LegendEntry>& entries() const { return m_entries; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {60, 20}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<MeshScene::LegendEntry> m_entries;
};

}  // namespace tessera::ui
