// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/move_classes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ptc/certificate/overlay.h"
#include "ptc/certificate/port_times.h"

namespace tessera::ptc {
namespace {

std::uint64_t HashOf(const std::vector<int>& numbers) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (int number : numbers) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
    hash ^= hash >> 29U;
  }
  return hash;
}

/// Gives each set of devices one number.
class DeviceSets {
 public:
  int Intern(std::vector<int> devices) {
    std::vector<int>& same = ids_[HashOf(devices)];
    for (int id : same) {
      if (sets_[static_cast<std::size_t>(id)] == devices) return id;
    }
    same.push_back(static_cast<int>(sets_.size()));
    sets_.push_back(std::move(devices));
    return same.back();
  }
  std::vector<std::vector<int>> Take() && { return std::move(sets_); }

 private:
  std::unordered_map<std::uint64_t, std::vector<int>> ids_;  // looked up, never iterated
  std::vector<std::vector<int>> sets_;
};

/// The stages that hold a tensor.
std::vector<std::int64_t> StagesOf(const Layout& layout, const TensorSpec& spec) {
  const std::int64_t last = layout.mesh().shape()[Axis::kPp] - 1;
  switch (spec.place) {
    case StagePlace::kLayer:
      return {layout.stage_of_layer()[static_cast<std::size_t>(spec.layer)]};
    case StagePlace::kFirst:
      return {0};
    case StagePlace::kLast:
      return {last};
    case StagePlace::kFirstAndLast:
      return last == 0 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{0, last};
    case StagePlace::kAll:
      break;
  }
  std::vector<std::int64_t> all;
  for (std::int64_t stage = 0; stage <= last; ++stage) all.push_back(stage);
  return all;
}

/// The devices of one layout by (stage, part), for tensors that the same axes cut.
class PartDevices {
 public:
  PartDevices(const Layout& layout, const Parts& parts,
              const std::vector<std::optional<int>>& device_of_rank)
      : num_parts_(parts.boxes.size()),
        devices_(num_parts_ * static_cast<std::size_t>(layout.mesh().shape()[Axis::kPp])) {
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      const std::optional<int> device = device_of_rank[static_cast<std::size_t>(rank)];
      if (!device) continue;
      const auto stage = static_cast<std::size_t>(layout.mesh().Coordinate(rank, Axis::kPp));
      devices_[stage * num_parts_ + layout.PartIndex(rank, parts)].push_back(*device);
    }
  }
  std::vector<int> Of(const std::vector<std::int64_t>& stages,
                      const std::vector<int>& parts) const {
    std::vector<int> all;
    for (std::int64_t stage : stages) {
      for (int part : parts) {
        const std::vector<int>& some =
            devices_[static_cast<std::size_t>(stage) * num_parts_ + static_cast<std::size_t>(part)];
        all.insert(all.end(), some.begin(), some.end());
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::size_t num_parts_;
  std::vector<std::vector<int>> devices_;
};

/// One of the two layouts, with the device lists that are computed once.
class Side {
 public:
  Side(const Layout& layout, const std::vector<DeviceId>& devices, const std::set<DeviceId>& lost)
      : layout_(layout) {
    for (DeviceId device : layout.mesh().devices()) {
      const auto it = std::lower_bound(devices.begin(), devices.end(), device);
      std::optional<int>& position = device_of_rank_.emplace_back();
      if (!lost.contains(device)) position = static_cast<int>(it - devices.begin());
    }
  }
  const Layout& layout() const { return layout_; }
  const TensorSpec& Spec(std::size_t tensor) const {
    return layout_.collection().tensors()[tensor];
  }
  const PartDevices& DevicesOf(const Parts& parts) {
    std::unique_ptr<PartDevices>& devices = by_axes_[parts.axes];
    if (!devices) devices = std::make_unique<PartDevices>(layout_, parts, device_of_rank_);
    return *devices;
  }

 private:
  const Layout& layout_;
  std::vector<std::optional<int>> device_of_rank_;  // none: the device is lost
  std::map<std::vector<Axis>, std::unique_ptr<PartDevices>> by_axes_;
};

/// Keeps only the members of a spec on which the boxes of the tensor depend beside its stage. The
/// boxes of a tensor in a bucket also depend on the others in it, so its spec is left unchanged.
TensorSpec GeometryOf(const TensorSpec& spec) {
  TensorSpec key = spec;
  if (!spec.rule.bucket.empty()) return key;
  key.name.clear();
  key.aliases.clear();
  key.role = TensorRole::kParam;
  key.place = StagePlace::kAll;
  key.layer = 0;
  return key;
}

/// Tensors of equal geometry in both layouts, with their number for each pair of sets of stages.
struct CountedKind {
  TensorSpec from, to;
  std::size_t first = 0;  // a tensor that represents all
  std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, std::int64_t> counts;
};

std::vector<CountedKind> MakeKinds(const Side& from, const Side& to) {
  std::vector<CountedKind> kinds;
  std::map<Shape, std::vector<std::size_t>> of_shape;  // indices into `kinds`
  for (std::size_t t = 0; t < from.layout().collection().tensors().size(); ++t) {
    const TensorSpec old_key = GeometryOf(from.Spec(t));
    const TensorSpec new_key = GeometryOf(to.Spec(t));
    std::vector<std::size_t>& same_shape = of_shape[old_key.shape];
    auto it = std::find_if(same_shape.begin(), same_shape.end(), [&](std::size_t k) {
      return kinds[k].from == old_key && kinds[k].to == new_key;
    });
    if (it == same_shape.end()) {
      it = same_shape.insert(same_shape.end(), kinds.size());
      kinds.push_back({old_key, new_key, t, {}});
    }
    ++kinds[*it].counts[{StagesOf(from.layout(), from.Spec(t)), StagesOf(to.layout(), to.Spec(t))}];
  }
  return kinds;
}

}  // namespace

MoveClasses ClassifyMoves(const Layout& from, const Layout& to, const std::vector<DeviceId>& lost) {
  MoveClasses out;
  for (const Layout* layout : {&from, &to}) {
    const std::vector<DeviceId>& devices = layout->mesh().devices();
    out.devices.insert(out.devices.end(), devices.begin(), devices.end());
  }
  std::sort(out.devices.begin(), out.devices.end());
  out.devices.erase(std::unique(out.devices.begin(), out.devices.end()), out.devices.end());

  Side old_side(from, out.devices, {lost.begin(), lost.end()});
  Side new_side(to, out.devices, {});
  DeviceSets sets;
  for (const CountedKind& kind : MakeKinds(old_side, new_side)) {
    const Parts old_parts = from.PartsOf(static_cast<int>(kind.first));
    const Parts new_parts = to.PartsOf(static_cast<int>(kind.first));
    const Overlay overlay = MakeOverlay(old_parts.boxes, new_parts.boxes);
    const PartDevices& old_devices = old_side.DevicesOf(old_parts);
    const PartDevices& new_devices = new_side.DevicesOf(new_parts);
    for (const auto& [stages, count] : kind.counts) {
      const auto number_all = [&sets](const PartDevices& devices, const auto& on,
                                      const std::vector<std::vector<int>>& parts) {
        std::vector<int> ids;
        for (const std::vector<int>& some : parts) ids.push_back(sets.Intern(devices.Of(on, some)));
        return ids;
      };
      const std::vector<int> holders = number_all(old_devices, stages.first, overlay.from_sets);
      const std::vector<int> needers = number_all(new_devices, stages.second, overlay.to_sets);
      for (const Overlap& overlap : overlay.overlaps) {
        const std::int64_t elements = SaturatingMultiply(overlap.elements, count);
        const std::int64_t needed = SaturatingMultiply(elements, SizeBytes(kind.to.dtype));
        out.classes.push_back({holders[static_cast<std::size_t>(overlap.from)],
                               needers[static_cast<std::size_t>(overlap.to)],
                               SaturatingMultiply(elements, SizeBytes(kind.from.dtype)), needed,
                               kind.from.dtype == kind.to.dtype ? 0 : needed});
      }
    }
  }
  out.sets = std::move(sets).Take();

  std::vector<MoveClass>& classes = out.classes;
  std::sort(classes.begin(), classes.end(), [](const MoveClass& a, const MoveClass& b) {
    return std::pair(a.holders, a.needers) < std::pair(b.holders, b.needers);
  });
  std::size_t last = 0;
  for (std::size_t c = 1; c < classes.size(); ++c) {
    if (classes[c].holders == classes[last].holders &&
        classes[c].needers == classes[last].needers) {
      MoveClass& sum = classes[last];
      sum.bytes = SaturatingAdd(sum.bytes, classes[c].bytes);
      sum.needed_bytes = SaturatingAdd(sum.needed_bytes, classes[c].needed_bytes);
      sum.converted_bytes = SaturatingAdd(sum.converted_bytes, classes[c].converted_bytes);
    } else {
      classes[++last] = classes[c];
    }
  }
  if (!classes.empty()) classes.resize(last + 1);
  return out;
}

}  // namespace tessera::ptc
