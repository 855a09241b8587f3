// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `history`: lists the transactions of the cluster, newest first, or shows one in full.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "app/commands/when.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr std::size_t kBarWidth = 30;

/// "dp=2,tp=2,pp=1 on n0g0,n0g1,…" with the number of devices instead of their names.
std::string shorten(const std::string& mesh) {
  const auto on = mesh.find(" on ");
  if (on == std::string::npos) return mesh;
  const auto count =
      1 + std::count(mesh.begin() + static_cast<std::ptrdiff_t>(on), mesh.end(), ',');
  return fmt::format("{} ({})", mesh.substr(0, on), Counted(count, "GPU"));
}

std::string resultOf(const engine::HistoryEntry& entry) {
  return entry.result.empty() ? "running" : entry.result;
}

/// A bar with a resolution of an eighth of a character.
std::string bar(double value, double longest) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(longest > 0) || !(value > 0)) return "";
  const auto eighths =
      static_cast<std::size_t>(std::lround(8.0 * kBarWidth * std::min(1.0, value / longest)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

/// The phases in the order of a transaction.
std::vector<std::pair<std::string, double>> phasesInOrder(const engine::HistoryEntry& entry) {
  std::vector<std::pair<std::string, double>> phases(entry.phases.begin(), entry.phases.end());
  std::ranges::stable_sort(phases, {}, [](const auto& phase) {
    const auto known = engine::ParseTxnPhase(phase.first);
    return known ? static_cast<int>(*known) : 99;
  });
  return phases;
}

void printWhole(const engine::HistoryEntry& entry) {
  fmt::print("transaction {} of {}: {}\n", entry.id, entry.job, resultOf(entry));
  std::vector<std::vector<std::string>> facts;
  const auto fact = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back({fmt::format("  {}", name), value});
  };
  const auto place = [](const std::string& mesh, const engine::StepOptions& options) {
    const std::string more = engine::ToString(options);
    return more.empty() ? mesh : fmt::format("{}, {}", mesh, more);
  };
  fact("started", formatClock(entry.started));
  fact("requested by", entry.requester);
  fact("from", place(entry.from, entry.from_options));
  fact("to", place(entry.to, entry.to_options));
  fact("at", fmt::format("step {}, epoch {} after it", entry.step, entry.epoch));
  fact("reason", entry.reason);
  if (!entry.digest_before.empty())
    fact("digest", fmt::format("{} before, {} after{}", entry.digest_before, entry.digest_after,
                               entry.digest_before == entry.digest_after ? ": equal" : ""));
  fmt::print("{}\n", formatTable(facts));

  const auto planned = [](bool known, const std::string& value) { return known ? value : "-"; };
  const std::int64_t classes = entry.kept + entry.device + entry.host + entry.network;
  const bool plan = classes > 0 || entry.pause_estimate > 0;
  std::vector<std::vector<std::string>> bytes = {
      {"", "planned", "actual"},
      {"  pause", planned(plan, formatSeconds(entry.pause_estimate)), formatSeconds(entry.pause)},
      {"  gap between steps", "", entry.gap ? formatSeconds(*entry.gap) : "-"},
      {"  bytes moved", planned(plan, formatBytes(entry.host + entry.network)),
       formatBytes(entry.bytes_moved)},
      {"  at least", formatBytes(entry.volume_bound), ""},
      {"  kept in place", planned(plan, formatBytes(entry.kept)), ""},
      {"  on the device", planned(plan, formatBytes(entry.device)), ""},
      {"  inside a host", planned(plan, formatBytes(entry.host)), ""},
      {"  over the network", planned(plan, formatBytes(entry.network)), ""}};
  if (entry.gradients_planned > 0)
    bytes.push_back(
        {"  gradients", formatBytes(entry.gradients_planned), formatBytes(entry.gradients_moved)});
  fmt::print("{}\n", formatTable(bytes, {1, 2}));

  double longest = 0;
  for (const auto& [phase, seconds] : entry.phases) longest = std::max(longest, seconds);
  if (!entry.phases.empty()) {
    std::vector<std::vector<std::string>> rows = {{"phase", "time", ""}};
    for (const auto& [phase, seconds] : phasesInOrder(entry))
      rows.push_back({"  " + phase, formatSeconds(seconds), bar(seconds, longest)});
    fmt::print("{}\n", formatTable(rows, {1}));
  }
  if (!entry.flows.empty()) {
    std::vector<std::vector<std::string>> rows = {{"flow", "to", "planned", "moved", "rate"}};
    for (const engine::FlowStatus& flow : entry.flows)
      rows.push_back({"  " + ptc::ToString(flow.source), ptc::ToString(flow.destination),
                      formatBytes(flow.bytes_total), formatBytes(flow.bytes_done),
                      flow.bytes_per_second > 0
                          ? fmt::format("{:.1f} MB/s", flow.bytes_per_second * 1e-6)
                          : "-"});
    fmt::print("{}", formatTable(rows, {2, 3, 4}));
  } else {
    fmt::print("no bytes moved between devices\n");
  }
}

int runOne(const Invocation& call, std::int64_t id) {
  TESSERA_OR_FAILED(const auto past, Past::open(call));
  engine::TransactionQuery query;
  query.id = id;
  TESSERA_OR_FAILED(const auto entries, past.ask(query));
  if (entries.empty()) return failed(NotFound(fmt::format("no transaction {} on record", id)));
  if (call.json)
    printLine(toJson(entries.front()));
  else
    printWhole(entries.front());
  return kDone;
}

int runHistory(const Invocation& call) {
  const std::string job = call.arguments.valueOr("job", "");
  if (!job.empty())
    if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(const auto limit, call.arguments.integer("limit", 100, 1, 100'000));
  TESSERA_OR_USAGE(const auto range, parseRange(call.arguments, wallClock()));
  if (const std::string word = call.arguments.word(0); !word.empty()) {
    std::int64_t id = 0;
    const auto [stop, failure] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (failure != std::errc() || stop != word.data() + word.size() || id < 1)
      return wrongUsage(InvalidArgument(
          fmt::format("'{}' is not the number of a transaction; a job is chosen by --job", word)));
    return runOne(call, id);
  }

  TESSERA_OR_FAILED(const auto past, Past::open(call));
  if (!job.empty())
    if (const Status known = past.checkJob(job); !known) return failed(known.error());
  engine::TransactionQuery query;
  query.job = job;
  query.all_of_name = call.arguments.has("earlier");
  query.time = range;
  query.limit = limit;
  TESSERA_OR_FAILED(const auto entries, past.ask(query));
  if (call.arguments.has("names")) {
    std::vector<std::string> names;
    for (const engine::HistoryEntry& entry : entries) names.push_back(std::to_string(entry.id));
    return printNames(names);
  }
  if (call.json) {
    Json json = Json::array();
    for (const engine::HistoryEntry& entry : entries) json.push_back(toJson(entry));
    printLine({{"transactions", std::move(json)}});
    return kDone;
  }
  if (entries.empty()) {
    fmt::print("no transactions {}on record\n",
               job.empty() || query.all_of_name ? "" : "of the latest job of that name ");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows = {
      {"id", "started", "job", "from", "to", "result", "moved", "bound", "pause", "gap",
       "digest after"}};
  std::string reasons;
  for (const engine::HistoryEntry& entry : entries) {
    const bool equal = !entry.digest_after.empty() && entry.digest_after == entry.digest_before;
    rows.push_back({std::to_string(entry.id), formatClock(entry.started), entry.job,
                    shorten(entry.from), shorten(entry.to), paintState(resultOf(entry)),
                    formatBytes(entry.bytes_moved), formatBytes(entry.volume_bound),
                    formatSeconds(entry.pause), entry.gap ? formatSeconds(*entry.gap) : "-",
                    entry.digest_after + (equal ? " (= before)" : "")});
    if (!entry.reason.empty()) reasons += fmt::format("{}: {}\n", entry.id, entry.reason);
  }
  fmt::print("{}{}", formatTable(rows, {0, 6, 7, 8, 9}), reasons);
  return kDone;
}

}  // namespace

Command historyCommand() {
  OptionSpec names = namesOption();
  names.help = "print the numbers of the transactions only, one per line";
  return {
      {.verb = "history",
       .summary = "List the transactions of the cluster, newest first, or show one in full",
       .words = {{"ID",
                  "number of a transaction: shows phases, plan and outcome, flows and "
                  "digests",
                  false}},
       .options = {{.name = "job", .value = "JOB", .help = "list only this job's"},
                   earlierOption("with --job: also those of earlier jobs of this name"),
                   limitOption("list at most N", "100"),
                   fromTimeOption(),
                   toTimeOption(),
                   names},
       .notes = {"If the cluster of `up` is stopped, its history is read from its folder, also by "
                 "`events`, `export` and `job metrics`."},
       .examples = {"tesseractl history", "tesseractl history --cluster local",
                    "tesseractl history 3", "tesseractl history --job gpt-mini --from 2h"}},
      runHistory};
}

}  // namespace tessera::app
