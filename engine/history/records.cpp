// SPDX-License-Identifier: Apache-2.0
#include "engine/history/records.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/cluster/mesh_json.h"
#include "ptc/mesh.h"

namespace tessera::engine {
namespace {

using Json = nlohmann::ordered_json;

/// Where a job runs: a mesh with devices as text, and options.
struct Place {
  std::string mesh;
  StepOptions options;
};

/// monostate: unknown.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, StepOptions, Place,
                           std::map<std::string, double>, std::vector<FlowStatus>, MoveInRounds>;

struct Column {
  const char* key;    // in JSON; `a.b` is member b of object a; nullptr: only in CSV
  std::string title;  // in CSV; empty: only in JSON
  Value value;
};
using Columns = std::vector<Column>;

/// Plans of old histories are unknown. Every plan keeps or moves something.
Value Planned(const HistoryEntry& e, std::int64_t bytes) {
  return e.kept + e.device + e.host + e.network > 0 ? Value(bytes) : Value();
}

/// When the job was started, which tells jobs that had one name apart. Old histories do not know
/// it.
Value StartOf(std::int64_t origin) {
  return origin > 0 ? Value(static_cast<double>(origin) / 1e9) : Value();
}

Columns ColumnsOf(const HistoryEntry& e) {
  return {{"id", "transaction", e.id},
          {"job", "job", e.job},
          {"from", "from", Place{e.from, e.from_options}},
          {"to", "to", Place{e.to, e.to_options}},
          {nullptr, "from options", e.from_options},
          {nullptr, "to options", e.to_options},
          {"started", "started [s since 1970]", e.started},
          {nullptr, "started [UTC]", IsoTime(e.started)},
          {"result", "result", e.result},
          {"reason", "reason", e.reason},
          {"who", "who", e.requester},
          {"pause_seconds", "pause [s]", e.pause},
          {"pause_estimate_seconds", "planned pause [s]",
           e.pause_estimate > 0 ? Value(e.pause_estimate) : Value()},
          {"moved_bytes", "moved [B]", e.bytes_moved},
          {"volume_bound_bytes", "volume bound [B]", e.volume_bound},
          {"bytes.kept", "kept, planned [B]", Planned(e, e.kept)},
          {"bytes.device", "device, planned [B]", Planned(e, e.device)},
          {"bytes.host", "host, planned [B]", Planned(e, e.host)},
          {"bytes.network", "network, planned [B]", Planned(e, e.network)},
          {"step", "step", e.step},
          {"epoch", "epoch", e.epoch},
          {"digest_before", "digest before", e.digest_before},
          {"digest_after", "digest after", e.digest_after},
          {"phase_seconds", "phases [s]", e.phases},
          {"flows", "flows [B]", e.flows},
          {"move_memory", "move in rounds [B]", e.in_rounds},
          {"gradient_bytes.planned", "gradients, planned [B]", e.gradients_planned},
          {"gradient_bytes.moved", "gradients, moved [B]", e.gradients_moved},
          {"job_started", "job started [s since 1970]", StartOf(e.origin)},
          {"change_kind", "change kind", std::string(ToString(e.kind))},
          {"gap_seconds", "gap between steps [s]", e.gap ? Value(*e.gap) : Value()}};
}

Columns ColumnsOf(const Event& e) {
  return {{"sequence", "event", e.sequence},
          {"time", "time [s since 1970]", e.time},
          {nullptr, "time [UTC]", IsoTime(e.time)},
          {"severity", "severity", std::string(ToString(e.severity))},
          {"source", "source", e.source},
          {"text", "text", e.text},
          {"note", "node state", e.note ? Value(ToString(*e.note)) : Value()}};
}

Columns ColumnsOf(const Sample& s, const std::set<std::string>& metrics = {}) {
  Columns columns = {{"job", "job", s.job},
                     {"step", "step", s.step},
                     {"time", "time [s since 1970]", s.time},
                     {nullptr, "time [UTC]", IsoTime(s.time)},
                     {"loss", "loss", s.loss},
                     {"grad_norm", "gradient norm", s.grad_norm},
                     {"tokens_per_second", "rate [tokens/s]", s.tokens_per_second},
                     {"job_started", "job started [s since 1970]", StartOf(s.origin)},
                     {"metrics", "", s.metrics}};
  for (const std::string& name : metrics) {
    const auto found = s.metrics.find(name);
    columns.push_back(
        {nullptr, "metrics." + name, found == s.metrics.end() ? Value() : Value(found->second)});
  }
  return columns;
}

// ---- CSV

std::string TextOf(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{}", value);  // the shortest that reads the same
}

struct CsvText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return TextOf(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const StepOptions& value) const { return ToString(value); }
  std::string operator()(const Place& value) const { return value.mesh; }
  std::string operator()(const std::map<std::string, double>& phases) const {
    std::string text;
    for (const auto& [phase, seconds] : phases) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", phase, TextOf(seconds));
    }
    return text;
  }
  std::string operator()(const std::vector<FlowStatus>& flows) const {
    std::string text;
    for (const FlowStatus& flow : flows) {
      text += fmt::format("{}{}>{}={}", text.empty() ? "" : " ", ptc::ToString(flow.source),
                          ptc::ToString(flow.destination), flow.bytes_done);
    }
    return text;
  }
  std::string operator()(const MoveInRounds& value) const { return ToText(value); }
};

void AppendField(std::string& line, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

template <typename TextOfColumn>
std::string CsvLine(const Columns& columns, TextOfColumn text) {
  std::string line;
  for (const Column& column : columns) {
    if (column.title.empty()) continue;
    if (!line.empty()) line += ',';
    AppendField(line, text(column));
  }
  return line + "\r\n";
}

std::string HeadOf(const Columns& columns) {
  return CsvLine(columns, [](const Column& column) { return std::string_view(column.title); });
}

std::string CsvOf(const Columns& columns) {
  return CsvLine(columns, [](const Column& column) { return std::visit(CsvText{}, column.value); });
}

// ---- JSON

struct JsonValue {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(); }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(const StepOptions& value) const {
    return {{"zero", value.zero}, {"micro_batch", value.micro_batch}};
  }
  Json operator()(const Place& value) const {
    const auto mesh = ptc::ParseDeviceMesh(value.mesh);
    if (!mesh) return nullptr;  // a record that names none
    Json place = {{"mesh", MeshObject(mesh->shape())}, {"devices", DeviceNames(mesh->devices())}};
    place.update((*this)(value.options));
    return place;
  }
  Json operator()(const std::map<std::string, double>& values) const {
    Json object = Json::object();
    for (const auto& [name, value] : values) object[name] = (*this)(value);
    return object;
  }
  Json operator()(const std::vector<FlowStatus>& flows) const {
    Json array = Json::array();
    for (const FlowStatus& flow : flows) {
      array.push_back({{"source", ptc::ToString(flow.source)},
                       {"destination", ptc::ToString(flow.destination)},
                       {"bytes", flow.bytes_done},
                       {"planned_bytes", flow.bytes_total},
                       {"bytes_per_second", flow.bytes_per_second}});
    }
    return array;
  }
  Json operator()(const MoveInRounds& value) const {
    if (value.rounds == 0) return nullptr;
    Json extra = Json::object();
    for (const ExtraMemory& device : value.extra) {
      extra[ptc::ToString(device.device)] = {{"planned", device.planned},
                                             {"measured", device.measured}};
    }
    return {{"limit_bytes", value.move_memory},
            {"rounds", value.rounds},
            {"extra_bytes", std::move(extra)}};
  }
};

std::string JsonOf(const Columns& columns) {
  Json object = Json::object();
  for (const Column& column : columns) {
    if (column.key == nullptr) continue;
    const std::string_view key = column.key;
    const std::size_t dot = key.find('.');
    Json value = std::visit(JsonValue{}, column.value);
    if (dot == std::string_view::npos) {
      object[std::string(key)] = std::move(value);
    } else {
      object[std::string(key.substr(0, dot))][std::string(key.substr(dot + 1))] = std::move(value);
    }
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string IsoTime(double seconds_since_1970) {
  constexpr double kEnd = 253402300800;  // 10000-01-01
  if (!(seconds_since_1970 >= 0 && seconds_since_1970 < kEnd)) return {};
  const auto ms = static_cast<std::int64_t>(std::floor(seconds_since_1970 * 1000));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

std::string CsvHeadOfTransactions() { return HeadOf(ColumnsOf(HistoryEntry{})); }
std::string CsvHeadOfEvents() { return HeadOf(ColumnsOf(Event{})); }
std::string CsvHeadOfSamples(const std::set<std::string>& metrics) {
  return HeadOf(ColumnsOf(Sample{}, metrics));
}
std::string ToCsv(const HistoryEntry& entry) { return CsvOf(ColumnsOf(entry)); }
std::string ToCsv(const Event& event) { return CsvOf(ColumnsOf(event)); }
std::string ToCsv(const Sample& sample, const std::set<std::string>& metrics) {
  return CsvOf(ColumnsOf(sample, metrics));
}
std::string ToJson(const HistoryEntry& entry) { return JsonOf(ColumnsOf(entry)); }
std::string ToJson(const Event& event) { return JsonOf(ColumnsOf(event)); }
std::string ToJson(const Sample& sample) { return JsonOf(ColumnsOf(sample)); }

}  // namespace tessera::engine
