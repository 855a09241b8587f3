// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Losses of a run by step, and how two runs compare. A double-counted replica hides from the loss
/// behind Adam's normalisation, not from the gradient norm; so both are looked at.

#include <QString>
#include <cstdint>
#include <map>

#include "tests/support/local_cluster.h"

namespace tessera::test {

struct StepNumbers {
  double loss = 0;
  double grad_norm = 0;
};
using Run = std::map<std::int64_t, StepNumbers>;

/// From lines of JSON objects with step, loss, grad_norm; other lines are passed over.
Run ParseRun(const QString& lines);
/// What `job metrics` says of all steps.
Run RunOf(const LocalCluster& cluster, const QString& job);
/// The same training in one process, without any cluster: `tessera-train --solo`.
Run SoloRun(const QString& model, std::int64_t steps, std::int64_t global_batch);

/// Largest relative difference of the losses over the steps that both have.
double LargestDifference(const Run& a, const Run& b);
double RelativeDifference(double a, double b);

}  // namespace tessera::test
