// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ptc/base/utf8.h"
#include "ptc/packed.h"
#include "ptc/shard_rule.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {
namespace {

Status CheckExpert(const TensorSpec& spec) {
  if (!spec.expert) return OkStatus();
  const auto& [index, count] = *spec.expert;
  if (count < 1 || index < 0 || index >= count) {
    return InvalidArgument(fmt::format("expert {} of {} experts", index, count));
  }
  return OkStatus();
}

Status CheckSpec(const TensorSpec& spec, std::int64_t num_layers) {
  TESSERA_RETURN_IF_ERROR(ByteCount(spec.dtype, spec.shape));
  TESSERA_RETURN_IF_ERROR(CheckExpert(spec));
  TESSERA_RETURN_IF_ERROR(CheckRule(spec));
  if (spec.place == StagePlace::kLayer && (spec.layer < 0 || spec.layer >= num_layers)) {
    return InvalidArgument(fmt::format("layer {} is not in 0..{}", spec.layer, num_layers - 1));
  }
  return OkStatus();
}

/// Checks the names of one storage. The first of them becomes the name, the others the aliases.
Status NameTensor(TensorSpec& spec) {
  if (spec.name.empty()) return InvalidArgument("a tensor has no name");
  if (!IsPrintableUtf8(spec.name)) {
    return InvalidArgument("the name of a tensor is not printable utf-8");
  }
  for (const std::string& alias : spec.aliases) {
    if (!alias.empty() && IsPrintableUtf8(alias)) continue;
    return InvalidArgument(fmt::format("tensor '{}': an alias is {}", spec.name,
                                       alias.empty() ? "an empty name" : "not printable utf-8"));
  }
  if (!IsPrintableUtf8(spec.rule.bucket)) {
    return InvalidArgument(
        fmt::format("tensor '{}': the name of its bucket is not printable utf-8", spec.name));
  }
  std::sort(spec.aliases.begin(), spec.aliases.end());
  if (!spec.aliases.empty() && spec.aliases.front() < spec.name) {
    std::swap(spec.aliases.front(), spec.name);
    std::sort(spec.aliases.begin(), spec.aliases.end());
  }
  return OkStatus();
}

/// \pre `tensors` are sorted by name
std::optional<int> FindName(const std::vector<TensorSpec>& tensors, std::string_view name) {
  const auto it =
      std::lower_bound(tensors.begin(), tensors.end(), name,
                       [](const TensorSpec& spec, std::string_view n) { return spec.name < n; });
  if (it == tensors.end() || it->name != name) return std::nullopt;
  return static_cast<int>(it - tensors.begin());
}

}  // namespace

Status Collection::Normalize(TensorSpec& spec, std::int64_t num_layers) {
  TESSERA_RETURN_IF_ERROR(NameTensor(spec));
  if (Status status = CheckSpec(spec, num_layers); !status) {
    return std::move(status).Context(fmt::format("tensor '{}'", spec.name)).error();
  }
  // Values of equal meaning become equal, so that equal collections compare and hash as equal.
  ptc::Normalize(spec);
  if (spec.place != StagePlace::kLayer) spec.layer = 0;
  return OkStatus();
}

Result<std::shared_ptr<const Collection>> Collection::Make(std::vector<TensorSpec> tensors,
                                                           std::int64_t num_layers) {
  if (num_layers < 0) {
    return InvalidArgument(fmt::format("number of layers {} is negative", num_layers));
  }
  if (num_layers > kMaxLayers) {
    return InvalidArgument(fmt::format("number of layers {} is above {}", num_layers, kMaxLayers));
  }
  std::int64_t total_bytes = 0;
  for (TensorSpec& spec : tensors) {
    TESSERA_RETURN_IF_ERROR(Normalize(spec, num_layers));
    if (__builtin_add_overflow(total_bytes, *ByteCount(spec.dtype, spec.shape), &total_bytes)) {
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
  TESSERA_RETURN_IF_ERROR(collection.IndexAliases());
  return std::make_shared<const Collection>(std::move(collection));
}

Status Collection::IndexAliases() {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    for (const std::string& alias : tensors_[t].aliases) {
      if (FindName(tensors_, alias)) {
        return InvalidArgument(fmt::format("alias '{}' of tensor '{}' is also tensor '{}'", alias,
                                           tensors_[t].name, alias));
      }
      aliases_.emplace_back(alias, static_cast<int>(t));
    }
  }
  std::sort(aliases_.begin(), aliases_.end());
  const auto twice =
      std::adjacent_find(aliases_.begin(), aliases_.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice == aliases_.end()) return OkStatus();
  return InvalidArgument(fmt::format("alias '{}' is given twice", twice->first));
}

std::optional<int> Collection::Find(std::string_view name) const {
  if (const auto tensor = FindName(tensors_, name)) return tensor;
  const auto alias =
      std::lower_bound(aliases_.begin(), aliases_.end(), name,
                       [](const auto& entry, std::string_view n) { return entry.first < n; });
  if (alias == aliases_.end() || alias->first != name) return std::nullopt;
  return alias->second;
}

std::int64_t Collection::total_bytes() const {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : tensors_) bytes += *ByteCount(spec.dtype, spec.shape);
  return bytes;
}

}  // namespace tessera::ptc
