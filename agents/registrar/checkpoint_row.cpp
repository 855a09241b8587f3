// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/checkpoint_row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tessera::agents {
namespace {

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Error DamagedRow(const std::string& key, const std::string& why) {
  return DataLoss(fmt::format("journal row '{}' is damaged: {}", key, why));
}

}  // namespace

std::string ToText(const engine::CheckpointEntry& checkpoint) {
  return Dump({{"path", checkpoint.path},
               {"job", checkpoint.job},
               {"step", checkpoint.step},
               {"timeline", checkpoint.timeline},
               {"bytes", checkpoint.bytes},
               {"model", checkpoint.model},
               {"mesh", checkpoint.mesh},
               {"digest", checkpoint.digest},
               {"created", checkpoint.created},
               {"problem", checkpoint.problem},
               {"scheduled", checkpoint.scheduled},
               {"is_over", checkpoint.is_over}});
}

std::string ToText(const engine::CheckpointSchedule& schedule) {
  return Dump({{"steps", schedule.every.steps},
               {"seconds", schedule.every.seconds},
               {"folder", schedule.folder},
               {"keep", schedule.keep}});
}

Result<engine::CheckpointEntry> ParseCheckpointRow(const std::string& key,
                                                   const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    engine::CheckpointEntry out;
    out.path = json.at("path").get<std::string>();
    out.job = json.at("job").get<std::string>();
    out.step = json.at("step").get<std::int64_t>();
    out.timeline = json.at("timeline").get<std::int64_t>();
    out.bytes = json.at("bytes").get<std::int64_t>();
    out.model = json.at("model").get<std::string>();
    out.mesh = json.at("mesh").get<std::string>();
    out.digest = json.at("digest").get<std::string>();
    out.created = json.at("created").get<double>();
    out.problem = json.at("problem").get<std::string>();
    out.scheduled = json.at("scheduled").get<bool>();
    out.is_over = json.value("is_over", false);
    return out;
  } catch (const nlohmann::json::exception& error) {
    return DamagedRow(key, error.what());
  }
}

std::string ToText(const Lineage& lineage) {
  nlohmann::json json = nlohmann::json::array();
  for (const auto& [timeline, step] : lineage) json.push_back({timeline, step});
  return Dump(json);
}

Result<Lineage> ParseLineageRow(const std::string& key, const std::string& text) {
  try {
    Lineage out;
    for (const auto& pair : nlohmann::json::parse(text)) {
      out[pair.at(0).get<std::int64_t>()] = pair.at(1).get<std::int64_t>();
    }
    return out;
  } catch (const nlohmann::json::exception& error) {
    return DamagedRow(key, error.what());
  }
}

Result<engine::CheckpointSchedule> ParseScheduleRow(const std::string& key,
                                                    const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    engine::CheckpointSchedule out;
    out.every = {json.at("steps").get<std::int64_t>(), json.at("seconds").get<std::int64_t>()};
    out.folder = json.at("folder").get<std::string>();
    out.keep = json.at("keep").get<std::int64_t>();
    if (const Status good = CheckSnapshotEvery(out.every); !good) {
      return DamagedRow(key, good.error().message);
    }
    return out;
  } catch (const nlohmann::json::exception& error) {
    return DamagedRow(key, error.what());
  }
}

}  // namespace tessera::agents
