// SPDX-License-Identifier: Apache-2.0
#include "agents/checkpoint/share_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <span>
#include <utility>

#include "agents/checkpoint/share_files.h"
#include "agents/move/parallel.h"
#include "agents/views/background.h"
#include "engine/checkpoint/open_files.h"
#include "engine/checkpoint/saved_folder.h"
#include "ptc/digest.h"
#include "ptc/schedule/split_box.h"

namespace tessera::agents {
namespace {

/// Written at a time: it stays in a core's cache between its digest and the copy to the kernel.
constexpr std::int64_t kRangeBytes = 512 << 10;
/// Synced at a time, so that no call waits long for the disk and progress is seen.
constexpr std::int64_t kSyncBytes = std::int64_t{256} << 20;

/// A row-major range of a cell.
struct WriteRange {
  std::size_t file = 0, tensor = 0;  // of the header of that file
  ptc::Box box = ptc::Box::Scalar();
  std::int64_t offset = 0;  // in the file
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

/// The ranges of all files. Neighbours are of different files, because the kernel lets one thread
/// at a time write to a file.
std::vector<WriteRange> RangesOf(const HeldShare& share, const std::vector<ShareFile>& files) {
  std::vector<std::vector<WriteRange>> by_file(files.size());
  std::size_t most = 0;
  for (std::size_t f = 0; f < files.size(); ++f) {
    const checkpoint::Header& header = files[f].header;
    for (std::size_t t = 0; t < header.tensors.size(); ++t) {
      const engine::ViewCell* const cell = files[f].cells[t];
      if (!cell) continue;
      const std::int64_t element = cell->size_bytes / cell->box.num_elements();
      std::int64_t at = 0;
      for (ptc::Box& box :
           ptc::SplitInOrder(cell->box, std::max<std::int64_t>(1, kRangeBytes / element))) {
        const std::int64_t bytes = box.num_elements() * element;
        by_file[f].push_back({f, t, std::move(box),
                              header.data_begin + header.tensors[t].begin + at,
                              share.memory.data(cell->offset_bytes) + at, bytes});
        at += bytes;
      }
    }
    most = std::max(most, by_file[f].size());
  }
  std::vector<WriteRange> out;
  for (std::size_t i = 0; i < most; ++i) {
    for (std::vector<WriteRange>& ranges : by_file) {
      if (i < ranges.size()) out.push_back(std::move(ranges[i]));
    }
  }
  return out;
}

/// Calls `report` at most every 200 ms.
class Progress {
 public:
  Progress(std::int64_t total, const std::function<void(std::int64_t, std::int64_t)>& report)
      : total_(total), report_(report) {}
  void Add(std::int64_t bytes) {
    const std::int64_t done = done_.fetch_add(bytes) + bytes;
    const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    std::int64_t last = last_.load();
    constexpr std::int64_t kPeriod = 200'000'000;  // nanoseconds
    if (report_ && now - last > kPeriod && last_.compare_exchange_strong(last, now)) {
      report_(done, total_);
    }
  }

 private:
  const std::int64_t total_;
  const std::function<void(std::int64_t, std::int64_t)>& report_;
  std::atomic<std::int64_t> done_ = 0, last_ = 0;
};

void YieldToRanks() {
  thread_local const bool is_done = [] {
    RunInBackground();
    return true;
  }();
  static_cast<void>(is_done);
}

}  // namespace

ShareWriter::ShareWriter(std::shared_ptr<const HeldShare> share, std::string path,
                         Handlers handlers)
    : share_(std::move(share)), path_(std::move(path)), handlers_(std::move(handlers)) {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    YieldToRanks();
    handlers_.done(Write(stop));
  });
}

ShareWriter::~ShareWriter() { thread_.request_stop(); }

Result<WrittenShare> ShareWriter::Write(const std::stop_token& stop) const {
  if (handlers_.check) TESSERA_RETURN_IF_ERROR(handlers_.check());
  const HeldShare& share = *share_;
  const auto& specs = share.layout.collection().tensors();
  TESSERA_TRY(
      const std::vector<ShareFile> files,
      PlanShareFiles(share.layout, *share.plan, static_cast<std::int32_t>(share.stamp.node)));
  const std::string partial = checkpoint::PartialPath(path_, share.stamp.view);
  TESSERA_RETURN_IF_ERROR(checkpoint::MakePartial(path_, partial));
  const std::filesystem::path folder = partial;
  std::vector<checkpoint::FilePtr> open;
  std::int64_t total = 0;
  for (const ShareFile& file : files) {
    TESSERA_TRY(checkpoint::FilePtr made, checkpoint::File::Open((folder / file.name).string(),
                                                                 checkpoint::File::Mode::kCreate));
    TESSERA_RETURN_IF_ERROR(made->Resize(file.size_bytes));
    open.push_back(std::move(made));
    total += file.size_bytes;
  }
  std::vector<std::vector<std::uint64_t>> digests(files.size());
  for (std::size_t f = 0; f < files.size(); ++f) digests[f].resize(files[f].cells.size(), 0);
  std::vector<std::atomic<std::int64_t>> unsynced(files.size());
  const std::vector<WriteRange> ranges = RangesOf(share, files);
  Progress progress(total, handlers_.progress);
  const auto write_range = [&](std::size_t i) -> Status {
    YieldToRanks();
    const WriteRange& range = ranges[i];
    const ptc::TensorSpec& spec =
        specs[static_cast<std::size_t>(files[range.file].cells[range.tensor]->tensor)];
    std::atomic_ref(digests[range.file][range.tensor]) +=
        ptc::DigestBox(spec.dtype, spec.shape, range.box, range.data, range.box);
    TESSERA_RETURN_IF_ERROR(open[range.file]->WriteAt(
        range.offset, {range.data, static_cast<std::size_t>(range.bytes)}));
    progress.Add(range.bytes);
    if (unsynced[range.file].fetch_add(range.bytes) + range.bytes < kSyncBytes) return OkStatus();
    unsynced[range.file] = 0;
    return open[range.file]->Sync();
  };
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(ranges.size(), stop, write_range));
  const auto finish_file = [&](std::size_t f) -> Status {
    YieldToRanks();
    TESSERA_TRY(const std::string head, files[f].Head(digests[f]));
    TESSERA_RETURN_IF_ERROR(open[f]->WriteAt(0, std::as_bytes(std::span(head))));
    TESSERA_RETURN_IF_ERROR(open[f]->Sync());
    progress.Add(std::ssize(head));
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(files.size(), stop, finish_file));
  TESSERA_RETURN_IF_ERROR(checkpoint::SyncFolder(folder.string()));
  WrittenShare out;
  out.digests.resize(specs.size(), 0);
  for (std::size_t f = 0; f < files.size(); ++f) {
    out.files.push_back({files[f].name, files[f].size_bytes});
    for (std::size_t t = 0; t < files[f].cells.size(); ++t) {
      if (!files[f].cells[t]) continue;
      out.digests[static_cast<std::size_t>(files[f].cells[t]->tensor)] += digests[f][t];
    }
  }
  return out;
}

}  // namespace tessera::agents
