// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "agents/keeper/packet.h"

namespace tessera::agents {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Runs in the child, with async-signal-safe calls only. Returns on failure, with errno set.
void Become(const ChildSpec& spec, char* const* argv, char* const* environment, pid_t parent) {
  ::setpgid(0, 0);
  // The parent may have died before PR_SET_PDEATHSIG was set.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  if (::getppid() != parent) ::_exit(127);
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  // Descriptors first move above the numbers that are about to be assigned, then into place.
  constexpr int kAbove = 16;
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = spec.output < 0 ? -1 : ::fcntl(spec.output, F_DUPFD_CLOEXEC, kAbove);
  int extra[kMostChildDescriptors];
  const int num_extra = static_cast<int>(spec.descriptors.size());
  if (null < 0 || (spec.output >= 0 && output < 0) || num_extra > kMostChildDescriptors) return;
  for (int i = 0; i < num_extra; ++i) {
    extra[i] = ::fcntl(spec.descriptors[static_cast<std::size_t>(i)], F_DUPFD_CLOEXEC, kAbove);
    if (extra[i] < 0) return;
  }
  ::close_range(kChildDescriptor, ~0U, CLOSE_RANGE_CLOEXEC);
  if (::dup2(null, STDIN_FILENO) < 0) return;
  if (output >= 0 && (::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0))
    return;
  for (int i = 0; i < num_extra; ++i) {
    if (::dup2(extra[i], kChildDescriptor + i) < 0) return;
  }
  ::execvpe(argv[0], argv, environment);
}

}  // namespace

Result<pid_t> StartChild(const ChildSpec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) return InvalidArgument("no program to start");
  const std::vector<char*> argv = Pointers(spec.argv);
  const std::vector<char*> environment = Pointers(spec.environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Unavailable(fmt::format("cannot start {}: {}", spec.argv.front(), std::strerror(errno)));
  }
  UniqueFd read_end(ends[0]);
  // Above the numbers that the child assigns to its own descriptors.
  UniqueFd write_end(::fcntl(ends[1], F_DUPFD_CLOEXEC, 16));
  ::close(ends[1]);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Unavailable(fmt::format("cannot start {}: {}", spec.argv.front(), std::strerror(errno)));
  }
  if (pid == 0) {
    Become(spec, argv.data(), environment.data(), parent);
    const int reason = errno;
    [[maybe_unused]] const auto written = ::write(write_end.get(), &reason, sizeof reason);
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // parent and child both do; the first call counts
  write_end.Reset();
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(read_end.get(), &reason,
                 sizeof reason);  // returns 0 once exec has closed the other end
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof reason)) {
    ::waitpid(pid, nullptr, 0);
    return Unavailable(
        fmt::format("cannot start {}: {}", spec.argv.front(), std::strerror(reason)));
  }
  return pid;
}

std::string DescribeExit(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with wait status {}", status);
}

}  // namespace tessera::agents
