// SPDX-License-Identifier: Apache-2.0
#include "agents/node/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/data/is_url.h"
#include "engine/files/whole_file.h"
#include "ptc/base/short_name.h"
#include "ptc/base/utf8.h"

namespace tessera::agents {
namespace {

using Json = nlohmann::json;

std::int64_t LineOf(const std::string& text, std::size_t offset) {
  return 1 + std::count(text.begin(),
                        text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size())),
                        '\n');
}

// One key of the file: reads it into the struct and writes it from there.
struct Field {
  std::function<bool(const Json&, AgentConfig&)> read;
  std::function<Json(const AgentConfig&)> write;
  bool required = true;
};

template <typename T>
Field Of(T AgentConfig::*member, bool required = true) {
  return {[member](const Json& json, AgentConfig& config) {
            if constexpr (std::is_integral_v<T>) {
              if (!json.is_number_integer()) return false;
            } else if constexpr (std::is_same_v<T, std::string>) {
              if (!json.is_string()) return false;
            } else {
              if (!json.is_array()) return false;
              for (const Json& item : json) {
                if (!item.is_string()) return false;
              }
            }
            config.*member = json.get<T>();
            return true;
          },
          [member](const AgentConfig& config) { return Json(config.*member); }, required};
}

/// \return false for another type, or a folder that is not absolute
bool ReadFolders(const Json& json, std::optional<std::vector<std::string>>& out) {
  if (!json.is_array()) return false;
  out.emplace();
  for (const Json& item : json) {
    if (!item.is_string()) return false;
    out->push_back(item.get<std::string>());
    if (!out->back().starts_with('/') && !engine::IsUrl(out->back())) return false;
  }
  return true;
}

/// \return false for another type, an unknown key, or a folder that is not absolute
bool ReadLimits(const Json& json, AgentConfig& config) {
  if (!json.is_object()) return false;
  JobLimits limits;
  for (const auto& [key, value] : json.items()) {
    if (key == "exec" && value.is_boolean()) {
      limits.exec = value.get<bool>();
    } else if (key == "data" || key == "checkpoints") {
      if (!ReadFolders(value, key == "data" ? limits.data : limits.checkpoints)) return false;
    } else {
      return false;
    }
  }
  config.jobs = std::move(limits);
  return true;
}

Json WriteLimits(const AgentConfig& config) {
  if (config.jobs == JobLimits{}) return "";  // left out
  Json json = {{"exec", config.jobs.exec}};
  if (config.jobs.data) json["data"] = *config.jobs.data;
  if (config.jobs.checkpoints) json["checkpoints"] = *config.jobs.checkpoints;
  return json;
}

/// \return false for another type, or an unknown key
bool ReadEtcd(const Json& json, AgentConfig& config) {
  if (!json.is_object()) return false;
  EtcdPlace place;
  for (const auto& [key, value] : json.items()) {
    if (key == "endpoints") {
      if (!value.is_array()) return false;
      for (const Json& item : value) {
        if (!item.is_string()) return false;
        place.endpoints.push_back(item.get<std::string>());
      }
      continue;
    }
    if (!value.is_string()) return false;
    const std::pair<const char*, std::string*> texts[] = {{"prefix", &place.prefix},
                                                          {"authorities", &place.authorities},
                                                          {"certificate", &place.certificate},
                                                          {"key", &place.key}};
    const auto found = std::ranges::find_if(texts, [&](const auto& t) { return key == t.first; });
    if (found == std::end(texts)) return false;
    *found->second = value.get<std::string>();
  }
  if (place.endpoints.empty()) return false;
  config.etcd = std::move(place);
  return true;
}

Json WriteEtcd(const AgentConfig& config) {
  const EtcdPlace& place = config.etcd;
  if (place.endpoints.empty()) return "";  // left out
  Json json = {{"endpoints", place.endpoints}, {"prefix", place.prefix}};
  if (!place.authorities.empty()) json["authorities"] = place.authorities;
  if (!place.certificate.empty()) json["certificate"] = place.certificate;
  if (!place.key.empty()) json["key"] = place.key;
  return json;
}

/// \return false for another type, or a number below 0
bool ReadCudaDevices(const Json& json, AgentConfig& config) {
  if (!json.is_array()) return false;
  for (const Json& item : json) {
    if (!item.is_number_integer() || item.get<std::int64_t>() < 0) return false;
    config.cuda_devices.push_back(item.get<std::int32_t>());
  }
  return true;
}

Json WriteCudaDevices(const AgentConfig& config) {
  if (config.cuda_devices.empty()) return "";  // left out
  return config.cuda_devices;
}

/// \return false for another type, an unknown key, or a number outside its limits
bool ReadSimulation(const Json& json, AgentConfig& config) {
  if (!json.is_object()) return false;
  SimulationConfig out;
  for (const auto& [key, value] : json.items()) {
    if (key == "nodes" && value.is_number_integer()) {
      out.nodes = value.get<std::int64_t>();
    } else if (key == "seed" && value.is_number_integer()) {
      out.seed = value.get<std::int64_t>();
    } else if (key == "speed" && value.is_number()) {
      out.speed = value.get<double>();
    } else if (key == "scenario" && value.is_string()) {
      out.scenario = value.get<std::string>();
    } else if (key == "hardware" && value.is_string()) {
      out.hardware = value.get<std::string>();
    } else if (key == "ahead" && value.is_boolean()) {
      out.ahead = value.get<bool>();
    } else if (key == "racks" && value.is_number_integer()) {
      out.racks = value.get<std::int64_t>();
    } else {
      return false;
    }
  }
  config.simulation = out;
  return out.nodes >= 1 && out.nodes <= kMostSimulatedNodes && out.speed >= 0 &&
         out.speed <= kMostSimulationSpeed && out.racks >= 0 && out.racks <= out.nodes;
}

Json WriteSimulation(const AgentConfig& config) {
  if (!config.simulation) return "";  // left out
  const SimulationConfig& s = *config.simulation;
  Json json = {{"nodes", s.nodes}, {"hardware", s.hardware}, {"seed", s.seed}, {"speed", s.speed}};
  if (!s.scenario.empty()) json["scenario"] = s.scenario;
  if (s.ahead) json["ahead"] = true;
  if (s.racks > 0) json["racks"] = s.racks;
  return json;
}

const std::map<std::string, Field>& Fields() {
  static const std::map<std::string, Field> fields = {
      {"cluster", Of(&AgentConfig::cluster)},
      {"node", Of(&AgentConfig::node)},
      {"host", Of(&AgentConfig::host)},
      {"directory", Of(&AgentConfig::directory)},
      {"endpoint", Of(&AgentConfig::endpoint)},
      {"events", Of(&AgentConfig::events)},
      {"lanes", Of(&AgentConfig::lanes)},
      {"lane_security", Of(&AgentConfig::lane_security, false)},
      {"registrar_endpoint", Of(&AgentConfig::registrar_endpoint)},
      {"devices", Of(&AgentConfig::devices)},
      {"device_bytes", Of(&AgentConfig::device_bytes)},
      {"link_bytes_per_second", Of(&AgentConfig::link_bytes_per_second)},
      {"agent_keys", Of(&AgentConfig::agent_keys)},
      {"registrar_key", Of(&AgentConfig::registrar_key, false)},
      {"allowed_folder", Of(&AgentConfig::allowed_folder)},
      {"log_file", Of(&AgentConfig::log_file, false)},
      {"rack", Of(&AgentConfig::rack, false)},
      {"cuda_devices", {ReadCudaDevices, WriteCudaDevices, false}},
      {"history_bytes", Of(&AgentConfig::history_bytes, false)},
      {"history_days", Of(&AgentConfig::history_days, false)},
      {"view_lease_seconds", Of(&AgentConfig::view_lease_seconds, false)},
      {"node_lost_seconds", Of(&AgentConfig::node_lost_seconds, false)},
      {"start_stall_seconds", Of(&AgentConfig::start_stall_seconds, false)},
      {"etcd", {ReadEtcd, WriteEtcd, false}},
      {"jobs", {ReadLimits, WriteLimits, false}},
      {"decision_seconds", Of(&AgentConfig::decision_seconds, false)},
      {"simulation", {ReadSimulation, WriteSimulation, false}},
  };
  return fields;
}

Status CheckRanges(const std::string& path, const AgentConfig& c) {
  const auto refuse = [&](const char* key, const auto& value, const char* limit) {
    return InvalidArgument(fmt::format("{}: {} = {} {}", path, key, value, limit));
  };
  if (c.node < 0) return refuse("node", c.node, "is below 0");
  if (c.devices < 1 || c.devices > 1024) return refuse("devices", c.devices, "is not in 1…1024");
  if (!c.cuda_devices.empty() && std::ssize(c.cuda_devices) != c.devices) {
    return refuse("cuda_devices", std::ssize(c.cuda_devices), "numbers, one for each device");
  }
  if (c.device_bytes < kLeastDeviceBytes) {
    static_assert(kLeastDeviceBytes == 4194304);
    return refuse("device_bytes", c.device_bytes, "is below 4194304");
  }
  if (c.history_bytes < (std::int64_t{1} << 20)) {
    return refuse("history_bytes", c.history_bytes, "is below 1048576");
  }
  if (c.lane_security != kCurveLanes && c.lane_security != kPlainLanes) {
    return refuse("lane_security", c.lane_security, "is not curve or plain");
  }
  if (!c.rack.empty() && !IsShortName(c.rack)) {
    return refuse("rack", c.rack, "does not match [a-z0-9][a-z0-9-]{0,62}");
  }
  if (!c.etcd.endpoints.empty()) TESSERA_RETURN_IF_ERROR(CheckEtcdPlace(c.etcd).Context(path));
  if (c.history_days < 1) return refuse("history_days", c.history_days, "is below 1");
  const std::pair<const char*, std::int64_t> waits[] = {
      {"view_lease_seconds", c.view_lease_seconds},
      {"node_lost_seconds", c.node_lost_seconds},
      {"start_stall_seconds", c.start_stall_seconds},
      {"decision_seconds", c.decision_seconds}};
  for (const auto& [key, seconds] : waits) {
    if (seconds < 1 || seconds > 86400) return refuse(key, seconds, "is not in 1…86400");
  }
  if (c.link_bytes_per_second < 0) {
    return refuse("link_bytes_per_second", c.link_bytes_per_second, "is below 0");
  }
  return OkStatus();
}

}  // namespace

std::string RackOf(std::int64_t node, std::int64_t nodes, std::int64_t racks) {
  return fmt::format("r{}", node * racks / nodes);
}

Result<AgentConfig> LoadAgentConfig(const std::string& path) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(path).Context("config file"));
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    return InvalidArgument(fmt::format("{}:{}: not valid JSON", path, LineOf(text, e.byte)));
  }
  if (!json.is_object()) return InvalidArgument(fmt::format("{}:1: not a JSON object", path));
  AgentConfig config;
  for (const auto& [key, value] : json.items()) {
    const auto field = Fields().find(key);
    const std::int64_t line = LineOf(text, text.find('"' + key + '"'));
    if (field == Fields().end()) {
      return InvalidArgument(fmt::format("{}:{}: unknown key '{}'", path, line, key));
    }
    if (!field->second.read(value, config)) {
      return InvalidArgument(
          fmt::format("{}:{}: key '{}' has the wrong type: {}", path, line, key, value.dump()));
    }
  }
  for (const auto& [key, field] : Fields()) {
    if (field.required && !json.contains(key)) {
      return InvalidArgument(fmt::format("{}: key '{}' is missing", path, key));
    }
  }
  TESSERA_RETURN_IF_ERROR(CheckRanges(path, config));
  return config;
}

Status SaveAgentConfig(const AgentConfig& config, const std::string& path) {
  Json json = Json::object();
  for (const auto& [key, field] : Fields()) {
    json[key] = field.write(config);
    if (json[key].is_string() && !IsPrintableUtf8(json[key].get_ref<const std::string&>())) {
      return InvalidArgument(fmt::format("{}: key '{}' is not printable UTF-8", path, key));
    }
    if (!field.required && json[key] == "") json.erase(key);
  }
  return engine::WriteWholeFile(path, json.dump(2) + '\n', 0644);
}

}  // namespace tessera::agents
