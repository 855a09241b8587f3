// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What an experiment found, in words, as a table, a plot and rows.

#include <string>

#include "app/experiment/plot.h"
#include "engine/experiment/consistency.h"

namespace tessera::app {

/// The smoothed losses over the samples trained on.
Plot plotOf(const engine::ConsistencyResult& result);
/// A row a run.
std::string tableOf(const engine::ConsistencyResult& result);
/// A row a run but the right one: how its last state does on the same samples, with the standard
/// error of the difference.
std::string comparisonOf(const engine::ConsistencyResult& result);
/// What is seen and why, only where it was seen. Lines of at most 100 characters.
std::string wordsOf(const engine::ConsistencyResult& result);
/// Lines `run,step,samples,loss,smoothed_loss` under such a head.
std::string csvOf(const engine::ConsistencyResult& result);

}  // namespace tessera::app
