// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What every fuzz target requires of a reader: no crash, and errors of one line that name a
/// position.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

/// The entry point of libFuzzer, which replay.cpp also calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tessera::fuzz {

inline std::string_view Text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the process if the message of an error has a line break, or contains none of `places` (if
/// any are given).
/// \param places the words before a position, such as "byte "
inline void CheckError(const Error& error, std::initializer_list<std::string_view> places = {}) {
  const std::string line = error.ToString();
  bool has_place = places.size() == 0;
  for (const std::string_view place : places) has_place |= line.find(place) != std::string::npos;
  if (!line.empty() && line.find('\n') == std::string::npos && has_place) return;
  std::fprintf(stderr, "not a line that says where: %s\n", line.c_str());
  std::abort();
}

}  // namespace tessera::fuzz
