// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Counts as floating-point numbers, for estimates.

#include <cstdint>

namespace tessera::engine {

/// The nearest double, exact up to 2^53.
constexpr double ToDouble(std::int64_t count) { return static_cast<double>(count); }

}  // namespace tessera::engine
