// SPDX-License-Identifier: Apache-2.0
#include "engine/data/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/data/order_key.h"
#include "engine/data/permutation.h"

namespace tessera::engine {

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
  std::vector<std::int64_t> samples(static_cast<std::size_t>(end - begin));
  for (auto rest = std::span(samples); !rest.empty();) {
    const std::int64_t at = cursor.next + end - static_cast<std::int64_t>(rest.size());
    const std::int64_t position = at % num_samples;
    const auto count = static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(rest.size()), num_samples - position));
    TESSERA_TRY(
        const Permutation order,
        Permutation::Make(num_samples, OrderKey(cursor.seed, cursor.pass + at / num_samples)));
    order.Fill(position, rest.first(count));
    rest = rest.subspan(count);
  }
  return samples;
}

}  // namespace tessera::engine
