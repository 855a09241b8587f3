// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reports of a service to the service manager that started it: the protocol of systemd's
/// sd_notify(3), without its library.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::agents {

/// Sends states to the socket in NOTIFY_SOCKET. Does nothing if the process was not started by a
/// service manager. One thread.
class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET and WATCHDOG_USEC and removes both from the environment, because the
  /// children of the process do not report.
  static ServiceManager FromEnvironment();

  /// The service is ready for work.
  void Ready() const { Send("READY=1"); }
  void Stopping() const { Send("STOPPING=1"); }
  /// The start needs more time: the manager waits for `time` from now on.
  void ExtendStart(std::chrono::seconds time) const;
  /// Shown by `systemctl status`.
  void Status(const std::string& text) const { Send("STATUS=" + text); }
  /// Reports that the process still works, if half of the watchdog's period has passed since the
  /// last report.
  void Watchdog();
  /// How long the process may wait before it calls Watchdog again; nullopt: no watchdog.
  std::optional<std::chrono::milliseconds> watchdog_pause() const { return watchdog_pause_; }

 private:
  void Send(std::string_view state) const;

  std::string socket_;  // path, or "@NAME" for an abstract one; empty: no service manager
  std::optional<std::chrono::milliseconds> watchdog_pause_;
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace tessera::agents
