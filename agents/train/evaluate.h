// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The loss of parameters on a data set, without training.

#include <string>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

struct Evaluation {
  double loss = 0;                  // mean per token, without dropout
  std::int64_t samples = 0;         // all of a pass
  std::int64_t group = 0;           // samples that are evaluated together
  std::vector<double> losses = {};  // of each group, in the order of the first pass under the seed
  std::vector<std::string> unread = {};  // Checkpoint::UnreadFiles
};

/// Reads the parameters from a checkpoint of any format that engine/checkpoint knows, and evaluates
/// them on one pass over the data of `settings`, in the order of its seed. Settings of training are
/// not used.
/// \error kNotFound naming a parameter that the checkpoint lacks; kInvalidArgument naming one of
///     another shape or type; as OpenJobData and Checkpoint::Open
Result<Evaluation> Evaluate(engine::JobSettings settings, const std::string& checkpoint);

}  // namespace tessera::agents::train
