// SPDX-License-Identifier: Apache-2.0
#include "ptc/digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "ptc/layout.h"

namespace tessera::ptc {

std::uint64_t DigestBox(DType dtype, const Shape& shape, const Box& piece, const std::byte* data,
                        const Box& cell) {
  TESSERA_DCHECK(Contains(piece, cell));
  const int rank = cell.rank();
  // Strides in elements: of the uncut tensor (indices) and of the piece (memory).
  std::array<std::int64_t, kMaxRank> index_stride{};
  std::array<std::int64_t, kMaxRank> memory_stride{};
  std::int64_t index_step = 1;
  std::int64_t memory_step = 1;
  std::int64_t index = 0;
  std::int64_t offset = 0;
  for (int d = rank - 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    index_stride[i] = index_step;
    memory_stride[i] = memory_step;
    index += cell[d].begin * index_step;
    offset += (cell[d].begin - piece[d].begin) * memory_step;
    index_step *= shape[i];
    memory_step *= piece[d].size();
  }
  // A run extends over the dims that cell, piece and tensor all cover fully, and over one more.
  int outer = rank;
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= cell[outer].size();
    const std::int64_t whole = shape[static_cast<std::size_t>(outer)];
    if (cell[outer].size() != whole) break;
  }
  const std::int64_t size = SizeBytes(dtype);
  const std::int64_t run_bytes = run * size;
  // The processor's own prefetch stops where a short run ends.
  constexpr std::int64_t kShortRunBytes = std::int64_t{8} << 10;
  constexpr std::int64_t kPrefetchBytes = 2048;
  constexpr std::int64_t kLineBytes = 64;
  const bool is_short = outer > 0 && run_bytes <= kShortRunBytes;
  const std::int64_t ahead = is_short
                                 ? std::max<std::int64_t>(1, kPrefetchBytes / run_bytes) *
                                       memory_stride[static_cast<std::size_t>(outer - 1)] * size
                                 : 0;
  std::array<std::int64_t, kMaxRank> counter{};
  std::uint64_t sum = 0;
  while (true) {
    for (std::int64_t line = 0; is_short && line < run_bytes; line += kLineBytes) {
      __builtin_prefetch(data + offset * size + ahead + line);
    }
    sum += DigestRun(static_cast<std::uint64_t>(index * size),
                     {data + offset * size, static_cast<std::size_t>(run_bytes)});
    int d = outer - 1;
    for (; d >= 0; --d) {  // odometer over the outer dims
      const auto i = static_cast<std::size_t>(d);
      index += index_stride[i];
      offset += memory_stride[i];
      if (++counter[i] < cell[d].size()) break;
      index -= counter[i] * index_stride[i];
      offset -= counter[i] * memory_stride[i];
      counter[i] = 0;
    }
    if (d < 0) return sum;
  }
}

std::uint64_t CollectionDigest(const Collection& collection,
                               const std::vector<std::uint64_t>& digests) {
  TESSERA_CHECK(digests.size() == collection.tensors().size());
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < digests.size(); ++t) {
    const TensorSpec& spec = collection.tensors()[t];
    lines.push_back(fmt::format("{} {} {} {}\n", spec.name, ToString(spec.dtype),
                                ToString(spec.shape), Hex16(digests[t])));
  }
  std::sort(lines.begin(), lines.end());  // not by name: a space ends a name here
  std::string text;
  for (const std::string& line : lines) text += line;
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace tessera::ptc
