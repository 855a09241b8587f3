// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `export`: the history of the cluster as CSV, or as JSON with one document per line.

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

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
  engine::TimeRange time;
  std::string path;
  bool force = false;
};

Result<Choice> choose(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  Choice choice;
  choice.job = arguments.valueOr("job", "");
  if (!choice.job.empty()) TESSERA_RETURN_IF_ERROR(checkName("job", choice.job));
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

/// Writes a row as a line of CSV, or as a document with its kind.
template <typename Row>
Status writeRow(OutputFile& output, const Choice& choice, const char* kind, const Row& row) {
  if (choice.csv) return output.Write(engine::ToCsv(row));
  Json json = {{"kind", kind}};
  json.update(toJson(row));
  return output.Write(lineOf(json) + "\n");
}

Status writeAll(Session& session, const Choice& choice, OutputFile& output, std::int64_t& rows) {
  if (choice.transactions) {
    if (choice.csv) TESSERA_RETURN_IF_ERROR(output.Write(engine::CsvHeadOfTransactions()));
    engine::TransactionQuery query;
    query.job = choice.job;
    query.time = choice.time;
    TESSERA_RETURN_IF_ERROR(
        forEach(session, query, [&](const engine::HistoryEntry& entry) -> Status {
          ++rows;
          return writeRow(output, choice, "transaction", entry);
        }));
  }
  if (choice.events) {
    if (choice.csv) TESSERA_RETURN_IF_ERROR(output.Write(engine::CsvHeadOfEvents()));
    engine::EventQuery query;
    query.source = choice.job;
    query.time = choice.time;
    TESSERA_RETURN_IF_ERROR(forEach(session, query, [&](const engine::Event& event) -> Status {
      ++rows;
      return writeRow(output, choice, "event", event);
    }));
  }
  if (choice.samples) {
    if (choice.csv) TESSERA_RETURN_IF_ERROR(output.Write(engine::CsvHeadOfSamples()));
    engine::SampleQuery query;
    query.job = choice.job;
    query.time = choice.time;
    TESSERA_RETURN_IF_ERROR(forEach(session, query, [&](const engine::Sample& sample) -> Status {
      ++rows;
      return writeRow(output, choice, "sample", sample);
    }));
  }
  return OkStatus();
}

int runExport(const Invocation& call) {
  const auto choice = choose(call);
  if (!choice) return wrongUsage(choice.error());
  auto session = openSession(call);
  if (!session) return failed(session.error());
  auto output = OutputFile::Open(choice->path, choice->force);
  if (!output) return failed(output.error());
  std::int64_t rows = 0;
  if (const Status written = writeAll(*session, *choice, *output, rows); !written)
    return failed(written.error());
  if (const Status finished = output->Finish(); !finished) return failed(finished.error());
  if (!choice->path.empty()) {
    if (call.json)
      printLine({{"file", choice->path}, {"rows", rows}});
    else
      fmt::print("{} rows in {}\n", rows, choice->path);
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
                   fromTimeOption(),
                   toTimeOption(),
                   outputOption("file to write; it appears when it is complete", "standard output"),
                   forceOption("replace FILE if it exists"),
                   quietOption()},
       .notes = {"Samples are those of the steps that count: steps that were undone are left "
                 "out."},
       .examples = {"tesseractl export --output history.csv",
                    "tesseractl export --what all --from 1d -o day.jsonl",
                    "tesseractl export --what samples --job gpt-mini --format csv"}},
      runExport};
}

}  // namespace tessera::app
