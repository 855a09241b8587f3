// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The names that users give to clusters, profiles, jobs and racks.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tessera {

/// Whether the name is of the form [a-z0-9][a-z0-9-]{0,62}.
inline bool IsShortName(std::string_view name) {
  constexpr std::size_t kMostLetters = 63;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kMostLetters && plain(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

}  // namespace tessera
