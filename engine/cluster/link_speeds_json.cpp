// SPDX-License-Identifier: Apache-2.0
// Measured links as JSON, as the registrar stores them and the command line receives them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/cluster/link_speeds.h"

namespace tessera::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLinks = 65536;
constexpr std::size_t kMostRuns = 1024;
constexpr std::size_t kLongestMark = 1024;
constexpr double kMostLanes = 64;
constexpr double kMostFrameBytes = 1 << 26;
constexpr double kFastest = 1e15;  // bytes per second; as in a topology file

Error Wrong(std::string_view what, std::string_view expected) {
  return InvalidArgument(fmt::format("measured links: {} is not {}", what, expected));
}

Status CheckKeys(const Json& object, std::string_view what,
                 std::initializer_list<std::string_view> keys) {
  if (!object.is_object()) return Wrong(what, "a JSON object");
  for (const std::string_view key : keys) {
    if (!object.contains(key)) {
      return InvalidArgument(fmt::format("measured links: {} has no '{}'", what, key));
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return InvalidArgument(fmt::format("measured links: unknown key '{}' of {}", key, what));
    }
  }
  return OkStatus();
}

Result<double> NumberIn(const Json& value, std::string_view what, double low, double high) {
  if (value.is_number()) {
    const auto number = value.get<double>();
    if (number >= low && number <= high) return number;
  }
  return Wrong(what, fmt::format("a number from {} to {}", low, high));
}

Result<std::int32_t> NodeIn(const Json& value, std::string_view what) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (value.is_number_integer() && value >= 0 && value <= kMost) return value.get<std::int32_t>();
  return Wrong(what, fmt::format("a node from 0 to {}", kMost));
}

Result<LinkSpeed> ParseLink(const Json& json) {
  TESSERA_RETURN_IF_ERROR(
      CheckKeys(json, "a link", {"from", "to", "bytes_per_second", "lanes", "frame_bytes"}));
  LinkSpeed link;
  TESSERA_TRY(link.from, NodeIn(json["from"], "'from' of a link"));
  TESSERA_TRY(link.to, NodeIn(json["to"], "'to' of a link"));
  const Json& runs = json["bytes_per_second"];
  if (!runs.is_array() || runs.empty() || runs.size() > kMostRuns) {
    return Wrong("'bytes_per_second' of a link", fmt::format("a list of 1 to {}", kMostRuns));
  }
  for (const Json& run : runs) {
    TESSERA_TRY(const double speed, NumberIn(run, "a run of a link", 1, kFastest));
    link.bytes_per_second.push_back(speed);
  }
  TESSERA_TRY(const double lanes,
              NumberIn(json["lanes"], "'lanes' of a link", link.is_memory() ? 0 : 1, kMostLanes));
  TESSERA_TRY(const double frame, NumberIn(json["frame_bytes"], "'frame_bytes' of a link",
                                           link.is_memory() ? 0 : 1, kMostFrameBytes));
  link.use = {static_cast<int>(lanes), static_cast<std::int64_t>(frame)};
  return link;
}

Status ParseMarks(const Json& json, LinkSpeeds* speeds) {
  if (!json.is_array() || json.size() > kMostLinks) {
    return Wrong("'nodes'", fmt::format("a list of up to {}", kMostLinks));
  }
  for (const Json& item : json) {
    TESSERA_RETURN_IF_ERROR(CheckKeys(item, "a node", {"node", "mark"}));
    TESSERA_TRY(const std::int32_t node, NodeIn(item["node"], "'node'"));
    const Json& mark = item["mark"];
    if (!mark.is_string() || mark.get_ref<const std::string&>().size() > kLongestMark) {
      return Wrong("'mark'", fmt::format("a string of up to {} bytes", kLongestMark));
    }
    speeds->marks[node] = mark.get<std::string>();
  }
  return OkStatus();
}

Status ParseLinks(const Json& json, LinkSpeeds* speeds) {
  if (!json.is_array() || json.size() > kMostLinks) {
    return Wrong("'links'", fmt::format("a list of up to {}", kMostLinks));
  }
  for (const Json& item : json) {
    TESSERA_TRY(LinkSpeed link, ParseLink(item));
    for (const std::int32_t node : {link.from, link.to}) {
      if (speeds->marks.contains(node)) continue;
      return InvalidArgument(
          fmt::format("measured links: n{} has a link and is not among the nodes", node));
    }
    speeds->links.push_back(std::move(link));
  }
  const auto ends = [](const LinkSpeed& link) { return std::pair{link.from, link.to}; };
  std::ranges::sort(speeds->links, {}, ends);
  const auto twice = std::ranges::adjacent_find(speeds->links, {}, ends);
  if (twice == speeds->links.end()) return OkStatus();
  return InvalidArgument(
      fmt::format("measured links: n{} to n{} appears twice", twice->from, twice->to));
}

}  // namespace

std::string ToJson(const LinkSpeeds& speeds) {
  Json nodes = Json::array(), links = Json::array();
  for (const auto& [node, mark] : speeds.marks) nodes.push_back({{"node", node}, {"mark", mark}});
  for (const LinkSpeed& link : speeds.links) {
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"bytes_per_second", link.bytes_per_second},
                     {"lanes", link.use.lanes},
                     {"frame_bytes", link.use.frame_bytes}});
  }
  const Json json = {{"measured_at", speeds.measured_at},
                     {"seconds", speeds.seconds},
                     {"bytes", speeds.bytes},
                     {"nodes", std::move(nodes)},
                     {"links", std::move(links)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LinkSpeeds> ParseLinkSpeeds(std::string_view text) {
  constexpr double kLatest = 1e11, kLongest = 1e9, kMostBytes = 9e15;
  const Json json = Json::parse(text, nullptr, false);
  TESSERA_RETURN_IF_ERROR(
      CheckKeys(json, "the text", {"measured_at", "seconds", "bytes", "nodes", "links"}));
  LinkSpeeds speeds;
  TESSERA_TRY(speeds.measured_at, NumberIn(json["measured_at"], "'measured_at'", 0, kLatest));
  TESSERA_TRY(speeds.seconds, NumberIn(json["seconds"], "'seconds'", 0, kLongest));
  TESSERA_TRY(const double bytes, NumberIn(json["bytes"], "'bytes'", 0, kMostBytes));
  speeds.bytes = static_cast<std::int64_t>(bytes);
  TESSERA_RETURN_IF_ERROR(ParseMarks(json["nodes"], &speeds));
  TESSERA_RETURN_IF_ERROR(ParseLinks(json["links"], &speeds));
  return speeds;
}

}  // namespace tessera::engine
