// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The layout of a checkpoint's tensors on a mesh, from `--mesh`, `--rules` and related options.

#include <string>

#include "app/commands/options.h"
#include "engine/checkpoint/checkpoint.h"
#include "ptc/layout.h"

namespace tessera::app {

/// `--mesh`, `--rules`, `--tensors`, `--values`, `--zero`, `--stages`.
std::vector<OptionSpec> layoutOptions();

struct CheckpointLayout {
  ptc::Layout layout;
  std::string note;  // "5 layers here, config.json says 4"; empty if they agree
};

/// Cuts the tensors of a checkpoint by the rules of --rules. Each rank of the mesh is a device of
/// one node. Without --tensors the checkpoint's own tensors are used: X.exp_avg beside X is
/// optimizer state, and the number of layers comes from what `{layer}` matches. Numbers that rules
/// use ("$heads") come from --values and, in a Hugging Face folder, from config.json, or from
/// tessera.json if the cluster saved a built-in model; --values takes precedence. With --zero the
/// optimizer state is cut flat over dp, as in plans and jobs.
/// \pre --mesh is given
/// \error kInvalidArgument naming option, file and line; kNotFound for a file or a rule set
Result<CheckpointLayout> layoutOf(const checkpoint::Checkpoint& source, const Arguments& arguments);

}  // namespace tessera::app
