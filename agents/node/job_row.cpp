// SPDX-License-Identifier: Apache-2.0
#include "agents/node/job_row.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::agents {

using Json = nlohmann::json;

Json ToJson(const JobRow& row) {
  return {{"settings", row.settings},
          {"layout", ptc::ToJson(row.layout)},
          {"epoch", row.epoch},
          {"timeline", row.timeline}};
}

Result<JobRow> ParseJobRow(const std::string& key, const std::string& text, Json* json) {
  Json object = Json::parse(text, nullptr, false);
  try {
    auto layout = ptc::ParseLayout(object.at("layout").get<std::string>());
    if (!layout) {
      return DataLoss(
          fmt::format("journal row '{}' is damaged: {}", key, layout.error().ToString()));
    }
    JobRow row{object.at("settings").get<std::string>(), std::move(*layout),
               object.at("epoch").get<std::int64_t>(), object.at("timeline").get<std::int64_t>()};
    if (json) *json = std::move(object);
    return row;
  } catch (const Json::exception& error) {
    return DataLoss(fmt::format("journal row '{}' is damaged: {}", key, error.what()));
  }
}

}  // namespace tessera::agents
