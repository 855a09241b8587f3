// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Ends everything that a test has started, also if the test is killed.

#include <QString>

namespace tessera::test {

/// Guards a folder that programs use as their TESSERA_HOME. If this process ends without destroying
/// the guard (a crash, kill -9, the time limit of ctest), every process with that TESSERA_HOME in
/// its environment is killed, including daemons and their ranks, and the folder is removed. A
/// detached process does that (home_guard_main.cpp).
class HomeGuard {
 public:
  /// \pre `home` is absolute and below /tmp
  explicit HomeGuard(const QString& home);
  /// Ends the guard and waits until it is gone. From here on the test itself must end what it has
  /// started.
  ~HomeGuard();
  HomeGuard(const HomeGuard&) = delete;
  HomeGuard& operator=(const HomeGuard&) = delete;

  /// Whether the guard runs.
  bool is_on() const { return socket_ >= 0; }

 private:
  int socket_ = -1;  // the guard acts when it is closed
};

}  // namespace tessera::test
