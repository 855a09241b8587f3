// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/result_text.h"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "app/commands/units.h"
#include "engine/experiment/comparison.h"
#include "engine/experiment/findings.h"

namespace tessera::app {
namespace {

using engine::ConsistencyResult;
using engine::ConsistencyRun;

constexpr std::size_t kLine = 100;

std::string batchText(const ConsistencyRun& run) {
  return run.changed_after ? fmt::format("{} -> {}", run.batch_before, run.batch_after)
                           : fmt::format("{}", run.batch_before);
}

/// Wraps the text into lines that begin with two spaces.
std::string wrapped(const std::string& words) {
  std::string text, line = " ";
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (line.size() + 1 + word.size() > kLine) {
      text += line + '\n';
      line.assign(1, ' ');
    }
    line += ' ';
    line += word;
  }
  return text + line + '\n';
}

}  // namespace

Plot plotOf(const ConsistencyResult& result) {
  const engine::ConsistencySetup& setup = result.setup;
  Plot plot;
  plot.title = fmt::format("{}: {} -> {} GPUs while it trains", setup.model, setup.from, setup.to);
  plot.xLabel = "samples trained on";
  plot.yLabel = "training loss (nats per token, smoothed)";
  for (const ConsistencyRun& run : result.runs) {
    PlotCurve curve{std::string(engine::NameOf(run)), {}};
    for (const engine::LossPoint& point : engine::SmoothCurve(run))
      if (std::isfinite(point.loss))
        curve.points.emplace_back(static_cast<double>(point.samples), point.loss);
    plot.curves.push_back(std::move(curve));
  }
  if (const ConsistencyRun* right = result.Find(engine::AtChange::kKeep);
      right != nullptr && right->changed_after) {
    plot.mark = static_cast<double>(*right->changed_after * right->batch_before);
    plot.markLabel = "change";
  }
  return plot;
}

std::string tableOf(const ConsistencyResult& result) {
  std::vector<std::vector<std::string>> rows = {{"run", "change after", "batch", "read twice",
                                                 "never read", "loss before", "loss at end",
                                                 "held-out loss"}};
  for (const ConsistencyRun& run : result.runs) {
    const engine::RunSummary summary = engine::Summarize(run, result);
    const auto heldOut = engine::HeldOutLoss(run);
    rows.push_back(
        {std::string(engine::NameOf(run)),
         run.changed_after ? fmt::format("step {}", *run.changed_after) : "-", batchText(run),
         fmt::format("{}", summary.coverage.read_again),
         fmt::format("{}", summary.coverage.never_read), fmt::format("{:.3f}", summary.loss_before),
         fmt::format("{:.3f}", summary.loss_end), heldOut ? fmt::format("{:.3f}", *heldOut) : "-"});
  }
  return formatTable(rows, {3, 4, 5, 6, 7});
}

std::string comparisonOf(const ConsistencyResult& result) {
  const ConsistencyRun* right = result.Find(engine::AtChange::kKeep);
  if (right == nullptr) return {};
  std::vector<std::vector<std::string>> rows = {{"last state minus the right one",
                                                 "on samples read last", "on samples never read",
                                                 "on held-out text"}};
  for (const ConsistencyRun& run : result.runs) {
    if (&run == right) continue;
    const auto on = [&](engine::Samples samples) {
      const auto difference = engine::DifferenceOn(samples, run, *right, result.setup);
      return difference ? fmt::format("{:+.3f} +/- {:.3f}", difference->value, difference->error)
                        : std::string("-");
    };
    rows.push_back({std::string(engine::NameOf(run)), on(engine::Samples::kReadLast),
                    on(engine::Samples::kNeverRead), on(engine::Samples::kHeldOut)});
  }
  return formatTable(rows, {1, 2, 3});
}

std::string wordsOf(const ConsistencyResult& result) {
  std::string text;
  for (const std::string& finding : engine::Findings(result)) text += wrapped(finding);
  return text;
}

std::string csvOf(const ConsistencyResult& result) {
  std::string text = "run,step,samples,loss,smoothed_loss\n";
  for (const ConsistencyRun& run : result.runs) {
    const auto smooth = engine::SmoothCurve(run);
    for (std::size_t i = 0; i < run.points.size(); ++i)
      text += fmt::format("{},{},{},{:.9g},{:.9g}\n", engine::KeyOf(run), run.points[i].step,
                          run.points[i].samples, run.points[i].loss, smooth[i].loss);
  }
  return text;
}

}  // namespace tessera::app
