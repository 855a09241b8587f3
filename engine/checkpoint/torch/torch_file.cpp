// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/torch_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "ptc/base/counted.h"
#include "ptc/base/utf8.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::string_view kPickleName = "data.pkl";
constexpr std::int64_t kMaxByteorder = 16;

/// The storage that a persistent id names: ('storage', type, key, location, number of elements).
struct Storage {
  std::string_view key;
  std::optional<ptc::DType> dtype;  // empty: bytes
  std::int64_t num_elements = 0;
};

Result<Storage> ReadStorage(Value value) {
  const auto wrong = [&] {
    return value.At("the storage of a tensor is not as torch.save writes it");
  };
  if (!value.is(Kind::kPersistent)) return wrong();
  const Value id = value[0];
  if (!id.is(Kind::kTuple) || id.size() < 5 || !id[0].is(Kind::kText) ||
      id[0].text() != "storage" || !id[1].is(Kind::kGlobal) || !id[2].is(Kind::kText) ||
      !id[4].is(Kind::kInteger)) {
    return wrong();
  }
  const KnownGlobal& type = id[1].global();
  Storage storage{id[2].text(), type.dtype, id[4].integer()};
  if (type.id == Global::kStorage && !type.dtype) {
    return id[1].At(fmt::format("tessera has no dtype for elements of torch.{}", type.name));
  }
  if (type.id != Global::kStorage && type.id != Global::kUntypedStorage) return wrong();
  if (storage.num_elements < 0) return wrong();
  return storage;
}

/// The index of the last element plus one; 0 for a tensor without elements, nullopt beyond int64.
std::optional<std::int64_t> EndOf(std::int64_t offset, const ptc::Shape& shape,
                                  const std::vector<std::int64_t>& strides) {
  std::int64_t end = offset;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(shape[d] - 1, strides[d], &step) ||
        __builtin_add_overflow(end, step, &end)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(end, 1, &end)) return std::nullopt;
  return end;
}

bool IsRowMajor(const ptc::Shape& shape, const std::vector<std::int64_t>& strides) {
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

/// Whether calling the global makes a tensor. torch names all of these functions _rebuild_….
bool Rebuilds(const KnownGlobal& global) {
  return global.module.starts_with("torch.") && global.name.starts_with("_rebuild_");
}

/// \param function makes the elements, which are not a storage with strides
Error NotRead(Value tensor, const KnownGlobal& function) {
  const auto name = [](const KnownGlobal& global) {
    return fmt::format("{}.{}", Escaped(global.module), Escaped(global.name));
  };
  std::string kind = name(function);
  const Value arguments = tensor.arguments();
  if (tensor[0].global().id == Global::kRebuildFromType && arguments.size() >= 2 &&
      arguments[1].is(Kind::kGlobal)) {
    kind = fmt::format("{} ({})", name(arguments[1].global()), kind);
  }
  return tensor.At(fmt::format(
      "tessera does not read tensors of {}; save a plain one, for example full_tensor(), "
      "dequantize() or to_dense()",
      kind));
}

/// Removes the wrappers of parameters and of tensors with attributes, at most four of them.
Value Unwrap(Value value, Value& function, Value& arguments) {
  constexpr int kMaxWrappers = 4;
  for (int i = 0; i < kMaxWrappers; ++i) {
    if (!value.is(Kind::kObject)) break;
    function = value[0];
    arguments = value.arguments();
    const Global id = function.global().id;
    if (id == Global::kRebuildFromType && arguments.size() >= 3 && arguments[0].is(Kind::kGlobal) &&
        arguments[2].is(Kind::kTuple)) {
      function = arguments[0];
      arguments = arguments[2];
    }
    if (function.global().id != Global::kRebuildParameter || arguments.size() == 0) break;
    value = arguments[0];
  }
  return value;
}

}  // namespace

Result<ptc::Shape> ReadIntegers(Value value, std::string_view what) {
  Value list = value;
  if (value.is(Kind::kObject) && value.IsObject(Global::kSize)) {
    list = value.arguments();
    if (list.size() == 1 && !list[0].is(Kind::kInteger)) list = list[0];
  }
  if (!list.is(Kind::kTuple) && !list.is(Kind::kList)) {
    return value.At(fmt::format("{} is not a tuple of integers", what));
  }
  if (list.size() > static_cast<std::size_t>(ptc::kMaxRank)) {
    return value.At(
        fmt::format("{} has {} dims, the limit is {}", what, list.size(), ptc::kMaxRank));
  }
  ptc::Shape numbers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is(Kind::kInteger) || list[i].integer() < 0) {
      return value.At(fmt::format("{} is not a tuple of integers from 0", what));
    }
    numbers.push_back(list[i].integer());
  }
  return numbers;
}

bool IsOldTorchSave(std::string_view begin) {
  // A pickle of torch.serialization.MAGIC_NUMBER.
  constexpr std::string_view kMagic = "\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
  return begin.starts_with('\x80') && begin.size() > 2 && begin.substr(2).starts_with(kMagic);
}

Status CountElements(ptc::DType dtype, ptc::Shape& shape) {
  if (!ptc::IsPacked(dtype)) return OkStatus();
  if (shape.empty() || __builtin_mul_overflow(shape.back(), 2, &shape.back())) {
    return InvalidArgument(
        fmt::format("a tensor of {} has no last dim of pairs", ptc::ToString(dtype)));
  }
  return OkStatus();
}

Result<TorchFile> TorchFile::Open(ByteWindow window) {
  TESSERA_TRY(const std::string begin,
              window.Read(0, std::min(window.size(), kOldTorchSaveBytes), "the first bytes"));
  if (IsOldTorchSave(begin)) {
    return window.At(
        0,
        "this is a file of torch.save from before PyTorch 1.6, not a zip archive; load "
        "it with torch.load and save it again with torch.save");
  }
  TESSERA_TRY(ZipArchive archive, ZipArchive::Open(std::move(window)));
  std::string prefix;
  const ZipEntry* object = nullptr;
  for (const ZipEntry& entry : archive.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash == std::string::npos ||
        std::string_view(entry.name).substr(slash + 1) != kPickleName) {
      continue;
    }
    object = &entry;
    prefix = entry.name.substr(0, slash + 1);
    break;
  }
  if (!object) return archive.window().At(0, "the zip archive has no data.pkl: torch.save has one");
  if (const ZipEntry* order = archive.Find(prefix + "byteorder")) {
    TESSERA_TRY(const std::string text, archive.ReadEntry(*order, kMaxByteorder));
    if (text != "little") {
      return archive.window().At(order->header,
                                 fmt::format("byte order '{}' is not 'little'", Escaped(text)));
    }
  }
  TESSERA_TRY(const std::int64_t offset, archive.PayloadOffset(*object));
  TESSERA_TRY(std::string bytes, archive.ReadEntry(*object, Pickle::kMaxBytes));
  const ByteWindow& whole = archive.window();
  TESSERA_TRY(PicklePtr pickle,
              Pickle::Read(whole.name(), whole.begin() + offset, std::move(bytes)));
  return TorchFile(std::move(archive), std::move(prefix), std::move(pickle));
}

bool TorchFile::IsTensor(Value value) {
  return value.is(Kind::kObject) && Rebuilds(value[0].global());
}

std::string TorchFile::UnreadStorages(const std::set<std::size_t>& read) const {
  constexpr std::size_t kMostShown = 50;
  std::vector<std::string> names;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < archive_.entries().size(); ++i) {
    const ZipEntry& entry = archive_.entries()[i];
    if (entry.size == 0 || !entry.name.starts_with(prefix_ + "data/") || read.contains(i)) continue;
    bytes += entry.size;
    names.push_back(Escaped(std::string_view(entry.name).substr(prefix_.size())));
  }
  if (names.empty()) return {};
  std::string line =
      fmt::format("storages with {} are not read: {}", Counted(bytes, "byte"),
                  fmt::join(std::span(names).first(std::min(names.size(), kMostShown)), ", "));
  if (names.size() > kMostShown) line += fmt::format(" and {} more", names.size() - kMostShown);
  return line;
}

Result<std::optional<SavedTensor>> TorchFile::FindTensor(Value value) const {
  if (!IsTensor(value)) return std::optional<SavedTensor>();
  const Value whole = value;
  Value function = value;
  Value arguments = value;
  value = Unwrap(value, function, arguments);
  const bool is_v3 = function.global().id == Global::kRebuildTensorV3;
  if (!value.is(Kind::kObject) || (!is_v3 && function.global().id != Global::kRebuildTensor)) {
    return NotRead(value.is(Kind::kObject) ? value : whole, function.global());
  }
  if (arguments.size() < (is_v3 ? 7U : 4U) || !arguments[1].is(Kind::kInteger)) {
    return value.At("the tensor is not as torch.save writes it");
  }
  TESSERA_TRY(const Storage storage, ReadStorage(arguments[0]));
  std::optional<ptc::DType> dtype = storage.dtype;
  if (is_v3) {
    if (!arguments[6].IsObject(Global::kDType)) return value.At("this tensor has no dtype");
    dtype = arguments[6].global().dtype;
    if (!dtype) {
      return arguments[6].At(
          fmt::format("tessera has no dtype torch.{}", arguments[6].global().name));
    }
  }
  if (!dtype) return value.At("this tensor has no dtype");
  SavedTensor tensor{*dtype};
  TESSERA_TRY(tensor.shape, ReadIntegers(arguments[2], "the shape of a tensor"));
  TESSERA_TRY(tensor.strides, ReadIntegers(arguments[3], "the stride of a tensor"));
  if (tensor.strides.size() != tensor.shape.size()) {
    return value.At(fmt::format("the tensor has {} dims and {} strides", tensor.shape.size(),
                                tensor.strides.size()));
  }

  const ZipEntry* entry = archive_.Find(prefix_ + "data/" + std::string(storage.key));
  if (!entry) {
    return value.At(fmt::format("storage '{}' is not in the archive", Escaped(storage.key)));
  }
  tensor.storage = static_cast<std::size_t>(entry - archive_.entries().data());
  const std::int64_t element = storage.dtype ? ptc::SizeBytes(*storage.dtype) : 1;
  std::int64_t wanted = 0;
  if (__builtin_mul_overflow(storage.num_elements, element, &wanted) || wanted != entry->size) {
    return value.At(
        fmt::format("storage '{}' has {} bytes in the archive, its {} elements of {} "
                    "bytes do not fit that",
                    Escaped(storage.key), entry->size, storage.num_elements, element));
  }
  const std::int64_t size = ptc::SizeBytes(*dtype);
  const std::int64_t first = arguments[1].integer();
  const auto end = first < 0 ? std::nullopt : EndOf(first, tensor.shape, tensor.strides);
  if (!end || *end > entry->size / size) {
    return value.At(fmt::format("the elements of the tensor do not lie in storage '{}' of {} bytes",
                                Escaped(storage.key), entry->size));
  }
  TESSERA_TRY(const std::int64_t payload, archive_.PayloadOffset(*entry));
  tensor.offset = archive_.window().begin() + payload + (*end == 0 ? 0 : first * size);
  if (ptc::IsPacked(*dtype)) {
    if (!IsRowMajor(tensor.shape, tensor.strides)) {
      return value.At(fmt::format("a tensor of {} is not contiguous", ptc::ToString(*dtype)));
    }
    tensor.strides.clear();
    if (const Status status = CountElements(*dtype, tensor.shape); !status) {
      return value.At(status.error().message);
    }
  }
  return std::optional(std::move(tensor));
}

}  // namespace tessera::checkpoint
