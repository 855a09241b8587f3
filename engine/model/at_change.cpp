// SPDX-License-Identifier: Apache-2.0
#include "engine/model/at_change.h"

#include <fmt/format.h>

#include "engine/model/gpt.h"
#include "ptc/base/enum_names.h"

namespace tessera::engine {

namespace {

constexpr EnumNames kAtChanges(AtChange::kKeepDeviceBatch,
                               {"keep", "lose_position", "keep_device_batch"});
constexpr EnumNames kWrongs(AtChange::kKeepDeviceBatch,
                            {"", "loses its position in the data at each change of the mesh",
                             "changes its global batch with the number of data-parallel ranks"});

}  // namespace

std::string_view ToString(AtChange at_change) { return kAtChanges.Of(at_change); }

Result<AtChange> ParseAtChange(std::string_view name) {
  if (const auto at_change = kAtChanges.Find(name)) return *at_change;
  return InvalidArgument(
      fmt::format("at_change '{}' is none of {}", name, kAtChanges.Joined(", ")));
}

std::string_view WrongOnPurpose(AtChange at_change) { return kWrongs.Of(at_change); }

Cursor CursorAfterChange(const Cursor& cursor, AtChange at_change) {
  if (at_change != AtChange::kLosePosition) return cursor;
  return {.seed = cursor.seed, .pass = cursor.pass, .next = 0};
}

std::int64_t GlobalBatchOn(const JobSettings& settings, const ptc::MeshShape& mesh) {
  const bool keeps_device_batch =
      settings.at_change == AtChange::kKeepDeviceBatch && settings.device_batch > 0;
  return keeps_device_batch ? settings.device_batch * mesh[ptc::Axis::kDp] : settings.global_batch;
}

Status NoteDeviceBatch(JobSettings& settings, const ptc::MeshShape& mesh) {
  if (settings.at_change != AtChange::kKeepDeviceBatch) return OkStatus();
  const std::int64_t dp = mesh[ptc::Axis::kDp];
  if (settings.global_batch % dp != 0) {
    return InvalidArgument(
        fmt::format("at_change keep_device_batch needs equal shares: global batch {} is not "
                    "divisible by dp = {}",
                    settings.global_batch, dp));
  }
  settings.device_batch = settings.global_batch / dp;
  return OkStatus();
}

}  // namespace tessera::engine
