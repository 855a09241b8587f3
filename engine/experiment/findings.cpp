// SPDX-License-Identifier: Apache-2.0
#include "engine/experiment/findings.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "engine/experiment/comparison.h"

namespace tessera::engine {
namespace {

/// Returns "0.123 +/- 0.010 below the right run's", or that there is no clear difference.
std::string Apart(const std::optional<Difference>& difference) {
  if (Judge(difference) == Verdict::kNotVisible) return "not distinguishable from the right run's";
  return fmt::format("{:.3f} +/- {:.3f} {} the right run's", std::abs(difference->value),
                     difference->error, difference->value < 0 ? "below" : "above");
}

/// Returns the sentences on the differences of a run from the right one.
struct DifferencesFromRight {
  std::optional<Difference> read_last, never_read, held_out;

  DifferencesFromRight(const ConsistencyRun& run, const ConsistencyRun& right,
                       const ConsistencySetup& setup)
      : read_last(DifferenceOn(Samples::kReadLast, run, right, setup)),
        never_read(DifferenceOn(Samples::kNeverRead, run, right, setup)),
        held_out(DifferenceOn(Samples::kHeldOut, run, right, setup)) {}
};

std::string OfRight(const ConsistencyRun& run, const ConsistencyResult& result) {
  const Coverage coverage = Summarize(run, result).coverage;
  const std::string samples =
      coverage.read_again == 0 && coverage.never_read == 0
          ? fmt::format("each of the {} samples of the pass was read exactly once",
                        result.setup.num_samples)
          : fmt::format("{} samples were read more than once, {} never", coverage.read_again,
                        coverage.never_read);
  return fmt::format("Right: {}, and a step took {} samples before the change and {} after it.",
                     samples, run.batch_before, run.batch_after);
}

std::string OfLostPosition(const ConsistencyRun& run, const ConsistencyResult& result) {
  const RunSummary summary = Summarize(run, result);
  std::string text = fmt::format(
      "Position lost: after the change the job began its pass again, so that {} samples were read "
      "twice and {} never.",
      summary.coverage.read_again, summary.coverage.never_read);
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return text;
  const DifferencesFromRight differences(run, *right, result.setup);
  if (!differences.read_last || !differences.never_read) return text;
  text += fmt::format(
      " At the end its loss on the samples read after the change is {}, which read them once; on "
      "the samples never read it is {}.",
      Apart(differences.read_last), Apart(differences.never_read));
  if (Judge(differences.read_last) == Verdict::kBelow &&
      Judge(differences.never_read) == Verdict::kAbove) {
    text += " Its curve looks better, although it knows only a part of its text.";
  }
  return text;
}

std::string OfDeviceBatch(const ConsistencyRun& run, const ConsistencyResult& result) {
  std::string text = fmt::format(
      "Device batch kept: a step took {} samples before the change and {} after it, at the same "
      "learning rate.",
      run.batch_before, run.batch_after);
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return text;
  const DifferencesFromRight differences(run, *right, result.setup);
  if (!differences.read_last || !differences.held_out) return text;
  return text + fmt::format(
                    " For the same number of samples it made {} updates, and the right run made "
                    "{}. At the end its loss on the samples read after the change is {}, and on "
                    "text that no run trained on it is {}.",
                    run.points.size(), right->points.size(), Apart(differences.read_last),
                    Apart(differences.held_out));
}

std::string OfReference(const ConsistencyRun& run, const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return "Never reconfigured: there is no right run to compare it with.";
  constexpr std::int64_t kSoon = 20;  // steps in which rounding has not grown yet
  const std::int64_t soon = right->changed_after.value_or(0) + kSoon;
  return fmt::format(
      "Never reconfigured: up to {} steps after the change its losses differ from the right run's "
      "by "
      "at most {:.1g} of their value, at the end by {:.1g}: another mesh adds the same numbers in "
      "another order, and training lets such differences grow.",
      kSoon, LargestStepDifference(run, *right, soon),
      LargestStepDifference(run, *right, run.points.empty() ? 0 : run.points.back().step));
}

}  // namespace

std::vector<std::string> Findings(const ConsistencyResult& result) {
  std::vector<std::string> texts;
  for (const ConsistencyRun& run : result.runs) {
    if (run.is_reference) {
      texts.push_back(OfReference(run, result));
    } else if (run.way == AtChange::kKeep) {
      texts.push_back(OfRight(run, result));
    } else if (run.way == AtChange::kLosePosition) {
      texts.push_back(OfLostPosition(run, result));
    } else {
      texts.push_back(OfDeviceBatch(run, result));
    }
  }
  return texts;
}

}  // namespace tessera::engine
