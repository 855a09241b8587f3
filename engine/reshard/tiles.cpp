// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/tiles.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ptc/base/check.h"

namespace tessera::reshard {

Tiles::Tiles(ptc::Shape shape, std::int64_t most_elements) : shape_(std::move(shape)) {
  TESSERA_DCHECK(most_elements >= 1);
  if (std::ranges::find(shape_, 0) != shape_.end()) return;
  count_ = 1;
  std::int64_t inner = 1;  // elements of the dims inside dim d
  for (std::size_t d = shape_.size(); d-- > 0;) {
    cut_dim_ = d;
    rows_ = std::min(shape_[d], most_elements / inner);
    if (rows_ < shape_[d]) break;
    inner *= shape_[d];
  }
  if (shape_.empty()) return;
  tiles_per_row_ = (shape_[cut_dim_] + rows_ - 1) / rows_;
  count_ = tiles_per_row_;
  for (std::size_t d = 0; d < cut_dim_; ++d) count_ *= shape_[d];
}

ptc::Box Tiles::At(std::int64_t i) const {
  TESSERA_DCHECK(0 <= i && i < count_);
  if (shape_.empty()) return ptc::Box::Scalar();
  std::array<ptc::Interval, ptc::kMaxRank> dims{};
  for (std::size_t d = 0; d < shape_.size(); ++d) dims[d] = {0, shape_[d]};
  const std::int64_t begin = i % tiles_per_row_ * rows_;
  dims[cut_dim_] = {begin, std::min(begin + rows_, shape_[cut_dim_])};
  i /= tiles_per_row_;
  for (std::size_t d = cut_dim_; d-- > 0;) {
    dims[d] = {i % shape_[d], i % shape_[d] + 1};
    i /= shape_[d];
  }
  auto box = ptc::Box::Make(std::span(dims.data(), shape_.size()));
  TESSERA_CHECK(box.has_value());
  return *box;
}

std::int64_t FirstIndex(const ptc::Shape& shape, const ptc::Box& box) {
  std::int64_t index = 0;
  for (int d = 0; d < box.rank(); ++d) {
    index = index * shape[static_cast<std::size_t>(d)] + box[d].begin;
  }
  return index;
}

std::vector<std::int64_t> IndicesOf(const ptc::Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> indices(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    indices[d] = index % shape[d];
    index /= shape[d];
  }
  return indices;
}

TileSequence::TileSequence(const std::vector<Extent>& tensors, std::int64_t tile_bytes) {
  first_.push_back(0);
  for (const Extent& tensor : tensors) {
    tiles_.emplace_back(tensor.shape, std::max<std::int64_t>(1, tile_bytes / tensor.element_bytes));
    first_.push_back(first_.back() + tiles_.back().count());
  }
}

TileSequence::Tile TileSequence::At(std::int64_t i) const {
  TESSERA_DCHECK(0 <= i && i < count());
  const auto next = std::upper_bound(first_.begin(), first_.end(), i);
  const auto tensor = static_cast<std::size_t>(next - first_.begin()) - 1;
  return {static_cast<int>(tensor), tiles_[tensor].At(i - first_[tensor])};
}

}  // namespace tessera::reshard
