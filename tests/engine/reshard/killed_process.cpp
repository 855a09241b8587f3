// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/reshard/killed_process.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace tessera::test {
namespace {

constexpr int kSyscallStop = SIGTRAP | 0x80;

bool ChangesFiles(std::uint64_t number) {
  constexpr std::uint64_t kCalls[] = {SYS_pwrite64,  SYS_write,     SYS_ftruncate, SYS_fsync,
                                      SYS_fdatasync, SYS_renameat2, SYS_unlinkat,
#ifdef SYS_mkdir
                                      SYS_mkdir,     SYS_unlink,    SYS_rmdir,
#endif
                                      SYS_mkdirat};
  return std::ranges::find(kCalls, number) != std::end(kCalls);
}

/// Whether a stopped thread is about to make such a call.
bool IsAtChange(pid_t thread) {
  __ptrace_syscall_info info{};
  const long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info);
  return size > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && ChangesFiles(info.entry.nr);
}

}  // namespace

std::optional<bool> KillAtChange(int moment, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    raise(SIGSTOP);
    work();
    _exit(0);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return std::nullopt;
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, options);
  ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  int changes = 0;
  bool killed = false;
  while (true) {
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) {
      if (errno == EINTR) continue;
      return killed;
    }
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      if (thread == child) return killed;
      continue;
    }
    const int signal = WSTOPSIG(status);
    if (signal == kSyscallStop && IsAtChange(thread) && ++changes == moment) {
      killed = true;
      kill(child, SIGKILL);
      continue;
    }
    const bool of_tracing = signal == kSyscallStop || signal == SIGTRAP || signal == SIGSTOP;
    ptrace(PTRACE_SYSCALL, thread, nullptr, of_tracing ? 0 : signal);
  }
}

}  // namespace tessera::test
