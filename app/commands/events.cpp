// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `events`: what happened in the cluster.

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

void printEvent(const Invocation& call, const engine::Event& event) {
  if (call.json)
    printLine(toJson(event));
  else
    fmt::print("{}  {:<7}  {:<10}  {}\n", formatClock(event.time), ToString(event.severity),
               event.source, event.text);
}

int runEvents(const Invocation& call) {
  engine::EventQuery query;
  TESSERA_OR_USAGE(const auto limit, call.arguments.integer("limit", 100, 1, 20'000));
  TESSERA_OR_USAGE(const auto least,
                   engine::ParseSeverity(call.arguments.valueOr("severity", "debug")));
  TESSERA_OR_USAGE(const auto range, parseRange(call.arguments, wallClock()));
  query.limit = limit;
  query.newest = true;
  query.least = least;
  query.time = range;
  query.source = call.arguments.valueOr("source", "");
  query.text = call.arguments.valueOr("text", "");
  TESSERA_OR_FAILED(const auto past, Past::open(call));
  bool said = false;
  for (;;) {
    const auto events = past.ask(query);
    if (events) {
      said = false;
      for (const engine::Event& event : *events) {
        printEvent(call, event);
        query.after = event.sequence;
      }
      flushOutput();
      if (outputError() != 0) return kFailed;
      if (!call.arguments.has("follow") || past.isOver()) return kDone;
      query.newest = false;  // from now on in order, without gaps
      if (std::ssize(*events) < limit) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    } else if (!call.arguments.has("follow") || !waitsForRegistrar(events.error(), said)) {
      return failed(events.error());
    }
  }
}

}  // namespace

Command eventsCommand() {
  return {{.verb = "events",
           .summary = "Print what happened in the cluster, newest last",
           .options = {limitOption("print the last N", "100"),
                       {.name = "severity",
                        .value = "",
                        .help = "print only events of this severity and above",
                        .fallback = "debug",
                        .choices = {"debug", "info", "warning", "error"}},
                       {.name = "source",
                        .value = "NAME",
                        .help = "print only events of this node, job or transaction: n0, gpt-mini, "
                                "'txn 3'"},
                       {.name = "text",
                        .value = "PART",
                        .help = "print only events whose text contains PART"},
                       fromTimeOption(),
                       toTimeOption(),
                       followOption("print new events until interrupted")},
           .examples = {"tesseractl events --limit 20",
                        "tesseractl events --severity warning --from 1d",
                        "tesseractl events --follow --json"},
           .json = JsonForm::kLines},
          runEvents};
}

}  // namespace tessera::app
