// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of a job whose move in rounds could not be ended: messages and journal rows.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/result.h"
#include "ptc/plan/mixed_layout.h"

namespace tessera::agents {

struct Remains {
  ptc::MixedLayout where;
  std::uint64_t table_hash = 0;  // the layout hash in the piece tables of its devices
  /// Whether no round has changed the tables, so that they list gradients.
  bool has_gradients() const {
    return where.parts().size() == 1 && where.parts().front().layout.hash() == table_hash;
  }
  friend bool operator==(const Remains&, const Remains&) = default;
};

void Encode(const Remains& remains, wire::Prepare* out);
/// nullopt: the state lies as in the old layout.
/// \error those of ParseLayout and MixedLayout::Make
Result<std::optional<Remains>> RemainsOf(const wire::Prepare& message);

nlohmann::json ToJson(const Remains& remains);
/// Throws nlohmann::json::exception where a member is missing or of another type.
/// \error those of ParseLayout and MixedLayout::Make
Result<Remains> ParseRemains(const nlohmann::json& json);

}  // namespace tessera::agents
