// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How long the steps of a training job take.

#include <QString>

#include "tests/support/local_cluster.h"

namespace tessera::test {
/// The mean time of the steps that begin and end within about `seconds`.
double StepSeconds(const LocalCluster& cluster, const QString& job, double seconds);
}  // namespace tessera::test
