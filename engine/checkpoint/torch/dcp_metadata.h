// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The .metadata of a torch.distributed.checkpoint folder: the chunks of each tensor, and the file
/// that holds each chunk.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/torch/pickle.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// A chunk of a tensor. Its bytes are a torch.save archive of that one tensor.
struct DcpChunk {
  ptc::Box box;
  int file = 0;  // index into DcpMetadata::files
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

struct DcpTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape = {};
  std::vector<DcpChunk> chunks = {};  // only those with elements
};

struct DcpMetadata {
  std::vector<std::string> files;  // relative to the folder, without "..", ascending
  std::vector<DcpTensor> tensors;
  std::vector<std::string> opaque;            // names of entries that are not tensors
  std::map<std::string, std::string> values;  // "version", "save_id", if they are text
};

/// Parses the metadata. Does not check that chunks tile their tensors or lie inside their files.
/// \error "FILE: byte N: …" for: no Metadata object, fields of the wrong kind, an unknown dtype, a
///     chunk that is in no file, in a file outside the folder, or compressed
Result<DcpMetadata> ReadDcpMetadata(const Pickle& pickle);

}  // namespace tessera::checkpoint
