// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tessera::agents {
namespace {

// The value of a variable, which is then removed. The process has one thread.
std::string TakeVariable(const char* name) {
  const char* value = std::getenv(name);
  std::string taken = value == nullptr ? "" : value;
  ::unsetenv(name);
  return taken;
}

}  // namespace

ServiceManager ServiceManager::FromEnvironment() {
  ServiceManager manager;
  manager.socket_ = TakeVariable("NOTIFY_SOCKET");
  const std::string period = TakeVariable("WATCHDOG_USEC");
  std::int64_t microseconds = 0;
  std::from_chars(period.data(), period.data() + period.size(), microseconds);
  if (!manager.socket_.empty() && microseconds > 0) {
    manager.watchdog_pause_ = std::chrono::milliseconds(microseconds / 2000);
  }
  ::unsetenv("WATCHDOG_PID");
  return manager;
}

void ServiceManager::ExtendStart(std::chrono::seconds time) const {
  Send(fmt::format("EXTEND_TIMEOUT_USEC={}", std::chrono::microseconds(time).count()));
}

void ServiceManager::Watchdog() {
  const auto now = std::chrono::steady_clock::now();
  if (!watchdog_pause_ || now - reported_ < *watchdog_pause_) return;
  reported_ = now;
  Send("WATCHDOG=1");
}

// A manager that does not listen is no reason to fail, so errors are ignored.
void ServiceManager::Send(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';  // the abstract name space
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
  ::close(fd);
}

}  // namespace tessera::agents
