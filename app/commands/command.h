// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A verb of tesseractl: its entry of the option table and the function that runs it.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/commands/options.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Exit codes that scripts rely on. `compare` exits as cmp(1) does, see there.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // failed or rolled back; nothing changed
  kUsage = 2,          // the command line is wrong
  kNeedsDecision = 3,  // the outcome is unknown, only some rounds moved, or a decision is needed
};

/// One call of a verb.
struct Invocation {
  Arguments arguments;
  bool json = false;
  bool quiet = false;   // of a verb with quietOption(): print errors only
  std::string cluster;  // --cluster, or empty
  std::optional<std::chrono::milliseconds> timeout = {};  // --timeout
};

struct Command {
  Syntax syntax;
  int (*run)(const Invocation& call);
};

/// Verbs that belong together in the help.
struct VerbGroup {
  std::string title;
  std::vector<Command> commands;
};

/// All verbs, in the order of the help.
const std::vector<VerbGroup>& verbGroups();
std::vector<Command> commands();
/// The verb of that name ("job start"), or null.
const Command* findCommand(std::string_view verb);
/// kInvalidArgument for a word with which no verb begins. The message suggests a similar verb.
Error unknownVerb(const std::string& verb);

/// A command line that has been checked against the option table.
struct ParsedLine {
  const Command* command = nullptr;  // null for a line without a verb
  Arguments arguments;
};
/// \error kInvalidArgument in one line
Result<ParsedLine> parseLine(const std::vector<std::string>& words);

/// Environment variables and exit codes, for help and man pages.
const std::vector<std::pair<std::string, std::string>>& environmentRows();
const std::vector<std::pair<std::string, std::string>>& exitCodeRows();

/// Prints `error` on stderr, as text or as JSON.
/// \return kFailed; kNeedsDecision for kOutcomeUnknown
int failed(const Error& error);
/// Prints `error` on stderr, as text or as JSON.
/// \return kUsage
int wrongUsage(const Error& error);

/// `TESSERA_OR_FAILED(auto x, expression());` binds the value, or returns failed() with the error
/// from the function of a verb. TESSERA_OR_USAGE returns wrongUsage().
#define TESSERA_OR_FAILED(decl, expr) \
  TESSERA_OR_EXIT(failed, TESSERA_CONCAT(tessera_try_, __COUNTER__), decl, expr)
#define TESSERA_OR_USAGE(decl, expr) \
  TESSERA_OR_EXIT(wrongUsage, TESSERA_CONCAT(tessera_try_, __COUNTER__), decl, expr)
#define TESSERA_OR_EXIT(report, tmp, decl, expr) \
  auto tmp = (expr);                             \
  if (!tmp) return report(tmp.error());          \
  decl = std::move(*tmp)

/// Prints the names of a list for --names, one per line.
/// \return kDone
int printNames(const std::vector<std::string>& names);

// One function for each verb, in the file named after it.
Command upCommand();
Command downCommand();
Command statusCommand();
Command logsCommand();
Command doctorCommand();
Command explainCommand();
Command keysNewCommand();
Command keysListCommand();
Command keysRevokeCommand();
Command nodeSetupCommand();
Command registrarShowCommand();
Command registrarMoveCommand();
Command registrarRebuildCommand();
Command profileAddCommand();
Command profileListCommand();
Command profileUseCommand();
Command profileRemoveCommand();
Command jobStartCommand();
Command jobListCommand();
Command jobDescribeCommand();
Command jobWaitCommand();
Command jobStopCommand();
Command jobPauseCommand();
Command jobResumeCommand();
Command jobLogsCommand();
Command jobMetricsCommand();
Command jobTuneCommand();
Command rulesCheckCommand();
Command rulesListCommand();
Command rulesShowCommand();
Command dataShowCommand();
Command lessonListCommand();
Command lessonCheckCommand();
Command modelsListCommand();
Command modelsShowCommand();
Command topologyCommand();
Command planCommand();
Command proposeCommand();
Command probeCommand();
Command applyCommand();
Command txnShowCommand();
Command txnCancelCommand();
Command txnThrottleCommand();
Command txnDecideCommand();
Command jobOnFailureCommand();
Command jobSnapshotsCommand();
Command deviceFailCommand();
Command nodeGiveUpCommand();
Command nodeKillCommand();
Command nodeStartCommand();
Command scenarioRunCommand();
Command scenarioSaveCommand();
std::vector<Command> simulateCommands();
Command checkpointSaveCommand();
Command checkpointListCommand();
Command checkpointLoadCommand();
Command checkpointDeleteCommand();
Command digestCommand();
Command historyCommand();
Command eventsCommand();
Command exportCommand();
Command reshardCommand();
Command inspectCommand();
Command compareCommand();
Command experimentConsistencyCommand();
Command completionCommand();
Command manualCommand();
Command mountCommand();    // where built with libfuse3
Command unmountCommand();  // likewise

/// Runs a whole command line without the program's name.
/// \return the exit code
int runCommandLine(const std::vector<std::string>& words);

}  // namespace tessera::app
