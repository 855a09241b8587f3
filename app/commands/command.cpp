// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "app/commands/help.h"
#include "app/commands/suggest.h"
#include "app/commands/terminal.h"
#include "app/version.h"

namespace tessera::app {
namespace {

using Words = std::vector<std::string>;

/// How many words of `words` name a verb, and which; the longest name wins.
const Command* matchVerb(std::span<const std::string> words, std::size_t* count) {
  constexpr std::size_t kMostWordsOfVerb = 2;
  for (*count = std::min(words.size(), kMostWordsOfVerb); *count > 0; --*count)
    if (const auto* command = findCommand(fmt::format("{}", fmt::join(words.first(*count), " "))))
      return command;
  return nullptr;
}

/// kInvalidArgument for a line whose first words name no verb: half a verb, or a mistake.
Error noVerb(std::span<const std::string> words) {
  const std::string& first = words.front();
  Words seconds;
  for (const Command& command : commands())
    if (command.syntax.verb.starts_with(first + " "))
      seconds.push_back(command.syntax.verb.substr(first.size() + 1));
  if (seconds.empty()) return unknownVerb(first);
  if (words.size() > 1 && !words[1].starts_with("-"))
    return unknownVerb(fmt::format("{} {}", first, words[1]));
  return InvalidArgument(
      fmt::format("`{}` needs one more word: {}", first, fmt::join(seconds, ", ")));
}

/// The text for `job --help`, where `job` begins several verbs; empty for another line.
std::string helpOfHalfVerb(const Words& words) {
  if (std::ranges::count(words, "--help") + std::ranges::count(words, "-h") == 0) return {};
  const auto first =
      std::ranges::find_if(words, [](const std::string& w) { return !w.starts_with('-'); });
  return first == words.end() || findCommand(*first) != nullptr ? "" : helpOfPrefix(*first);
}

std::vector<Command> simulatedClusterCommands() {
  std::vector<Command> out = simulateCommands();
  out.push_back(scenarioRunCommand());
  out.push_back(scenarioSaveCommand());
  return out;
}

}  // namespace

const std::vector<VerbGroup>& verbGroups() {
  static const std::vector<VerbGroup> groups = {
      {"Clusters",
       {upCommand(), downCommand(), statusCommand(), doctorCommand(), probeCommand(),
        topologyCommand(), logsCommand(), eventsCommand()}},
      {"Jobs",
       {jobStartCommand(), jobListCommand(), jobDescribeCommand(), jobWaitCommand(),
        jobMetricsCommand(), jobLogsCommand(), jobPauseCommand(), jobResumeCommand(),
        jobTuneCommand(), jobOnFailureCommand(), jobSnapshotsCommand(), jobStopCommand(),
        digestCommand(), dataShowCommand()}},
      {"Changes",
       {proposeCommand(), planCommand(), applyCommand(), txnShowCommand(), txnCancelCommand(),
        txnThrottleCommand(), txnDecideCommand(), historyCommand(), exportCommand()}},
      {"Checkpoints of jobs",
       {checkpointSaveCommand(), checkpointListCommand(), checkpointLoadCommand(),
        checkpointDeleteCommand()}},
#ifdef TESSERA_WITH_FUSE
      {"State as files", {mountCommand(), unmountCommand()}},
#endif
      {"Checkpoint files, models and rules (no cluster needed)",
       {inspectCommand(), reshardCommand(), compareCommand(), modelsListCommand(),
        modelsShowCommand(), rulesListCommand(), rulesShowCommand(), rulesCheckCommand()}},
      {"Clusters of several machines",
       {nodeSetupCommand(), keysNewCommand(), keysListCommand(), keysRevokeCommand(),
        nodeGiveUpCommand(), registrarShowCommand(), registrarMoveCommand(),
        registrarRebuildCommand(), profileAddCommand(), profileListCommand(), profileUseCommand(),
        profileRemoveCommand()}},
      {"Faults and experiments",
       {deviceFailCommand(), nodeKillCommand(), nodeStartCommand(),
        experimentConsistencyCommand()}},
      {"Simulated clusters", simulatedClusterCommands()},
      {"Lessons", {lessonListCommand(), lessonCheckCommand()}},
      {"Help", {helpCommand(), explainCommand(), completionCommand(), manualCommand()}},
  };
  return groups;
}

std::vector<Command> commands() {
  std::vector<Command> all;
  for (const VerbGroup& group : verbGroups()) std::ranges::copy(group.commands, back_inserter(all));
  return all;
}

const Command* findCommand(std::string_view verb) {
  for (const VerbGroup& group : verbGroups())
    for (const Command& command : group.commands)
      if (command.syntax.verb == verb) return &command;
  return nullptr;
}

Error unknownVerb(const std::string& verb) {
  std::set<std::string> known;  // with the first words of verbs that have two
  for (const Command& command : commands()) {
    known.insert(command.syntax.verb);
    known.insert(command.syntax.verb.substr(0, command.syntax.verb.find(' ')));
  }
  const std::string closest = closestTo(verb, {known.begin(), known.end()});
  return InvalidArgument(fmt::format(
      "unknown verb '{}'; {}", verb,
      closest.empty() ? "`tesseractl help` lists all" : fmt::format("did you mean {}?", closest)));
}

const std::vector<std::pair<std::string, std::string>>& environmentRows() {
  static const std::vector<std::pair<std::string, std::string>> rows = {
      {"TESSERA_CLUSTER", "cluster of every verb, as --cluster names it"},
      {"TESSERA_HOME",
       "folder of profiles, keys, history and logs (default: $XDG_DATA_HOME/tessera or "
       "~/.local/share/tessera)"},
      {"NO_COLOR", "set to anything: no colours"}};
  return rows;
}

const std::vector<std::pair<std::string, std::string>>& exitCodeRows() {
  static const std::vector<std::pair<std::string, std::string>> rows = {
      {"0", "done"},
      {"1", "failed or rolled back; nothing changed"},
      {"2", "the command line is wrong"},
      {"3",
       "the outcome is unknown, a change in rounds stopped on its way, or a decision is needed; "
       "the message names it"}};
  return rows;
}

int failed(const Error& error) {
  const int code = error.code == ErrorCode::kOutcomeUnknown ? kNeedsDecision : kFailed;
  printError(error, code);
  return code;
}

int wrongUsage(const Error& error) {
  printError(error, kUsage);
  return kUsage;
}

int printNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) fmt::print("{}\n", name);
  return kDone;
}

Result<ParsedLine> parseLine(const std::vector<std::string>& words) {
  const Syntax program{.verb = "tesseractl", .summary = ""};
  TESSERA_TRY(const std::size_t start, countLeadingOptions(program, words));
  const auto split = words.begin() + static_cast<std::ptrdiff_t>(start);
  const Words after(split, words.end());
  ParsedLine line;
  std::size_t numVerbWords = 0;
  line.command = matchVerb(after, &numVerbWords);
  if (line.command == nullptr && !after.empty()) return noVerb(after);
  Words rest(words.begin(), split);  // options before the verb count as well
  rest.insert(rest.end(), after.begin() + static_cast<std::ptrdiff_t>(numVerbWords), after.end());
  TESSERA_TRY(line.arguments, parseArguments(line.command ? line.command->syntax : program, rest));
  return line;
}

int runCommandLine(const std::vector<std::string>& words) {
  setColor("auto");
  // Known before the line is parsed, because mistakes in it are printed as JSON as well.
  setJsonErrors(std::ranges::count(words, "--json") > 0);
  const auto line = parseLine(words);
  if (!line) {
    const std::string help = helpOfHalfVerb(words);
    if (help.empty()) return wrongUsage(line.error());
    fmt::print("{}", help);
    return kDone;
  }
  const Arguments& arguments = line->arguments;
  setColor(arguments.valueOr("color", "auto"));
  if (arguments.has("version")) {
    fmt::print("tesseractl {}\n", kVersion);
    return kDone;
  }
  if (line->command == nullptr || arguments.has("help")) {
    fmt::print("{}", line->command ? helpOf("tesseractl", line->command->syntax) : generalHelp());
    return kDone;
  }
  Invocation call;
  call.arguments = arguments;
  call.json = arguments.has("json");
  call.quiet = arguments.has("quiet");
  call.cluster = arguments.valueOr("cluster", "");
  // `job wait` has another one, for the whole wait.
  const bool isOwn = std::ranges::count(line->command->syntax.options, "timeout",
                                        &OptionSpec::name) > 0;
  if (arguments.has("timeout") && !isOwn) {
    constexpr double kShortest = 0.1, kLongest = 86'400;
    const auto seconds = arguments.number("timeout", 0, kShortest, kLongest);
    if (!seconds) return wrongUsage(seconds.error());
    call.timeout = std::chrono::milliseconds(std::llround(1000 * *seconds));
  }
  if (call.quiet && !call.json) muteOutput();
  return line->command->run(call);
}

}  // namespace tessera::app
