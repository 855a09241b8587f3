// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `txn show`, `txn cancel` and `txn throttle`.

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/phase_text.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

/// The number given, or 0 for the current transaction.
Result<std::int64_t> readId(const Arguments& arguments) {
  const std::string text = arguments.word(0);
  std::int64_t id = 0;
  if (text.empty()) return id;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, id);
  if (failure != std::errc() || stop != end || id < 1)
    return InvalidArgument(fmt::format("'{}' is not a transaction such as 3", text));
  return id;
}

/// A transaction at the registrar: its state while it is in memory, its record once it has an
/// outcome.
struct ShownTxn {
  std::optional<engine::TxnStatus> txn;
  std::optional<engine::HistoryEntry> record;
};
Result<ShownTxn> decode(const wire::TxnReply& reply) {
  ShownTxn shown;
  if (reply.has_transaction()) {
    TESSERA_TRY(shown.txn, agents::Decode(reply.transaction()));
  }
  if (reply.has_record()) {
    TESSERA_TRY(shown.record, agents::Decode(reply.record()));
  }
  return shown;
}

std::string withOptions(const engine::StepOptions& options) {
  const std::string text = engine::ToString(options);
  return text.empty() ? "" : " with " + text;
}

/// The flows that are not done, as a table.
void printFlows(const std::vector<engine::FlowStatus>& flows) {
  std::vector<std::vector<std::string>> rows = {{"flow", "to", "state", "moved", "of", "rate", ""}};
  for (const engine::FlowStatus& flow : flows) {
    if (flow.state == engine::FlowState::kDone) continue;
    rows.push_back({"  " + ptc::ToString(flow.source), ptc::ToString(flow.destination),
                    std::string(engine::ToString(flow.state)), formatBytes(flow.bytes_done),
                    formatBytes(flow.bytes_total),
                    flow.bytes_per_second > 0 ? formatRate(flow.bytes_per_second) : "-",
                    flow.reason});
  }
  if (rows.size() > 1) fmt::print("{}", formatTable(rows, {3, 4, 5}));
}

void printTxn(const ShownTxn& shown) {
  if (shown.txn) {
    const engine::TxnStatus& txn = *shown.txn;
    fmt::print("transaction {} of {}: {}\n", txn.id, txn.job, phaseText(txn));
    fmt::print("  from   {} on {}{}\n", ptc::ToString(txn.from_mesh),
               ptc::ToString(txn.from_devices), withOptions(txn.from_options));
    fmt::print("  to     {} on {}{}\n", ptc::ToString(txn.to_mesh), ptc::ToString(txn.to_devices),
               withOptions(txn.to_options));
    fmt::print("  moved  {} of {}\n", formatBytes(txn.bytes_done), formatBytes(txn.bytes_total));
    if (txn.eta_least && txn.eta_most)
      fmt::print("  left   {:.0f} to {:.0f} s\n", *txn.eta_least, *txn.eta_most);
    if (txn.throttle > 0)
      fmt::print("  limit  {} per node\n", formatRate(static_cast<double>(txn.throttle)));
    printFlows(txn.flows);
  }
  if (shown.record) {
    const engine::HistoryEntry& record = *shown.record;
    if (!shown.txn)
      fmt::print("transaction {} of {}\n  from   {}{}\n  to     {}{}\n", record.id, record.job,
                 record.from, withOptions(record.from_options), record.to,
                 withOptions(record.to_options));
    if (!record.requester.empty()) fmt::print("  requested by {}\n", record.requester);
    fmt::print("  {} at step {}, {} moved, pause {}\n", record.result, record.step,
               formatBytes(record.bytes_moved), formatSeconds(record.pause));
    if (!record.digest_before.empty())
      fmt::print("  digest {} before, {} after\n", record.digest_before, record.digest_after);
    if (!record.reason.empty()) fmt::print("  {}\n", record.reason);
  }
}

int runShow(const Invocation& call) {
  TESSERA_OR_USAGE(const auto id, readId(call.arguments));
  wire::Request request;
  request.mutable_txn()->set_transaction(id);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request)));
  TESSERA_OR_FAILED(const auto shown, decode(reply.txn()));
  if (call.json) {
    Json json = shown.txn ? toJson(*shown.txn) : Json::object();
    json["record"] = shown.record ? toJson(*shown.record) : Json(nullptr);
    printLine(json);
  } else {
    printTxn(shown);
  }
  return kDone;
}

int runCancel(const Invocation& call) {
  TESSERA_OR_USAGE(const auto id, readId(call.arguments));
  wire::Request request;
  request.mutable_cancel()->set_transaction(id);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request)));
  const std::int64_t cancelled = reply.cancel().transaction();
  if (call.json)
    printLine({{"cancelled", cancelled}});
  else
    fmt::print(
        "the coordinator rolls transaction {} back; `tesseractl txn show {}` shows the "
        "outcome\n",
        cancelled, cancelled);
  return kDone;
}

/// Bytes per second; 0 for "off".
Result<std::int64_t> readLimit(const std::string& text) {
  if (text == "off") return std::int64_t{0};
  const auto rate = parseRate(text);
  if (!rate)
    return InvalidArgument(fmt::format("'{}' is neither a rate such as 100MB/s nor off", text));
  if (*rate < engine::kLeastThrottle)
    return InvalidArgument(fmt::format("'{}' is below the lowest limit, {}", text,
                                       formatRate(static_cast<double>(engine::kLeastThrottle))));
  return *rate;
}

int runThrottle(const Invocation& call) {
  TESSERA_OR_USAGE(const std::int64_t limit, readLimit(call.arguments.word(0)));
  wire::Request request;
  request.mutable_throttle()->set_bytes_per_second(limit);
  TESSERA_OR_FAILED(const auto reply, askOnce(call, std::move(request)));
  const std::int64_t id = reply.throttle().transaction();
  if (call.json)
    printLine({{"transaction", id},
               {"throttle_bytes_per_second", limit > 0 ? Json(limit) : Json(nullptr)}});
  else if (limit > 0)
    fmt::print("transaction {}: each node sends and receives at most {}\n", id,
               formatRate(static_cast<double>(limit)));
  else
    fmt::print("transaction {}: no limit\n", id);
  return kDone;
}

Syntax txnSyntax(const std::string& verb, const std::string& summary) {
  return {.verb = verb,
          .summary = summary,
          .words = {{"ID", "number of the transaction; the current one if it is missing", false}},
          .examples = {fmt::format("tesseractl {}", verb), fmt::format("tesseractl {} 3", verb)}};
}

}  // namespace

Command txnShowCommand() {
  return {txnSyntax("txn show", "Show a transaction: phase, bytes and outcome"), runShow};
}
Command txnCancelCommand() {
  return {txnSyntax("txn cancel", "Roll back a transaction that is not committed yet"), runCancel};
}

Command txnThrottleCommand() {
  return {{.verb = "txn throttle",
           .summary = "Limit what each node sends and receives for the transaction in progress",
           .words = {{"RATE", "bytes per second, such as 100MB/s, at least 1MB/s; or off", true}},
           .examples = {"tesseractl txn throttle 200MB/s", "tesseractl txn throttle off"}},
          runThrottle};
}

}  // namespace tessera::app
