// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/consistency_words.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

#include "engine/experiment/comparison.h"
#include "ui/format.h"
#include "ui/lessons/consistency_lesson.h"

namespace tessera::ui::consistency_words {
namespace {

using engine::AtChange;
using engine::ConsistencyResult;
using engine::ConsistencyRun;
using engine::Verdict;

QString number(double value) { return QLocale().toString(std::abs(value), 'f', 3); }

/// "0.124 ± 0.010 below the right job's".
QString apart(const std::optional<engine::Difference>& difference) {
  if (engine::Judge(difference) == Verdict::kNotVisible)
    return ConsistencyLesson::tr("not distinguishable from the right job's");
  return (difference->value < 0 ? ConsistencyLesson::tr("%1 ± %2 below the right job's")
                                : ConsistencyLesson::tr("%1 ± %2 above the right job's"))
      .arg(number(difference->value), number(difference->error));
}

QString ofRun(const ConsistencyRun& run, const ConsistencyRun& right,
              const ConsistencyResult& result) {
  const auto on = [&](engine::Samples samples) {
    return apart(engine::DifferenceOn(samples, run, right, result.setup));
  };
  if (run.way == AtChange::kLosePosition) {
    const engine::Coverage coverage = engine::Summarize(run, result).coverage;
    return ConsistencyLesson::tr(
               "Position lost: %1 samples were read twice, %2 never. At the end its loss on the "
               "samples read after the change is %3; on the samples never read it is %4.")
        .arg(format::count(coverage.read_again), format::count(coverage.never_read),
             on(engine::Samples::kReadLast), on(engine::Samples::kNeverRead));
  }
  return ConsistencyLesson::tr(
             "GPU batch kept: a step used %1 samples, then %2, at the same learning rate. At the "
             "end its loss on the samples read after the change is %3; on text that no run trained "
             "on it is %4.")
      .arg(format::count(run.batch_before), format::count(run.batch_after),
           on(engine::Samples::kReadLast), on(engine::Samples::kHeldOut));
}

bool isBelow(const ConsistencyRun& run, const ConsistencyRun& right,
             const ConsistencyResult& result) {
  return engine::Judge(engine::DifferenceOn(engine::Samples::kReadLast, run, right,
                                            result.setup)) == Verdict::kBelow;
}

}  // namespace

QString nameOf(const ConsistencyRun& run) {
  if (run.is_reference) return ConsistencyLesson::tr("never reconfigured");
  switch (run.way) {
    case AtChange::kKeep:
      return ConsistencyLesson::tr("right");
    case AtChange::kLosePosition:
      return ConsistencyLesson::tr("position lost");
    case AtChange::kKeepDeviceBatch:
      return ConsistencyLesson::tr("GPU batch kept");
  }
  return {};
}

QString title(int step) {
  switch (step) {
    case ConsistencyLesson::Job:
      return ConsistencyLesson::tr("One job, moved three times");
    case ConsistencyLesson::Mistakes:
      return ConsistencyLesson::tr("Two mistakes that are easy to make");
    case ConsistencyLesson::Predict:
      return ConsistencyLesson::tr("What do you expect?");
    case ConsistencyLesson::Watch:
      return ConsistencyLesson::tr("Watch the runs train");
    default:
      return ConsistencyLesson::tr("Results");
  }
}

QString text(int step) {
  switch (step) {
    case ConsistencyLesson::Job:
      return ConsistencyLesson::tr(
          "A small language model trains on 1 GPU. After half of its pass it moves to 4 GPUs and "
          "continues. Three runs do this: one is right, two are wrong on purpose. All of them are "
          "real training, on a temporary cluster on this machine.");
    case ConsistencyLesson::Mistakes:
      return ConsistencyLesson::tr(
          "A restarted data loader begins the pass again: it reads the first half twice and the "
          "second half never. A job that keeps the batch of each GPU uses four times as many "
          "samples per step on four times as many GPUs, at a learning rate that was chosen for "
          "fewer.");
    case ConsistencyLesson::Predict:
      return ConsistencyLesson::tr(
          "Consider the samples that a job trains on after the change, and its loss on them at the "
          "end. Choose an answer first; the curves stay hidden until you do.");
    case ConsistencyLesson::Watch:
      return ConsistencyLesson::tr(
          "The three runs train one after the other, which takes some minutes on a small machine. "
          "Up to the change their curves are identical. Watch what happens after the dashed line.");
    default:
      return {};
  }
}

QString question() {
  return ConsistencyLesson::tr(
      "Which job will have a lower loss on the samples of its second half than the right job?");
}

QStringList answers() {
  return {ConsistencyLesson::tr("Position lost"), ConsistencyLesson::tr("GPU batch kept"),
          ConsistencyLesson::tr("Both"), ConsistencyLesson::tr("Neither")};
}

std::optional<int> truth(const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  const ConsistencyRun* lost = result.Find(AtChange::kLosePosition);
  const ConsistencyRun* kept = result.Find(AtChange::kKeepDeviceBatch);
  if (right == nullptr || lost == nullptr || kept == nullptr) return std::nullopt;
  const bool isLostBelow = isBelow(*lost, *right, result);
  const bool isKeptBelow = isBelow(*kept, *right, result);
  return isLostBelow ? (isKeptBelow ? 2 : 0) : (isKeptBelow ? 1 : 3);
}

QString comparison(std::optional<int> answer, const ConsistencyResult& result) {
  const auto seen = truth(result);
  if (!seen) return {};
  const QString outcome = answers().at(*seen);
  if (!answer)
    return ConsistencyLesson::tr("Lower loss than the right job in these runs: %1.").arg(outcome);
  if (*answer == *seen)
    return ConsistencyLesson::tr("As you expected, lower loss than the right job: %1.")
        .arg(outcome);
  return ConsistencyLesson::tr("You expected: %1. Lower loss than the right job in these runs: %2.")
      .arg(answers().at(*answer), outcome);
}

QString seen(const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return {};
  const engine::Coverage coverage = engine::Summarize(*right, result).coverage;
  QStringList parts;
  if (coverage.read_again == 0 && coverage.never_read == 0)
    parts << ConsistencyLesson::tr(
                 "Right: each of the %1 samples of the pass was read exactly once.")
                 .arg(format::count(result.setup.num_samples));
  for (const ConsistencyRun& run : result.runs)
    if (!run.is_reference && &run != right) parts << ofRun(run, *right, result);
  return parts.join(QStringLiteral("\n\n"));
}

}  // namespace tessera::ui::consistency_words
