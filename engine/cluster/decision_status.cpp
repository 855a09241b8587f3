// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/decision_status.h"

#include <fmt/format.h>

#include "ptc/base/enum_names.h"
#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr EnumNames kLossCases(LossCase::kCheckpointOnly,
                               {"replicas_live", "snapshot", "checkpoint_only"});
constexpr EnumNames kOnFailures(OnFailure::kWait, {"ask", "shrink", "wait"});
constexpr EnumNames kLossChoices(LossChoice::kWait, {"continue", "wait"});

constexpr EnumNames kSources(RecoverySource::kCheckpoint, {"replicas", "snapshot", "checkpoint"});

}  // namespace

std::string_view ToString(LossCase loss) { return kLossCases.Of(loss); }
std::string_view ToString(OnFailure on_failure) { return kOnFailures.Of(on_failure); }
std::string_view ToString(LossChoice choice) { return kLossChoices.Of(choice); }
std::string_view ToString(RecoverySource source) { return kSources.Of(source); }

Result<OnFailure> ParseOnFailure(std::string_view text) {
  if (const auto value = kOnFailures.Find(text)) return *value;
  return InvalidArgument(
      fmt::format("'{}' is not one of {}", Escaped(text), kOnFailures.Joined("|")));
}

Result<LossChoice> ParseLossChoice(std::string_view text) {
  if (const auto value = kLossChoices.Find(text)) return *value;
  return InvalidArgument(
      fmt::format("'{}' is not one of {}", Escaped(text), kLossChoices.Joined("|")));
}

}  // namespace tessera::engine
