// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Nothing that a test starts outlives it, whatever kills the test.

#include <QString>

namespace tessera::test {

/// Watches over a folder that programs are started with as their TESSERA_HOME. When this process
/// goes away without having destroyed the guard (a crash, kill -9, the time limit of ctest), every
/// process with that TESSERA_HOME in its environment is killed, daemons and their ranks too, and
/// the folder is removed. A process of its own does that (home_guard_main.cpp), which is nobody's
/// child.
class HomeGuard {
 public:
  /// \pre `home` is absolute and below /tmp
  explicit HomeGuard(const QString& home);
  /// Lets go: from here on the test itself has to end what it started.
  ~HomeGuard();
  HomeGuard(const HomeGuard&) = delete;
  HomeGuard& operator=(const HomeGuard&) = delete;

  /// Whether the guard runs.
  bool is_on() const { return pipe_ >= 0; }

 private:
  int pipe_ = -1;  // its end tells the guard
};

}  // namespace tessera::test
