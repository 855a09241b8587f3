// SPDX-License-Identifier: Apache-2.0
#include "agents/checkpoint/stored_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "agents/checkpoint/checkpoint_place.h"
#include "engine/data/cursor.h"

namespace tessera::agents {
namespace {

/// Describes a tensor as "f32 [4,8]".
std::string FormOf(ptc::DType dtype, const ptc::Shape& shape) {
  return fmt::format("{} {}", ptc::ToString(dtype), ptc::ToString(shape));
}

Error DoesNotFit(const std::string& path, const std::string& tensor, const std::string& why) {
  return FailedPrecondition(
      fmt::format("checkpoint '{}' does not fit: tensor '{}' {}", path, tensor, why));
}

}  // namespace

bool IsParameter(ptc::TensorRole role) {
  return role == ptc::TensorRole::kParam || role == ptc::TensorRole::kMaster ||
         role == ptc::TensorRole::kBuffer;
}

Result<StoredState> MatchState(const checkpoint::Manifest& manifest, const std::string& place,
                               const ptc::Collection& collection, bool parameters_only) {
  const std::string path = ShownPlace(place);
  std::map<std::string_view, const checkpoint::Manifest::Tensor*> stored;
  for (const auto& tensor : manifest.tensors) stored.emplace(tensor.name, &tensor);
  StoredState out{place,
                  path,
                  parameters_only ? 0 : manifest.step,
                  parameters_only,
                  parameters_only ? std::string() : manifest.digest,
                  {}};
  for (const ptc::TensorSpec& spec : collection.tensors()) {
    if (parameters_only && !IsParameter(spec.role)) {
      out.digests.push_back(std::nullopt);
      continue;
    }
    const auto found = stored.find(spec.name);
    if (found == stored.end()) return DoesNotFit(path, spec.name, "of the job is not in it");
    const checkpoint::Manifest::Tensor& tensor = *found->second;
    if (tensor.dtype != spec.dtype || tensor.shape != spec.shape) {
      return DoesNotFit(
          path, spec.name,
          fmt::format("is {} in it, {} in the job", FormOf(tensor.dtype, tensor.shape),
                      FormOf(spec.dtype, spec.shape)));
    }
    out.digests.push_back(tensor.digest);
    stored.erase(found);
  }
  if (!parameters_only && !stored.empty()) {
    return DoesNotFit(path, std::string(stored.begin()->first), "is not one of the job");
  }
  return out;
}

Result<StoredTensors> StoredTensors::Open(const Choice& choice, const ptc::Collection& collection,
                                          const OpenCheckpoint& open) {
  StoredTensors out;
  TESSERA_TRY(out.checkpoint_, open(choice.path));
  const std::string& shown = out.checkpoint_->path();
  for (const ptc::TensorSpec& spec : collection.tensors()) {
    std::vector<std::byte>& begin = out.begins_.emplace_back();
    if (choice.parameters_only && !IsParameter(spec.role)) {
      out.stored_.push_back(std::nullopt);
      if (spec.name == engine::kCursorTensor && spec.dtype == ptc::DType::kI64 &&
          spec.shape == ptc::Shape{3}) {
        const auto words = engine::Cursor{.seed = choice.seed}.ToArray();
        begin.resize(sizeof words);
        std::memcpy(begin.data(), words.data(), sizeof words);
      }
      continue;
    }
    const std::optional<int> index = out.checkpoint_->Find(spec.name);
    if (!index) return DoesNotFit(shown, spec.name, "of the job is not in it");
    const checkpoint::StoredTensor& tensor =
        out.checkpoint_->tensors()[static_cast<std::size_t>(*index)];
    if (tensor.dtype != spec.dtype || tensor.shape != spec.shape) {
      return DoesNotFit(
          shown, spec.name,
          fmt::format("is {} in it, {} in the job", FormOf(tensor.dtype, tensor.shape),
                      FormOf(spec.dtype, spec.shape)));
    }
    out.stored_.push_back(*index);
  }
  return out;
}

Status StoredTensors::Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const {
  const auto t = static_cast<std::size_t>(tensor);
  if (stored_[t]) return checkpoint_->Read(*stored_[t], box, out);
  std::ranges::fill(out, std::byte{0});
  if (!begins_[t].empty()) {  // one dim
    const auto at = static_cast<std::size_t>(box[0].begin) * sizeof(std::int64_t);
    std::memcpy(out.data(), begins_[t].data() + at, out.size());
  }
  return OkStatus();
}

}  // namespace tessera::agents
