// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/local_tensor.h"

#include <array>
#include <span>

#include "ptc/base/check.h"

namespace tessera::engine::vfs {
namespace {

/// `box` with [begin, end) along `dim`.
ptc::Box WithInterval(const ptc::Box& box, int dim, ptc::Interval interval) {
  std::array<ptc::Interval, ptc::kMaxRank> dims{};
  for (int d = 0; d < box.rank(); ++d) dims[static_cast<std::size_t>(d)] = box[d];
  dims[static_cast<std::size_t>(dim)] = interval;
  const auto made = ptc::Box::Make(std::span(dims).first(static_cast<std::size_t>(box.rank())));
  TESSERA_CHECK(made.has_value());
  return *made;
}

}  // namespace

std::optional<LocalTensor> LocalTensor::Join(std::vector<ptc::Box> boxes,
                                             const ptc::TensorSpec& spec) {
  if (boxes.empty()) return LocalTensor();
  if (boxes.size() == 1) return LocalTensor(boxes.front());
  if (!spec.segments || !spec.rule.flat.empty()) return std::nullopt;
  const int dim = spec.segments->dim;
  for (const ptc::Box& box : boxes) {
    if (WithInterval(box, dim, boxes.front()[dim]) != boxes.front()) return std::nullopt;
  }
  return LocalTensor(std::move(boxes), dim);
}

std::int64_t LocalTensor::Before(std::size_t i) const {
  std::int64_t size = 0;
  for (std::size_t k = 0; k < i; ++k) size += boxes_[k][dim_].size();
  return size;
}

std::int64_t LocalTensor::ShiftOf(std::size_t i) const {
  return boxes_[i][dim_].begin - Before(i) - boxes_.front()[dim_].begin;
}

// No index is negative: the boxes before this one lie before it in the uncut tensor too.
ptc::Box LocalTensor::Memory(std::size_t i) const {
  if (boxes_.size() == 1) return boxes_.front();
  const std::int64_t begin = boxes_[i][dim_].begin - Before(i);
  return WithInterval(boxes_[i], dim_, {begin, begin + Before(boxes_.size())});
}

std::vector<LocalTensor::Range> LocalTensor::Split(const ptc::Box& box) const {
  if (boxes_.size() == 1) return {{box, box}};
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const std::int64_t shift = ShiftOf(i);
    const ptc::Box moved =
        WithInterval(box, dim_, {box[dim_].begin + shift, box[dim_].end + shift});
    if (const auto inside = Intersect(boxes_[i], moved)) ranges.push_back({*inside, moved});
  }
  return ranges;
}

ptc::Box LocalTensor::ToMemory(std::size_t i, const ptc::Box& box) const {
  if (boxes_.size() == 1) return box;
  const std::int64_t shift = ShiftOf(i);
  return WithInterval(box, dim_, {box[dim_].begin - shift, box[dim_].end - shift});
}

bool LocalTensor::IsInOrder(const ptc::Box& box) const {
  if (boxes_.size() == 1) return true;
  for (int d = 0; d < dim_; ++d) {
    if (box[d].size() > 1) return false;
  }
  return true;
}

}  // namespace tessera::engine::vfs
