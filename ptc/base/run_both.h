// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Runs two independent computations at the same time.

#include <system_error>
#include <thread>

namespace tessera {

/// Calls `one` in a second thread and `other` in this one. Returns when both have returned, and
/// what they wrote is visible then. If there are no threads left, calls one after the other.
/// \pre neither throws, and neither writes what the other reads or writes
template <typename One, typename Other>
void RunBoth(const One& one, const Other& other) {
  std::jthread second;
  bool runs = true;
  try {
    second = std::jthread(one);
  } catch (const std::system_error&) {
    runs = false;
  }
  other();
  if (!runs) one();
}

}  // namespace tessera
