// SPDX-License-Identifier: Apache-2.0
#include "engine/model/at_change.h"

#include <fmt/format.h>

#include "engine/model/gpt.h"

namespace tessera::engine {

std::string_view ToString(AtChange at_change) {
  switch (at_change) {
    case AtChange::kKeep:
      return "keep";
    case AtChange::kLosePosition:
      return "lose_position";
    case AtChange::kKeepDeviceBatch:
      return "keep_device_batch";
  }
  return "keep";
}

Result<AtChange> ParseAtChange(std::string_view name) {
  for (const AtChange each :
       {AtChange::kKeep, AtChange::kLosePosition, AtChange::kKeepDeviceBatch}) {
    if (name == ToString(each)) return each;
  }
  return InvalidArgument(
      fmt::format("at_change '{}' is none of keep, lose_position, keep_device_batch", name));
}

std::string_view WrongOnPurpose(AtChange at_change) {
  switch (at_change) {
    case AtChange::kKeep:
      return "";
    case AtChange::kLosePosition:
      return "loses its position in the data at each change of the mesh";
    case AtChange::kKeepDeviceBatch:
      return "changes its global batch with the number of data-parallel ranks";
  }
  return "";
}

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
