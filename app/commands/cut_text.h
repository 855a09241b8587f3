// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Describes how a tensor is cut and which stages hold it.

#include <string>

#include "ptc/tensor_spec.h"

namespace tessera::app {

/// "dim 0 over tp", "dim 1 over tp by 32 query heads of 8 groups", "replicated",
/// "dim 0 in 768|768|768: over tp by …|…; flat over dp; experts over ep".
std::string describeCut(const ptc::TensorSpec& spec);
/// "its layer's", "first", "first and last", "all".
std::string describeStage(const ptc::TensorSpec& spec);

}  // namespace tessera::app
