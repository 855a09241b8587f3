// SPDX-License-Identifier: Apache-2.0
#include "tests/support/home_guard.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QByteArray>
#include <cerrno>

#include "tests/folders.h"

namespace tessera::test {

HomeGuard::HomeGuard(const QString& home) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  QByteArray program(TESSERA_TEST_FOLDER "/tessera-home-guard");
  char* const arguments[] = {program.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  int status = -1;
  const bool started =
      posix_spawn(&pid, program.constData(), &actions, nullptr, arguments, environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  // The guard has detached when waitpid returns.
  const QByteArray line = home.toLocal8Bit() + '\n';
  const auto size = static_cast<std::size_t>(line.size());
  if (started && ::waitpid(pid, &status, 0) == pid && status == 0 &&
      ::send(ends[1], line.constData(), size, MSG_NOSIGNAL) == line.size())
    socket_ = ends[1];
  else
    ::close(ends[1]);
}

HomeGuard::~HomeGuard() {
  if (socket_ < 0) return;
  static_cast<void>(::send(socket_, "x", 1, MSG_NOSIGNAL));
  char byte = 0;
  while (::read(socket_, &byte, 1) < 0 && errno == EINTR) {  // its end closes the connection
  }
  ::close(socket_);
}

}  // namespace tessera::test
