// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/lost.h"

#include <algorithm>
#include <limits>

#include "ptc/base/at.h"

namespace tessera::ptc {
namespace {}  // namespace

std::vector<DeviceId> LostDevices(const Layout& from, const std::vector<DeviceId>& lost) {
  std::vector<DeviceId> devices;
  for (DeviceId device : lost) {
    if (from.mesh().RankOf(device)) devices.push_back(device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

void CountLost(const Kinds& kinds, const Classes& classes, const Holders& holders,
               Outline& outline) {
  for (std::size_t c = 0; c < outline.classes.size(); ++c) {
    outline.classes[c].is_lost = holders.Of(static_cast<int>(c)).devices.empty();
  }
  for (std::size_t s = 0; s < kinds.staged.size(); ++s) {
    const KindOnStages& staged = kinds.staged[s];
    const Kind& kind = kinds.kinds[At(staged.kind)];
    std::int64_t elements = 0;
    for (std::size_t c = 0; c < kind.cells.size(); ++c) {
      if (outline.classes[At(classes.Of(s, c))].is_lost) elements += kind.elements[c];
    }
    if (elements == 0) continue;
    outline.lost_tensors += staged.num_tensors;
    outline.lost_bytes += elements * SizeBytes(kind.from_dtype) * staged.num_tensors;
  }
}

std::vector<LostRange> LostRanges(const Outline& outline, std::size_t most) {
  std::vector<LostRange> ranges;
  if (outline.lost_tensors == 0) return ranges;
  const Kinds& kinds = *outline.kinds;
  const Classes classes(kinds);
  for (std::size_t t = 0; t < kinds.staged_of_tensor.size(); ++t) {
    if (kinds.staged_of_tensor[t] == kNotHere) continue;
    const std::size_t staged = At(kinds.staged_of_tensor[t]);
    const Kind& kind = kinds.kinds[At(kinds.staged[staged].kind)];
    for (std::size_t c = 0; c < kind.cells.size(); ++c) {
      if (!outline.classes[At(classes.Of(staged, c))].is_lost) continue;
      if (ranges.size() == most) return ranges;
      ranges.push_back({static_cast<int>(t), kind.cells[c].box});
    }
  }
  return ranges;
}

std::vector<int> LostTensors(const Outline& outline) {
  std::vector<int> tensors;
  for (const LostRange& range : LostRanges(outline, std::numeric_limits<std::size_t>::max())) {
    if (tensors.empty() || tensors.back() != range.tensor) tensors.push_back(range.tensor);
  }
  return tensors;
}

}  // namespace tessera::ptc
