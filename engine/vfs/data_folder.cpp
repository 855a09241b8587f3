// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/data_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "engine/data/cursor.h"
#include "engine/data/formats/share_file.h"

namespace tessera::engine::vfs {
namespace {

/// Least number of digits of a step in a name, so that names sort by step.
constexpr std::size_t kStepDigits = 8;
/// Closed files that stay in memory.
constexpr std::int64_t kRecentBytes = std::int64_t{64} << 20;
constexpr std::size_t kRecentFiles = 64;

std::string NameOf(std::int64_t step, ShareEnding ending) {
  return fmt::format("{:0{}}{}", step, kStepDigits, ToString(ending));
}

/// The step, if it is spelled as NameOf spells it.
std::optional<std::int64_t> ParseStep(std::string_view digits) {
  std::int64_t step = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, step);
  const bool canonical =
      error == std::errc() && at == end && step >= 0 &&
      (digits.size() == kStepDigits || (digits.size() > kStepDigits && digits.front() != '0'));
  return canonical ? std::optional(step) : std::nullopt;
}

/// One more than the last step whose position in the order is below 2^61.
std::int64_t EndOfSteps(const JobData& data) {
  constexpr std::int64_t kMaxPosition = std::int64_t{1} << 61;
  const std::int64_t most = kMaxPosition / data.global_batch;
  return data.max_steps > 0 ? std::min(data.max_steps, most) : most;
}

Result<std::vector<SampleId>> SamplesOf(const ShareFile& file, const JobData& data) {
  const Cursor cursor =
      Advance({.seed = data.seed}, file.key.step * data.global_batch, data.mix.num_samples());
  const BatchShare share = ShareOfBatch(data.global_batch, *file.key.rank, file.ranks);
  return data.mix.SamplesAt(cursor, share.begin, share.end);
}

/// Readers of files cannot repair data, so all such errors have one code.
Error Unreadable(const std::string& job, const Error& error) {
  if (error.code == ErrorCode::kTimeout || error.code == ErrorCode::kResourceExhausted) {
    return error;
  }
  return DataLoss(fmt::format("data of job '{}' cannot be read here: {}", job, error.ToString()));
}

}  // namespace

bool SameBytes(const ShareFile& a, const ShareFile& b) {
  const bool is_same_data = !a.data.owner_before(b.data) && !b.data.owner_before(a.data);
  return a.key == b.key && a.ranks == b.ranks && is_same_data;
}

Result<JobDataPtr> DataFolder::DataOf(const NodeKey& folder, const JobFacts& facts) {
  if (!source_ || !facts.info.has_data) {
    return NotFound(fmt::format("job '{}' has no data set that this host can open", folder.job));
  }
  if (*folder.rank >= NumReaders(facts)) {
    return NotFound(fmt::format("job '{}' has {} data-parallel ranks, and no rank {}", folder.job,
                                NumReaders(facts), *folder.rank));
  }
  auto data = source_->Open(facts.info);
  if (!data) return Unreadable(folder.job, data.error());
  return *data;
}

Result<std::vector<Child>> DataFolder::Children(const NodeKey& folder, const JobFacts& facts) {
  TESSERA_TRY(const JobDataPtr data, DataOf(folder, facts));
  const std::vector<ShareEnding> endings = ShareEndings(data->mix);
  const std::int64_t first = facts.info.step;
  const std::int64_t end = std::min(first + kListedSteps, EndOfSteps(*data));
  std::vector<Child> files;
  for (std::int64_t step = first; step < end; ++step) {
    for (const ShareEnding ending : endings) {
      NodeKey key{NodeKind::kShare, folder.job, folder.rank};
      key.step = step;
      key.ending = ending;
      files.push_back({NameOf(step, ending), std::move(key)});
    }
  }
  return files;
}

Result<ShareFilePtr> DataFolder::Find(const NodeKey& folder, std::string_view name,
                                      const JobFacts& facts) {
  const auto none = NotFound(fmt::format("no file '{}' among the samples of a rank", name));
  const std::size_t dot = std::min(name.find('.'), name.size());
  const auto step = ParseStep(name.substr(0, dot));
  if (!step) return none;
  TESSERA_TRY(const JobDataPtr data, DataOf(folder, facts));
  const auto endings = ShareEndings(data->mix);
  const auto ending = std::ranges::find(endings, name.substr(dot),
                                        [](ShareEnding known) { return ToString(known); });
  if (ending == endings.end() || *step >= EndOfSteps(*data)) return none;

  ShareFile file{{NodeKind::kShare, folder.job, folder.rank}, NumReaders(facts), data};
  file.key.step = *step;
  file.key.ending = *ending;
  const auto samples = SamplesOf(file, *data);
  if (!samples) return Unreadable(folder.job, samples.error());
  const auto size = ShareFileBytes(data->mix, *samples, *ending);
  if (!size) return Unreadable(folder.job, size.error());
  file.size = *size;
  return std::make_shared<const ShareFile>(std::move(file));
}

Result<ContentPtr> DataFolder::Open(const ShareFilePtr& file, const JobFacts& facts) {
  const auto data = DataOf(file->key, facts);
  const bool is_gone = !data && data.error().code == ErrorCode::kNotFound;
  if (is_gone || (data && (*data != file->data.lock() || NumReaders(facts) != file->ranks))) {
    return FailedPrecondition(
        fmt::format("samples of job '{}' must be looked up again: the job's mesh or data changed",
                    file->key.job));
  }
  if (!data) return data.error();
  {
    const std::lock_guard lock(mutex_);
    for (const Recent& recent : recent_) {
      if (recent.file == file) return recent.content;
    }
  }
  TESSERA_TRY(ContentPtr content, Read(*file, *data));
  Remember(file, content);
  return content;
}

Result<ContentPtr> DataFolder::Read(const ShareFile& file, const JobDataPtr& data) {
  // Reserved before the read, so that concurrent opens cannot exceed the limit together.
  const std::shared_ptr<void> room(nullptr,
                                   [used = used_, size = file.size](void*) { *used -= size; });
  if (*used_ += file.size; *used_ > max_bytes_) {
    const std::lock_guard lock(mutex_);
    recent_.clear();
  }
  if (const std::int64_t used = *used_; used > max_bytes_) {
    return ResourceExhausted(
        fmt::format("open sample files would take {} bytes, the limit is {}", used, max_bytes_));
  }
  auto samples = SamplesOf(file, *data);
  if (!samples) return Unreadable(file.key.job, samples.error());
  auto bytes = MakeShareFile(data->mix, *samples, file.key.ending);
  if (!bytes) {
    source_->Failed(data);
    return Unreadable(file.key.job, bytes.error());
  }
  auto content = std::make_unique<TextContent>(std::move(*bytes));
  return ContentPtr(content.release(), [room](const Content* gone) { delete gone; });
}

void DataFolder::Remember(ShareFilePtr file, ContentPtr content) {
  std::list<Recent> late;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  recent_.push_front({std::move(file), std::move(content)});
  std::int64_t bytes = 0;
  std::size_t count = 0;
  auto keep = recent_.begin();
  for (; keep != recent_.end() && count < kRecentFiles; ++keep, ++count) {
    if (bytes += keep->content->size(); bytes > kRecentBytes) break;
  }
  late.splice(late.begin(), recent_, keep, recent_.end());
}

}  // namespace tessera::engine::vfs
