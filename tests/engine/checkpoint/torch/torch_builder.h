// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes the bytes of pickles, zip archives and checkpoint folders as Python, torch.save and
/// torch.distributed.checkpoint do, so that tests do not need these.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Opcodes of a pickle, without PROTO and STOP. Values are composed by concatenation.
namespace pickle {
std::string Int(std::int64_t value);
std::string Text(const std::string& text);
std::string Global(const std::string& module, const std::string& name);
std::string Tuple(const std::vector<std::string>& items);
std::string List(const std::vector<std::string>& items);
std::string Dict(const std::vector<std::pair<std::string, std::string>>& items);
/// global(arguments)
std::string Call(const std::string& global, const std::vector<std::string>& arguments);
/// An object of the class with that state.
std::string Object(const std::string& global, const std::string& state);
std::string Ints(const std::vector<std::int64_t>& numbers);
/// With the opcodes of the given protocol before and STOP behind.
std::string Whole(const std::string& body, int protocol = 2);
}  // namespace pickle

struct ZipFileSpec {
  std::string name;
  std::string bytes;
};
struct ZipOptions {
  bool zip64 = false;        // sizes, offsets and the end record as zip64
  std::string comment = {};  // behind the end record
  std::uint16_t method = 0;  // as stated in the directory; the bytes are always stored uncompressed
  bool align = true;         // payloads at multiples of 64, by an FB field
  std::uint16_t flags = 0x08;  // sizes stand behind the payload
};
std::string Zip(const std::vector<ZipFileSpec>& files, const ZipOptions& options = {});

/// A tensor as torch.save stores it.
struct TensorSpec {
  std::string storage = "FloatStorage";  // class in module torch
  std::string bytes;                     // of the storage
  std::int64_t num_elements = 0;         // of the storage
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;  // in elements
};
/// The call that makes the tensor, its storage being entry data/KEY.
std::string TensorCall(const TensorSpec& tensor, const std::string& key);
/// The archive of an object whose pickle is `body`, with its storages.
std::string TorchSave(const std::string& body, const std::vector<std::string>& storages,
                      const ZipOptions& options = {});
std::string TorchSave(const TensorSpec& tensor);

/// One chunk of a DCP folder.
struct ChunkSpec {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> size;
  std::string blob;             // a whole archive
  std::string file;             // "__0_0.distcp"
  bool is_stored = true;        // has an entry in storage_data
  bool shares_archive = false;  // stored where the chunk before it is; `blob` is not written
};
struct DcpTensorSpec {
  std::string name;
  std::string dtype = "float32";
  std::vector<std::int64_t> shape;
  std::vector<ChunkSpec> chunks;
};
struct DcpSpec {
  std::vector<DcpTensorSpec> tensors;
  std::map<std::string, std::string> objects = {};  // name, pickled bytes
  std::string metadata_class = "Metadata";
  std::string transforms = "N";    // pickled value of transform_descriptors
  std::int64_t length_excess = 0;  // added to every length in storage_data
  std::string path_prefix = {};    // put before every relative_path
  std::vector<std::pair<std::string, std::string>> more_fields = {};  // of the metadata
};
/// Writes `.metadata` and the files of the chunks.
void WriteDcp(const std::filesystem::path& folder, const DcpSpec& spec);

void WriteFile(const std::filesystem::path& path, const std::string& bytes);
std::string ReadWholeFile(const std::filesystem::path& path);
/// Little-endian floats.
std::string Floats(const std::vector<float>& values);

}  // namespace tessera::test
