// SPDX-License-Identifier: Apache-2.0
#include "engine/data/cursor.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/data/permutation.h"
#include "engine/data/random_stream.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

std::uint64_t KeyOfPass(std::int64_t seed, std::int64_t pass) {
  return ptc::Mix(StreamKey(seed, RandomPurpose::kDataOrder) + static_cast<std::uint64_t>(pass));
}

}  // namespace

Cursor Advance(const Cursor& cursor, std::int64_t count, std::int64_t num_samples) {
  TESSERA_DCHECK(count >= 0 && num_samples >= 1 && cursor.next >= 0);
  const std::int64_t position = cursor.next + count;
  return {cursor.seed, cursor.pass + position / num_samples, position % num_samples};
}

Result<std::vector<std::int64_t>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                            std::int64_t end, std::int64_t num_samples) {
  if (num_samples < 1 || num_samples > Permutation::kMaxSize) {
    return InvalidArgument(fmt::format("a data set has {} samples, the limits are 1 and {}",
                                       num_samples, Permutation::kMaxSize));
  }
  if (cursor.pass < 0 || cursor.next < 0 || cursor.next > Permutation::kMaxSize || begin < 0 ||
      end < begin || end > Permutation::kMaxSize) {
    return InvalidArgument(fmt::format("no samples [{}, {}) after cursor pass {}, next {}", begin,
                                       end, cursor.pass, cursor.next));
  }
  std::vector<std::int64_t> samples;
  samples.reserve(static_cast<std::size_t>(end - begin));
  for (std::int64_t i = begin; i < end;) {
    TESSERA_TRY(
        const Permutation order,
        Permutation::Make(num_samples,
                          KeyOfPass(cursor.seed, cursor.pass + (cursor.next + i) / num_samples)));
    std::int64_t position = (cursor.next + i) % num_samples;
    for (; position < num_samples && i < end; ++position, ++i) samples.push_back(order(position));
  }
  return samples;
}

}  // namespace tessera::engine
