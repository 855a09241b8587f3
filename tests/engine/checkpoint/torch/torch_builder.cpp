// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/checkpoint/torch/torch_builder.h"

#include <cstring>
#include <fstream>
#include <sstream>

namespace tessera::test {
namespace {

template <typename T>
std::string Le(T value) {
  std::string bytes(sizeof(T), '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value = static_cast<T>(value >> 7 >> 1);  // T may have 8 bits
  }
  return bytes;
}
std::string Le16(std::uint64_t value) { return Le(static_cast<std::uint16_t>(value)); }
std::string Le32(std::uint64_t value) { return Le(static_cast<std::uint32_t>(value)); }

std::string Join(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) all += item;
  return all;
}

std::uint32_t Crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

const std::string kDcp = "torch.distributed.checkpoint.metadata";

std::string Size(const std::vector<std::int64_t>& numbers) {
  return pickle::Call(pickle::Global("torch", "Size"), {pickle::Ints(numbers)});
}

}  // namespace

namespace pickle {

std::string Int(std::int64_t value) {
  if (0 <= value && value < 256) return "K" + Le(static_cast<std::uint8_t>(value));
  if (INT32_MIN <= value && value <= INT32_MAX) {
    return "J" + Le32(static_cast<std::uint64_t>(value));
  }
  return std::string("\x8a\x08") + Le(static_cast<std::uint64_t>(value));
}

std::string Text(const std::string& text) { return "X" + Le32(text.size()) + text; }

std::string Global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

std::string Tuple(const std::vector<std::string>& items) {
  if (items.empty()) return ")";
  return "(" + Join(items) + "t";
}

std::string List(const std::vector<std::string>& items) {
  return items.empty() ? "]" : "](" + Join(items) + "e";
}

std::string Dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string all = "}(";
  for (const auto& [key, value] : items) all += key + value;
  return all + "u";
}

std::string Call(const std::string& global, const std::vector<std::string>& arguments) {
  return global + Tuple(arguments) + "R";
}

std::string Object(const std::string& global, const std::string& state) {
  return global + ")\x81" + state + "b";
}

std::string Ints(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> items;
  for (const std::int64_t number : numbers) items.push_back(Int(number));
  return Tuple(items);
}

std::string Whole(const std::string& body, int protocol) {
  return "\x80" + std::string(1, static_cast<char>(protocol)) + body + ".";
}

}  // namespace pickle

std::string Zip(const std::vector<ZipFileSpec>& files, const ZipOptions& options) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kLocalBytes = 30;
  std::string zip;
  std::string directory;
  for (const auto& [name, bytes] : files) {
    const std::size_t at = zip.size();
    std::string extra;
    if (options.align) {
      const std::size_t payload = at + kLocalBytes + name.size() + 4;
      const std::size_t pad = (kAlignment - payload % kAlignment) % kAlignment;
      extra = "FB" + Le16(pad) + std::string(pad, 'Z');
    }
    zip += "PK\x03\x04" + Le16(20) + Le16(options.flags) + Le16(options.method) + Le32(0) + Le32(0);
    zip += Le32(0) + Le32(0) + Le16(name.size()) + Le16(extra.size()) + name + extra + bytes;
    zip += "PK\x07\x08" + Le32(Crc32(bytes)) + Le32(bytes.size()) + Le32(bytes.size());
    std::string wide;
    if (options.zip64) {
      wide = Le16(1) + Le16(24) + Le(std::uint64_t{bytes.size()}) +
             Le(std::uint64_t{bytes.size()}) + Le(std::uint64_t{at});
    }
    const std::uint64_t size = options.zip64 ? UINT32_MAX : bytes.size();
    directory += "PK\x01\x02" + Le16(0) + Le16(20) + Le16(options.flags) + Le16(options.method);
    directory += Le32(0) + Le32(Crc32(bytes)) + Le32(size) + Le32(size) + Le16(name.size());
    directory += Le16(wide.size()) + Le16(0) + Le16(0) + Le16(0) + Le32(0);
    directory += Le32(options.zip64 ? UINT32_MAX : at) + name + wide;
  }
  const std::size_t begin = zip.size();
  zip += directory;
  if (options.zip64) {
    const std::size_t record = zip.size();
    zip += "PK\x06\x06" + Le(std::uint64_t{44}) + Le16(45) + Le16(45) + Le32(0) + Le32(0);
    zip += Le(std::uint64_t{files.size()}) + Le(std::uint64_t{files.size()});
    zip += Le(std::uint64_t{directory.size()}) + Le(std::uint64_t{begin});
    zip += "PK\x06\x07" + Le32(0) + Le(std::uint64_t{record}) + Le32(1);
  }
  const std::uint64_t count = options.zip64 ? 0xffff : files.size();
  zip += "PK\x05\x06" + Le16(0) + Le16(0) + Le16(count) + Le16(count);
  zip += Le32(options.zip64 ? UINT32_MAX : directory.size());
  zip += Le32(options.zip64 ? UINT32_MAX : begin) + Le16(options.comment.size()) + options.comment;
  return zip;
}

std::string TensorCall(const TensorSpec& tensor, const std::string& key) {
  using namespace pickle;
  const std::string id = Tuple({Text("storage"), Global("torch", tensor.storage), Text(key),
                                Text("cpu"), Int(tensor.num_elements)});
  return Call(Global("torch._utils", "_rebuild_tensor_v2"),
              {id + "Q", Int(tensor.offset), Ints(tensor.shape), Ints(tensor.strides), "\x89",
               Call(Global("collections", "OrderedDict"), {})});
}

std::string TorchSave(const std::string& body, const std::vector<std::string>& storages,
                      const ZipOptions& options) {
  std::vector<ZipFileSpec> files = {{"archive/data.pkl", pickle::Whole(body)},
                                    {"archive/byteorder", "little"}};
  for (std::size_t i = 0; i < storages.size(); ++i) {
    files.push_back({"archive/data/" + std::to_string(i), storages[i]});
  }
  files.push_back({"archive/version", "3\n"});
  return Zip(files, options);
}

std::string TorchSave(const TensorSpec& tensor) {
  return TorchSave(TensorCall(tensor, "0"), {tensor.bytes});
}

void WriteDcp(const std::filesystem::path& folder, const DcpSpec& spec) {
  using namespace pickle;
  std::filesystem::create_directories(folder);
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::string>> entries;
  std::vector<std::pair<std::string, std::string>> places;
  std::size_t last_blob = 0;  // bytes of the one that was written last
  const auto place = [&](const std::string& name, const std::string& offset,
                         const std::string& blob, const std::string& file, bool shares) {
    std::string& bytes = files[file];
    if (!shares) {
      bytes += blob;
      last_blob = blob.size();
    }
    const auto length = static_cast<std::int64_t>(last_blob) + spec.length_excess;
    places.emplace_back(
        Object(Global(kDcp, "MetadataIndex"),
               Dict({{Text("fqn"), Text(name)}, {Text("offset"), offset}, {Text("index"), "N"}})),
        Object(Global("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
               Dict({{Text("relative_path"), Text(spec.path_prefix + file)},
                     {Text("offset"), Int(static_cast<std::int64_t>(bytes.size() - last_blob))},
                     {Text("length"), Int(length)},
                     {Text("transform_descriptors"), spec.transforms}})));
  };
  for (const DcpTensorSpec& tensor : spec.tensors) {
    std::vector<std::string> chunks;
    for (const ChunkSpec& chunk : tensor.chunks) {
      chunks.push_back(
          Object(Global(kDcp, "ChunkStorageMetadata"),
                 Dict({{Text("offsets"), Size(chunk.begin)}, {Text("sizes"), Size(chunk.size)}})));
      if (chunk.is_stored) {
        place(tensor.name, Size(chunk.begin), chunk.blob, chunk.file, chunk.shares_archive);
      }
    }
    const std::string layout =
        Call(Global("torch.serialization", "_get_layout"), {Text("torch.strided")});
    const std::string formats = Global(kDcp, "_MEM_FORMAT_ENCODING");
    // As some versions of Python write an enum, and as others do.
    const std::string format =
        entries.size() % 2 == 0
            ? Call(formats, {Int(0)})
            : Call(Global("builtins", "getattr"), {formats, Text("TORCH_CONTIGUOUS_FORMAT")});
    const std::string properties =
        Object(Global(kDcp, "TensorProperties"),
               Tuple({Global("torch", tensor.dtype), layout, "\x89", format, "\x89"}));
    entries.emplace_back(Text(tensor.name), Object(Global(kDcp, "TensorStorageMetadata"),
                                                   Dict({{Text("properties"), properties},
                                                         {Text("size"), Size(tensor.shape)},
                                                         {Text("chunks"), List(chunks)}})));
  }
  for (const auto& [name, bytes] : spec.objects) {
    entries.emplace_back(Text(name), Global(kDcp, "BytesStorageMetadata") + ")\x81");
    place(name, "N", bytes, "__0_0.distcp", false);
  }
  std::vector<std::pair<std::string, std::string>> fields = {
      {Text("state_dict_metadata"), Dict(entries)},
      {Text("storage_data"), Dict(places)},
      {Text("version"), Text("1.0.0")}};
  fields.insert(fields.end(), spec.more_fields.begin(), spec.more_fields.end());
  WriteFile(folder / ".metadata",
            Whole(Object(Global(kDcp, spec.metadata_class), Dict(fields)), 4));
  for (const auto& [name, bytes] : files) WriteFile(folder / name, bytes);
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string ReadWholeFile(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

std::string Floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace tessera::test
