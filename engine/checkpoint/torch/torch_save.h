// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads state dicts that torch.save wrote: one file, or the shards of a model.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// Reads one file. Tensors in nested dicts and lists are named by their path, such as
/// "optimizer.state.0.exp_avg". A part without tensors becomes metadata: JSON under its path.
/// \error as TorchFile
Result<Contents> ReadTorchSaveFile(const std::string& path);

/// Reads a folder with pytorch_model.bin.index.json and the files that it names, or with
/// pytorch_model.bin.
/// \error as ReadTorchSaveFile, and for a tensor that is not in the file which the index names
Result<Contents> ReadTorchSaveFolder(const std::string& path);

}  // namespace tessera::checkpoint
