// SPDX-License-Identifier: Apache-2.0
// The text form of a cluster; ptc/FORMAT.md describes it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "ptc/base/json_reader.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {
namespace {

constexpr std::size_t kMostClusterDevices = 65536;
constexpr double kFastest = 1e15;  // bytes per second; more than any link has

bool IsGrid(std::string_view text) {
  return text.find('x') != std::string_view::npos &&
         text.find_first_not_of("0123456789x") == std::string_view::npos;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// The reader of one cluster file.
class ClusterReader {
 public:
  static Result<Cluster> Read(const NamedText& file) {
    TESSERA_TRY(const JsonValue root, ParseJson(file));
    TESSERA_TRY(const auto reader,
                JsonReader::Make(file, root, "the cluster",
                                 {"devices", "hosts", "racks", "host_bytes_per_second",
                                  "network_bytes_per_second", "rack_bytes_per_second",
                                  "network_of_host", "source"}));
    ClusterReader self(file, reader);
    TESSERA_RETURN_IF_ERROR(self.Devices());
    TESSERA_RETURN_IF_ERROR(self.Hosts());
    TESSERA_RETURN_IF_ERROR(self.Racks());
    TESSERA_RETURN_IF_ERROR(self.Links());
    self.cluster_.topology.source = file.name;
    TESSERA_RETURN_IF_ERROR(reader.Optional("source", self.cluster_.topology.source));
    return std::move(self.cluster_);
  }

 private:
  ClusterReader(const NamedText& file, const JsonReader& root) : file_(file), root_(root) {}

  Status Devices() {
    TESSERA_TRY(const std::string text, root_.Text("devices"));
    auto devices = ParseDevices(text);
    if (!devices) return root_.At(*root_.Find("devices"), devices.error().ToString());
    if (devices->size() > kMostClusterDevices) {
      return root_.At(*root_.Find("devices"), fmt::format("{} devices are more than {}",
                                                          devices->size(), kMostClusterDevices));
    }
    cluster_.devices = *std::move(devices);
    for (DeviceId device : cluster_.devices) nodes_.insert(device.node);
    return OkStatus();
  }

  Status Hosts() {
    std::set<std::int32_t> listed;
    TESSERA_TRY(const auto list, Items("hosts"));
    for (const JsonValue& item : list) {
      TESSERA_TRY(const auto host, JsonReader::Make(file_, item, "a host", {"host", "nodes"}));
      TESSERA_TRY(const std::int32_t name, Number(host, "host"));
      TESSERA_TRY(const auto nodes, Numbers(host, "nodes"));
      for (std::int32_t node : nodes) {
        if (!nodes_.contains(node)) {
          return host.At(fmt::format("node {} of host {} has no device", node, name));
        }
        if (!listed.insert(node).second) {
          return host.At(fmt::format("node {} is given to a host twice", node));
        }
        if (node != name) cluster_.topology.host_of_node[node] = name;
      }
    }
    for (DeviceId device : cluster_.devices) hosts_.insert(cluster_.topology.HostOf(device));
    return OkStatus();
  }

  Status Racks() {
    std::set<std::int32_t> listed;
    TESSERA_TRY(const auto list, Items("racks"));
    for (const JsonValue& item : list) {
      TESSERA_TRY(const auto rack, JsonReader::Make(file_, item, "a rack", {"rack", "hosts"}));
      TESSERA_TRY(const std::int32_t name, Number(rack, "rack"));
      TESSERA_TRY(const auto hosts, Numbers(rack, "hosts"));
      for (std::int32_t host : hosts) {
        if (!hosts_.contains(host)) {
          return rack.At(fmt::format("host {} of rack {} has no device", host, name));
        }
        if (!listed.insert(host).second) {
          return rack.At(fmt::format("host {} is given to a rack twice", host));
        }
        if (name != 0) cluster_.topology.rack_of_host[host] = name;
      }
    }
    return OkStatus();
  }

  Status Links() {
    Topology& topology = cluster_.topology;
    if (root_.Find("host_bytes_per_second") != nullptr) {
      TESSERA_TRY(topology.host_bytes_per_second, Speed(root_, "host_bytes_per_second"));
    }
    if (root_.Find("network_bytes_per_second") != nullptr) {
      TESSERA_TRY(topology.network_bytes_per_second, Speed(root_, "network_bytes_per_second"));
    }
    if (root_.Find("rack_bytes_per_second") != nullptr) {
      TESSERA_TRY(topology.rack_bytes_per_second, Speed(root_, "rack_bytes_per_second"));
    }
    TESSERA_TRY(const auto list, Items("network_of_host"));
    for (const JsonValue& item : list) {
      TESSERA_TRY(const auto link,
                  JsonReader::Make(file_, item, "a link of a host", {"host", "bytes_per_second"}));
      TESSERA_TRY(const std::int32_t host, Number(link, "host"));
      TESSERA_TRY(const double speed, Speed(link, "bytes_per_second"));
      if (!hosts_.contains(host)) return link.At(fmt::format("host {} has no device", host));
      if (!topology.network_of_host.emplace(host, speed).second) {
        return link.At(fmt::format("the link of host {} is given twice", host));
      }
    }
    return OkStatus();
  }

  /// The items of a list; none if the list is missing.
  Result<std::vector<JsonValue>> Items(std::string_view key) const {
    if (root_.Find(key) == nullptr) return std::vector<JsonValue>{};
    TESSERA_TRY(const auto* list, root_.List(key));
    return *list;
  }

  static constexpr std::int64_t kMostNumber = std::numeric_limits<std::int32_t>::max();

  static Result<std::int32_t> Number(const JsonReader& reader, std::string_view key) {
    TESSERA_TRY(const std::int64_t number, reader.Integer(key, 0, kMostNumber));
    return static_cast<std::int32_t>(number);
  }
  static Result<std::vector<std::int32_t>> Numbers(const JsonReader& reader, std::string_view key) {
    TESSERA_TRY(const auto integers, reader.Integers(key));
    std::vector<std::int32_t> numbers;
    for (std::int64_t integer : integers) {
      if (integer < 0 || integer > kMostNumber) {
        return reader.At(*reader.Find(key),
                         fmt::format("'{}': {} is not in 0..{}", key, integer, kMostNumber));
      }
      numbers.push_back(static_cast<std::int32_t>(integer));
    }
    return numbers;
  }

  static Result<double> Speed(const JsonReader& reader, std::string_view key) {
    TESSERA_TRY(const JsonValue* value, reader.Member(key));
    const Result<double> speed = reader.Real(key, 1, kFastest);
    if (!speed) return reader.Expected(*value, "a number of bytes per second in 1..1e15");
    return *speed;
  }

  const NamedText& file_;
  const JsonReader& root_;
  Cluster cluster_;
  std::set<std::int32_t> nodes_;
  std::set<std::int32_t> hosts_;
};

std::string DevicesText(const std::vector<DeviceId>& devices) {
  if (!devices.empty() && devices.back().node < INT32_MAX && devices.back().index < INT32_MAX) {
    const auto grid = fmt::format("{}x{}", devices.back().node + 1, devices.back().index + 1);
    const std::int64_t count = (std::int64_t{devices.back().node} + 1) * (devices.back().index + 1);
    if (count == std::ssize(devices) && ParseDevices(grid) == devices) return grid;
  }
  return ToString(devices);
}

/// Whole numbers are written without a fraction and without an exponent.
std::string SpeedText(double speed) {
  return speed == std::floor(speed) ? fmt::format("{:.0f}", speed) : fmt::format("{}", speed);
}

/// Appends a list under `key`, one item per line; nothing if the list is empty.
void AppendList(std::string& out, std::string_view key, const std::vector<std::string>& items) {
  if (items.empty()) return;
  out += fmt::format(",\n  \"{}\": [\n    {}\n  ]", key, fmt::join(items, ",\n    "));
}

}  // namespace

Result<Cluster> ParseCluster(std::string_view name, std::string_view text) {
  if (IsGrid(Trimmed(text))) {
    Cluster cluster;
    TESSERA_TRY(cluster.devices, ParseDevices(Trimmed(text)));
    return cluster;
  }
  return ClusterReader::Read({std::string(name), std::string(text)});
}

std::string ToJson(const Cluster& cluster) {
  const Topology& topology = cluster.topology;
  std::map<std::int32_t, std::set<std::int32_t>> nodes_of_host;
  std::set<std::int32_t> hosts;
  for (DeviceId device : cluster.devices) {
    hosts.insert(topology.HostOf(device));
    nodes_of_host[topology.HostOf(device)].insert(device.node);
  }
  std::erase_if(nodes_of_host, [](const auto& host) {
    return host.second == std::set<std::int32_t>{host.first};  // the default
  });
  std::map<std::int32_t, std::set<std::int32_t>> hosts_of_rack;
  std::vector<std::string> links;
  for (std::int32_t host : hosts) {
    if (topology.RackOf(host) != 0) hosts_of_rack[topology.RackOf(host)].insert(host);
    if (topology.network_of_host.contains(host)) {
      links.push_back(fmt::format(R"({{"host": {}, "bytes_per_second": {}}})", host,
                                  SpeedText(topology.NetworkOf(host))));
    }
  }
  const auto grouped = [](const auto& groups, std::string_view one, std::string_view many) {
    std::vector<std::string> items;
    for (const auto& [group, members] : groups) {
      items.push_back(
          fmt::format(R"({{"{}": {}, "{}": [{}]}})", one, group, many, fmt::join(members, ", ")));
    }
    return items;
  };

  std::string out = fmt::format("{{\n  \"devices\": {}", JsonQuoted(DevicesText(cluster.devices)));
  AppendList(out, "hosts", grouped(nodes_of_host, "host", "nodes"));
  AppendList(out, "racks", grouped(hosts_of_rack, "rack", "hosts"));
  const auto speed = [&out](std::string_view key, double value) {
    out += fmt::format(",\n  \"{}\": {}", key, SpeedText(value));
  };
  speed("host_bytes_per_second", topology.host_bytes_per_second);
  speed("network_bytes_per_second", topology.network_bytes_per_second);
  if (topology.rack_bytes_per_second) {
    speed("rack_bytes_per_second", *topology.rack_bytes_per_second);
  }
  AppendList(out, "network_of_host", links);
  return out + fmt::format(",\n  \"source\": {}\n}}\n", JsonQuoted(topology.source));
}

}  // namespace tessera::ptc
