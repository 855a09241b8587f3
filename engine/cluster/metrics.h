// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Numbers that the program of a job reports with a step, such as its accuracy, by name.

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

/// A value may be NaN (a gap in the curve) or infinite.
using Metrics = std::map<std::string, double>;

inline constexpr std::size_t kMaxMetrics = 16;  // names of a job
inline constexpr std::size_t kMaxMetricName = 40;

/// Whether this is [A-Za-z_][A-Za-z0-9_./-]* of at most kMaxMetricName characters.
inline bool IsMetricName(std::string_view name) {
  const auto is_first = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto is_next = [&](char c) {
    return is_first(c) || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxMetricName && is_first(name.front()) &&
         std::ranges::all_of(name, is_next);
}

/// \error kInvalidArgument for more than kMaxMetrics names and for a name that is none
Status CheckMetrics(const Metrics& metrics);

}  // namespace tessera::engine
