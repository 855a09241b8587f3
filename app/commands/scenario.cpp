// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `scenario run`: plays a scenario on a simulated cluster without a window, as fast as it goes.
/// `scenario save`: makes a scenario of what a job has been through.

#include "agents/sim/scenario.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "agents/sim/scenario_run.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/job_past.h"
#include "app/commands/json.h"
#include "app/commands/output_file.h"
#include "app/commands/progress_line.h"
#include "app/commands/session.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "engine/files/whole_file.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

namespace sim = agents::sim;

Result<sim::Scenario> readScenario(const std::string& path) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(path));
  return sim::ParseScenario({path, text});
}

/// In memory, or in a file that must not exist.
Result<std::unique_ptr<engine::History>> openHistory(const std::string& path) {
  if (path.empty()) return engine::History::InMemory();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    return AlreadyExists(fmt::format("'{}' exists", path));
  return engine::History::Open(path);
}

void printChanges(const sim::ScenarioResult& result) {
  std::vector<std::vector<std::string>> rows = {
      {"id", "job", "from", "to", "result", "moved", "pause", "step"}};
  for (const engine::HistoryEntry& change : result.changes) {
    const auto mesh = [](const std::string& text) { return text.substr(0, text.find(" on ")); };
    rows.push_back({std::to_string(change.id), change.job, mesh(change.from), mesh(change.to),
                    change.result, formatBytes(change.bytes_moved), formatSeconds(change.pause),
                    std::to_string(change.step)});
  }
  if (rows.size() > 1) fmt::print("\n{}", formatTable(rows));
}

Json jsonOf(const sim::ScenarioResult& result, double wall) {
  Json changes = Json::array();
  for (const engine::HistoryEntry& change : result.changes) changes.push_back(toJson(change));
  return {{"failures", result.failures},         {"changes", std::move(changes)},
          {"status", toJson(result.cluster)},    {"steps", result.samples},
          {"simulated_seconds", result.seconds}, {"seconds", wall}};
}

int runScenario(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  TESSERA_OR_FAILED(auto scenario, readScenario(arguments.word(0)));
  TESSERA_OR_USAGE(scenario.seed, arguments.integer("seed", scenario.seed, 0, INT64_MAX));
  TESSERA_OR_FAILED(const auto history, openHistory(arguments.valueOr("history", "")));
  countInterrupts();
  std::stop_source stop;
  ProgressLine progress(call.json || call.quiet);
  const bool speaks = !call.json && !call.quiet;
  sim::ScenarioObserver observer;
  observer.event = [&](double seconds, const engine::Event& event) {
    if (!speaks) return;
    progress.clear();
    fmt::print("{:>10.3f} s  {:<8} {:<12} {}\n", seconds, engine::ToString(event.severity),
               event.source, event.text);
  };
  observer.act = [&](double seconds, const sim::Scenario::Act& act, const Status& status) {
    if (!speaks) return;
    progress.clear();
    fmt::print("{:>10.3f} s  {:<8} {:<12} {}\n", seconds, status ? "act" : "refused",
               sim::KindOf(act.what),
               status ? fmt::format("line {}", act.line) : status.error().message);
  };
  observer.progress = [&](double seconds) {
    if (numInterrupts() > 0) stop.request_stop();
    progress.show(fmt::format("{:.0f} of {} simulated seconds", seconds, scenario.end));
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto result = sim::RunScenario(scenario, *history, *history, observer, stop.get_token());
  progress.clear();
  if (!result) return failed(result.error());
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (call.json) {
    printLine(jsonOf(*result, wall));
  } else {
    if (!call.quiet) printChanges(*result);
    for (const std::string& failure : result->failures)
      fmt::print(stderr, "{}: {}\n", arguments.word(0), failure);
    fmt::print("{}{} on record, {} simulated in {}\n", call.quiet ? "" : "\n",
               Counted(result->samples, "step"), formatSeconds(result->seconds),
               formatSeconds(wall));
  }
  return result->failures.empty() ? kDone : kFailed;
}

int runScenarioSave(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto scenario,
                    scenarioOfJob(session, arguments.word(0),
                                  {.model = arguments.valueOr("model", ""),
                                   .hardware = arguments.valueOr("hardware", "")}));
  TESSERA_OR_FAILED(auto file, OutputFile::Open(arguments.word(1), arguments.has("force")));
  if (const Status written = file.Write(sim::ToJson(scenario)); !written)
    return failed(written.error());
  if (const Status finished = file.Finish(); !finished) return failed(finished.error());
  if (!call.quiet && !call.json && !arguments.word(1).empty())
    fmt::print("{}: {} over {}\n", arguments.word(1), Counted(std::ssize(scenario.acts), "act"),
               formatSeconds(scenario.end));
  return kDone;
}

}  // namespace

Command scenarioRunCommand() {
  return {{.verb = "scenario run",
           .summary = "Play a scenario on a simulated cluster, as fast as it goes",
           .words = {{"FILE", "JSON: a cluster, and what happens to it at which time"}},
           .options = {{.name = "seed", .value = "S", .help = "instead of the scenario's"},
                       {.name = "history",
                        .value = "FILE",
                        .help = "keep the history here; the panel opens it"},
                       quietOption()},
           .notes = {"Nothing listens on a port, and nothing is left behind. The exit code is 1 if "
                     "an act was refused or an expectation did not hold.",
                     "`tesseractl up --simulate NxM --scenario FILE` plays it live."},
           .examples = {"tesseractl scenario run loss.json",
                        "tesseractl scenario run loss.json --history loss.db --json"}},
          runScenario};
}

Command scenarioSaveCommand() {
  return {
      {.verb = "scenario save",
       .summary = "Make a scenario of what a job has been through",
       .words = {{"JOB", "a job of the history"},
                 {.name = "FILE", .help = "to write; without: standard output", .required = false}},
       .options = {{.name = "model", .value = "NAME", .help = "of a job that has ended"},
                   {.name = "hardware", .value = "NAME", .help = "of the simulated cluster"},
                   forceOption("replace the file"),
                   quietOption()},
       .notes = {"Changes that a user requested are applied again. Where the job went on by "
                 "itself, its nodes or GPUs are lost again."},
       .examples = {"tesseractl scenario save gpt-mini monday.json"},
       .json = JsonForm::kErrorsOnly},
      runScenarioSave};
}

}  // namespace tessera::app
