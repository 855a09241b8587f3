// SPDX-License-Identifier: Apache-2.0
/// \file
/// `tessera-home-guard` detaches from its parent and reads stdin: the line HOME, then a byte or the
/// end of the file. A byte ends it. The end of the file means that the test is gone: then it kills
/// all processes with TESSERA_HOME=HOME, their ranks as well, and removes HOME. HOME is no
/// argument, so that a search for processes of HOME does not find the guard.

#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/files/whole_file.h"
#include "tests/support/send_signal.h"

namespace {

namespace fs = std::filesystem;

/// Whether `entry` is "TESSERA_HOME=HOME" or, as ranks have them, "TESSERA_…=HOME/…".
bool IsOf(std::string_view entry, const std::string& home) {
  if (!entry.starts_with("TESSERA_")) return false;
  entry.remove_prefix(std::min(entry.find('=') + 1, entry.size()));
  return entry == home || entry.starts_with(home + "/");
}

/// Processes whose environment names that home, except this one.
std::vector<pid_t> ProcessesOf(const std::string& home) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator("/proc", ignored)) {
    const std::string name = folder.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    if (pid == ::getpid()) continue;
    const auto text = tessera::engine::ReadWholeFile(folder.path().string() + "/environ");
    std::istringstream environment(text.value_or(""));
    for (std::string entry; std::getline(environment, entry, '\0');) {
      if (!IsOf(entry, home)) continue;
      found.push_back(pid);
      break;
    }
  }
  return found;
}

/// Kills them until there are none, because a process may start others meanwhile.
void EndAll(const std::string& home) {
  using namespace std::chrono_literals;
  for (int quiet = 0; quiet < 3; ++quiet) {
    for (const pid_t pid : ProcessesOf(home)) {
      tessera::test::SendSignal(pid, SIGKILL);
      quiet = -1;
    }
    std::this_thread::sleep_for(100ms);
  }
}

/// The next byte of stdin; nullopt at its end.
std::optional<char> Next() {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(STDIN_FILENO, &byte, 1)) < 0 && errno == EINTR) {
  }
  return got == 1 ? std::optional(byte) : std::nullopt;
}

}  // namespace

int main() {
  const pid_t child = ::fork();
  if (child != 0) return child > 0 ? 0 : 1;
  ::setsid();
  ::unsetenv("TESSERA_HOME");
  std::string home;
  for (auto byte = Next(); byte != '\n'; byte = Next()) {
    if (!byte) return 0;
    home += *byte;
  }
  if (!home.starts_with("/tmp/") || home.find("..") != std::string::npos || Next()) return 0;
  EndAll(home);
  ::umount2(home.c_str(), MNT_DETACH);  // where it is a file system
  std::error_code ignored;
  fs::remove_all(home, ignored);
  return 0;
}
