// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Random boxes and a naive walk over elements, for tests of everything that copies cells.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "ptc/box.h"

namespace tessera::test {

/// A box inside `outer`.
inline ptc::Box AnyInside(std::mt19937_64& rng, const ptc::Box& outer) {
  std::vector<ptc::Interval> dims;
  for (int d = 0; d < outer.rank(); ++d) {
    const auto size = static_cast<std::uint64_t>(outer[d].size());
    const std::int64_t begin = outer[d].begin + static_cast<std::int64_t>(rng() % size);
    const auto left = static_cast<std::uint64_t>(outer[d].end - begin);
    dims.push_back({begin, begin + 1 + static_cast<std::int64_t>(rng() % left)});
  }
  return *ptc::Box::Make(dims);
}

/// A box around `inner`, up to `margin` larger on each side.
inline ptc::Box AnyAround(std::mt19937_64& rng, const ptc::Box& inner, std::int64_t margin) {
  std::vector<ptc::Interval> dims;
  const auto n = static_cast<std::uint64_t>(margin) + 1;
  for (int d = 0; d < inner.rank(); ++d) {
    const auto low = std::min(inner[d].begin, static_cast<std::int64_t>(rng() % n));
    dims.push_back({inner[d].begin - low, inner[d].end + static_cast<std::int64_t>(rng() % n)});
  }
  return *ptc::Box::Make(dims);
}

/// Calls `visit` with the coordinates of each element of `box`, last dim fastest.
inline void ForEachElement(const ptc::Box& box,
                           const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at;
  for (int d = 0; d < box.rank(); ++d) at.push_back(box[d].begin);
  for (;;) {
    visit(at);
    int d = box.rank() - 1;
    for (; d >= 0; --d) {
      if (++at[static_cast<std::size_t>(d)] < box[d].end) break;
      at[static_cast<std::size_t>(d)] = box[d].begin;
    }
    if (d < 0) return;
  }
}

/// Row-major index of an element inside `box`.
inline std::int64_t IndexIn(const ptc::Box& box, const std::vector<std::int64_t>& at) {
  std::int64_t index = 0;
  for (int d = 0; d < box.rank(); ++d) {
    index = index * box[d].size() + at[static_cast<std::size_t>(d)] - box[d].begin;
  }
  return index;
}

inline std::vector<std::byte> AnyBytes(std::mt19937_64& rng, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& b : bytes) b = static_cast<std::byte>(rng() & 0xff);
  return bytes;
}

}  // namespace tessera::test
