// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The layout of a checkpoint's tensors on a mesh, from `--mesh`, `--rules` and what goes with
/// them.

#include "app/commands/options.h"
#include "engine/checkpoint/checkpoint.h"
#include "ptc/layout.h"

namespace tessera::app {

/// `--mesh`, `--rules`, `--tensors`, `--values`, `--zero`, `--stages`.
std::vector<OptionSpec> layoutOptions();

/// Cuts the tensors of a checkpoint by the rules, a set of `rules list` or a file (readRules).
/// Without --tensors they are listed as they are; optimizer state is known by its name (X.exp_avg
/// beside X), the number of layers from what
/// `{layer}` finds. Numbers that rules read ("$heads") come from --values and, where there is one,
/// from config.json beside the tensors (Hugging Face). With --zero the state of the optimizer is
/// cut flat over dp, as `plan` and jobs have it. Ranks of the mesh are devices of one node. \pre
/// --mesh is given \error kInvalidArgument naming option, file and line; kNotFound for a file or a
/// set of rules
Result<ptc::Layout> layoutOf(const checkpoint::Checkpoint& source, const Arguments& arguments);

}  // namespace tessera::app
