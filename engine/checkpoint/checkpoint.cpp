// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/strided_read.h"
#include "engine/checkpoint/tiling.h"
#include "ptc/base/enum_names.h"
#include "ptc/digest.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

using ptc::Box;

constexpr EnumNames kFormats(Format::kTorchSave,
                             {"safetensors", "huggingface", "sharded", "dcp", "megatron", "torch"});

/// The strides of a box in row-major memory.
std::vector<std::int64_t> RowMajor(const Box& box) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(box.rank()), 1);
  for (int d = box.rank() - 1; d > 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    strides[at - 1] = strides[at] * box[d].size();
  }
  return strides;
}

/// Whether the addresses of all elements of a box fit into int64.
bool IsAddressable(const StoredBox& stored, const Box& units, std::int64_t unit_bytes) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < stored.strides.size(); ++d) {
    std::int64_t way = 0;
    if (stored.strides[d] < 0 ||
        __builtin_mul_overflow(stored.strides[d], stored.box[static_cast<int>(d)].size() - 1,
                               &way) ||
        __builtin_add_overflow(last, way, &last)) {
      return false;
    }
  }
  if (stored.strides.empty()) last = units.num_elements() - 1;
  std::int64_t end = 0;
  return stored.offset >= 0 && !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, unit_bytes, &end) &&
         !__builtin_add_overflow(end, stored.offset, &end);
}

Status CheckBox(const StoredTensor& tensor, const Box& whole, const StoredBox& stored,
                std::size_t num_files) {
  const Box& box = stored.box;
  if (box.rank() != whole.rank() || !Contains(whole, box)) {
    return InvalidArgument(fmt::format("box {} lies outside the shape {}", ToString(box),
                                       ptc::ToString(tensor.shape)));
  }
  if (stored.file < 0 || static_cast<std::size_t>(stored.file) >= num_files) {
    return InvalidArgument(
        fmt::format("box {} lies in file {} of {}", ToString(box), stored.file, num_files));
  }
  const bool strided = !stored.strides.empty();
  if (strided && (stored.strides.size() != static_cast<std::size_t>(box.rank()) ||
                  ptc::IsPacked(tensor.dtype))) {
    return InvalidArgument(
        fmt::format("box {} has {} strides", ToString(box), stored.strides.size()));
  }
  auto units = ptc::UnitBox(tensor.dtype, tensor.shape, box);
  if (!units) return std::move(units).Context(fmt::format("box {}", ToString(box))).error();
  if (!IsAddressable(stored, *units, ptc::SizeBytes(tensor.dtype))) {
    return InvalidArgument(
        fmt::format("box {} at byte {} with strides [{}] has no address below 2^63", ToString(box),
                    stored.offset, fmt::join(stored.strides, ",")));
  }
  return OkStatus();
}

Status CheckTensor(const StoredTensor& tensor, std::size_t num_files) {
  TESSERA_RETURN_IF_ERROR(ptc::ByteCount(tensor.dtype, tensor.shape));
  const std::optional<Box> whole = Box::Whole(tensor.shape);
  if (!whole) {
    if (tensor.boxes.empty()) return OkStatus();
    return InvalidArgument(
        fmt::format("shape {} has no elements but a box", ptc::ToString(tensor.shape)));
  }
  std::vector<Box> boxes;
  boxes.reserve(tensor.boxes.size());
  for (const StoredBox& stored : tensor.boxes) {
    TESSERA_RETURN_IF_ERROR(CheckBox(tensor, *whole, stored, num_files));
    boxes.push_back(stored.box);
  }
  const auto flaw = FindTilingFlaw(*whole, boxes);
  if (!flaw) return OkStatus();
  if (flaw->missing) {
    return InvalidArgument(fmt::format("range {} of shape {} is in no file", ToString(flaw->where),
                                       ptc::ToString(tensor.shape)));
  }
  return InvalidArgument(fmt::format("range {} of shape {} is stored twice", ToString(flaw->where),
                                     ptc::ToString(tensor.shape)));
}

/// The box in units.
/// \pre CheckBox succeeded
Box Units(const StoredTensor& tensor, const StoredBox& stored) {
  auto units = ptc::UnitBox(tensor.dtype, tensor.shape, stored.box);
  TESSERA_CHECK(units.has_value());
  return *std::move(units);
}

}  // namespace

std::string_view ToString(Format format) { return kFormats.Of(format); }

Result<std::shared_ptr<const Checkpoint>> Checkpoint::Make(Contents contents) {
  std::ranges::sort(contents.tensors, {}, &StoredTensor::name);
  std::ranges::sort(contents.opaque);
  for (std::size_t i = 0; i < contents.tensors.size(); ++i) {
    StoredTensor& tensor = contents.tensors[i];
    if (i > 0 && contents.tensors[i - 1].name == tensor.name) {
      return InvalidArgument(
          fmt::format("'{}': tensor '{}' appears twice", contents.path, tensor.name));
    }
    if (auto status = CheckTensor(tensor, contents.files.size()); !status) {
      return InvalidArgument(fmt::format("'{}': tensor '{}': {}", contents.path, tensor.name,
                                         status.error().ToString()));
    }
    if (!contents.locate && std::ranges::any_of(tensor.boxes, [](const StoredBox& stored) {
          return stored.archive_bytes > 0;
        })) {
      return InvalidArgument(
          fmt::format("'{}': tensor '{}' is in an archive, but its format has no archives",
                      contents.path, tensor.name));
    }
    std::ranges::sort(tensor.boxes, {}, &StoredBox::box);
  }
  return std::shared_ptr<const Checkpoint>(new Checkpoint(std::move(contents)));
}

std::shared_ptr<const Checkpoint> Checkpoint::Choose(
    const std::function<bool(const StoredTensor&)>& keep) const {
  Contents contents = contents_;
  std::erase_if(contents.tensors, [&](const StoredTensor& tensor) { return !keep(tensor); });
  return std::shared_ptr<const Checkpoint>(new Checkpoint(std::move(contents)));
}

Result<std::shared_ptr<const Checkpoint>> Checkpoint::WithoutPrefix(std::string_view prefix) const {
  Contents contents = contents_;
  std::size_t found = 0;
  for (StoredTensor& tensor : contents.tensors) {
    if (!tensor.name.starts_with(prefix)) continue;
    if (tensor.name.size() == prefix.size()) {
      return InvalidArgument(
          fmt::format("'{}': tensor '{}' has no name without the prefix", path(), tensor.name));
    }
    tensor.name.erase(0, prefix.size());
    ++found;
  }
  if (found == 0) {
    return InvalidArgument(fmt::format("'{}': no tensor's name begins with '{}'", path(), prefix));
  }
  return Make(std::move(contents));
}

Result<std::shared_ptr<const Checkpoint>> Checkpoint::WithCopies(
    const std::map<std::string, std::string>& names) const {
  Contents contents = contents_;
  for (const auto& [name, of] : names) {
    const std::optional<int> at = Find(of);
    if (!at) continue;
    StoredTensor copy = tensors()[static_cast<std::size_t>(*at)];
    copy.name = name;
    contents.tensors.push_back(std::move(copy));
  }
  return Make(std::move(contents));
}

Checkpoint::Checkpoint(Contents contents)
    : contents_(std::move(contents)), open_files_(contents_.files, contents_.open) {
  reach_.reserve(contents_.tensors.size());
  for (const StoredTensor& tensor : contents_.tensors) {
    std::vector<std::int64_t> reach;
    if (!tensor.shape.empty()) {
      std::int64_t furthest = 0;
      for (const StoredBox& stored : tensor.boxes) {
        furthest = std::max(furthest, Units(tensor, stored)[0].end);
        reach.push_back(furthest);
      }
    }
    reach_.push_back(std::move(reach));
  }
}

std::optional<int> Checkpoint::Find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(contents_.tensors, name, {}, &StoredTensor::name);
  if (at == contents_.tensors.end() || at->name != name) return std::nullopt;
  return static_cast<int>(at - contents_.tensors.begin());
}

Status Checkpoint::Read(int tensor, const Box& box, std::span<std::byte> out) const {
  const StoredTensor& stored = contents_.tensors[static_cast<std::size_t>(tensor)];
  const std::vector<std::int64_t>& reach = reach_[static_cast<std::size_t>(tensor)];
  const std::int64_t element_bytes = ptc::SizeBytes(stored.dtype);
  TESSERA_CHECK(out.size() == static_cast<std::size_t>(box.num_elements() * element_bytes));
  const std::vector<std::int64_t> to = RowMajor(box);
  auto at = stored.boxes.begin();
  if (!reach.empty()) at += std::ranges::upper_bound(reach, box[0].begin) - reach.begin();
  for (; at != stored.boxes.end(); ++at) {
    const Box held = Units(stored, *at);
    if (box.rank() > 0 && held[0].begin >= box[0].end) break;
    const std::optional<Box> both = Intersect(held, box);
    if (!both) continue;
    StoredBox found = *at;
    if (at->archive_bytes > 0) {
      TESSERA_TRY(found, contents_.locate(stored, *at));
      // Make has checked the strides of other boxes. Those of an archive are known only here.
      const bool fits = found.strides.empty() || found.strides.size() == to.size();
      if (!fits || !IsAddressable(found, held, element_bytes)) {
        return Internal(fmt::format("'{}': tensor '{}': box {} was located with strides [{}]",
                                    contents_.path, stored.name, ToString(at->box),
                                    fmt::join(found.strides, ",")));
      }
    }
    const std::vector<std::int64_t> from =
        found.strides.empty() ? RowMajor(held) : std::move(found.strides);
    std::vector<StridedDim> dims;
    std::int64_t offset = found.offset;
    std::int64_t place = 0;
    for (int d = 0; d < box.rank(); ++d) {
      const auto i = static_cast<std::size_t>(d);
      dims.push_back({(*both)[d].size(), from[i], to[i]});
      offset += ((*both)[d].begin - held[d].begin) * from[i] * element_bytes;
      place += ((*both)[d].begin - box[d].begin) * to[i] * element_bytes;
    }
    TESSERA_TRY(const FilePtr file, open_files_.Get(at->file));
    TESSERA_RETURN_IF_ERROR(
        ReadStrided(*file, offset, element_bytes, std::move(dims), out.data() + place));
  }
  return OkStatus();
}

std::string Checkpoint::UncomparedDigests() const {
  const auto& algorithm = contents_.unknown_digests;
  if (!algorithm) return {};
  const std::string name =
      algorithm->empty() ? "not named" : fmt::format("'{}'", Printable(*algorithm));
  return fmt::format("its digests are not compared: their algorithm is {}, this version knows '{}'",
                     name, ptc::kDigestAlgorithm);
}

}  // namespace tessera::checkpoint
