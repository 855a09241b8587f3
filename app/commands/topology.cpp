// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `topology`: hosts, devices and links of a cluster as plans use them. Measures them on request
/// and writes the file for `plan --topology`.

#include "ptc/topology/topology.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/output_file.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "engine/cluster/link_speeds.h"

namespace tessera::app {
namespace {

/// A host takes at most 10 s; hosts are measured one after another.
constexpr std::chrono::seconds kMeasureTimeout{600};

/// The topology of the registrar's plans, and the measurements in it.
struct Answer {
  std::string file;  // text of the topology file
  ptc::Cluster cluster;
  engine::LinkSpeeds measured;  // empty: nothing was measured
};

Result<Answer> askTopology(const Invocation& call, bool measures) {
  if (measures && !call.json && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "measuring: up to 10 s per host; running jobs continue\n");
  wire::Request request;
  request.mutable_topology()->set_measure(measures);
  TESSERA_TRY(const auto reply,
              askOnce(call, std::move(request), measures ? kMeasureTimeout : kAnswerTimeout));
  Answer answer;
  answer.file = reply.topology().cluster();
  TESSERA_TRY(answer.cluster, ptc::ParseCluster("the registrar's topology", answer.file));
  if (!reply.topology().measured().empty()) {
    TESSERA_TRY(answer.measured, engine::ParseLinkSpeeds(reply.topology().measured()));
  }
  return answer;
}

std::string describeHosts(const ptc::Cluster& cluster) {
  std::map<std::int32_t, std::set<std::int32_t>> nodes;
  std::map<std::int32_t, int> devices;
  for (ptc::DeviceId device : cluster.devices) {
    const std::int32_t host = cluster.topology.HostOf(device);
    nodes[host].insert(device.node);
    ++devices[host];
  }
  std::vector<std::vector<std::string>> rows = {{"host", "nodes", "GPUs", "network port"}};
  for (const auto& [host, members] : nodes) {
    std::string names;
    for (std::int32_t node : members) names += fmt::format("{}n{}", names.empty() ? "" : ",", node);
    rows.push_back({fmt::format("n{}", host), names, std::to_string(devices[host]),
                    formatRate(cluster.topology.NetworkOf(host))});
  }
  return formatTable(rows, {2, 3});
}

std::string describeLinks(const engine::LinkSpeeds& measured) {
  std::vector<std::vector<std::string>> rows = {
      {"link", "median", "slowest", "fastest", "runs", "lanes", "frames"}};
  for (const engine::LinkSpeed& link : measured.links) {
    const auto [low, high] = std::ranges::minmax(link.bytes_per_second);
    rows.push_back({link.is_memory() ? fmt::format("n{} memory", link.from)
                                     : fmt::format("n{} → n{}", link.from, link.to),
                    formatRate(link.median()), formatRate(low), formatRate(high),
                    std::to_string(link.bytes_per_second.size()),
                    link.is_memory() ? "" : std::to_string(link.use.lanes),
                    link.is_memory() ? "" : formatBytes(link.use.frame_bytes)});
  }
  return formatTable(rows, {1, 2, 3, 4, 5, 6}) +
         fmt::format("measured at {}: {} over the network in {}\n",
                     formatClock(measured.measured_at), formatBytes(measured.bytes),
                     formatSeconds(measured.seconds));
}

std::string describeAnswer(const Answer& answer) {
  const ptc::Topology& topology = answer.cluster.topology;
  std::string text = describeHosts(answer.cluster) + "\n";
  if (!answer.measured.empty()) text += describeLinks(answer.measured) + "\n";
  return text + fmt::format("plans assume {} inside a host and {} between hosts: {}\n",
                            formatRate(topology.host_bytes_per_second),
                            formatRate(topology.network_bytes_per_second), topology.source);
}

Json answerToJson(const Answer& answer) {
  Json json = {{"topology", Json::parse(answer.file, nullptr, false)}, {"measured", nullptr}};
  if (answer.measured.empty()) return json;
  json["measured"] = Json::parse(engine::ToJson(answer.measured), nullptr, false);
  for (std::size_t i = 0; i < answer.measured.links.size(); ++i)
    json["measured"]["links"][i]["median_bytes_per_second"] = answer.measured.links[i].median();
  return json;
}

Status save(const std::string& path, bool force, const std::string& text) {
  TESSERA_TRY(OutputFile file, OutputFile::Open(path, force));
  TESSERA_RETURN_IF_ERROR(file.Write(text));
  return file.Finish();
}

int printDeviceNames(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  std::vector<std::string> names;
  for (const engine::NodeStatus& node : snapshot.nodes)
    for (const engine::DeviceStatus& device : node.devices)
      names.push_back(ptc::ToString(device.id));
  return printNames(names);
}

int runTopology(const Invocation& call) {
  if (call.arguments.has("names")) return printDeviceNames(call);
  const auto path = call.arguments.value("output");
  if (call.arguments.has("force") && !path)
    return wrongUsage(InvalidArgument("--force needs --output"));
  TESSERA_OR_FAILED(const auto answer, askTopology(call, call.arguments.has("measure")));
  if (path)
    if (const Status saved = save(*path, call.arguments.has("force"), answer.file); !saved)
      return failed(saved.error());
  if (call.json) {
    printLine(answerToJson(answer));
  } else {
    fmt::print("{}", describeAnswer(answer));
    if (path) fmt::print("saved as {}\n", *path);
  }
  return kDone;
}

}  // namespace

Command topologyCommand() {
  OptionSpec names = namesOption();
  names.help = "print the names of the GPUs only, one per line";
  return {
      {.verb = "topology",
       .summary = "Print the hosts, GPUs and bandwidths that plans are made with",
       .options = {{.name = "measure",
                    .value = "",
                    .help = "measure the links first: at most 132 MiB and 10 s per host"},
                   outputOption("write them as a file for `plan --topology FILE`", "none"),
                   forceOption("replace FILE if it exists"),
                   names},
       .notes = {"The registrar keeps the measured bandwidths and plans with them until a node "
                 "returns on another machine, with another address or another --link."},
       .examples = {"tesseractl topology", "tesseractl topology --measure --output lab.json",
                    "tesseractl plan --model gpt2 --from \"tp=4\" --to \"tp=2,dp=2\" --topology "
                    "lab.json"}},
      runTopology};
}

}  // namespace tessera::app
