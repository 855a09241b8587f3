// SPDX-License-Identifier: Apache-2.0
#include "engine/history/csv.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <string_view>

namespace tessera::engine {
namespace {

std::string Field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string Field(const char* text) { return Field(std::string_view(text)); }
std::string Field(const std::string& text) { return Field(std::string_view(text)); }
std::string Field(std::int64_t value) { return fmt::format("{}", value); }
std::string Field(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);  // the shortest that reads the same
}

template <typename... Values>
std::string Line(const Values&... values) {
  std::string line;
  ((line += line.empty() ? Field(values) : ',' + Field(values)), ...);
  return line + "\r\n";
}

}  // namespace

std::string IsoTime(double seconds_since_1970) {
  constexpr double kEnd = 253402300800;  // 10000-01-01
  if (!(seconds_since_1970 >= 0 && seconds_since_1970 < kEnd)) return {};
  const auto ms = static_cast<std::int64_t>(std::floor(seconds_since_1970 * 1000));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

std::string CsvHeadOfTransactions() {
  return Line("transaction", "job", "from", "to", "from options", "to options",
              "started [s since 1970]", "started [UTC]", "result", "reason", "who", "pause [s]",
              "planned pause [s]", "moved [B]", "volume bound [B]", "kept, planned [B]",
              "device, planned [B]", "host, planned [B]", "network, planned [B]", "step", "epoch",
              "digest before", "digest after", "phases [s]", "flows [B]");
}

std::string ToCsv(const HistoryEntry& e) {
  std::string phases, flows;
  for (const auto& [phase, seconds] : e.phases) {
    phases += fmt::format("{}{}={}", phases.empty() ? "" : " ", phase, Field(seconds));
  }
  for (const FlowStatus& flow : e.flows) {
    flows += fmt::format("{}{}>{}={}", flows.empty() ? "" : " ", ptc::ToString(flow.source),
                         ptc::ToString(flow.destination), flow.bytes_done);
  }
  return Line(e.id, e.job, e.from, e.to, ToString(e.from_options), ToString(e.to_options),
              e.started, IsoTime(e.started), e.result, e.reason, e.who, e.pause, e.pause_estimate,
              e.bytes_moved, e.volume_bound, e.kept, e.device, e.host, e.network, e.step, e.epoch,
              e.digest_before, e.digest_after, phases, flows);
}

std::string CsvHeadOfEvents() {
  return Line("event", "time [s since 1970]", "time [UTC]", "severity", "source", "text");
}

std::string ToCsv(const Event& event) {
  return Line(event.sequence, event.time, IsoTime(event.time), ToString(event.severity),
              event.source, event.text);
}

std::string CsvHeadOfSamples() {
  return Line("job", "step", "time [s since 1970]", "time [UTC]", "loss", "gradient norm",
              "rate [tokens/s]");
}

std::string ToCsv(const Sample& sample) {
  return Line(sample.job, sample.step, sample.time, IsoTime(sample.time), sample.loss,
              sample.grad_norm, sample.tokens_per_second);
}

}  // namespace tessera::engine
