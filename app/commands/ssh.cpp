// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/ssh.h"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <sstream>

#include "app/commands/interrupt.h"

namespace tessera::app {
namespace {

constexpr int kNoLogin = 255;  // the status of ssh itself
constexpr int kPollMilliseconds = 100;
constexpr std::string_view kAnswer = "tessera-answer ";

constexpr std::string_view kPrelude = R"(
set -u
umask 077
say() { printf 'tessera-answer %s %s\n' "$1" "$2"; }
)";

class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : m_fd(fd) {}
  ~OwnedFd() { close(); }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  int get() const { return m_fd; }
  void close() {
    if (m_fd >= 0) ::close(m_fd);
    m_fd = -1;
  }

 private:
  int m_fd;
};

struct Finished {
  int status = 0;
  std::string output, errors;
};

/// Runs a program with `input` on its stdin, and collects what it prints.
/// \error kUnavailable naming the program; kTimeout after `patience`, kCancelled after Ctrl-C: the
///     program is then killed
Result<Finished> runWithInput(const std::vector<std::string>& words, std::string_view input,
                              std::chrono::milliseconds patience) {
  std::array<std::array<int, 2>, 3> ends{};
  // Sockets, because a write to a closed socket can be made without SIGPIPE.
  for (auto& pair : ends)
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
      return Unavailable(fmt::format("cannot start {}: {}", words[0], std::strerror(errno)));
  OwnedFd in(ends[0][0]), out(ends[1][0]), err(ends[2][0]);
  OwnedFd childIn(ends[0][1]), childOut(ends[1][1]), childErr(ends[2][1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, childIn.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, childOut.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, childErr.get(), STDERR_FILENO);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int code =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0)
    return Unavailable(fmt::format("cannot start '{}': {}", words[0], std::strerror(code)));
  childIn.close();
  childOut.close();
  childErr.close();

  Finished done;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  const int signals = numInterrupts();
  std::optional<Error> stopped;
  while (out.get() >= 0 || err.get() >= 0) {
    if (std::chrono::steady_clock::now() >= deadline) stopped = Timeout("");
    if (numInterrupts() > signals) stopped = Cancelled("stopped by Ctrl-C");
    if (stopped) break;
    std::array<pollfd, 3> polled{
        {{in.get(), POLLOUT, 0}, {out.get(), POLLIN, 0}, {err.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), kPollMilliseconds) < 0) continue;
    if (polled[0].revents != 0) {
      const ssize_t sent =
          ::send(in.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0)
        input.remove_prefix(static_cast<std::size_t>(sent));
      else if (errno != EAGAIN && errno != EINTR)
        input = {};
      if (input.empty()) in.close();
    }
    const auto take = [](OwnedFd& fd, short events, std::string& text) {
      if (events == 0) return;
      std::array<char, 4096> buffer;
      const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
      if (got > 0)
        text.append(buffer.data(), static_cast<std::size_t>(got));
      else if (got == 0 || errno != EINTR)
        fd.close();
    };
    take(out, polled[1].revents, done.output);
    take(err, polled[2].revents, done.errors);
  }
  if (stopped) ::kill(child, SIGKILL);
  while (::waitpid(child, &done.status, 0) < 0 && errno == EINTR) {
  }
  if (stopped) return *stopped;
  return done;
}

std::string lastLineOf(const std::string& text) {
  std::istringstream lines(text);
  std::string line, last;
  while (std::getline(lines, line)) {
    while (!line.empty() && (line.back() == '\r' || line.back() == '.')) line.pop_back();
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

Result<HostAnswers> Ssh::run(const std::string& host, std::string_view script,
                             std::chrono::milliseconds patience) const {
  std::vector<std::string> words;
  std::istringstream given(m_command);
  for (std::string word; given >> word;) words.push_back(word);
  // A master that stays would keep stderr open.
  for (const char* option :
       {"BatchMode=yes", "ConnectTimeout=10", "ControlMaster=no", "ServerAliveInterval=10"}) {
    words.push_back("-o");
    words.push_back(option);
  }
  for (const char* word : {"-T", "--", host.c_str(), "sh", "-s"}) words.push_back(word);
  // As a function: it is read to its end before it runs, so no program takes its rest from stdin.
  const std::string input =
      fmt::format("{}script() {{\n{}\n}}\nscript </dev/null && say done yes\n", kPrelude, script);
  const auto ran = runWithInput(words, input, patience);
  if (!ran && ran.error().code == ErrorCode::kTimeout)
    return Unavailable(
        fmt::format("host '{}' has not finished within {} s; look whether it is overloaded, or its "
                    "network slow",
                    host, std::chrono::duration_cast<std::chrono::seconds>(patience).count()));
  if (!ran) return ran.error();
  HostAnswers answers;
  std::istringstream lines(ran->output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kAnswer)) continue;  // of a start file of the shell
    const std::string_view rest = std::string_view(line).substr(kAnswer.size());
    const auto space = std::min(rest.find(' '), rest.size());
    answers[std::string(rest.substr(0, space))] = rest.substr(std::min(space + 1, rest.size()));
  }
  if (answers.contains("done")) return answers;
  const std::string reason = lastLineOf(ran->errors);
  if (WIFEXITED(ran->status) && WEXITSTATUS(ran->status) == kNoLogin)
    return Unavailable(
        fmt::format("host '{}' is not reached: {}; `{} {} true` has to work without a password",
                    host, reason.empty() ? "ssh gives no reason" : reason, m_command, host));
  return Unavailable(
      fmt::format("host '{}': its shell ended with status {}{}", host,
                  WIFEXITED(ran->status) ? WEXITSTATUS(ran->status) : 128 + WTERMSIG(ran->status),
                  reason.empty() ? "" : ": " + reason));
}

}  // namespace tessera::app
