// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/consistency_words.h"

#include <QCoreApplication>
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

QString tr(const char* text) { return QCoreApplication::translate("ConsistencyLesson", text); }

QString number(double value) { return QLocale().toString(std::abs(value), 'f', 3); }

/// "0.124 ± 0.010 below the right job's".
QString apart(const std::optional<engine::Difference>& difference) {
  if (engine::Judge(difference) == Verdict::kNotVisible)
    return tr("not to be told from the right job's");
  return (difference->value < 0 ? tr("%1 ± %2 below the right job's")
                                : tr("%1 ± %2 above the right job's"))
      .arg(number(difference->value), number(difference->error));
}

QString ofRun(const ConsistencyRun& run, const ConsistencyRun& right,
              const ConsistencyResult& result) {
  const auto on = [&](engine::Samples samples) {
    return apart(engine::DifferenceOn(samples, run, right, result.setup));
  };
  if (run.way == AtChange::kLosePosition) {
    const engine::Coverage coverage = engine::Summarize(run, result).coverage;
    return tr("Position lost: %1 samples were read twice, %2 never. At the end its loss on what it "
              "read after the change is %3; on what it never read it is %4.")
        .arg(format::count(coverage.read_again), format::count(coverage.never_read),
             on(engine::Samples::kReadLast), on(engine::Samples::kNeverRead));
  }
  return tr("Device batch kept: a step took %1 samples, then %2, at the same learning rate. At the "
            "end its loss on what it read after the change is %3; on text that no run trained on "
            "it is %4.")
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
  if (run.is_reference) return tr("never reconfigured");
  switch (run.way) {
    case AtChange::kKeep:
      return tr("right");
    case AtChange::kLosePosition:
      return tr("position lost");
    case AtChange::kKeepDeviceBatch:
      return tr("device batch kept");
  }
  return {};
}

QString title(int step) {
  switch (step) {
    case ConsistencyLesson::Job:
      return tr("One job, moved three times");
    case ConsistencyLesson::Mistakes:
      return tr("Two mistakes that are easy to make");
    case ConsistencyLesson::Predict:
      return tr("What do you expect?");
    case ConsistencyLesson::Watch:
      return tr("Watch them train");
    default:
      return tr("What was seen");
  }
}

QString text(int step) {
  switch (step) {
    case ConsistencyLesson::Job:
      return tr(
          "A small language model trains on 1 GPU. After half of its pass it moves to 4 GPUs "
          "and trains on. This is done three times: once right, and in two ways that are "
          "wrong on purpose. All of it is real training, on a cluster of its own on this "
          "machine.");
    case ConsistencyLesson::Mistakes:
      return tr(
          "A data loader that is started anew begins the pass again: it reads the first half "
          "twice and the other half never. And whoever keeps each GPU's batch takes four times "
          "as many samples a step on four times as many GPUs, at a learning rate that was "
          "chosen for fewer.");
    case ConsistencyLesson::Predict:
      return tr(
          "Think of the samples that a job trains on after the change, and of its loss on them at "
          "the end. Choose before you see it; the curves stay hidden until you have.");
    case ConsistencyLesson::Watch:
      return tr(
          "The three runs train one after the other, which takes some minutes on a small "
          "machine. Up to the change their curves are one. Look at what happens behind the "
          "dashed line.");
    default:
      return {};
  }
}

QString question() {
  return tr("Which job will know the samples of its second half better than the right job does?");
}

QStringList answers() {
  return {tr("Position lost"), tr("Device batch kept"), tr("Both"), tr("Neither")};
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
  const QString outcome = answers().at(*seen).toLower();
  if (!answer) return tr("Better than the right job in these runs: %1.").arg(outcome);
  if (*answer == *seen) return tr("As you expected, better than the right job: %1.").arg(outcome);
  return tr("You expected: %1. Better than the right job in these runs: %2.")
      .arg(answers().at(*answer).toLower(), outcome);
}

QString seen(const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(AtChange::kKeep);
  if (right == nullptr) return {};
  const engine::Coverage coverage = engine::Summarize(*right, result).coverage;
  QStringList parts;
  if (coverage.read_again == 0 && coverage.never_read == 0)
    parts << tr("Right: each of the %1 samples of the pass was read exactly once.")
                 .arg(format::count(result.setup.num_samples));
  for (const ConsistencyRun& run : result.runs)
    if (!run.is_reference && &run != right) parts << ofRun(run, *right, result);
  return parts.join(QStringLiteral("\n\n"));
}

}  // namespace tessera::ui::consistency_words
