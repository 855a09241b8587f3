// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A program that keeps its state with the package `tessera`: what it has, and how its ranks are
/// started. It is a script in Python that uses tessera.torch, or any program that keeps its state
/// in files.

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "app/commands/options.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct Script {
  std::string path;  // "train.py"
  std::vector<std::string> arguments = {};
  std::string python = {};                    // interpreter; empty: of $VIRTUAL_ENV, else python3
  std::vector<std::string> environment = {};  // "NAME=VALUE", for describing it and for its ranks
  std::string directory = {};                 // in which it runs; empty: the present one
  friend bool operator==(const Script&, const Script&) = default;
};

/// What StartJobRequest takes of a program.
struct DescribedScript {
  std::string command;        // for a shell on each node
  std::string tensors;        // text of a tensors file
  std::string rules;          // text of a rules file
  bool updatesAlone = false;  // a rank can make an update that an earlier one has left out
  bool pausesBeforeUpdates = false;
};

/// Whether a word that may be a model is a script.
bool isScript(const std::string& word);
/// Reads SCRIPT, its arguments and the options below.
/// \pre isScript of the first word
Result<Script> readScriptCall(const Arguments& arguments);
OptionSpec pythonOption();
OptionSpec environmentOption();
OptionSpec directoryOption();

/// Runs the script up to the point where it says what it has (agents/python/tessera/describe.py).
/// What it prints goes to stderr. A stop kills it.
/// \error kNotFound naming the script or the interpreter; kInvalidArgument for a variable that is
///     not NAME=VALUE; kFailedPrecondition if the script ends without saying it;
///     kCancelled after a stop
Result<DescribedScript> describeScript(const Script& script, std::stop_token stop = {});

/// The command for the ranks of a program that loads and saves its state in files: the launcher
/// `python -m tessera.files`, which runs the program. `path` is a script in Python, an executable
/// file, or a script for sh.
/// \param saveEvery steps between saves; 0: only for changes of the mesh, pauses and digests
/// \error as describeScript, without the last
Result<std::string> filesCommand(const Script& program, std::int64_t saveEvery);
/// The texts of a tensors file and of a rules file with the tensor `tessera.step`, which the
/// launcher needs, as the first one. Nothing is added twice, nor to a text that is no such file.
/// Lines keep their numbers.
std::string withStepTensor(const std::string& tensors);
std::string withStepRule(const std::string& rules);

}  // namespace tessera::app
