// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace tessera::agents {
namespace {

nlohmann::json RowToJson(const JobRow& row) {
  return {{"settings", row.settings}, {"layout", ptc::ToJson(row.layout)},
          {"epoch", row.epoch},       {"timeline", row.timeline},
          {"origin", row.origin},     {"micro_batch", row.micro_batch}};
}

std::string JsonLine(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Error DamagedRow(const std::string& key, const std::string& why) {
  return DataLoss("journal row '" + key + "' is damaged: " + why);
}

// Throws nlohmann::json::exception where a member is missing or of another type.
Result<JobRow> JobRowOf(const std::string& key, const nlohmann::json& json) {
  auto layout = ptc::ParseLayout(json.at("layout").get<std::string>());
  if (!layout) return DamagedRow(key, layout.error().ToString());
  return JobRow{json.at("settings").get<std::string>(), std::move(*layout),
                json.at("epoch").get<std::int64_t>(),   json.at("timeline").get<std::int64_t>(),
                json.value("origin", std::uint64_t{0}), json.value("micro_batch", std::int64_t{0})};
}

// Throws like JobRowOf.
Result<EarlierMesh> EarlierMeshOf(const nlohmann::json& json) {
  TESSERA_TRY(ptc::DeviceMesh mesh, ptc::ParseDeviceMesh(json.at("mesh").get<std::string>()));
  return EarlierMesh{std::move(mesh),
                     {json.at("zero").get<bool>(), json.at("micro_batch").get<std::int64_t>()},
                     json.at("step").get<std::int64_t>()};
}

}  // namespace

std::string ToText(const JobRow& row) { return JsonLine(RowToJson(row)); }

std::string ToText(const JobTableRow& row) {
  nlohmann::json json = RowToJson(row.job);
  json["zero"] = row.options.zero;
  json["micro_batch"] = row.options.micro_batch;
  json["slot"] = row.slot;
  json["state"] = ToString(row.state);
  json["reason"] = row.reason;
  json["step"] = row.step;
  json["on_failure"] = ToString(row.on_failure);
  json["stays_paused"] = row.stays_paused;
  json["restarts"] = row.restarts;
  json["attempt"] = row.attempt;
  json["waits"] = row.waits;
  json["usual_step_seconds"] = row.usual_step_seconds;
  json["snapshots"] = ToString(row.snapshots);
  json["keeps_snapshots"] = row.keeps_snapshots;
  json["finished"] = row.finished;
  json["owner"] = row.owner;
  if (!row.start_request.empty()) json["start_request"] = row.start_request;
  if (row.remains) json["remains"] = ToJson(*row.remains);
  for (const auto& [transaction, rounds] : row.given_up) {
    json["given_up"].push_back({{"transaction", transaction}, {"rounds", rounds}});
  }
  if (row.earlier) {
    json["earlier"] = {{"mesh", ToString(row.earlier->mesh)},
                       {"zero", row.earlier->options.zero},
                       {"micro_batch", row.earlier->options.micro_batch},
                       {"step", row.earlier->step}};
  }
  return JsonLine(json);
}

Result<JobRow> ParseJobRow(const std::string& key, const std::string& text) {
  try {
    return JobRowOf(key, nlohmann::json::parse(text, nullptr, false));
  } catch (const nlohmann::json::exception& error) {
    return DamagedRow(key, error.what());
  }
}

Result<JobTableRow> ParseJobTableRow(const std::string& key, const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    TESSERA_TRY(JobRow job, JobRowOf(key, json));
    JobTableRow row{std::move(job)};
    row.options = {json.at("zero").get<bool>(), json.at("micro_batch").get<std::int64_t>()};
    row.slot = json.at("slot").get<std::int64_t>();
    row.reason = json.at("reason").get<std::string>();
    row.step = json.at("step").get<std::int64_t>();
    TESSERA_TRY(row.on_failure,
                engine::ParseOnFailure(json.value("on_failure", std::string("ask"))));
    row.stays_paused = json.value("stays_paused", false);
    row.restarts = json.value("restarts", true);
    row.attempt = json.value("attempt", std::int64_t{0});
    row.waits = json.value("waits", false);
    row.usual_step_seconds = json.value("usual_step_seconds", 1.0);
    TESSERA_TRY(row.snapshots,
                engine::ParseSnapshotEvery(json.value("snapshots", std::string("off"))));
    row.keeps_snapshots = json.value("keeps_snapshots", false);
    row.finished = json.value("finished", false);
    row.owner = json.value("owner", std::string());
    row.start_request = json.value("start_request", std::string());
    if (const auto found = json.find("remains"); found != json.end()) {
      auto remains = ParseRemains(*found);
      if (!remains) return DamagedRow(key, remains.error().ToString());
      row.remains = std::move(*remains);
    }
    for (const auto& change : json.value("given_up", nlohmann::json::array())) {
      const int rounds = change.at("rounds").get<int>();
      if (rounds < 0) return DamagedRow(key, fmt::format("rounds {} are below 0", rounds));
      row.given_up[change.at("transaction").get<std::int64_t>()] = rounds;
    }
    if (const auto found = json.find("earlier"); found != json.end()) {
      auto earlier = EarlierMeshOf(*found);
      if (!earlier) return DamagedRow(key, earlier.error().ToString());
      row.earlier = std::move(*earlier);
    }
    TESSERA_TRY(row.state, engine::ParseJobState(json.at("state").get<std::string>()));
    return row;
  } catch (const nlohmann::json::exception& error) {
    return DamagedRow(key, error.what());
  }
}

}  // namespace tessera::agents
