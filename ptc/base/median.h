// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The median of measured values.

#include <algorithm>
#include <vector>

namespace tessera {

/// Of two middle values the greater; 0 if there are no values.
inline double UpperMedian(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace tessera
