// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The Python classes and functions in a pickle whose meaning is known. None of them is called:
/// each only determines the meaning of its arguments. An object of any other class is kept as its
/// name.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ptc/dtype.h"

namespace tessera::checkpoint {

enum class Global : std::uint8_t {
  // torch.save
  kRebuildTensor,     // (storage, offset, size, stride, requires_grad, hooks)
  kRebuildTensorV3,   // (storage, offset, size, stride, requires_grad, hooks, dtype)
  kRebuildParameter,  // (tensor, requires_grad, hooks)
  kRebuildFromType,   // (a rebuild function, type, its arguments, state)
  kStorage,           // elements of `dtype`
  kUntypedStorage,    // bytes
  kDType,
  kOrderedDict,
  kDefaultDict,  // (factory)
  kCounter,      // (dict)
  // torch.distributed.checkpoint
  kMetadata,
  kTensorStorage,
  kBytesStorage,
  kChunk,
  kTensorProperties,
  kMetadataIndex,
  kStorageInfo,
  kStorageMeta,
  kSize,
  // Values that Tessera shows or skips
  kNamespace,  // argparse: its state is a dict
  kPath,       // arguments: its parts
  kEnum,       // argument: its value
  kAttribute,  // arguments: an enum and the name of its value, as Python 3.11.0 to 3.11.3 write it
  kOther,
  kUnknown,  // not in the list
};

struct KnownGlobal {
  std::string_view module;
  std::string_view name;
  Global id = Global::kOther;
  std::optional<ptc::DType> dtype = {};  // kStorage, kDType; empty: not supported
};

/// Returns the index in the list of known globals, or nullopt.
std::optional<std::size_t> FindGlobal(std::string_view module, std::string_view name);
std::size_t NumKnownGlobals();
/// \pre FindGlobal returned `index`
const KnownGlobal& GlobalAt(std::size_t index);

}  // namespace tessera::checkpoint
