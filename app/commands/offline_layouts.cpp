// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/offline_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include "app/commands/placement.h"
#include "engine/model/job_layout.h"
#include "ptc/plan/plan.h"
#include "ptc/rules/rules.h"

namespace tessera::app {
namespace {

constexpr std::int32_t kDevicesOfNode = 8;
constexpr std::int64_t kMostRanks = 65536;

/// "tp=8,dp=2" or "tp=8,dp=2 on 2x8".
struct Side {
  ptc::MeshShape shape;
  std::vector<ptc::DeviceId> devices;  // empty: not given
};

Result<Side> readSide(const Arguments& arguments, const char* option) {
  const auto text = arguments.value(option);
  if (!text)
    return InvalidArgument(fmt::format("--{} must give the mesh, such as tp=8,pp=2", option));
  Side side;
  const std::size_t on = text->find(" on ");
  const std::string where = fmt::format("--{}", option);
  TESSERA_TRY(side.shape, ptc::ParseMeshShape(text->substr(0, on)).Context(where));
  if (side.shape.num_ranks() > kMostRanks)
    return InvalidArgument(fmt::format("--{} '{}' has {} ranks, at most {}", option, *text,
                                       side.shape.num_ranks(), kMostRanks));
  if (on != std::string::npos) {
    TESSERA_TRY(side.devices, ptc::ParseDevices(text->substr(on + 4)).Context(where));
  }
  return side;
}

Result<ptc::Cluster> readCluster(const Arguments& arguments, std::int64_t ranks) {
  if (const auto text = arguments.value("topology")) {
    const bool isGrid = text->find_first_not_of("0123456789x") == std::string::npos;
    if (isGrid) return ptc::ParseCluster("--topology", *text).Context("--topology");
    TESSERA_TRY(const auto file, readTextFile(*text));
    return ptc::ParseCluster(file.name, file.text);
  }
  const std::int64_t nodes = (ranks + kDevicesOfNode - 1) / kDevicesOfNode;
  return ptc::ParseCluster("", fmt::format("{}x{}", nodes, kDevicesOfNode));
}

/// The nodes and devices in "n3,n7g0" among `devices`.
/// \error also for a word that names none of them
Result<std::set<ptc::DeviceId>> namedDevices(const std::vector<ptc::DeviceId>& devices,
                                             const std::string& list, const char* option) {
  const std::string where = fmt::format("--{}", option);
  std::set<ptc::DeviceId> named;
  std::stringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    std::int32_t node = 0;
    const char* end = word.data() + word.size();
    const bool isNode =
        word.size() > 1 && word[0] == 'n' && std::from_chars(word.data() + 1, end, node).ptr == end;
    std::optional<ptc::DeviceId> single;
    if (!isNode) {
      TESSERA_TRY(single, ptc::ParseDevice(word).Context(where));
    }
    bool isThere = false;
    for (const ptc::DeviceId device : devices) {
      if (single ? device != *single : device.node != node) continue;
      named.insert(device);
      isThere = true;
    }
    if (!isThere) return InvalidArgument(fmt::format("{} '{}' is not in the cluster", where, word));
  }
  return named;
}

Status checkWithin(const std::vector<ptc::DeviceId>& devices, const ptc::Cluster& cluster,
                   const char* option) {
  const std::set<ptc::DeviceId> known(cluster.devices.begin(), cluster.devices.end());
  for (const ptc::DeviceId device : devices)
    if (!known.contains(device))
      return InvalidArgument(
          fmt::format("--{}: device {} is not in the topology", option, ToString(device)));
  return OkStatus();
}

Status checkEnough(const char* option, const Side& side, std::size_t devices) {
  const auto ranks = static_cast<std::size_t>(side.shape.num_ranks());
  if (devices >= ranks) return OkStatus();
  return InvalidArgument(fmt::format("--{} {} needs {} devices, there are {}", option,
                                     ToString(side.shape), ranks, devices));
}

/// Applies the rules, with --stages.
Result<ptc::RuledTensors> ruledTensors(const Arguments& arguments, const ModelSource& source) {
  TESSERA_TRY(auto ruled,
              ptc::ApplyRules(source.tensors, source.rules, source.zero, source.optimizer));
  if (const auto text = arguments.value("stages")) {
    TESSERA_TRY(ruled.stages, ptc::ParseStageRule(*text).Context("--stages"));
  }
  return ruled;
}

}  // namespace

OptionSpec stagesOption() {
  return {.name = "stages",
          .value = "RULE",
          .help = "layers per stage: uniform, uniform*2, balanced or a list such as 0,0,1,1",
          .fallback = "as in the rules"};
}

std::vector<OptionSpec> offlineLayoutOptions() {
  return {
      {.name = "from",
       .value = "MESH",
       .help = "with a model: the present mesh, \"tp=8,pp=16,dp=128\" or \"... on 2048x8\""},
      {.name = "to", .value = "MESH", .help = "with a model: the new mesh"},
      {.name = "topology",
       .value = "FILE|NxM",
       .help = "with a model: hosts, racks and bandwidths",
       .fallback = "nodes of 8 GPUs"},
      {.name = "lose",
       .value = "LIST",
       .help = "with a model: nodes and GPUs that leave, such as n3,n7g0; their state can still "
               "be read"},
      {.name = "lost",
       .value = "LIST",
       .help = "with a model: nodes and GPUs that failed; their state cannot be read"},
      stagesOption()};
}

Result<OfflineLayouts> readOfflineLayouts(const Arguments& arguments, const ModelSource& source) {
  TESSERA_TRY(Side before, readSide(arguments, "from"));
  TESSERA_TRY(Side after, readSide(arguments, "to"));
  if (const auto text = arguments.value("devices")) {
    if (!after.devices.empty())
      return InvalidArgument("--devices and the devices of --to are given: choose one");
    TESSERA_TRY(after.devices, ptc::ParseDevices(*text).Context("--devices"));
  }
  const bool isGiven = !after.devices.empty();
  std::int64_t needed = std::max(before.shape.num_ranks(), after.shape.num_ranks());
  // Without a topology the cluster is large enough for all devices that are named.
  for (const Side* side : {&before, &after})
    for (const ptc::DeviceId device : side->devices)
      needed = std::max<std::int64_t>(needed, (device.node + std::int64_t{1}) * kDevicesOfNode);
  TESSERA_TRY(ptc::Cluster cluster, readCluster(arguments, needed));
  if (arguments.has("topology")) {
    TESSERA_RETURN_IF_ERROR(checkWithin(before.devices, cluster, "from"));
    TESSERA_RETURN_IF_ERROR(checkWithin(after.devices, cluster, "to"));
  }
  if (before.devices.empty()) {
    TESSERA_RETURN_IF_ERROR(checkEnough("from", before, cluster.devices.size()));
    before.devices.assign(cluster.devices.begin(),
                          cluster.devices.begin() + before.shape.num_ranks());
  }
  if (!isGiven) after.devices = cluster.devices;
  if (const auto list = arguments.value("lose")) {
    TESSERA_TRY(const auto leaving, namedDevices(after.devices, *list, "lose"));
    std::erase_if(after.devices, [&](ptc::DeviceId device) { return leaving.contains(device); });
  }
  std::vector<ptc::DeviceId> lost;
  if (const auto list = arguments.value("lost")) {
    std::vector<ptc::DeviceId> all = cluster.devices;
    std::ranges::copy(before.devices, std::back_inserter(all));
    TESSERA_TRY(const auto failed, namedDevices(all, *list, "lost"));
    std::erase_if(after.devices, [&](ptc::DeviceId device) { return failed.contains(device); });
    lost.assign(failed.begin(), failed.end());
  }
  TESSERA_RETURN_IF_ERROR(checkEnough("to", after, after.devices.size()));

  if (const auto text = arguments.value("stages");
      text && before.shape[ptc::Axis::kPp] == 1 && after.shape[ptc::Axis::kPp] == 1)
    return InvalidArgument(fmt::format(
        "--stages {} assigns layers to pipeline stages, but --from and --to both have pp = 1",
        *text));
  TESSERA_TRY(ptc::RuledTensors ruled, ruledTensors(arguments, source));
  TESSERA_TRY(auto fromMesh, ptc::DeviceMesh::Make(before.shape, std::move(before.devices)));
  TESSERA_TRY(auto from, engine::MakeLayout(ruled, std::move(fromMesh)));
  std::optional<ptc::DeviceMesh> toMesh;
  if (arguments.has("pin")) {
    after.devices.resize(static_cast<std::size_t>(after.shape.num_ranks()));
    TESSERA_TRY(toMesh, ptc::DeviceMesh::Make(after.shape, after.devices));
  } else {
    std::ranges::sort(after.devices);
    TESSERA_TRY(const auto stages, engine::StagesOn(ruled.stages, after.shape));
    TESSERA_TRY(toMesh, ptc::Place(from, after.shape, ruled.tensors, after.devices,
                                   cluster.topology, stages, lost));
  }
  std::vector<ptc::DeviceId> idle;
  if (isGiven || arguments.has("topology")) {
    const std::set<ptc::DeviceId> used(toMesh->devices().begin(), toMesh->devices().end());
    std::ranges::copy_if(after.devices, std::back_inserter(idle),
                         [&](ptc::DeviceId device) { return !used.contains(device); });
  }
  TESSERA_TRY(auto to, engine::MakeLayout(ruled, std::move(*toMesh)));
  return OfflineLayouts{std::move(cluster.topology), std::move(from), std::move(to),
                        std::move(idle), std::move(lost)};
}

}  // namespace tessera::app
