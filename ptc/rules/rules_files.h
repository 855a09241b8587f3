// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the two files of rules.h say, before one is applied to the other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptc/rules/name_pattern.h"
#include "ptc/rules/rules.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

struct ListedTensor {
  TensorSpec spec;                    // place, layer and rule are open
  std::optional<std::int64_t> layer;  // where the file says it
  int line = 0;
};
struct TensorsFile {
  std::int64_t num_layers = 0;
  /// In the order of the file, optimizer state that it asks for behind each parameter.
  std::vector<ListedTensor> tensors;
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<TensorsFile> ReadTensors(const NamedText& file);

struct CutRule {
  std::string match;  // as written
  NamePattern pattern;
  ShardRule cut;
  std::optional<StagePlace> stage;
  int line = 0;
};
/// \error kInvalidArgument `FILE:LINE: …`
Result<std::vector<CutRule>> ReadRules(const NamedText& file);

}  // namespace tessera::ptc
