// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Sorts many items by small numbers, such as devices or hosts, in linear time.

#include <cstddef>
#include <vector>

#include "ptc/base/at.h"

namespace tessera::ptc {

/// Sorts `items` by the numbers that `number_of` returns for them. Items with equal numbers keep
/// their order. Returns the position of the first item of each number, and the end.
/// \pre 0 <= number_of(item) < count
template <typename Item, typename NumberOf>
std::vector<std::size_t> SortByNumber(std::vector<Item>& items, std::size_t count,
                                      const NumberOf& number_of) {
  std::vector<std::size_t> first(count + 1);
  for (const Item& item : items) ++first[At(number_of(item)) + 1];
  for (std::size_t n = 1; n < first.size(); ++n) first[n] += first[n - 1];
  std::vector<std::size_t> next = first;
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[next[At(number_of(item))]++] = item;
  items = std::move(sorted);
  return first;
}

}  // namespace tessera::ptc
