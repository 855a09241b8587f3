// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The .metadata of a folder that torch.distributed.checkpoint wrote: which chunks make up which
/// tensor, and in which file each lies.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/torch/pickle.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// One chunk of a tensor: an archive of torch.save that holds it and nothing else.
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
  std::vector<DcpChunk> chunks = {};  // those that have elements
};

struct DcpMetadata {
  std::vector<std::string> files;  // relative to the folder, without "..", ascending
  std::vector<DcpTensor> tensors;
  std::vector<std::string> opaque;            // names of what is no tensor
  std::map<std::string, std::string> values;  // "version", "save_id": text that stands in it
};

/// Whether chunks cover their tensors and lie in their files is not looked at.
/// \error "FILE: byte N: …": no Metadata object, fields of the wrong kind, an unknown dtype, a
///     chunk that lies in no file, or in one outside the folder, or is compressed
Result<DcpMetadata> ReadDcpMetadata(const Pickle& pickle);

}  // namespace tessera::checkpoint
