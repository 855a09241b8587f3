// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/txn_row.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/base/utf8.h"

namespace tessera::agents {

std::string ToText(const RoundRow& row) {
  return fmt::format("{} {}{}{}", row.id, row.round, row.given_up.empty() ? "" : " ", row.given_up);
}

Result<RoundRow> ParseRoundRow(const std::string& text) {
  std::istringstream in(text);
  RoundRow row;
  if (!(in >> row.id >> row.round)) {
    return DataLoss(fmt::format(
        "journal row 'txn-round' is '{}', not a transaction and its round", Escaped(text)));
  }
  in >> std::ws;
  std::getline(in, row.given_up);
  return row;
}

std::string ToText(const TxnRow& row) {
  nlohmann::json json = {{"id", row.id},
                         {"job", row.job},
                         {"slot", row.slot},
                         {"epoch", row.epoch},
                         {"to", ptc::ToJson(row.to)},
                         {"zero", row.options.zero},
                         {"micro_batch", row.options.micro_batch},
                         {"was_paused", row.was_paused},
                         {"timeline", row.timeline},
                         {"started", row.started}};
  if (!row.rounds.empty()) json["round_tensors"] = row.rounds;
  if (row.before) json["before"] = ToJson(*row.before);
  if (row.recovery) {
    json["recovery"] = {{"lost", nlohmann::json::array()},
                        {"reason", row.recovery->reason},
                        {"step", row.recovery->step}};
    json["recovery"]["begins"] = row.recovery->begins;
    json["recovery"]["checkpoint"] = row.recovery->checkpoint;
    if (row.recovery->steps_lost) json["recovery"]["steps_lost"] = *row.recovery->steps_lost;
    for (const ptc::DeviceId device : row.recovery->lost) {
      json["recovery"]["lost"].push_back(ToString(device));
    }
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<TxnRow> ParseTxnRow(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    auto to = ptc::ParseLayout(json.at("to").get<std::string>());
    if (!to) return DataLoss("journal row 'txn' is damaged: " + to.error().ToString());
    TxnRow row{json.at("id").get<std::int64_t>(),
               json.at("job").get<std::string>(),
               json.at("slot").get<std::int64_t>(),
               json.at("epoch").get<std::int64_t>(),
               std::move(*to),
               {json.at("zero").get<bool>(), json.at("micro_batch").get<std::int64_t>()},
               json.at("was_paused").get<bool>(),
               json.value("timeline", std::int64_t{-1}),
               json.at("started").get<double>()};
    row.rounds = json.value("round_tensors", std::vector<std::vector<int>>());
    if (const auto found = json.find("before"); found != json.end()) {
      auto before = ParseRemains(*found);
      if (!before) return DataLoss("journal row 'txn' is damaged: " + before.error().ToString());
      row.before = std::move(*before);
    } else if (!row.rounds.empty()) {
      return DataLoss("journal row 'txn' is damaged: it does not say where the state lies");
    }
    const std::size_t num_tensors = row.to.collection().tensors().size();
    std::set<int> moved;
    for (const std::vector<int>& round : row.rounds) {
      for (const int tensor : round) {
        if (tensor >= 0 && At(tensor) < num_tensors && moved.insert(tensor).second) continue;
        return DataLoss(
            fmt::format("journal row 'txn' is damaged: its rounds move tensor {}", tensor));
      }
    }
    if (const auto found = json.find("recovery"); found != json.end()) {
      row.recovery.emplace();
      row.recovery->reason = found->at("reason").get<std::string>();
      row.recovery->step = found->value("step", std::int64_t{0});
      row.recovery->begins = found->value("begins", false);
      row.recovery->checkpoint = found->value("checkpoint", "");
      if (const auto steps = found->find("steps_lost"); steps != found->end()) {
        row.recovery->steps_lost = steps->get<std::int64_t>();
      }
      for (const auto& device_text : found->at("lost")) {
        TESSERA_TRY(const ptc::DeviceId device, ptc::ParseDevice(device_text.get<std::string>()));
        row.recovery->lost.push_back(device);
      }
    }
    return row;
  } catch (const nlohmann::json::exception& error) {
    return DataLoss(std::string("journal row 'txn' is damaged: ") + error.what());
  }
}

}  // namespace tessera::agents
