// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The result of an experiment in words and as a table, a plot and CSV.

#include <string>

#include "app/experiment/plot.h"
#include "engine/experiment/consistency.h"

namespace tessera::app {

/// The smoothed losses over the number of samples trained on.
Plot plotOf(const engine::ConsistencyResult& result);
/// One row per run.
std::string tableOf(const engine::ConsistencyResult& result);
/// One row for each run but the right one: the loss of its last state on the same samples, with the
/// standard error of the difference.
std::string comparisonOf(const engine::ConsistencyResult& result);
/// The effects that were observed, with their reason. Lines of at most 100 characters.
std::string wordsOf(const engine::ConsistencyResult& result);
/// CSV with the head `run,step,samples,loss,smoothed_loss`.
std::string csvOf(const engine::ConsistencyResult& result);

}  // namespace tessera::app
