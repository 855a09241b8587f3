// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A verb of tesseractl: its syntax and what it does. The table of all verbs is the program.

#include <string>
#include <vector>

#include "app/commands/options.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Exit codes that scripts rely on.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,         // failed or rolled back, nothing changed
  kUsage = 2,          // wrong usage that the parser can see
  kNeedsDecision = 3,  // the message says which
};

/// One call of a verb.
struct Invocation {
  Arguments arguments;
  bool json = false;
  std::string cluster;  // --cluster, or empty
};

struct Command {
  Syntax syntax;
  int (*run)(const Invocation& call);
};

/// All verbs, in the order of --help.
const std::vector<Command>& commands();

/// Prints `error` as one line on stderr. \return kFailed
int failed(const Error& error);
/// The same for what the parser can see. \return kUsage
int wrongUsage(const Error& error);

// One function a verb, each in the file named after it.
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
Command profileAddCommand();
Command profileListCommand();
Command profileRemoveCommand();
Command jobStartCommand();
Command jobStopCommand();
Command jobPauseCommand();
Command jobResumeCommand();
Command jobMetricsCommand();
Command jobTuneCommand();
Command rulesCheckCommand();
Command rulesListCommand();
Command rulesShowCommand();
Command dataShowCommand();
Command modelsListCommand();
Command modelsShowCommand();
Command topologyCommand();
Command planCommand();
Command proposeCommand();
Command probeCommand();
Command applyCommand();
Command txnShowCommand();
Command txnCancelCommand();
Command deviceFailCommand();
Command nodeKillCommand();
Command digestCommand();
Command historyCommand();
Command eventsCommand();
Command exportCommand();
Command reshardCommand();
Command inspectCommand();
Command compareCommand();
Command experimentConsistencyCommand();
Command mountCommand();    // where built with libfuse3
Command unmountCommand();  // likewise

/// Runs a whole command line without the program's name. \return the exit code
int runCommandLine(const std::vector<std::string>& words);

}  // namespace tessera::app
