// SPDX-License-Identifier: Apache-2.0
#include "engine/copy/run_walker.h"

#include "ptc/base/check.h"

namespace tessera::engine {

RunWalker::RunWalker(const CellView& view, std::int64_t offset)
    : view_(view), run_offset_(view.first_bytes_), inside_(offset % view.run_bytes_) {
  TESSERA_DCHECK(0 <= offset && offset < view.size_bytes_);
  std::int64_t run = offset / view.run_bytes_;
  for (int d = view.outer_rank_ - 1; d >= 0; --d) {
    index_[d] = run % view.outer_size_[d];
    run /= view.outer_size_[d];
    run_offset_ += index_[d] * view.outer_stride_bytes_[d];
  }
}

void RunWalker::NextRun() {
  for (int d = view_.outer_rank_ - 1; d >= 0; --d) {
    run_offset_ += view_.outer_stride_bytes_[d];
    if (++index_[d] < view_.outer_size_[d]) {
      inside_ = 0;
      return;
    }
    run_offset_ -= view_.outer_size_[d] * view_.outer_stride_bytes_[d];
    index_[d] = 0;
  }
  // This was the last run: inside_ stays at its end, so that remaining() is 0.
}

}  // namespace tessera::engine
