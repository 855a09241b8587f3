// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tokenized data as Megatron-LM keeps it (megatron/core/datasets/indexed_dataset.py): X.bin holds
/// token ids; X.idx holds the position of each sequence.
///
/// X.idx: "MMIDIDX\0\0", u64 version 1, u8 dtype code, u64 sequences S, u64 document ends D, then
/// S lengths (i32), S byte offsets in X.bin (i64), D document ends (i64, in sequences, the first 0
/// and the last S), then nothing, or S modes (i8).

#include <cstdint>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

struct MegatronPair {
  ByteSourcePtr bin, idx;
};

/// Windows of `sequence` + 1 tokens over the concatenation of all documents; window i begins at
/// token i * sequence. Megatron's GPTDataset cuts the same windows
/// (megatron/core/datasets/gpt_dataset.py), but from shuffled documents. Here documents stay in the
/// order of the files, and the windows are shuffled.
/// \error kDataLoss naming file and byte if an .idx is damaged or points outside its .bin;
///     kInvalidArgument for a dtype that cannot hold token ids, pairs of different dtypes, or too
///     few tokens
Result<DatasetPtr> OpenMegatron(std::vector<MegatronPair> pairs, std::int64_t sequence,
                                const IndexOptions& options);

}  // namespace tessera::engine
