// SPDX-License-Identifier: Apache-2.0
#include "ptc/tensor_spec.h"

#include <fmt/format.h>

#include "ptc/base/enum_names.h"
#include "ptc/base/utf8.h"

namespace tessera::ptc {
namespace {

constexpr EnumNames kRoleNames(TensorRole::kScalar, {"param", "master", "exp_avg", "exp_avg_sq",
                                                     "buffer", "rng", "scalar"});
constexpr EnumNames kPlaceNames(StagePlace::kAll,
                                {"layer", "first", "last", "first_and_last", "all"});
constexpr EnumNames kSplitNames(Split::kHeads, {"even", "ceil", "heads"});

}  // namespace

std::string_view ToString(TensorRole role) { return kRoleNames.Of(role); }
std::string_view ToString(StagePlace place) { return kPlaceNames.Of(place); }
std::string_view ToString(Split split) { return kSplitNames.Of(split); }

Result<TensorRole> ParseTensorRole(std::string_view name) {
  if (const auto role = kRoleNames.Find(name)) return *role;
  return InvalidArgument(fmt::format("unknown tensor role '{}'", Escaped(name)));
}

Result<StagePlace> ParseStagePlace(std::string_view name) {
  if (const auto place = kPlaceNames.Find(name)) return *place;
  return InvalidArgument(fmt::format("unknown stage place '{}'", Escaped(name)));
}

Result<Split> ParseSplit(std::string_view name) {
  if (const auto split = kSplitNames.Find(name)) return *split;
  return InvalidArgument(
      fmt::format("unknown split '{}', known are {}", Escaped(name), kSplitNames.Joined(", ")));
}

}  // namespace tessera::ptc
