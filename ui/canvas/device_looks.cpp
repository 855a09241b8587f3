// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/device_looks.h"

namespace tessera::ui {

DeviceLooks looksOf(const MeshScene& scene) {
  DeviceLooks looks;
  for (const MeshScene::Node& node : scene.nodes) {
    for (const MeshScene::Cell& cell : node.cells) {
      if (!cell.swatch) continue;
      looks[cell.id] = scene.colourBy == ColourBy::Memory
                           ? DeviceLook{quantity(*cell.swatch / 100.0), Pattern::Solid}
                           : DeviceLook{identity(*cell.swatch), pattern(*cell.swatch)};
    }
  }
  return looks;
}

}  // namespace tessera::ui
