// SPDX-License-Identifier: Apache-2.0
#include "agents/node/remains.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agents/wire/convert.h"

namespace tessera::agents {

void Encode(const Remains& remains, wire::Prepare* out) {
  out->set_table_hash(remains.table_hash);
  for (const ptc::LayoutPart& part : remains.where.parts()) {
    wire::LayoutPart* const row = out->add_parts();
    row->set_layout(ptc::ToJson(part.layout));
    row->mutable_tensors()->Add(part.tensors.begin(), part.tensors.end());
    for (const ptc::DeviceId device : part.lost) Encode(device, row->add_lost());
  }
}

Result<std::optional<Remains>> RemainsOf(const wire::Prepare& message) {
  if (message.parts().empty()) return std::optional<Remains>();
  std::vector<ptc::LayoutPart> parts;
  for (const wire::LayoutPart& row : message.parts()) {
    TESSERA_TRY(ptc::Layout layout, ptc::ParseLayout(row.layout()));
    TESSERA_TRY(std::vector<ptc::DeviceId> lost, DecodeAll<ptc::DeviceId>(row.lost()));
    parts.push_back(
        {std::move(layout), {row.tensors().begin(), row.tensors().end()}, std::move(lost)});
  }
  TESSERA_TRY(ptc::MixedLayout where, ptc::MixedLayout::Make(std::move(parts)));
  return std::optional(Remains{std::move(where), message.table_hash()});
}

nlohmann::json ToJson(const Remains& remains) {
  nlohmann::json parts = nlohmann::json::array();
  for (const ptc::LayoutPart& part : remains.where.parts()) {
    std::vector<std::string> lost;
    for (const ptc::DeviceId device : part.lost) lost.push_back(ToString(device));
    parts.push_back(
        {{"layout", ptc::ToJson(part.layout)}, {"tensors", part.tensors}, {"lost", lost}});
  }
  return {{"table_hash", ptc::Hex16(remains.table_hash)}, {"parts", std::move(parts)}};
}

Result<Remains> ParseRemains(const nlohmann::json& json) {
  std::vector<ptc::LayoutPart> parts;
  for (const nlohmann::json& part : json.at("parts")) {
    TESSERA_TRY(ptc::Layout layout, ptc::ParseLayout(part.at("layout").get<std::string>()));
    std::vector<ptc::DeviceId> lost;
    for (const auto& text : part.at("lost")) {
      TESSERA_TRY(const ptc::DeviceId device, ptc::ParseDevice(text.get<std::string>()));
      lost.push_back(device);
    }
    parts.push_back(
        {std::move(layout), part.at("tensors").get<std::vector<int>>(), std::move(lost)});
  }
  TESSERA_TRY(const std::uint64_t hash, ptc::ParseHex16(json.at("table_hash").get<std::string>()));
  TESSERA_TRY(ptc::MixedLayout where, ptc::MixedLayout::Make(std::move(parts)));
  return Remains{std::move(where), hash};
}

}  // namespace tessera::agents
