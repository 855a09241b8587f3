// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/globals.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace tessera::checkpoint {
namespace {

using ptc::DType;

constexpr std::string_view kDcp = "torch.distributed.checkpoint.metadata";
constexpr std::string_view kMegatronEnums = "megatron.core.transformer.enums";

constexpr auto kKnown = std::to_array<KnownGlobal>({
    {"torch._utils", "_rebuild_tensor", Global::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v2", Global::kRebuildTensor},
    {"torch._utils", "_rebuild_tensor_v3", Global::kRebuildTensorV3},
    {"torch._utils", "_rebuild_parameter", Global::kRebuildParameter},
    {"torch._utils", "_rebuild_parameter_with_state", Global::kRebuildParameter},
    {"torch._tensor", "_rebuild_from_type_v2", Global::kRebuildFromType},
    {"torch.nn.parameter", "Parameter"},

    {"torch", "BoolStorage", Global::kStorage, DType::kBool},
    {"torch", "ByteStorage", Global::kStorage, DType::kU8},
    {"torch", "CharStorage", Global::kStorage, DType::kI8},
    {"torch", "ShortStorage", Global::kStorage, DType::kI16},
    {"torch", "IntStorage", Global::kStorage, DType::kI32},
    {"torch", "LongStorage", Global::kStorage, DType::kI64},
    {"torch", "HalfStorage", Global::kStorage, DType::kF16},
    {"torch", "BFloat16Storage", Global::kStorage, DType::kBF16},
    {"torch", "FloatStorage", Global::kStorage, DType::kF32},
    {"torch", "DoubleStorage", Global::kStorage, DType::kF64},
    {"torch", "ComplexFloatStorage", Global::kStorage, DType::kC64},
    {"torch", "ComplexDoubleStorage", Global::kStorage},
    {"torch.storage", "UntypedStorage", Global::kUntypedStorage},

    {"torch", "bool", Global::kDType, DType::kBool},
    {"torch", "uint8", Global::kDType, DType::kU8},
    {"torch", "int8", Global::kDType, DType::kI8},
    {"torch", "uint16", Global::kDType, DType::kU16},
    {"torch", "int16", Global::kDType, DType::kI16},
    {"torch", "uint32", Global::kDType, DType::kU32},
    {"torch", "int32", Global::kDType, DType::kI32},
    {"torch", "uint64", Global::kDType, DType::kU64},
    {"torch", "int64", Global::kDType, DType::kI64},
    {"torch", "float8_e4m3fn", Global::kDType, DType::kF8E4M3},
    {"torch", "float8_e5m2", Global::kDType, DType::kF8E5M2},
    {"torch", "float16", Global::kDType, DType::kF16},
    {"torch", "bfloat16", Global::kDType, DType::kBF16},
    {"torch", "float32", Global::kDType, DType::kF32},
    {"torch", "float64", Global::kDType, DType::kF64},
    {"torch", "complex32", Global::kDType},
    {"torch", "complex64", Global::kDType, DType::kC64},
    {"torch", "complex128", Global::kDType},
    {"torch", "float8_e4m3fnuz", Global::kDType, DType::kF8E4M3Fnuz},
    {"torch", "float8_e5m2fnuz", Global::kDType, DType::kF8E5M2Fnuz},
    {"torch", "float8_e8m0fnu", Global::kDType, DType::kF8E8M0},
    {"torch", "float4_e2m1fn_x2", Global::kDType, DType::kF4},  // two elements in each of torch's

    {kDcp, "Metadata", Global::kMetadata},
    {kDcp, "TensorStorageMetadata", Global::kTensorStorage},
    {kDcp, "BytesStorageMetadata", Global::kBytesStorage},
    {kDcp, "ChunkStorageMetadata", Global::kChunk},
    {kDcp, "TensorProperties", Global::kTensorProperties},
    {kDcp, "MetadataIndex", Global::kMetadataIndex},
    {kDcp, "StorageMeta", Global::kStorageMeta},
    {kDcp, "_MEM_FORMAT_ENCODING", Global::kEnum},
    {"torch.distributed.checkpoint.filesystem", "_StorageInfo", Global::kStorageInfo},
    // The module of the properties of a tensor before torch 2.3.
    {"torch.distributed._shard.sharded_tensor.metadata", "TensorProperties",
     Global::kTensorProperties},
    {"torch.distributed._shard.sharded_tensor.metadata", "MEM_FORMAT_ENCODING", Global::kEnum},
    {"torch", "Size", Global::kSize},
    {"torch", "device"},
    {"torch.serialization", "_get_layout"},
    {"pathlib", "PosixPath", Global::kPath},
    {"pathlib._local", "PosixPath", Global::kPath},

    {"megatron.core.dist_checkpointing.strategies.torch", "MCoreMetadata", Global::kMetadata},
    {"megatron.core.enums", "ModelType", Global::kEnum},
    {"megatron.core.enums", "Fp8Recipe", Global::kEnum},
    {kMegatronEnums, "ModelType", Global::kEnum},
    {kMegatronEnums, "AttnBackend", Global::kEnum},
    {kMegatronEnums, "AttnMaskType", Global::kEnum},
    {"argparse", "Namespace", Global::kNamespace},
    {"collections", "OrderedDict", Global::kOrderedDict},
    {"collections", "defaultdict", Global::kDefaultDict},
    {"collections", "Counter", Global::kCounter},
    {"builtins", "set"},
    {"builtins", "complex"},
    {"builtins", "bytearray"},
    {"builtins", "getattr", Global::kAttribute},
    {"_codecs", "encode"},  // how protocol 2 spells bytes
});

}  // namespace

std::optional<std::size_t> FindGlobal(std::string_view module, std::string_view name) {
  if (module == "__builtin__") module = "builtins";  // how protocol 2 spells it
  const auto* const found = std::ranges::find_if(kKnown, [&](const KnownGlobal& known) {
    return known.name == name && known.module == module;
  });
  if (found == kKnown.end()) return std::nullopt;
  return static_cast<std::size_t>(std::distance(kKnown.begin(), found));
}

std::size_t NumKnownGlobals() { return kKnown.size(); }

const KnownGlobal& GlobalAt(std::size_t index) { return kKnown[index]; }

}  // namespace tessera::checkpoint
