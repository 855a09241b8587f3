// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Every window, view, card and dialog of the panel in every condition that it has: empty, loading,
/// live, draft, moving, stale, failed, past. Tests of comfort and the pictures of the panel share
/// these scenes.

#include <QString>
#include <QWidget>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::test {

/// A widget in a condition, with everything that it needs.
struct Stage {
  std::shared_ptr<void> owner;
  QWidget* widget = nullptr;  // a top-level widget that is shown
};

struct Scene {
  QString name;  // "tensors-stale": what is shown and its condition
  std::function<Stage()> open;
};

/// The scenes, each with a name of its own.
const std::vector<Scene>& PanelScenes();

/// The size of the windows of later scenes; at first 1440 × 900.
void setSceneSize(QSize size);

}  // namespace tessera::test
