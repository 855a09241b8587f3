// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `status`: nodes, devices, jobs and the transaction in progress; `job list`.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/job_text.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/session.h"
#include "app/commands/status_text.h"
#include "app/commands/terminal.h"

namespace tessera::app {
namespace {

Result<StatusParts> readParts(const Arguments& arguments) {
  StatusParts parts = StatusParts::kUsual;
  std::string chosen;
  for (const auto& [option, meant] :
       {std::pair("all", StatusParts::kAll), std::pair("summary", StatusParts::kSummary),
        std::pair("jobs", StatusParts::kJobs)}) {
    if (!arguments.has(option)) continue;
    if (!chosen.empty())
      return InvalidArgument(fmt::format("--{} and --{} exclude each other", chosen, option));
    chosen = option;
    parts = meant;
  }
  return parts;
}

/// Shows the status whenever it changes: in place on a terminal, one below the other elsewhere.
int watchStatus(const Invocation& call, Session& session, StatusParts parts) {
  countInterrupts();
  const bool inPlace = !call.json && isatty(STDOUT_FILENO) != 0;
  bool isWaiting = false;
  std::optional<engine::ClusterSnapshot> shown;
  while (numInterrupts() == 0) {
    auto snapshot = session.snapshot();
    if (!snapshot) {
      if (!waitsForRegistrar(snapshot.error(), isWaiting)) return failed(snapshot.error());
      continue;
    }
    isWaiting = false;
    if (inPlace) {  // also without a change: ages grow, and the window may have another size
      if (!shown) fmt::print("\033[2J");
      fmt::print("{}",
                 screenOf(describeStatus(*snapshot, parts), terminalHeight(), terminalWidth()));
    } else if (!shown || differs(*shown, *snapshot)) {
      if (call.json)
        printLine(toJson(*snapshot));
      else
        fmt::print("{}\n", describeStatus(*snapshot, parts));
    }
    flushOutput();
    if (outputError() != 0) return kFailed;
    shown = std::move(*snapshot);
    for (int i = 0; i < 10 && numInterrupts() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return kDone;
}

int runStatus(const Invocation& call) {
  TESSERA_OR_USAGE(const StatusParts parts, readParts(call.arguments));
  TESSERA_OR_FAILED(auto session, openSession(call));
  if (call.arguments.has("watch")) return watchStatus(call, session, parts);
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  if (call.arguments.has("names")) {
    std::vector<std::string> names;
    for (const engine::NodeStatus& node : snapshot.nodes)
      names.push_back(fmt::format("n{}", node.node));
    return printNames(names);
  }
  if (call.json)
    printLine(toJson(snapshot));
  else
    fmt::print("{}", describeStatus(snapshot, parts));
  return kDone;
}

int runJobList(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  if (call.arguments.has("names")) {
    std::vector<std::string> names;
    for (const engine::JobStatus& job : snapshot.jobs) names.push_back(job.name);
    return printNames(names);
  }
  if (call.json)
    printLine({{"jobs", toJson(snapshot)["jobs"]}});
  else
    fmt::print(
        "{}", snapshot.jobs.empty() ? "no jobs\n" : jobTable(snapshot, call.arguments.has("wide")));
  return kDone;
}

}  // namespace

Command statusCommand() {
  OptionSpec names = namesOption();
  names.help = "print the names of the nodes only, one per line";
  return {
      {.verb = "status",
       .summary = "Show nodes, GPUs, jobs and the transaction in progress",
       .options = {{.name = "summary",
                    .value = "",
                    .help = fmt::format("count nodes and GPUs instead of listing each, and list "
                                        "those that need attention; the default above {} GPUs",
                                        kMostListedGpus)},
                   {.name = "all", .value = "", .help = "list each GPU, also in a large cluster"},
                   {.name = "jobs", .value = "", .help = "leave nodes and GPUs out"},
                   {.name = "watch",
                    .value = "",
                    .help = "repeat until interrupted: in place on a terminal, elsewhere "
                            "whenever something changes; with --json a document per line",
                    .letter = 'w'},
                   names},
       .notes = {"`age` is the time since `job start`, `left` the time until the last step at "
                 "the present pace.",
                 "With --json everything is in the document, whichever of --summary, --all and "
                 "--jobs is given."},
       .examples = {"tesseractl status", "tesseractl status --jobs --watch",
                    "tesseractl --cluster lab status --summary",
                    "tesseractl status --watch --json"}},
      runStatus};
}

Command jobListCommand() {
  return {{.verb = "job list",
           .summary = "List the jobs of the cluster",
           .options = {{.name = "wide",
                        .value = "",
                        .help = "show more columns: GPUs, epoch, layout, and whether the job "
                                "survives the loss of any one node or what it would lose"},
                       namesOption()},
           .examples = {"tesseractl job list", "tesseractl job list --wide",
                        "tesseractl job list --json"}},
          runJobList};
}

}  // namespace tessera::app
