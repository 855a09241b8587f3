// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/script.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>

#include "app/commands/process.h"
#include "app/commands/shell_words.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

constexpr const char* kStepTensor = R"("tessera.step")";  // as in tessera/files/parts.py

/// A folder that is removed at the end.
class Scratch {
 public:
  static Result<Scratch> Make() {
    std::string name = (fs::temp_directory_path() / "tessera-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return Unavailable(fmt::format("cannot make a folder '{}': {}", name, std::strerror(errno)));
    return Scratch(std::move(name));
  }
  Scratch(Scratch&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!m_path.empty()) fs::remove_all(m_path, ignored);
  }
  const std::string& path() const { return m_path; }

 private:
  explicit Scratch(std::string path) : m_path(std::move(path)) {}
  std::string m_path;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool isProgram(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

/// Not through links: the interpreter of a virtual environment is one, and its place counts.
Result<std::string> findPython(const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) {
    if (isProgram(wanted)) return engine::AbsolutePath(wanted);
    return NotFound(fmt::format("--python '{}' is no program", wanted));
  }
  if (wanted.empty()) {
    const std::string own = variable("VIRTUAL_ENV") + "/bin/python3";
    if (own.front() == '/' && own.size() > 13 && isProgram(own)) return own;
  }
  const std::string name = wanted.empty() ? "python3" : wanted;
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string path = folder + "/" + name; !folder.empty() && isProgram(path))
      return engine::AbsolutePath(path);
  return NotFound(fmt::format("no program '{}' in PATH; name one with --python", name));
}

/// The package `tessera` and the rank library of this installation or build. Ranks find them in any
/// environment of Python, without an installation there.
void addPackage(Variables& variables) {
  const fs::path folder = programFolder();
  for (const fs::path& python : {folder / "../share/tessera/python", folder / "../python"}) {
    if (!fs::exists(python / "tessera")) continue;
    std::string& path = variables["PYTHONPATH"];
    if (path.empty()) path = variable("PYTHONPATH");
    path = (path.empty() ? "" : path + ":") + fs::weakly_canonical(python).string();
    break;
  }
  const fs::path built = folder / "../agents/job/libtessera_job.so";
  if (fs::exists(built)) {
    variables.try_emplace("TESSERA_JOB_LIBRARY", fs::weakly_canonical(built).string());
  }
}

Result<Variables> variablesOf(const Script& script) {
  Variables out;
  for (const std::string& text : script.environment) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return InvalidArgument(fmt::format("--env '{}' is not of the form NAME=VALUE", text));
    out[text.substr(0, equals)] = text.substr(equals + 1);
  }
  addPackage(out);
  // As torchrun does: several ranks share the cores of a machine.
  if (variable("OMP_NUM_THREADS").empty()) out.try_emplace("OMP_NUM_THREADS", "1");
  out.try_emplace("PYTHONUNBUFFERED", "1");
  return out;
}

/// Where a program runs.
std::string folderOf(const Script& script) {
  return script.directory.empty() ? fs::current_path().string()
                                  : engine::AbsolutePath(script.directory);
}

/// Runs the words in `folder`, with the variables beside those of this process; stdout goes to
/// stderr. A stop kills the process.
Result<int> run(const std::string& folder, const std::vector<std::string>& words,
                const Variables& variables, const std::stop_token& stop) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!variables.contains(std::string(text.substr(0, text.find('=')))))
      entries.emplace_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
  };
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, words[0].c_str(), &actions, nullptr,
                                  pointers(words).data(), pointers(entries).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    return Unavailable(fmt::format("cannot start '{}': {}", words[0], std::strerror(error)));
  {
    const std::stop_callback kill(stop, [child] { ::kill(child, SIGKILL); });
    siginfo_t ended;  // WNOWAIT: the id is that of the process as long as the callback may use it
    while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (stop.stop_requested()) return Cancelled("a newer request has ended the script");
  return status;
}

/// `words` for a shell on each node: in `folder`, with the variables.
std::string commandLine(const std::string& folder, const Variables& variables,
                        const std::vector<std::string>& words) {
  std::vector<std::string> out = {"exec", "env"};
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  out.insert(out.end(), words.begin(), words.end());
  return shellLine({"cd", folder}) + " && " + shellLine(out);
}

/// `text` with `element` as the first one of the array `key`. A quote within a string of JSON has a
/// backslash before it, so what is found is a key.
std::string withFirst(const std::string& text, const std::string& key, const std::string& element) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::string quoted = "\"" + key + "\"";
  for (auto at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1)) {
    auto next = text.find_first_not_of(kSpace, at + quoted.size());
    if (next == std::string::npos || text[next] != ':') continue;
    next = text.find_first_not_of(kSpace, next + 1);
    if (next == std::string::npos || text[next] != '[') continue;
    const auto first = text.find_first_not_of(kSpace, next + 1);
    const bool isEmpty = first != std::string::npos && text[first] == ']';
    return text.substr(0, next + 1) + element + (isEmpty ? "" : ", ") + text.substr(next + 1);
  }
  return text;
}

std::string endOf(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

}  // namespace

bool isScript(const std::string& word) { return word.ends_with(".py"); }

Result<Script> readScriptCall(const Arguments& arguments) {
  const auto words = arguments.words();
  return Script{.path = words.front(),
                .arguments = {words.begin() + 1, words.end()},
                .python = arguments.valueOr("python", ""),
                .environment = arguments.values("env"),
                .directory = arguments.valueOr("directory", "")};
}

OptionSpec pythonOption() {
  return {.name = "python",
          .value = "PROGRAM",
          .help = "with SCRIPT: the interpreter, with the same path on all nodes",
          .fallback = "that of $VIRTUAL_ENV, else python3"};
}

OptionSpec environmentOption() {
  return {.name = "env",
          .value = "NAME=VALUE",
          .help = "with SCRIPT: a variable of its environment",
          .repeats = true};
}

OptionSpec directoryOption() {
  return {.name = "directory",
          .value = "DIR",
          .help = "with SCRIPT: the folder in which it runs, with the same path on all nodes",
          .fallback = "the present one"};
}

Result<DescribedScript> describeScript(const Script& script, std::stop_token stop) {
  if (!fs::is_regular_file(script.path))
    return NotFound(fmt::format("no script '{}'", script.path));
  if (!fs::is_directory(folderOf(script)))
    return NotFound(fmt::format("--directory '{}' is no folder", script.directory));
  TESSERA_TRY(const std::string python, findPython(script.python));
  TESSERA_TRY(const Variables variables, variablesOf(script));
  TESSERA_TRY(const Scratch scratch, Scratch::Make());
  const std::string path = engine::AbsolutePath(script.path);

  std::vector<std::string> describe = {python, "-m", "tessera.describe", scratch.path(), path};
  describe.insert(describe.end(), script.arguments.begin(), script.arguments.end());
  TESSERA_TRY(const int status, run(folderOf(script), describe, variables, stop));
  if (status != 0)
    return FailedPrecondition(
        fmt::format("{} {} before it said what it has", script.path, endOf(status)));

  DescribedScript out;
  TESSERA_TRY(out.tensors, engine::ReadWholeFile(scratch.path() + "/tensors.json"));
  TESSERA_TRY(out.rules, engine::ReadWholeFile(scratch.path() + "/rules.json"));
  out.updatesAlone = fs::exists(scratch.path() + "/updates-alone");
  out.pausesBeforeUpdates = fs::exists(scratch.path() + "/pauses-before-updates");
  std::vector<std::string> words = {python, path};
  words.insert(words.end(), script.arguments.begin(), script.arguments.end());
  out.command = commandLine(folderOf(script), variables, words);
  return out;
}

Result<std::string> filesCommand(const Script& program, std::int64_t saveEvery) {
  if (!fs::is_regular_file(program.path))
    return NotFound(fmt::format("no program '{}'", program.path));
  TESSERA_TRY(const std::string python, findPython(program.python));
  TESSERA_TRY(const Variables variables, variablesOf(program));
  const std::string path = engine::AbsolutePath(program.path);
  std::vector<std::string> words = {python, "-m", "tessera.files"};
  if (saveEvery > 0) words.insert(words.end(), {"--every", std::to_string(saveEvery)});
  words.emplace_back("--");
  if (isScript(path)) {
    words.push_back(python);
  } else if (!isProgram(path)) {
    words.emplace_back("/bin/sh");
  }
  words.push_back(path);
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  return commandLine(folderOf(program), variables, words);
}

std::string withStepTensor(const std::string& tensors) {
  if (tensors.find(kStepTensor) != std::string::npos) return tensors;
  return withFirst(
      tensors, "tensors",
      fmt::format(R"({{"name": {}, "dtype": "i64", "shape": [], "role": "scalar"}})", kStepTensor));
}

std::string withStepRule(const std::string& rules) {
  if (rules.find(kStepTensor) != std::string::npos) return rules;
  return withFirst(
      rules, "rules",
      fmt::format(R"({{"match": {}, "cut": "replicate", "stage": "all"}})", kStepTensor));
}

}  // namespace tessera::app
