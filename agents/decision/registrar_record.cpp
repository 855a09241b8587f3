// SPDX-License-Identifier: Apache-2.0
#include "agents/decision/registrar_record.h"

#include <nlohmann/json.hpp>

namespace tessera::agents {
namespace {
std::string RecordKey(const std::string& prefix) { return prefix + "/registrar"; }
}  // namespace

std::string ToText(const RegistrarRecord& record) {
  return nlohmann::json{{"generation", record.generation},
                        {"node", record.node},
                        {"endpoint", record.endpoint},
                        {"events", record.events},
                        {"key", record.key}}
      .dump();
}

Result<RegistrarRecord> ParseRegistrarRecord(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    RegistrarRecord record;
    json.at("generation").get_to(record.generation);
    json.at("node").get_to(record.node);
    json.at("endpoint").get_to(record.endpoint);
    json.at("events").get_to(record.events);
    json.at("key").get_to(record.key);
    record.text = text;
    if (record.generation < 1 || record.node < 0)
      return DataLoss("the registrar's record is damaged");
    return record;
  } catch (const nlohmann::json::exception& e) {
    return DataLoss(std::string("the registrar's record is damaged: ") + e.what());
  }
}

Result<std::optional<RegistrarRecord>> GetRecord(EtcdClient& client, const std::string& prefix) {
  TESSERA_TRY(const auto text, client.Get(RecordKey(prefix)));
  if (!text) return std::optional<RegistrarRecord>();
  TESSERA_TRY(RegistrarRecord record, ParseRegistrarRecord(*text));
  return std::optional(std::move(record));
}

Result<RegistrarRecord> FetchRecord(EtcdClient& client, const std::string& prefix,
                                    const RegistrarRecord& first) {
  TESSERA_TRY(const std::string text, client.PutIfAbsent(RecordKey(prefix), ToText(first)));
  return ParseRegistrarRecord(text);
}

Result<RegistrarRecord> ReplaceRecord(EtcdClient& client, const std::string& prefix,
                                      const RegistrarRecord& before, const RegistrarRecord& next) {
  TESSERA_TRY(const std::string text, client.Replace(RecordKey(prefix), before.text, ToText(next)));
  return ParseRegistrarRecord(text);
}

}  // namespace tessera::agents
