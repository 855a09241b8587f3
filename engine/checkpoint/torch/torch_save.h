// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files that hold a state dict as torch.save writes it, alone or as the shards of a model.

#include <string>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// One file. Tensors of nested dicts and lists are named by their path
/// ("optimizer.state.0.exp_avg"); a part without tensors is metadata: JSON under its path. \error
/// as TorchFile
Result<Contents> ReadTorchSaveFile(const std::string& path);

/// A folder with pytorch_model.bin.index.json and the files it names, or with pytorch_model.bin.
/// \error as ReadTorchSaveFile; a tensor that is not in the file where the index has it
Result<Contents> ReadTorchSaveFolder(const std::string& path);

}  // namespace tessera::checkpoint
