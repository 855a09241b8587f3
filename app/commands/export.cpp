// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `export`: the history of the cluster as CSV, or as JSON with one document per line.

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/output_file.h"
#include "app/commands/past.h"
#include "app/commands/units.h"
#include "app/commands/when.h"
#include "engine/history/records.h"

namespace tessera::app {
namespace {

struct Choice {
  bool transactions = false, events = false, samples = false;
  bool csv = true;
  std::string job;
  bool earlier = false;
  engine::TimeRange time;
  std::string path;
  bool force = false;
};

Result<Choice> chooseRows(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  Choice choice;
  choice.job = arguments.valueOr("job", "");
  if (!choice.job.empty()) TESSERA_RETURN_IF_ERROR(checkName("job", choice.job));
  choice.earlier = arguments.has("earlier");
  TESSERA_TRY(choice.time, parseRange(arguments, wallClock()));
  choice.path = arguments.valueOr("output", "");
  choice.force = arguments.has("force");
  const std::string what = arguments.valueOr("what", "transactions");
  choice.transactions = what == "transactions" || what == "all";
  choice.events = what == "events" || what == "all";
  choice.samples = what == "samples" || what == "all";
  const bool named = choice.path.ends_with(".json") || choice.path.ends_with(".jsonl");
  const std::string format =
      arguments.valueOr("format", call.json || named || what == "all" ? "json" : "csv");
  choice.csv = format == "csv";
  if (choice.csv && what == "all")
    return InvalidArgument("a csv file holds one table: choose --what, or --format json");
  return choice;
}

/// Writes each row as a line of CSV below `csvHead`, or as a document with its kind.
template <typename Row, typename Query>
Status writeRows(
    const Past& past, const Choice& choice, OutputFile& output, std::int64_t& rows, Query query,
    const char* kind, const std::string& csvHead,
    const std::function<std::string(const Row&)>& toCsv = [](const Row& row) {
      return engine::ToCsv(row);
    }) {
  query.time = choice.time;
  if (choice.csv) TESSERA_RETURN_IF_ERROR(output.Write(csvHead));
  return forEach(past, query, [&](const Row& row) -> Status {
    ++rows;
    if (choice.csv) return output.Write(toCsv(row));
    Json json = {{"kind", kind}};
    json.update(toJson(row));
    return output.Write(lineOf(json) + "\n");
  });
}

/// The names of all metrics in these samples.
Result<std::set<std::string>> metricNamesOf(const Past& past, engine::SampleQuery query,
                                            const engine::TimeRange& time) {
  std::set<std::string> names;
  query.time = time;
  TESSERA_RETURN_IF_ERROR(forEach(past, query, [&](const engine::Sample& sample) {
    for (const auto& [name, value] : sample.metrics) names.insert(name);
    return OkStatus();
  }));
  return names;
}

Status writeAll(const Past& past, const Choice& choice, OutputFile& output, std::int64_t& rows) {
  if (choice.transactions) {
    engine::TransactionQuery query;
    query.job = choice.job;
    query.all_of_name = choice.earlier;
    TESSERA_RETURN_IF_ERROR(writeRows<engine::HistoryEntry>(
        past, choice, output, rows, query, "transaction", engine::CsvHeadOfTransactions()));
  }
  if (choice.events) {
    engine::EventQuery query;
    query.source = choice.job;
    TESSERA_RETURN_IF_ERROR(writeRows<engine::Event>(past, choice, output, rows, query, "event",
                                                     engine::CsvHeadOfEvents()));
  }
  if (choice.samples) {
    engine::SampleQuery query;
    query.job = choice.job;
    query.all_of_name = choice.earlier;
    // The head of a CSV file needs them before the first row.
    std::set<std::string> metrics;
    if (choice.csv) {
      TESSERA_TRY(metrics, metricNamesOf(past, query, choice.time));
    }
    TESSERA_RETURN_IF_ERROR(writeRows<engine::Sample>(
        past, choice, output, rows, query, "sample", engine::CsvHeadOfSamples(metrics),
        [&](const engine::Sample& sample) { return engine::ToCsv(sample, metrics); }));
  }
  return OkStatus();
}

int runExport(const Invocation& call) {
  TESSERA_OR_USAGE(const auto choice, chooseRows(call));
  TESSERA_OR_FAILED(const auto past, Past::open(call));
  if (!choice.job.empty())
    if (const Status known = past.checkJob(choice.job); !known) return failed(known.error());
  TESSERA_OR_FAILED(auto output, OutputFile::Open(choice.path, choice.force));
  std::int64_t rows = 0;
  if (const Status written = writeAll(past, choice, output, rows); !written)
    return failed(written.error());
  if (const Status finished = output.Finish(); !finished) return failed(finished.error());
  if (!choice.path.empty()) {
    if (call.json)
      printLine({{"file", choice.path}, {"rows", rows}});
    else
      fmt::print("{} rows in {}\n", rows, choice.path);
  }
  return kDone;
}

}  // namespace

Command exportCommand() {
  return {
      {.verb = "export",
       .summary = "Write transactions, events or samples as CSV or JSON lines",
       .options = {{.name = "what",
                    .value = "",
                    .help = "which rows",
                    .fallback = "transactions",
                    .choices = {"transactions", "events", "samples", "all"}},
                   {.name = "format",
                    .value = "",
                    .help = "csv, or json with one document per line",
                    .fallback = "by the name of FILE, else csv",
                    .choices = {"csv", "json"}},
                   {.name = "job", .value = "JOB", .help = "write only rows of this job"},
                   earlierOption("with --job: also rows of earlier jobs of this name"),
                   fromTimeOption(),
                   toTimeOption(),
                   outputOption("file to write; it appears when it is complete", "standard output"),
                   forceOption("replace FILE if it exists"),
                   quietOption()},
       .notes = {"Samples are those of the steps that count: steps that were undone are left "
                 "out.",
                 "Jobs that had one name differ in 'job_started'. Events have no such column: "
                 "those of all jobs of a name are written.",
                 "What a program reports with job.log(NAME=...) is a column 'metrics.NAME' in "
                 "CSV, and a member of 'metrics' in JSON."},
       .examples = {"tesseractl export --output history.csv",
                    "tesseractl export --what all --from 1d -o day.jsonl",
                    "tesseractl export --what samples --job gpt-mini --format csv"}},
      runExport};
}

}  // namespace tessera::app
