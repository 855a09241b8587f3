// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How good parameters are on a data set: the loss, without training.

#include <string>

#include "engine/model/gpt.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

struct Evaluation {
  double loss = 0;           // mean a token, without dropout
  std::int64_t samples = 0;  // all of a pass
};

/// Reads the parameters from a checkpoint of any format that engine/checkpoint knows and goes once
/// through the data of the settings. What settings say of training is not read.
/// \error kNotFound naming a parameter that the checkpoint lacks; kInvalidArgument naming one of
///     another shape or type; as OpenJobData and Checkpoint::Open
Result<Evaluation> Evaluate(engine::JobSettings settings, const std::string& checkpoint);

}  // namespace tessera::agents::train
