// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `export`: the past of the cluster as CSV or as JSON, one object a line.

#include <fmt/format.h>

#include <functional>
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
  if (!choice.transactions && !choice.events && !choice.samples)
    return InvalidArgument(
        fmt::format("--what '{}' is none of transactions, events, samples, all", what));
  const bool named = choice.path.ends_with(".json") || choice.path.ends_with(".jsonl");
  const std::string format =
      arguments.valueOr("format", call.json || named || what == "all" ? "json" : "csv");
  if (format != "csv" && format != "json")
    return InvalidArgument(fmt::format("--format '{}' is neither csv nor json", format));
  choice.csv = format == "csv";
  if (choice.csv && what == "all")
    return InvalidArgument("a csv file holds one table: choose --what, or --format json");
  return choice;
}

/// One row: its line of CSV, or its object with the kind that tells it apart from others.
template <typename Row>
Status writeRow(OutputFile& output, const Choice& choice, const char* kind, const Row& row) {
  if (choice.csv) return output.Write(engine::ToCsv(row));
  Json json = {{"kind", kind}};
  json.update(toJson(row));
  return output.Write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
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
      if (choice.csv) return output.Write(engine::ToCsv(sample));
      Json json = {{"kind", "sample"}, {"job", sample.job}};
      json.update(toJson(sample));
      return output.Write(json.dump() + "\n");
    }));
  }
  return OkStatus();
}

int run(const Invocation& call) {
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
  return {{"export",
           "writes transactions, events or samples as CSV or JSON lines",
           {},
           {{"what", "KIND", "transactions, events, samples or all (default transactions)"},
            {"format", "FORMAT", "csv, or json: one object a line (default as the file is named)"},
            {"job", "JOB", "only of this job"},
            {"from", "TIME", "only since then: 2h, 2026-11-21T14:02"},
            {"to", "TIME", "only before then"},
            {"output", "FILE", "written beside its place, then renamed (default: prints)"},
            {"force", "", "replaces FILE where it exists"}},
           {"Samples are those of the steps that count: steps that were undone are left out."}},
          run};
}

}  // namespace tessera::app
