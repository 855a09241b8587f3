// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Prints values of a pickle as JSON, to be read by people.

#include <string>

#include "engine/checkpoint/torch/pickle.h"

namespace tessera::checkpoint {

/// The bounds of one walk through a pickle, whose values may occur in many places and contain
/// themselves.
struct WalkLimits {
  static constexpr int kDepth = 64;
  static constexpr std::int64_t kVisits = std::int64_t{1} << 22;
  static constexpr std::int64_t kShown = std::int64_t{1} << 17;  // values of one JSON text
};

/// Returns compact JSON. Tuples and sets become lists, an argparse.Namespace an object, a path
/// text, an enumerator its value, a dtype "torch.float32", bytes {"bytes":N}, and any other object
/// {"object":"torch.Size","arguments":[…]}.
/// \error "FILE: byte N: …" if the walk exceeds WalkLimits
Result<std::string> ToJson(Pickle::Value value);

}  // namespace tessera::checkpoint
