// SPDX-License-Identifier: Apache-2.0
#include "engine/experiment/findings.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::engine {
namespace {

/// "0.123 below", "0.045 above".
std::string Apart(double difference) {
  return fmt::format("{:.3f} {}", std::abs(difference), difference < 0 ? "below" : "above");
}

std::string HeldOutText(const ConsistencyRun& run, const ConsistencyRun& right) {
  if (!run.held_out_loss || !right.held_out_loss) return {};
  return fmt::format(" On text that no run trained on its loss is {:.3f}, {} the right run's.",
                     *run.held_out_loss, Apart(*run.held_out_loss - *right.held_out_loss));
}

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
  if (right == nullptr || !summary.mean_difference) return text;
  switch (Compare(run, *right)) {
    case Verdict::kBelow:
      text += fmt::format(
          " In the last quarter its training loss is {} the right run's: these samples it has seen "
          "before.",
          Apart(*summary.mean_difference));
      if (run.held_out_loss && right->held_out_loss &&
          *run.held_out_loss >= *right->held_out_loss) {
        return text + HeldOutText(run, *right) +
               " The better curve is the worse model: it learned its samples, not the language.";
      }
      break;
    case Verdict::kAbove:
      text += fmt::format(" In the last quarter its training loss is {} the right run's.",
                          Apart(*summary.mean_difference));
      break;
    case Verdict::kNotVisible:
      text += " In the training loss that is not visible at these sizes.";
      break;
  }
  return text + HeldOutText(run, *right);
}

std::string OfDeviceBatch(const ConsistencyRun& run, const ConsistencyResult& result) {
  const RunSummary summary = Summarize(run, result);
  std::string text = fmt::format(
      "Device batch kept: a step took {} samples before the change and {} after it, at the same "
      "learning rate.",
      run.batch_before, run.batch_after);
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr || !summary.mean_difference) return text;
  const Verdict verdict = Compare(run, *right);
  if (verdict == Verdict::kNotVisible) {
    text += " In the training loss that is not visible at these sizes.";
  } else {
    text += fmt::format(
        " After as many samples, in the last quarter, its training loss is {} the right run's: the "
        "job "
        "made {} updates for them, not {}, and learns another way than before.",
        Apart(*summary.mean_difference), run.points.size(), right->points.size());
  }
  return text + HeldOutText(run, *right);
}

std::string OfReference(const ConsistencyRun& run, const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return "Never reconfigured: there is no right run to compare it with.";
  return fmt::format(
      "Never reconfigured: the losses of its {} steps differ from the right run's by at most "
      "{:.1g} "
      "of their value: the change left no trace.",
      run.points.size(), LargestStepDifference(run, *right));
}

}  // namespace

Verdict Compare(const ConsistencyRun& run, const ConsistencyRun& right) {
  const auto end = DifferenceAtEnd(run, right);
  if (!end || !(std::abs(end->value) > 2 * end->error)) return Verdict::kNotVisible;
  return end->value < 0 ? Verdict::kBelow : Verdict::kAbove;
}

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
