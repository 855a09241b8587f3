// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/swatches.h"

#include "ui/theme.h"

namespace tessera::ui {
namespace {

int degreeOf(const ptc::MeshShape& shape, ptc::Axis axis) { return static_cast<int>(shape[axis]); }

/// How an index along an axis comes from another degree of it.
struct Split {
  int origin = 0;  // the index that held its beginning
  int part = 0;    // which of the parts of `origin`
  int parts = 1;   // the most parts of any index
};

// 2 → 4:  |   0   |   1   |     4 → 2:  | 0 | 1 | 2 | 3 |
//         | 0a 0b | 1a 1b |             |   0   |   2   |
Split splitOf(int index, int to, int from) {
  Split split;
  split.origin = index * from / to;
  split.part = index - (split.origin * to + from - 1) / from;
  split.parts = (to + from - 1) / from;
  return split;
}

// The swatches of shards whose hue is their stage come in blocks of kNumHues, one for each slice.
bool hueIsStage(const ptc::MeshShape& shape) {
  const int stages = degreeOf(shape, ptc::Axis::kPp), slices = degreeOf(shape, ptc::Axis::kTp);
  return stages > 1 && stages * slices > kNumHues;
}

int pieceSwatch(const ptc::MeshShape& shape, int pp, int tp) {
  const int slices = degreeOf(shape, ptc::Axis::kTp);
  if (!hueIsStage(shape)) return pp * slices + tp;
  return pp % kNumHues + kNumHues * (pp / kNumHues * slices + tp);
}

/// The number of patterns that the shards of a mesh use.
int patternsOf(const ptc::MeshShape& shape) {
  const int stages = degreeOf(shape, ptc::Axis::kPp), slices = degreeOf(shape, ptc::Axis::kTp);
  if (hueIsStage(shape)) return (stages + kNumHues - 1) / kNumHues * slices;
  return (stages * slices + kNumHues - 1) / kNumHues;
}

int blocksOf(int degree) { return (degree + kNumHues - 1) / kNumHues; }

}  // namespace

Swatches swatchesAt(const ptc::MeshShape& shape, int pp, int tp,
                    const std::optional<ptc::MeshShape>& from) {
  if (!from) return {pieceSwatch(shape, pp, tp), pp, tp};
  const int stages = degreeOf(*from, ptc::Axis::kPp), slices = degreeOf(*from, ptc::Axis::kTp);
  const Split stage = splitOf(pp, degreeOf(shape, ptc::Axis::kPp), stages);
  const Split slice = splitOf(tp, degreeOf(shape, ptc::Axis::kTp), slices);
  const int part = stage.part * slice.parts + slice.part;
  return {pieceSwatch(*from, stage.origin, slice.origin) + kNumHues * patternsOf(*from) * part,
          stage.origin + kNumHues * blocksOf(stages) * stage.part,
          slice.origin + kNumHues * blocksOf(slices) * slice.part};
}

}  // namespace tessera::ui
