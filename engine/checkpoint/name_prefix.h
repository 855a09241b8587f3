// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds prefixes by which the names of two checkpoints differ, such as "_orig_mod." of
/// torch.compile, "module." of DistributedDataParallel and "model.".

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/checkpoint.h"

namespace tessera::checkpoint {

/// Beginnings of the name up to a dot, shortest first, at most eight: "model.", "model.layers.".
std::vector<std::string> PrefixesOf(std::string_view name);

/// The prefixes that all tensors of a checkpoint have, shortest first.
std::vector<std::string> CommonPrefixes(const Checkpoint& checkpoint);

/// The prefix of all names that a wrapper of PyTorch has added: torch.compile, data parallelism or
/// FSDP; also several of them in a row. Empty if there is none.
std::string WrapperPrefix(const Checkpoint& checkpoint);

struct PrefixDifference {
  std::string of_a;  // empty: none
  std::string of_b;
  std::size_t num_equal = 0;  // names that are in both without the prefixes
};
/// Returns the prefixes without which most names are equal. nullopt if the names have more in
/// common as written, or if fewer than half of the names of the smaller checkpoint become equal.
/// O(64 * tensors) at most.
std::optional<PrefixDifference> FindPrefixDifference(const Checkpoint& a, const Checkpoint& b);

}  // namespace tessera::checkpoint
