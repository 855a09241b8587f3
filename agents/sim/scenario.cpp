// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "agents/node/config.h"
#include "agents/sim/hardware.h"
#include "engine/cluster/simulated_limits.h"
#include "ptc/base/overloaded.h"
#include "ptc/base/utf8.h"

namespace tessera::agents::sim {
namespace {

using Json = nlohmann::ordered_json;
using What = Scenario::What;

constexpr double kLongest = 1e7;  // seconds: four months
constexpr std::int64_t kLeastMemory = std::int64_t{4} << 20;
constexpr std::int64_t kMany = std::int64_t{1} << 52;

constexpr std::array<std::pair<act::Job::Act, std::string_view>, 3> kJobActs = {
    {{act::Job::Act::kPause, "pause"},
     {act::Job::Act::kResume, "resume"},
     {act::Job::Act::kStop, "stop"}}};

/// A text member that `parse` turns into a value; its error gets file and line.
template <typename T, typename Parse>
Status Parsed(const JsonReader& reader, std::string_view key, T& out, const Parse& parse) {
  std::string text;
  TESSERA_RETURN_IF_ERROR(reader.Optional(key, text));
  const JsonValue* const member = reader.Find(key);
  if (!member) return OkStatus();
  auto value = parse(text);
  if (!value) return reader.At(*member, value.error().message);
  out = std::move(*value);
  return OkStatus();
}

Result<ptc::DeviceId> DeviceIn(const JsonReader& reader, std::string_view key) {
  TESSERA_TRY(const std::string text, reader.Text(key));
  const auto device = ptc::ParseDevice(text);
  if (!device) return reader.At(*reader.Find(key), device.error().message);
  return *device;
}

class ActReader {
 public:
  explicit ActReader(const NamedText& file) : file_(file) {}

  Result<Scenario::Act> Read(const JsonValue& value) const {
    if (value.kind != JsonValue::Kind::kObject) return Error(AtLine(value, "an act is an object"));
    Scenario::Act act;
    act.line = value.line;
    const JsonValue* found = nullptr;
    for (const JsonValue& member : value.items) {
      if (member.key == "at") continue;
      if (found) {
        return AtLine(member, fmt::format("'{}' and '{}' are two acts: give each its own 'at'",
                                          Escaped(found->key), Escaped(member.key)));
      }
      found = &member;
    }
    const JsonValue* const at = value.Find("at");
    if (!at) return AtLine(value, "an act needs 'at', in seconds");
    if (!found) return AtLine(value, fmt::format("nothing happens: give one of {}", Names()));
    TESSERA_TRY(const JsonReader whole,
                JsonReader::Make(file_, value, "an act", {"at", found->key}));
    TESSERA_TRY(act.at, whole.Real("at", 0, kLongest));
    TESSERA_TRY(act.what, What_(*found, whole));
    return act;
  }

 private:
  static std::string Names() {
    return "start, apply, pause, resume, stop, decide, kill_node, start_node, restart_agent, "
           "add_nodes, fail_device, slow, cut, port, expect";
  }
  Error AtLine(const JsonValue& value, std::string_view message) const {
    return InvalidArgument(fmt::format("{}{}", JsonPosition(file_, value.line), message));
  }
  static Result<std::int32_t> NodeIn(const JsonReader& reader, std::string_view key) {
    TESSERA_TRY(const std::int64_t node, reader.Integer(key, 0, kMostSimulatedNodes - 1));
    return static_cast<std::int32_t>(node);
  }

  Result<What> What_(const JsonValue& value, const JsonReader& whole) const {
    const std::string& key = value.key;
    if (key == "start") return Start(value);
    if (key == "apply") return Apply(value);
    for (const auto& [act, name] : kJobActs) {
      if (key != name) continue;
      TESSERA_TRY(std::string job, whole.Text(key));
      return What(act::Job{act, std::move(job)});
    }
    if (key == "decide") return Decide(value);
    if (key == "kill_node" || key == "start_node" || key == "restart_agent") {
      TESSERA_TRY(const std::int32_t node, NodeIn(whole, key));
      if (key == "kill_node") return What(act::KillNode{node});
      if (key == "start_node") return What(act::StartNode{node});
      return What(act::RestartAgent{node});
    }
    if (key == "add_nodes") {
      TESSERA_TRY(const std::int64_t count, whole.Integer(key, 1, kMostSimulatedNodes));
      return What(act::AddNodes{count});
    }
    if (key == "fail_device") {
      TESSERA_TRY(const ptc::DeviceId device, DeviceIn(whole, key));
      return What(act::FailDevice{device});
    }
    if (key == "slow") {
      TESSERA_TRY(const JsonReader reader,
                  JsonReader::Make(file_, value, "a slow GPU", {"device", "factor"}));
      TESSERA_TRY(const ptc::DeviceId device, DeviceIn(reader, "device"));
      TESSERA_TRY(const double factor, reader.Real("factor", 0.1, 1000));
      return What(act::Slow{device, factor});
    }
    if (key == "cut") {
      TESSERA_TRY(const JsonReader reader,
                  JsonReader::Make(file_, value, "a cut", {"node", "seconds"}));
      TESSERA_TRY(const std::int32_t node, NodeIn(reader, "node"));
      TESSERA_TRY(const double seconds, reader.Real("seconds", 0.001, 86400));
      return What(act::Cut{node, seconds});
    }
    if (key == "port") {
      TESSERA_TRY(const JsonReader reader,
                  JsonReader::Make(file_, value, "a port", {"node", "share"}));
      TESSERA_TRY(const std::int32_t node, NodeIn(reader, "node"));
      TESSERA_TRY(const double share, reader.Real("share", 0.0001, 1));
      return What(act::Port{node, share});
    }
    if (key == "expect") return Expect(value);
    return AtLine(value, fmt::format("unknown act '{}'; there are {}", Escaped(key), Names()));
  }

  Result<What> Start(const JsonValue& value) const {
    TESSERA_TRY(const JsonReader reader,
                JsonReader::Make(file_, value, "a start",
                                 {"model", "job", "devices", "mesh", "settings", "global_batch",
                                  "steps", "on_failure", "snapshot_every"}));
    act::Start out;
    TESSERA_TRY(out.model, reader.Text("model"));
    out.job = out.model;
    TESSERA_RETURN_IF_ERROR(reader.Optional("job", out.job));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "devices", out.devices, ptc::ParseDevices));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "mesh", out.mesh, ptc::ParseMeshShape));
    TESSERA_RETURN_IF_ERROR(reader.Optional("global_batch", out.global_batch, 1, kMany));
    TESSERA_RETURN_IF_ERROR(reader.Optional("steps", out.steps, 1, kMany));
    TESSERA_RETURN_IF_ERROR(reader.Optional("snapshot_every", out.snapshot_every, 1, kMany));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "on_failure", out.on_failure, engine::ParseOnFailure));
    if (const JsonValue* const settings = reader.Find("settings")) {
      if (settings->kind != JsonValue::Kind::kObject) {
        return reader.Expected(*settings, "an object of texts");
      }
      for (const JsonValue& setting : settings->items) {
        if (setting.kind != JsonValue::Kind::kText) {
          return reader.Expected(setting, "a text such as \"bf16\"");
        }
        out.settings[setting.key] = setting.text;
      }
    }
    return What(std::move(out));
  }

  Result<What> Apply(const JsonValue& value) const {
    TESSERA_TRY(const JsonReader reader,
                JsonReader::Make(file_, value, "a change", {"job", "devices", "mesh"}));
    act::Apply out;
    TESSERA_TRY(out.job, reader.Text("job"));
    TESSERA_TRY(const JsonValue* const devices, reader.Member("devices"));
    static_cast<void>(devices);
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "devices", out.devices, ptc::ParseDevices));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "mesh", out.mesh, ptc::ParseMeshShape));
    return What(std::move(out));
  }

  Result<What> Decide(const JsonValue& value) const {
    TESSERA_TRY(const JsonReader reader,
                JsonReader::Make(file_, value, "a decision", {"job", "choice"}));
    act::Decide out;
    TESSERA_TRY(out.job, reader.Text("job"));
    TESSERA_TRY(const JsonValue* const choice, reader.Member("choice"));
    static_cast<void>(choice);
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "choice", out.choice, engine::ParseLossChoice));
    return What(std::move(out));
  }

  Result<What> Expect(const JsonValue& value) const {
    TESSERA_TRY(const JsonReader reader,
                JsonReader::Make(file_, value, "an expectation",
                                 {"job", "state", "devices", "mesh", "least_step"}));
    act::Expect out;
    TESSERA_TRY(out.job, reader.Text("job"));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "state", out.state, engine::ParseJobState));
    TESSERA_RETURN_IF_ERROR(Parsed(reader, "mesh", out.mesh, ptc::ParseMeshShape));
    const auto number = [&](std::string_view key, std::optional<std::int64_t>& to) -> Status {
      if (!reader.Find(key)) return OkStatus();
      TESSERA_TRY(to, reader.Integer(key, 0, kMany));
      return OkStatus();
    };
    TESSERA_RETURN_IF_ERROR(number("devices", out.devices));
    TESSERA_RETURN_IF_ERROR(number("least_step", out.least_step));
    return What(std::move(out));
  }

  const NamedText& file_;
};

std::string Text(const std::vector<ptc::DeviceId>& devices) {
  std::vector<std::string> names;
  for (const ptc::DeviceId device : devices) names.push_back(ToString(device));
  return fmt::format("{}", fmt::join(names, ","));
}

Json JsonOf(const What& what) {
  const auto change = [](Json& out, const auto& value) {
    if (!value.devices.empty()) out["devices"] = Text(value.devices);
    if (value.mesh) out["mesh"] = ptc::ToString(*value.mesh);
  };
  return std::visit(Overloaded{
                        [&](const act::Start& s) -> Json {
                          Json out = {{"model", s.model}, {"job", s.job}};
                          change(out, s);
                          if (!s.settings.empty()) out["settings"] = s.settings;
                          if (s.global_batch > 0) out["global_batch"] = s.global_batch;
                          if (s.steps > 0) out["steps"] = s.steps;
                          out["on_failure"] = engine::ToString(s.on_failure);
                          if (s.snapshot_every > 0) out["snapshot_every"] = s.snapshot_every;
                          return out;
                        },
                        [&](const act::Apply& a) -> Json {
                          Json out = {{"job", a.job}};
                          change(out, a);
                          return out;
                        },
                        [](const act::Job& j) -> Json { return j.job; },
                        [](const act::Decide& d) -> Json {
                          return {{"job", d.job}, {"choice", engine::ToString(d.choice)}};
                        },
                        [](const act::KillNode& n) -> Json { return n.node; },
                        [](const act::StartNode& n) -> Json { return n.node; },
                        [](const act::RestartAgent& n) -> Json { return n.node; },
                        [](const act::AddNodes& n) -> Json { return n.count; },
                        [](const act::FailDevice& d) -> Json { return ToString(d.device); },
                        [](const act::Slow& s) -> Json {
                          return {{"device", ToString(s.device)}, {"factor", s.factor}};
                        },
                        [](const act::Cut& c) -> Json {
                          return {{"node", c.node}, {"seconds", c.seconds}};
                        },
                        [](const act::Port& p) -> Json {
                          return {{"node", p.node}, {"share", p.share}};
                        },
                        [](const act::Expect& e) -> Json {
                          Json out = {{"job", e.job}};
                          if (e.state) out["state"] = engine::ToString(*e.state);
                          if (e.devices) out["devices"] = *e.devices;
                          if (e.mesh) out["mesh"] = ptc::ToString(*e.mesh);
                          if (e.least_step) out["least_step"] = *e.least_step;
                          return out;
                        },
                    },
                    what);
}

}  // namespace

std::string KindOf(const What& what) {
  return std::visit(Overloaded{
                        [](const act::Start&) { return "start"; },
                        [](const act::Apply&) { return "apply"; },
                        [](const act::Job& job) {
                          return std::ranges::find(kJobActs, job.act,
                                                   [](const auto& entry) { return entry.first; })
                              ->second.data();
                        },
                        [](const act::Decide&) { return "decide"; },
                        [](const act::KillNode&) { return "kill_node"; },
                        [](const act::StartNode&) { return "start_node"; },
                        [](const act::RestartAgent&) { return "restart_agent"; },
                        [](const act::AddNodes&) { return "add_nodes"; },
                        [](const act::FailDevice&) { return "fail_device"; },
                        [](const act::Slow&) { return "slow"; },
                        [](const act::Cut&) { return "cut"; },
                        [](const act::Port&) { return "port"; },
                        [](const act::Expect&) { return "expect"; },
                    },
                    what);
}

Result<Scenario> ParseScenario(const NamedText& file) {
  TESSERA_TRY(const JsonValue root, ParseJson(file));
  TESSERA_TRY(const JsonReader reader,
              JsonReader::Make(file, root, "a scenario", {"title", "cluster", "acts", "end"}));
  Scenario out;
  TESSERA_RETURN_IF_ERROR(reader.Optional("title", out.title));
  TESSERA_TRY(const JsonValue* const cluster, reader.Member("cluster"));
  TESSERA_TRY(const JsonReader in, JsonReader::Make(file, *cluster, "a cluster",
                                                    {"nodes", "devices", "hardware", "device_bytes",
                                                     "link_bytes_per_second", "seed"}));
  TESSERA_TRY(out.nodes, in.Integer("nodes", 1, kMostSimulatedNodes));
  TESSERA_TRY(out.devices, in.Integer("devices", 1, engine::kMostSimulatedDevicesOfNode));
  if (out.nodes * out.devices > engine::kMostSimulatedDevices) {
    return in.At(fmt::format("the cluster has {} GPUs, at most {} are simulated",
                             out.nodes * out.devices, engine::kMostSimulatedDevices));
  }
  TESSERA_RETURN_IF_ERROR(in.Optional("hardware", out.hardware));
  if (const auto hardware = FindHardware(out.hardware); !hardware) {
    return in.At(*in.Find("hardware"), hardware.error().message);
  }
  TESSERA_RETURN_IF_ERROR(in.Optional("device_bytes", out.device_bytes, kLeastMemory, kMany));
  if (out.device_bytes % kMemoryUnit != 0) {
    return in.At(*in.Find("device_bytes"),
                 fmt::format("{} bytes are no multiple of {}", out.device_bytes, kMemoryUnit));
  }
  TESSERA_RETURN_IF_ERROR(
      in.Optional("link_bytes_per_second", out.link_bytes_per_second, 1, kMany));
  TESSERA_RETURN_IF_ERROR(in.Optional("seed", out.seed, 0));
  TESSERA_TRY(out.end, reader.Real("end", 0.001, kLongest));
  TESSERA_TRY(const std::vector<JsonValue>* const acts, reader.List("acts"));
  const ActReader each(file);
  for (const JsonValue& value : *acts) {
    TESSERA_TRY(Scenario::Act act, each.Read(value));
    if (act.at > out.end) {
      return InvalidArgument(fmt::format("{}an act at {} s is after the end, {} s",
                                         JsonPosition(file, act.line), act.at, out.end));
    }
    out.acts.push_back(std::move(act));
  }
  std::ranges::stable_sort(out.acts, {}, &Scenario::Act::at);
  return out;
}

std::string ToJson(const Scenario& scenario) {
  Json cluster = {{"nodes", scenario.nodes},
                  {"devices", scenario.devices},
                  {"hardware", scenario.hardware},
                  {"seed", scenario.seed}};
  if (scenario.device_bytes > 0) cluster["device_bytes"] = scenario.device_bytes;
  if (scenario.link_bytes_per_second > 0) {
    cluster["link_bytes_per_second"] = scenario.link_bytes_per_second;
  }
  Json acts = Json::array();
  for (const Scenario::Act& act : scenario.acts) {
    acts.push_back({{"at", act.at}, {KindOf(act.what), JsonOf(act.what)}});
  }
  Json out = Json::object();
  if (!scenario.title.empty()) out["title"] = scenario.title;
  out["cluster"] = std::move(cluster);
  out["acts"] = std::move(acts);
  out["end"] = scenario.end;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tessera::agents::sim
