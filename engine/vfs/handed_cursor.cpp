// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/handed_cursor.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>

#include "engine/data/cursor.h"
#include "engine/model/at_change.h"
#include "engine/model/gpt.h"

namespace tessera::engine::vfs {
namespace {

std::optional<Cursor> CursorOf(const HandedFile& file, const JobInfo& job) {
  std::array<std::int64_t, 3> words{};
  for (const auto& [tensor, piece] : file.pieces) {
    const auto& spec = job.layout.collection().tensors()[static_cast<std::size_t>(tensor)];
    const bool is_it = spec.name == kCursorTensor && spec.dtype == ptc::DType::kI64 &&
                       piece.box.num_elements() == std::ssize(words);
    if (!is_it) continue;
    std::memcpy(words.data(), piece.data, sizeof words);
    return Cursor::FromArray(words);
  }
  return std::nullopt;
}

/// Whether the cursor is at sample `position` of the run for some length of a pass.
bool FitsSomePass(const Cursor& cursor, std::int64_t position) {
  if (cursor.pass == 0) return cursor.next == position;
  const std::int64_t before = position - cursor.next;
  return before > 0 && before % cursor.pass == 0 && cursor.next < before / cursor.pass;
}

std::string Text(const Cursor& cursor) {
  return fmt::format("seed {}, pass {}, sample {}", cursor.seed, cursor.pass, cursor.next);
}

}  // namespace

Status CheckHandedCursor(const HandedFile& file, const JobInfo& job, SampleSource* samples,
                         const std::string& path) {
  const auto cursor = CursorOf(file, job);
  if (!cursor) return OkStatus();
  const auto settings = ParseJobSettings(job.settings_json);
  if (!settings || settings->program) return OkStatus();
  const auto refused = [&](const std::string& expected) {
    return InvalidArgument(fmt::format("'{}': tensor '{}' is {}, expected {}", path, kCursorTensor,
                                       Text(*cursor), expected));
  };
  if (cursor->seed != settings->seed) {
    return refused(fmt::format("the job's seed {}", settings->seed));
  }
  if (cursor->pass < 0 || cursor->next < 0) return refused("numbers of at least 0");
  if (settings->at_change != AtChange::kKeep) return OkStatus();
  std::int64_t position = 0;
  if (__builtin_mul_overflow(file.step, settings->global_batch, &position)) {
    return refused(fmt::format("a position below 2^63, which step {} x global batch {} exceeds",
                               file.step, settings->global_batch));
  }
  const std::string rule =
      fmt::format("step {} x global batch {} = {}", file.step, settings->global_batch, position);
  if (cursor->pass > 0 && job.has_data && samples != nullptr) {
    if (const auto data = samples->Open(job)) {
      const Cursor right = Advance({.seed = settings->seed}, position, (*data)->mix.num_samples());
      if (*cursor == right) return OkStatus();
      return refused(fmt::format("{} ({})", Text(right), rule));
    }
  }
  if (FitsSomePass(*cursor, position)) return OkStatus();
  return refused(fmt::format("{} samples in all ({})", position, rule));
}

}  // namespace tessera::engine::vfs
