// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How good parameters are on a data set: the loss, without training.

#include <string>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

struct Evaluation {
  double loss = 0;                 // mean a token, without dropout
  std::int64_t samples = 0;        // all of a pass
  std::int64_t group = 0;          // samples that are evaluated together
  std::vector<double> losses = {};  // group after group, in the order that the seed gives the pass
};

/// Reads the parameters from a checkpoint of any format that engine/checkpoint knows and goes once
/// through the data of the settings, in the order of their seed. What else they say of training is
/// not read.
/// \error kNotFound naming a parameter that the checkpoint lacks; kInvalidArgument naming one of
///     another shape or type; as OpenJobData and Checkpoint::Open
Result<Evaluation> Evaluate(engine::JobSettings settings, const std::string& checkpoint);

}  // namespace tessera::agents::train
