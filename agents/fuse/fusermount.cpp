// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/fusermount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace tessera::agents {
namespace {

constexpr const char* kProgram = "fusermount3";

/// The path of the program, or an empty string.
std::string FindProgram() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    std::string candidate = fmt::format("{}/{}", rest.substr(0, end), kProgram);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

/// The output of a child process, at most 4 KiB, without the final line break.
std::string ReadAll(int from) {
  std::string text;
  std::array<char, 512> some{};
  for (ssize_t n = 0; (n = ::read(from, some.data(), some.size())) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0 && text.size() < 4096) text.append(some.data(), static_cast<std::size_t>(n));
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Status CheckFusermount() {
  const std::string program = FindProgram();
  if (program.empty()) {
    return FailedPrecondition(
        "users other than root mount by fusermount3, which is not installed (package fuse3)");
  }
  struct stat status {};
  if (::stat(program.c_str(), &status) == 0 && status.st_uid == 0 && (status.st_mode & S_ISUID)) {
    return OkStatus();
  }
  return FailedPrecondition(fmt::format(
      "{} has no permission to mount; root can grant it with `chmod u+s {}`", program, program));
}

Status RunFusermount(const std::string& path, bool lazy) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return Unavailable("no pipe can be made");
  std::string program = kProgram, flag = lazy ? "-uz" : "-u", end = "--", where = path;
  std::array<char*, 5> words = {program.data(), flag.data(), end.data(), where.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, kProgram, &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  const std::string said = ReadAll(pipe[0]);
  ::close(pipe[0]);
  if (error != 0) {
    return FailedPrecondition(fmt::format("cannot start {}: {}", kProgram, std::strerror(error)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return OkStatus();
  return Unavailable(fmt::format("cannot unmount '{}': {}", path,
                                 said.empty() ? "fusermount3 gives no reason" : said));
}

}  // namespace tessera::agents
