// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A job for tests of changes and failures: the program exact_job.c, whose ranks start in
/// milliseconds and check every element of their state before each step. Tests of training itself
/// use the built-in trainer.

#include <cstdint>
#include <limits>
#include <string>

#include "tests/support/cluster.h"

namespace tessera::test {

/// The path of the program, for Cluster::Children.
extern const std::string kExactProgram;

/// Each layer has two matrices of rows × columns, which tp cuts into rows and into columns, and two
/// moments of each; f32. The default has 144 KiB.
struct ExactJob {
  int layers = 4;
  int rows = 48;
  int columns = 32;
  int step_milliseconds = 10;                                     // at least
  bool may_be_slow = false;                                       // SlowDown has an effect
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  // pauses after these
};

/// As large as gpt-mini: 36 MiB.
inline constexpr ExactJob kLargeExactJob{.layers = 32, .rows = 384, .columns = 128};

/// Starts the job.
/// \param more further words of `job start`
/// \return the outcome of `job start`
Outcome StartExactJob(const Cluster& cluster, const QString& job, const QString& mesh,
                      const QString& devices, const QStringList& more = {},
                      const ExactJob& kind = {});

/// The words of that command, for a test that starts it otherwise. Writes the files of the tensors
/// and their rules to the cluster's home.
QStringList WordsOfExactJob(const Cluster& cluster, const QString& job, const ExactJob& kind = {});

/// From now on the steps of this rank take so much longer. Of a job with `may_be_slow`.
bool SlowDown(const Cluster& cluster, int rank, int milliseconds);

/// Checks the history of the job: every step from 1 on once, with its loss.
/// \return what is wrong; empty: nothing
QString WrongStepsOfExactJob(const Cluster& cluster, const QString& job);

/// The memory that each device needs for the job on a mesh such as "dp=2,tp=2 on 2x2": the most
/// of all devices, in bytes.
std::int64_t MemoryOfExactJob(const ExactJob& kind, const std::string& mesh);

}  // namespace tessera::test
