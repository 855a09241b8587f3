// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The losses of a run by step, and the comparison of two runs. Adam's normalisation hides a
/// double-counted replica from the loss, but not from the gradient norm, so tests compare both.

#include <QString>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tests/support/cluster.h"

namespace tessera::test {

struct StepNumbers {
  double loss = 0;
  double grad_norm = 0;
};
using Run = std::map<std::int64_t, StepNumbers>;

/// Parses lines of JSON objects with step, loss and grad_norm, and ignores other lines.
Run ParseRun(const QString& lines);
/// All steps of `job metrics`.
Run RunOf(const Cluster& cluster, const QString& job);
/// The number of steps in lines of `job metrics --json` that hold every step from 1 on once, in
/// order; -1, with a message, for other lines.
std::int64_t NumStepsWithoutGap(const QString& lines);
/// What a job of so many steps has come to.
struct Ended {
  Run run;
  std::string digest;  // of its state
};
/// Waits until the job has made all of its steps, and stops it.
/// \return nullopt, with a message, if it does not end, has no digest, or if the history does not
///     have each step once
std::optional<Ended> EndOf(const Cluster& cluster, const QString& job, std::int64_t steps);
/// The same training in one process, without any cluster: `tessera-train --solo`.
Run SoloRun(const QString& model, std::int64_t steps, std::int64_t global_batch);

/// Compares a job of gpt-nano with the same training in one process: every step is in the history
/// once, and the losses differ by 1e-5 at most, relative.
/// \return what is wrong; empty: nothing
QString CompareWithOneProcess(const Cluster& cluster, const QString& job,
                              std::int64_t global_batch);

/// "" if both runs have the same steps and losses within 1e-5, relative; else where they differ.
QString DifferenceOf(const Run& run, const Run& expected);
/// The steps of a run up to `step`.
Run UpTo(std::int64_t step, const Run& run);
/// Returns the largest relative difference of the losses. It is infinite where the runs do not have
/// the same steps, have none, or a loss is not a number.
double LargestDifference(const Run& a, const Run& b);
double RelativeDifference(double a, double b);

}  // namespace tessera::test
