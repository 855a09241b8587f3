// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Values of a pickle as JSON, for people.

#include <string>

#include "engine/checkpoint/torch/pickle.h"

namespace tessera::checkpoint {

/// How much of a pickle one walk may visit: values may stand in many places and contain themselves.
struct WalkLimits {
  static constexpr int kDepth = 64;
  static constexpr std::int64_t kVisits = std::int64_t{1} << 22;
  static constexpr std::int64_t kShown = std::int64_t{1} << 17;  // values of one JSON text
};

/// Compact JSON: tuples and sets as lists, an argparse.Namespace as an object, a path as text, an
/// enumerator as its value, a dtype as "torch.float32", bytes as {"bytes":N}, any other object as
/// {"object":"torch.Size","arguments":[…]}.
/// \error "FILE: byte N: …" for what goes beyond WalkLimits
Result<std::string> ToJson(Pickle::Value value);

}  // namespace tessera::checkpoint
