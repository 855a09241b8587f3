// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>

#include "app/commands/paths.h"
#include "engine/files/process_stat.h"
#include "engine/files/whole_file.h"

namespace tessera::app {

namespace fs = std::filesystem;

namespace {

/// The environment of this process, with another TESSERA_HOME if `home` is not empty.
std::vector<std::string> environmentWithHome(const std::string& home) {
  constexpr std::string_view kHome = "TESSERA_HOME=";
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each)
    if (home.empty() || !std::string_view(*each).starts_with(kHome)) variables.emplace_back(*each);
  if (!home.empty()) variables.push_back(std::string(kHome) + home);
  return variables;
}

}  // namespace

Result<ProcessId> startDaemon(const std::vector<std::string>& command, const std::string& directory,
                              const std::string& log, const std::string& home) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  // The daemon must not inherit ignored signals.
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<std::string> variables = environmentWithHome(home);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, command[0].c_str(), &actions, &attributes, arguments.data(),
                               environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return Unavailable(fmt::format("cannot start {}: {}", command[0], std::strerror(code)));
  const auto stat = engine::ReadProcessStat(pid);
  return ProcessId{pid, stat ? stat->start : 0};
}

bool isAlive(const ProcessId& process) {
  // A child of this process stays a zombie until it is waited for.
  waitpid(process.pid, nullptr, WNOHANG);
  const auto stat = engine::ReadProcessStat(process.pid);
  return stat && stat->state != 'Z' && stat->state != 'X' && stat->start == process.start;
}

bool hasArgument(const ProcessId& process, const std::string& text) {
  const auto line = engine::ReadWholeFile(fmt::format("/proc/{}/cmdline", process.pid));
  if (!line) return false;
  std::istringstream words(*line);
  for (std::string word; std::getline(words, word, '\0');)
    if (word == text) return true;
  return false;
}

std::vector<ProcessId> descendantsOf(const ProcessId& process) {
  struct Entry {
    ProcessId id;
    pid_t parent;
  };
  std::vector<Entry> all;
  std::error_code ignored;
  for (const auto& entry : entriesOf("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    if (const auto stat = engine::ReadProcessStat(pid); stat && stat->state != 'Z')
      all.push_back({{pid, stat->start}, stat->parent});
  }
  std::vector<ProcessId> found = {process};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Entry& entry : all)
      if (entry.parent == found[i].pid && entry.id.pid != entry.parent) found.push_back(entry.id);
  found.erase(found.begin());
  return found;
}

void signalProcess(const ProcessId& process, int signal) {
  if (isAlive(process)) kill(process.pid, signal);
}

bool waitGone(const std::vector<ProcessId>& processes, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::ranges::any_of(processes, isAlive)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::string programFolder() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  return failure ? std::string(".") : self.parent_path().string();
}

}  // namespace tessera::app
