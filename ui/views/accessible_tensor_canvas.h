// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Presents TensorCanvas to assistive technology as a list with one named child per shard, those
/// before the change first.

#include "ui/views/tensor_canvas.h"

namespace tessera::ui {

/// Registers the accessible interface of TensorCanvas with Qt. Repeated calls are cheap.
void installAccessibleTensorCanvas();
/// Call this after other shards are shown.
void resetAccessibleShards(TensorCanvas* canvas);
void notifyAccessibleShard(TensorCanvas* canvas, TensorCanvas::At at);

}  // namespace tessera::ui
