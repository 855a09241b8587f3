// SPDX-License-Identifier: Apache-2.0
#include "agents/views/snapshot_row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ptc/digest.h"

namespace tessera::agents {

std::string ToText(const SnapshotRow& row) {
  nlohmann::json json = {{"id", row.id},
                         {"job", row.state.job},
                         {"epoch", row.state.epoch},
                         {"timeline", row.state.timeline},
                         {"step", row.state.step},
                         {"layout", ptc::ToJson(row.state.layout)},
                         {"digest", row.digest},
                         {"digest_algorithm", ptc::kDigestAlgorithm},
                         {"of_timeline", row.of_timeline},
                         {"origin", row.state.origin}};
  if (row.state.guest) json["guest"] = *row.state.guest;
  return json.dump();
}

Result<SnapshotRow> ParseSnapshotRow(const std::string& key, const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    auto layout = ptc::ParseLayout(json.at("layout").get<std::string>());
    if (!layout) return DataLoss(fmt::format("row '{}': {}", key, layout.error().ToString()));
    SnapshotRow row{json.at("id").get<std::uint64_t>(),
                    {json.at("job").get<std::string>(), json.at("epoch").get<std::int64_t>(),
                     json.at("timeline").get<std::int64_t>(), json.at("step").get<std::int64_t>(),
                     std::move(*layout)},
                    json.at("digest").get<std::string>(),
                    json.at("of_timeline").get<std::int64_t>()};
    // Another version wrote the row: its digest cannot be compared.
    if (json.value("digest_algorithm", "") != ptc::kDigestAlgorithm) row.digest.clear();
    // An earlier version leaves it out.
    row.state.origin = json.value("origin", std::uint64_t{0});
    if (json.contains("guest")) row.state.guest = json.at("guest").get<std::int32_t>();
    return row;
  } catch (const nlohmann::json::exception& error) {
    return DataLoss(fmt::format("row '{}': {}", key, error.what()));
  }
}

}  // namespace tessera::agents
