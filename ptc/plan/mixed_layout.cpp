// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/mixed_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "ptc/plan/kinds.h"

namespace tessera::ptc {
namespace {

std::vector<int> AllTensors(const Layout& layout) {
  std::vector<int> out(layout.collection().tensors().size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

MixedLayout::MixedLayout(std::vector<LayoutPart> parts) : parts_(std::move(parts)) {
  for (const LayoutPart& part : parts_) {
    std::ranges::copy_if(
        part.layout.mesh().devices(), std::back_inserter(devices_),
        [&](DeviceId device) { return !std::ranges::binary_search(part.lost, device); });
  }
  std::sort(devices_.begin(), devices_.end());
  devices_.erase(std::unique(devices_.begin(), devices_.end()), devices_.end());
}

MixedLayout::MixedLayout(Layout layout)
    : MixedLayout(std::vector<LayoutPart>{{layout, AllTensors(layout)}}) {}

Result<MixedLayout> MixedLayout::Make(std::vector<LayoutPart> parts) {
  if (parts.empty()) return InvalidArgument("a mixed layout has no part");
  const auto& specs = parts.front().layout.collection().tensors();
  std::vector<bool> is_in(specs.size());
  for (LayoutPart& part : parts) {
    TESSERA_RETURN_IF_ERROR(
        CheckSameTensors(parts.front().layout.collection(), part.layout.collection(), false));
    for (const int tensor : part.tensors) {
      const auto at = static_cast<std::size_t>(tensor);
      if (tensor < 0 || at >= specs.size()) {
        return InvalidArgument(
            fmt::format("tensor {} of a mixed layout is not in 0..{}", tensor, specs.size() - 1));
      }
      if (is_in[at]) {
        return InvalidArgument(
            fmt::format("tensor '{}' is twice in a mixed layout", specs[at].name));
      }
      is_in[at] = true;
    }
    std::sort(part.tensors.begin(), part.tensors.end());
    std::sort(part.lost.begin(), part.lost.end());
  }
  const auto missing = std::find(is_in.begin(), is_in.end(), false);
  if (missing != is_in.end()) {
    const auto at = static_cast<std::size_t>(missing - is_in.begin());
    return InvalidArgument(
        fmt::format("tensor '{}' is in no part of a mixed layout", specs[at].name));
  }
  std::erase_if(parts, [](const LayoutPart& part) { return part.tensors.empty(); });
  if (parts.empty()) return InvalidArgument("a mixed layout has no tensors");
  return MixedLayout(std::move(parts));
}

const LayoutPart& MixedLayout::PartWith(int tensor) const {
  return *std::find_if(parts_.begin(), parts_.end(), [tensor](const LayoutPart& part) {
    return std::binary_search(part.tensors.begin(), part.tensors.end(), tensor);
  });
}

bool MixedLayout::Has(DeviceId device) const {
  return std::binary_search(devices_.begin(), devices_.end(), device);
}

MixedLayout MixedLayout::After(const Layout& to, const std::vector<int>& tensors,
                               const std::vector<DeviceId>& lost) const {
  std::vector<LayoutPart> parts;
  LayoutPart moved{to, tensors};
  for (const LayoutPart& part : parts_) {
    LayoutPart rest{part.layout, {}, part.lost};
    std::ranges::set_difference(part.tensors, tensors, std::back_inserter(rest.tensors));
    if (rest.tensors.empty()) continue;
    std::ranges::copy_if(lost, std::back_inserter(rest.lost), [&](DeviceId device) {
      return part.layout.mesh().RankOf(device).has_value();
    });
    std::ranges::sort(rest.lost);
    rest.lost.erase(std::ranges::unique(rest.lost).begin(), rest.lost.end());
    if (rest.layout == to && rest.lost.empty()) {
      std::vector<int> both;
      std::ranges::merge(moved.tensors, rest.tensors, std::back_inserter(both));
      moved.tensors = std::move(both);
    } else {
      parts.push_back(std::move(rest));
    }
  }
  if (!moved.tensors.empty()) parts.push_back(std::move(moved));
  return MixedLayout(std::move(parts));
}

}  // namespace tessera::ptc
