// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/dcp_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "engine/checkpoint/torch/torch_file.h"
#include "ptc/base/utf8.h"
#include "ptc/packed.h"

namespace tessera::checkpoint {
namespace {

using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::size_t kMaxEntryName = 4096;

/// Whether a value is a printable text of bounded size. A pickle may use one long text in many
/// places.
bool IsName(Value value) {
  return value.is(Kind::kText) && value.text().size() <= kMaxEntryName &&
         IsPrintableUtf8(value.text());
}

/// Returns a field of an object whose state is a dict.
Result<Value> Field(Value object, std::string_view name) {
  if (object.is(Kind::kObject)) {
    if (const auto state = object.state()) {
      if (const auto found = state->Find(name)) return *found;
    }
  }
  return object.At(fmt::format("the object has no field '{}'", name));
}

Result<std::int64_t> IntegerField(Value object, std::string_view name) {
  TESSERA_TRY(const Value value, Field(object, name));
  if (!value.is(Kind::kInteger) || value.integer() < 0) {
    return value.At(fmt::format("field '{}' is not an integer from 0", name));
  }
  return value.integer();
}

Result<std::string_view> TextField(Value object, std::string_view name) {
  TESSERA_TRY(const Value value, Field(object, name));
  if (!IsName(value)) return value.At(fmt::format("field '{}' is not printable text", name));
  return value.text();
}

/// An entry of storage_data.
struct Stored {
  std::string_view name;
  ptc::Shape begin;  // of the chunk in its tensor; empty for other objects
  std::string_view path;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::optional<Value> transforms = {};  // set if the bytes were transformed
  int file = 0;

  auto Key() const { return std::tie(name, begin); }
};

/// Whether a relative path stays inside its folder.
bool StaysInside(std::string_view path) {
  const std::filesystem::path relative(path);
  return !path.empty() && !relative.is_absolute() &&
         std::ranges::none_of(relative, [](const auto& part) { return part == ".."; });
}

Result<Stored> ReadStored(Value index, Value info) {
  if (!index.IsObject(Global::kMetadataIndex) || !info.IsObject(Global::kStorageInfo)) {
    return index.At("storage_data maps other things than a MetadataIndex to a _StorageInfo");
  }
  Stored stored;
  TESSERA_TRY(stored.name, TextField(index, "fqn"));
  // Some versions of torch omit a field that is None.
  if (const auto begin = index.state()->Find("offset"); begin && !begin->is(Kind::kNone)) {
    TESSERA_TRY(stored.begin, ReadIntegers(*begin, "the offset of a chunk"));
  }
  TESSERA_TRY(stored.path, TextField(info, "relative_path"));
  if (!StaysInside(stored.path)) {
    return info.At(fmt::format("file '{}' lies outside the folder", Escaped(stored.path)));
  }
  TESSERA_TRY(stored.offset, IntegerField(info, "offset"));
  TESSERA_TRY(stored.length, IntegerField(info, "length"));
  const auto transforms = info.state()->Find("transform_descriptors");
  if (transforms && !transforms->is(Kind::kNone) && transforms->size() > 0) {
    stored.transforms = *transforms;
  }
  return stored;
}

/// Returns the entries, ascending by name and begin. None appears twice.
Result<std::vector<Stored>> ReadStorageData(Value metadata) {
  TESSERA_TRY(const Value data, Field(metadata, "storage_data"));
  if (!data.is(Kind::kDict)) return data.At("storage_data is not a dict");
  std::vector<Stored> all;
  all.reserve(data.size() / 2);
  for (std::size_t i = 0; i < data.size(); i += 2) {
    TESSERA_TRY(Stored stored, ReadStored(data[i], data[i + 1]));
    all.push_back(std::move(stored));
  }
  std::ranges::sort(all, {}, &Stored::Key);
  const auto twice = std::ranges::adjacent_find(all, {}, &Stored::Key);
  if (twice != all.end()) {
    return data.At(
        fmt::format("'{}' is stored twice at {}", twice->name, ptc::ToString(twice->begin)));
  }
  return all;
}

/// Sets the file index of each entry. Returns the paths, ascending.
std::vector<std::string> NumberFiles(std::vector<Stored>& all) {
  std::vector<std::string_view> paths;
  for (const Stored& stored : all) paths.push_back(stored.path);
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (Stored& stored : all) {
    stored.file = static_cast<int>(std::ranges::lower_bound(paths, stored.path) - paths.begin());
  }
  return {paths.begin(), paths.end()};
}

Result<ptc::DType> ReadDType(Value properties) {
  // Versions of torch write a tuple that begins with the dtype, or a dict of fields.
  std::optional<Value> dtype;
  if (properties.is(Kind::kObject)) {
    if (const auto state = properties.state()) {
      dtype = state->Find("dtype");
      if (state->is(Kind::kTuple) && state->size() > 0) dtype = (*state)[0];
    }
  }
  if (dtype && dtype->is(Kind::kGlobal) && dtype->global().id == Global::kUnknown) {
    return dtype->At(fmt::format("tessera has no dtype {}.{}", Escaped(dtype->global().module),
                                 Escaped(dtype->global().name)));
  }
  if (!dtype || !dtype->is(Kind::kGlobal) || dtype->global().id != Global::kDType) {
    return properties.At("the tensor's properties have no dtype");
  }
  if (!dtype->global().dtype) {
    return dtype->At(fmt::format("tessera has no dtype torch.{}", dtype->global().name));
  }
  return *dtype->global().dtype;
}

/// Returns nullopt for a chunk without elements.
Result<std::optional<DcpChunk>> ReadChunk(Value chunk, const DcpTensor& tensor,
                                          const std::vector<Stored>& all) {
  TESSERA_TRY(const Value begin_value, Field(chunk, "offsets"));
  TESSERA_TRY(const Value size_value, Field(chunk, "sizes"));
  TESSERA_TRY(const ptc::Shape key_begin, ReadIntegers(begin_value, "the offset of a chunk"));
  TESSERA_TRY(ptc::Shape size, ReadIntegers(size_value, "the size of a chunk"));
  ptc::Shape begin = key_begin;
  const bool counted = CountElements(tensor.dtype, begin) && CountElements(tensor.dtype, size);
  if (!counted) return chunk.At("the offset or the size of a chunk is beyond int64");
  if (begin.size() != tensor.shape.size() || size.size() != tensor.shape.size()) {
    return chunk.At(fmt::format("a chunk has {} offsets and {} sizes in the shape {}", begin.size(),
                                size.size(), ptc::ToString(tensor.shape)));
  }
  std::vector<ptc::Interval> dims;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 0) return std::optional<DcpChunk>();
    if (begin[d] > tensor.shape[d] || size[d] > tensor.shape[d] - begin[d]) {
      return chunk.At(fmt::format("chunk {} at {} lies outside the shape {}", ptc::ToString(size),
                                  ptc::ToString(begin), ptc::ToString(tensor.shape)));
    }
    dims.push_back({begin[d], begin[d] + size[d]});
  }
  const auto box = ptc::Box::Make(dims);
  if (!box) return chunk.At(box.error().ToString());
  const std::string_view name = tensor.name;
  const auto key = std::tie(name, key_begin);
  const auto found = std::ranges::lower_bound(all, key, {}, &Stored::Key);
  if (found == all.end() || found->Key() != key) {
    return chunk.At(fmt::format("chunk {} is in no file", ptc::ToString(*box)));
  }
  if (found->transforms) {
    return found->transforms->At(
        "the chunk was compressed or encrypted when it was stored, which tessera does not undo");
  }
  const auto bytes = ptc::ByteCount(tensor.dtype, size);
  if (!bytes || *bytes > found->length) {
    return chunk.At(fmt::format("chunk {} of {} does not fit into the {} bytes it has in '{}'",
                                ptc::ToString(*box), ptc::ToString(tensor.dtype), found->length,
                                found->path));
  }
  return std::optional(DcpChunk{*box, found->file, found->offset, found->length});
}

/// \param budget the number of chunks that may follow; it bounds lists that occur in many places
Result<DcpTensor> ReadTensor(std::string_view name, Value storage, const std::vector<Stored>& all,
                             std::size_t& budget) {
  TESSERA_TRY(const Value properties, Field(storage, "properties"));
  TESSERA_TRY(const Value size, Field(storage, "size"));
  TESSERA_TRY(const Value chunks, Field(storage, "chunks"));
  DcpTensor tensor{std::string(name)};
  TESSERA_TRY(tensor.dtype, ReadDType(properties));
  TESSERA_TRY(tensor.shape, ReadIntegers(size, "the shape of the tensor"));
  if (const Status counted = CountElements(tensor.dtype, tensor.shape); !counted) {
    return size.At(counted.error().message);
  }
  if (!chunks.is(Kind::kList)) return chunks.At("the chunks of the tensor are not a list");
  if (chunks.size() > budget) return chunks.At("there are more chunks than are stored");
  budget -= chunks.size();
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    TESSERA_TRY(auto chunk, ReadChunk(chunks[i], tensor, all));
    if (chunk) tensor.chunks.push_back(*chunk);
  }
  return tensor;
}

/// Reads the texts of the metadata and of its storage_meta.
void ReadValues(Value metadata, std::map<std::string, std::string>& values) {
  const auto take = [&](Value state, std::string_view key) {
    const auto value = state.Find(key);
    if (value && IsName(*value)) values.emplace(key, value->text());
  };
  const Value state = *metadata.state();
  take(state, "version");
  const auto meta = state.Find("storage_meta");
  if (!meta || !meta->IsObject(Global::kStorageMeta)) return;
  if (const auto fields = meta->state()) take(*fields, "save_id");
}

}  // namespace

Result<DcpMetadata> ReadDcpMetadata(const Pickle& pickle) {
  const Value root = pickle.root();
  if (!root.is(Kind::kObject) || !root.IsObject(Global::kMetadata)) {
    return root.At("the pickle is not a Metadata of torch.distributed.checkpoint");
  }
  TESSERA_TRY(const Value entries, Field(root, "state_dict_metadata"));
  if (!entries.is(Kind::kDict)) return entries.At("state_dict_metadata is not a dict");
  TESSERA_TRY(std::vector<Stored> all, ReadStorageData(root));
  DcpMetadata metadata;
  metadata.files = NumberFiles(all);
  std::unordered_set<std::string_view> names;
  std::size_t budget = all.size();
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    const Value name = entries[i];
    if (!IsName(name) || name.text().empty()) {
      return name.At("the name of an entry is not printable text");
    }
    if (!names.insert(name.text()).second) {
      return name.At(fmt::format("entry '{}' appears twice", name.text()));
    }
    if (entries[i + 1].IsObject(Global::kBytesStorage)) {
      metadata.opaque.emplace_back(name.text());
      continue;
    }
    const Value entry = entries[i + 1];
    if (entry.is(Kind::kObject) && entry[0].global().id == Global::kUnknown) {
      metadata.opaque.push_back(fmt::format("{} ({}.{})", name.text(),
                                            Escaped(entry[0].global().module),
                                            Escaped(entry[0].global().name)));
      continue;
    }
    if (!entries[i + 1].IsObject(Global::kTensorStorage)) {
      return entries[i + 1].At(
          fmt::format("entry '{}' is neither a tensor nor bytes", name.text()));
    }
    auto tensor = ReadTensor(name.text(), entries[i + 1], all, budget);
    if (!tensor) return std::move(tensor).Context(fmt::format("tensor '{}'", name.text())).error();
    metadata.tensors.push_back(std::move(*tensor));
  }
  ReadValues(root, metadata.values);
  return metadata;
}

}  // namespace tessera::checkpoint
