// SPDX-License-Identifier: Apache-2.0
#include "ptc/tensor_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ptc/base/utf8.h"

namespace tessera::ptc {
namespace {

constexpr std::array<std::string_view, 7> kRoleNames = {"param",  "master", "exp_avg", "exp_avg_sq",
                                                        "buffer", "rng",    "scalar"};
constexpr std::array<std::string_view, 5> kPlaceNames = {"layer", "first", "last", "first_and_last",
                                                         "all"};
constexpr std::array<std::string_view, 3> kSplitNames = {"even", "ceil", "heads"};

}  // namespace

std::string_view ToString(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

Result<TensorRole> ParseTensorRole(std::string_view name) {
  const auto it = std::find(kRoleNames.begin(), kRoleNames.end(), name);
  if (it == kRoleNames.end()) {
    return InvalidArgument(fmt::format("unknown tensor role '{}'", Escaped(name)));
  }
  return static_cast<TensorRole>(it - kRoleNames.begin());
}

std::string_view ToString(StagePlace place) { return kPlaceNames[static_cast<std::size_t>(place)]; }

Result<StagePlace> ParseStagePlace(std::string_view name) {
  const auto it = std::find(kPlaceNames.begin(), kPlaceNames.end(), name);
  if (it == kPlaceNames.end()) {
    return InvalidArgument(fmt::format("unknown stage place '{}'", Escaped(name)));
  }
  return static_cast<StagePlace>(it - kPlaceNames.begin());
}

std::string_view ToString(Split split) { return kSplitNames[static_cast<std::size_t>(split)]; }

Result<Split> ParseSplit(std::string_view name) {
  const auto it = std::find(kSplitNames.begin(), kSplitNames.end(), name);
  if (it == kSplitNames.end())
    return InvalidArgument(
        fmt::format("unknown split '{}', known are even, ceil, heads", Escaped(name)));
  return static_cast<Split>(it - kSplitNames.begin());
}

}  // namespace tessera::ptc
