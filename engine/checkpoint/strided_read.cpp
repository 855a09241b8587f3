// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/strided_read.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace tessera::checkpoint {
namespace {

constexpr std::int64_t kWindow = std::int64_t{1} << 20;
constexpr std::int64_t kLongRun = std::int64_t{1} << 16;  // bytes; longer runs bypass the buffer
constexpr std::int64_t kMaxGap = std::int64_t{1} << 13;   // bytes that are read and not used
constexpr std::size_t kMaxRuns = std::size_t{1} << 14;

/// `count` elements that are adjacent in the file.
struct Run {
  std::int64_t from = 0;  // byte of the file
  std::byte* to = nullptr;
  std::int64_t count = 0;
};

template <typename Word>
void Scatter(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t step) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to, from, sizeof(Word));
    from += sizeof(Word);
    to += step * static_cast<std::int64_t>(sizeof(Word));
  }
}

/// Collects runs, and reads those that are close together with one call. Runs usually arrive in the
/// order of the file.
class Gather {
 public:
  Gather(const File& file, std::int64_t element_bytes, std::int64_t step)
      : file_(file), element_bytes_(element_bytes), step_(step) {}

  Status Add(Run run) {
    if (step_ == 1 && run.count * element_bytes_ >= kLongRun) {
      TESSERA_RETURN_IF_ERROR(Flush());
      return file_.ReadAt(run.from, {run.to, Bytes(run.count)});
    }
    while (run.count > 0) {  // a run may be longer than the window
      const std::int64_t part = std::min(run.count, kWindow / element_bytes_);
      TESSERA_RETURN_IF_ERROR(AddShort({run.from, run.to, part}));
      run.from += part * element_bytes_;
      run.to += part * step_ * element_bytes_;
      run.count -= part;
    }
    return OkStatus();
  }

  Status Flush() {
    if (runs_.empty()) return OkStatus();
    if (runs_.size() == 1 && step_ == 1) {
      const Run run = runs_.front();
      runs_.clear();
      return file_.ReadAt(run.from, {run.to, Bytes(run.count)});
    }
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kWindow);
    const std::int64_t begin = runs_.front().from;
    TESSERA_RETURN_IF_ERROR(
        file_.ReadAt(begin, {buffer_.get(), static_cast<std::size_t>(end_ - begin)}));
    for (const Run& run : runs_) CopyRun(buffer_.get() + (run.from - begin), run);
    runs_.clear();
    return OkStatus();
  }

 private:
  std::size_t Bytes(std::int64_t count) const {
    return static_cast<std::size_t>(count * element_bytes_);
  }

  Status AddShort(Run run) {
    const std::int64_t end = run.from + run.count * element_bytes_;
    // If the strides of a saved tensor overlap, a run may begin before the first run of the buffer.
    const bool fits = !runs_.empty() && runs_.size() < kMaxRuns && run.from >= runs_.front().from &&
                      run.from - end_ <= kMaxGap && end - runs_.front().from <= kWindow;
    if (!fits) TESSERA_RETURN_IF_ERROR(Flush());
    end_ = runs_.empty() ? end : std::max(end_, end);
    runs_.push_back(run);
    return OkStatus();
  }

  void CopyRun(const std::byte* from, const Run& run) const {
    if (step_ == 1) {
      std::memcpy(run.to, from, Bytes(run.count));
      return;
    }
    switch (element_bytes_) {
      case 1:
        return Scatter<std::uint8_t>(from, run.to, run.count, step_);
      case 2:
        return Scatter<std::uint16_t>(from, run.to, run.count, step_);
      case 4:
        return Scatter<std::uint32_t>(from, run.to, run.count, step_);
      default:
        return Scatter<std::uint64_t>(from, run.to, run.count, step_);
    }
  }

  const File& file_;
  const std::int64_t element_bytes_;
  const std::int64_t step_;
  std::vector<Run> runs_;
  std::int64_t end_ = 0;  // the end of the runs in the file
  std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace

std::vector<StridedDim> Normalize(std::vector<StridedDim> dims) {
  std::erase_if(dims, [](const StridedDim& dim) { return dim.size == 1; });
  std::ranges::stable_sort(dims, std::ranges::greater{}, &StridedDim::from);
  std::vector<StridedDim> merged;
  for (const StridedDim& dim : dims) {
    StridedDim* outer = merged.empty() ? nullptr : &merged.back();
    if (outer && outer->from == dim.from * dim.size && outer->to == dim.to * dim.size) {
      *outer = {outer->size * dim.size, dim.from, dim.to};
    } else {
      merged.push_back(dim);
    }
  }
  return merged;
}

Status ReadStrided(const File& file, std::int64_t offset, std::int64_t element_bytes,
                   std::vector<StridedDim> dims, std::byte* out) {
  dims = Normalize(std::move(dims));
  StridedDim run{1, 1, 1};
  if (!dims.empty() && dims.back().from == 1) {
    run = dims.back();
    dims.pop_back();
  }
  Gather gather(file, element_bytes, run.to);
  std::vector<std::int64_t> index(dims.size(), 0);
  std::int64_t from = 0;
  std::int64_t to = 0;
  while (true) {
    TESSERA_RETURN_IF_ERROR(
        gather.Add({offset + from * element_bytes, out + to * element_bytes, run.size}));
    std::size_t d = dims.size();
    while (d > 0 && index[d - 1] + 1 == dims[d - 1].size) {
      --d;
      from -= index[d] * dims[d].from;
      to -= index[d] * dims[d].to;
      index[d] = 0;
    }
    if (d == 0) return gather.Flush();
    --d;
    ++index[d];
    from += dims[d].from;
    to += dims[d].to;
  }
}

}  // namespace tessera::checkpoint
