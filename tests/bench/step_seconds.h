// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long the steps of a training job take.

#include <QString>
#include <cstdint>

#include "tests/support/local_cluster.h"

namespace tessera::test {
/// The mean time of the steps that begin and end within about `seconds`.
double StepSeconds(const LocalCluster& cluster, const QString& job, double seconds);
/// The mean time of the `count` steps that end with `last`, from one decision to the next, over the
/// median of the `before` steps before them. 0 if the history lacks one of them.
double Slowdown(const LocalCluster& cluster, const QString& job, std::int64_t last, int count,
                int before);
}  // namespace tessera::test
