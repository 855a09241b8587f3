// SPDX-License-Identifier: Apache-2.0
#include "ptc/tensor_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tessera::ptc {
namespace {

constexpr std::array<std::string_view, 7> kRoleNames = {"param",  "master", "exp_avg", "exp_avg_sq",
                                                        "buffer", "rng",    "scalar"};
constexpr std::array<std::string_view, 5> kPlaceNames = {"layer", "first", "last", "first_and_last",
                                                         "all"};
constexpr std::array<std::string_view, 2> kSplitNames = {"even", "ceil"};

/// Printable UTF-8: names go into JSON and into lines of text.
bool IsPrintableUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const unsigned lead = byte(i);
    unsigned length = 0;
    unsigned code = 0;
    if (lead < 0x80) {
      length = 1;
      code = lead;
    } else if (lead >= 0xc2 && lead <= 0xdf) {
      length = 2;
      code = lead & 0x1fU;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      length = 3;
      code = lead & 0x0fU;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      length = 4;
      code = lead & 0x07U;
    } else {
      return false;
    }
    for (unsigned k = 1; k < length; ++k) {
      const unsigned next = byte(i + k);
      if ((next & 0xc0U) != 0x80U) return false;
      code = code << 6U | (next & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    const bool control = code < 0x20 || code == 0x7f;
    if (overlong || surrogate || control || code > 0x10ffff) return false;
    i += length;
  }
  return true;
}

Status CheckSegments(const TensorSpec& spec) {
  const Segments& segments = *spec.segments;
  if (segments.dim < 0 || segments.dim >= std::ssize(spec.shape)) {
    return InvalidArgument(fmt::format("segments of dim {}, but the tensor has {} dims",
                                       segments.dim, spec.shape.size()));
  }
  const std::int64_t size = spec.shape[static_cast<std::size_t>(segments.dim)];
  std::int64_t rest = size;
  for (std::int64_t segment : segments.sizes) {
    if (segment < 0 || segment > rest) {
      rest = -1;
      break;
    }
    rest -= segment;
  }
  if (rest != 0) {
    return InvalidArgument(fmt::format("segments {} do not add up to dim {} = {}",
                                       ToString(segments.sizes), segments.dim, size));
  }
  return OkStatus();
}

Status CheckRule(const TensorSpec& spec) {
  if (spec.rule.dims.size() > spec.shape.size()) {
    return InvalidArgument(fmt::format("rule has {} dims, but the tensor has {}",
                                       spec.rule.dims.size(), spec.shape.size()));
  }
  std::array<bool, kNumAxes> seen{};
  const auto use = [&](Axis axis) -> Status {
    bool& used = seen[static_cast<std::size_t>(axis)];
    if (used) return InvalidArgument(fmt::format("axis {} is twice in the rule", ToString(axis)));
    used = true;
    // A stage would hold only its share of the tensor, and no other stage the rest.
    if (axis == Axis::kPp && spec.place != StagePlace::kAll) {
      return InvalidArgument(
          fmt::format("axis pp cuts the tensor, but its place is '{}'", ToString(spec.place)));
    }
    return OkStatus();
  };
  for (const std::vector<Axis>& axes : spec.rule.dims) {
    for (Axis axis : axes) TESSERA_RETURN_IF_ERROR(use(axis));
  }
  return spec.rule.flat ? use(*spec.rule.flat) : OkStatus();
}

Status CheckSpec(const TensorSpec& spec, std::int64_t num_layers) {
  TESSERA_TRY(const std::int64_t elements, NumElements(spec.shape));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, SizeBytes(spec.dtype), &bytes)) {
    return InvalidArgument(fmt::format("shape {} of {} has more than 2^63-1 bytes",
                                       ToString(spec.shape), ToString(spec.dtype)));
  }
  if (spec.segments) TESSERA_RETURN_IF_ERROR(CheckSegments(spec));
  TESSERA_RETURN_IF_ERROR(CheckRule(spec));
  if (spec.place == StagePlace::kLayer && (spec.layer < 0 || spec.layer >= num_layers)) {
    return InvalidArgument(fmt::format("layer {} is not in 0..{}", spec.layer, num_layers - 1));
  }
  return OkStatus();
}

}  // namespace

std::string_view ToString(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

Result<TensorRole> ParseTensorRole(std::string_view name) {
  const auto it = std::find(kRoleNames.begin(), kRoleNames.end(), name);
  if (it == kRoleNames.end()) {
    return InvalidArgument(fmt::format("unknown tensor role '{}'", name));
  }
  return static_cast<TensorRole>(it - kRoleNames.begin());
}

std::string_view ToString(StagePlace place) { return kPlaceNames[static_cast<std::size_t>(place)]; }

Result<StagePlace> ParseStagePlace(std::string_view name) {
  const auto it = std::find(kPlaceNames.begin(), kPlaceNames.end(), name);
  if (it == kPlaceNames.end()) {
    return InvalidArgument(fmt::format("unknown stage place '{}'", name));
  }
  return static_cast<StagePlace>(it - kPlaceNames.begin());
}

std::string_view ToString(Split split) { return kSplitNames[static_cast<std::size_t>(split)]; }

Result<Split> ParseSplit(std::string_view name) {
  const auto it = std::find(kSplitNames.begin(), kSplitNames.end(), name);
  if (it == kSplitNames.end())
    return InvalidArgument(fmt::format("unknown split '{}', known are even, ceil", name));
  return static_cast<Split>(it - kSplitNames.begin());
}

Result<std::shared_ptr<const Collection>> Collection::Make(std::vector<TensorSpec> tensors,
                                                           std::int64_t num_layers) {
  if (num_layers < 0) {
    return InvalidArgument(fmt::format("number of layers {} is negative", num_layers));
  }
  std::int64_t total_bytes = 0;
  for (TensorSpec& spec : tensors) {
    if (spec.name.empty()) return InvalidArgument("a tensor has no name");
    if (!IsPrintableUtf8(spec.name)) {
      return InvalidArgument("the name of a tensor is not printable utf-8");
    }
    if (Status status = CheckSpec(spec, num_layers); !status) {
      return std::move(status).Context(fmt::format("tensor '{}'", spec.name)).error();
    }
    // One spelling for each value, so that equal collections compare and hash as equal.
    spec.rule.dims.resize(spec.shape.size());
    const auto& dims = spec.rule.dims;
    if (std::all_of(dims.begin(), dims.end(), [](const auto& axes) { return axes.empty(); })) {
      spec.rule.split = Split::kEven;
    }
    if (spec.place != StagePlace::kLayer) spec.layer = 0;
    if (__builtin_add_overflow(total_bytes, *NumElements(spec.shape) * SizeBytes(spec.dtype),
                               &total_bytes)) {
      return InvalidArgument("all tensors together have more than 2^63-1 bytes");
    }
  }
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorSpec& a, const TensorSpec& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(tensors.begin(), tensors.end(),
                         [](const TensorSpec& a, const TensorSpec& b) { return a.name == b.name; });
  if (twice != tensors.end()) {
    return InvalidArgument(fmt::format("tensor '{}' is given twice", twice->name));
  }
  Collection collection;
  collection.tensors_ = std::move(tensors);
  collection.num_layers_ = num_layers;
  return std::make_shared<const Collection>(std::move(collection));
}

std::optional<int> Collection::Find(std::string_view name) const {
  const auto it =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const TensorSpec& spec, std::string_view n) { return spec.name < n; });
  if (it == tensors_.end() || it->name != name) return std::nullopt;
  return static_cast<int>(it - tensors_.begin());
}

std::int64_t Collection::total_bytes() const {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : tensors_) bytes += *NumElements(spec.shape) * SizeBytes(spec.dtype);
  return bytes;
}

std::int64_t StageOfLayer(std::int64_t layer, std::int64_t num_layers, std::int64_t num_stages) {
  const std::int64_t size = num_layers / num_stages;
  const std::int64_t longer = num_layers % num_stages;  // stages with size + 1 layers
  const std::int64_t in_longer = longer * (size + 1);
  if (layer < in_longer) return layer / (size + 1);
  return longer + (layer - in_longer) / size;
}

bool IsOnStage(const TensorSpec& spec, std::int64_t num_layers, std::int64_t stage,
               std::int64_t num_stages) {
  switch (spec.place) {
    case StagePlace::kLayer:
      return stage == StageOfLayer(spec.layer, num_layers, num_stages);
    case StagePlace::kFirst:
      return stage == 0;
    case StagePlace::kLast:
      return stage == num_stages - 1;
    case StagePlace::kFirstAndLast:
      return stage == 0 || stage == num_stages - 1;
    case StagePlace::kAll:
      return true;
  }
  return false;
}

}  // namespace tessera::ptc
