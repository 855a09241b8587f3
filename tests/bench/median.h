// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The median of what a benchmark measured.

#include <algorithm>
#include <vector>

namespace tessera::test {

/// 0 if there are no values.
inline double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace tessera::test
