// SPDX-License-Identifier: Apache-2.0
#include "ptc/flat_range.h"

#include <algorithm>
#include <array>
#include <span>

namespace tessera::ptc {
namespace {

/// Appends the elements at positions [begin, end) of a box in row-major order, as boxes. Peels the
/// ragged head and tail of dim `dim`; the inner dims are whole:
///
///     . . # #     head: this row again, one dim further in
///     # # # #     body: one box
///     # # # #
///     # . . .     tail
/// A head has no tail in the inner dims, and a tail has no head, so n dims give at most 2n-1 boxes.
void AppendRange(std::span<const Interval> box, std::size_t dim, std::array<Interval, kMaxRank> at,
                 Interval range, std::vector<Box>& out) {
  if (range.begin == range.end) return;
  std::int64_t inner = 1;  // elements of one row of `dim`
  for (std::size_t d = dim + 1; d < box.size(); ++d) inner *= box[d].size();
  if (range.size() == inner * (dim < box.size() ? box[dim].size() : 1)) {
    for (std::size_t d = dim; d < box.size(); ++d) at[d] = box[d];
    out.push_back(*Box::Make({at.data(), box.size()}));
    return;
  }
  const std::int64_t first = range.begin / inner;
  const std::int64_t last = range.end / inner;
  const auto row = [&](std::int64_t r, Interval part) {
    at[dim] = {box[dim].begin + r, box[dim].begin + r + 1};
    AppendRange(box, dim + 1, at, part, out);
  };
  if (first == last) return row(first, {range.begin % inner, range.end % inner});
  std::int64_t body = first;
  if (range.begin % inner != 0) row(body++, {range.begin % inner, inner});
  if (body < last) {
    for (std::size_t d = dim + 1; d < box.size(); ++d) at[d] = box[d];
    at[dim] = {box[dim].begin + body, box[dim].begin + last};
    out.push_back(*Box::Make({at.data(), box.size()}));
  }
  row(last, {0, range.end % inner});
}

}  // namespace

std::vector<Box> FlatRange(const std::vector<Box>& boxes, Interval range) {
  std::vector<Box> out;
  std::int64_t start = 0;
  for (const Box& box : boxes) {
    const std::int64_t size = box.num_elements();
    const Interval here{std::max(range.begin, start), std::min(range.end, start + size)};
    std::array<Interval, kMaxRank> dims{};
    for (int d = 0; d < box.rank(); ++d) dims[static_cast<std::size_t>(d)] = box[d];
    if (here.begin < here.end) {
      AppendRange({dims.data(), static_cast<std::size_t>(box.rank())}, 0, {},
                  {here.begin - start, here.end - start}, out);
    }
    start += size;
  }
  std::sort(out.begin(), out.end());  // the boxes of segments interleave if their dim is not 0
  return out;
}

}  // namespace tessera::ptc
