// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_view.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "agents/wire/tessera/wire/rank.pb.h"
#include "ptc/base/utf8.h"

namespace tessera::agents {

std::string ToString(const RankId& id) { return id.job + " on " + ptc::ToString(id.device); }

void ToWire(const RankView& view, wire::RankView* out) {
  out->Clear();
  out->set_epoch(view.epoch);
  out->set_attempt(view.attempt);
  out->set_rank(view.rank);
  out->set_world(view.world);
  out->mutable_axis_size()->Assign(view.axis_size.begin(), view.axis_size.end());
  out->mutable_axis_coord()->Assign(view.axis_coord.begin(), view.axis_coord.end());
  out->set_micro_batch(view.micro_batch);
  std::map<std::tuple<std::int32_t, std::int32_t, std::string>, std::uint32_t> places;
  for (std::size_t rank = 0; rank < view.node_of_rank.size(); ++rank) {
    const auto [place, is_new] = places.try_emplace(
        {view.node_of_rank[rank], view.host_of_rank[rank], view.address_of_rank[rank]},
        static_cast<std::uint32_t>(places.size()));
    if (is_new) {
      wire::RankView::Place* const added = out->add_places();
      added->set_node(view.node_of_rank[rank]);
      added->set_host(view.host_of_rank[rank]);
      added->set_address(view.address_of_rank[rank]);
    }
    out->add_place_of_rank(place->second);
  }
}

Result<RankView> FromWire(const wire::RankView& in) {
  if (in.world() < 1 || in.rank() < -1 || in.rank() >= in.world()) {
    return InvalidArgument(
        fmt::format("rank view: rank {} of a world of {}", in.rank(), in.world()));
  }
  if (in.place_of_rank_size() != in.world()) {
    return InvalidArgument(fmt::format("rank view: place_of_rank has {} entries, the world is {}",
                                       in.place_of_rank_size(), in.world()));
  }
  for (const std::uint32_t place : in.place_of_rank()) {
    if (place >= static_cast<std::uint32_t>(in.places_size())) {
      return InvalidArgument(fmt::format("rank view: place {} of {}", place, in.places_size()));
    }
  }
  if (in.axis_size_size() != ptc::kNumAxes || in.axis_coord_size() != ptc::kNumAxes) {
    return InvalidArgument(fmt::format("rank view: {} degrees and {} coordinates, {} expected",
                                       in.axis_size_size(), in.axis_coord_size(), ptc::kNumAxes));
  }
  for (int axis = 0; axis < ptc::kNumAxes; ++axis) {
    if (in.axis_size(axis) < 1 || in.axis_coord(axis) < 0 ||
        in.axis_coord(axis) >= in.axis_size(axis)) {
      return InvalidArgument(fmt::format(
          "rank view: coordinate {} on axis {} of degree {}", in.axis_coord(axis),
          ptc::ToString(ptc::kAxes[static_cast<std::size_t>(axis)]), in.axis_size(axis)));
    }
  }
  if (in.micro_batch() < 0) {
    return InvalidArgument(fmt::format("rank view: a micro-batch of {}", in.micro_batch()));
  }
  RankView view;
  view.epoch = in.epoch();
  view.attempt = in.attempt();
  view.rank = in.rank();
  view.world = in.world();
  std::copy(in.axis_size().begin(), in.axis_size().end(), view.axis_size.begin());
  std::copy(in.axis_coord().begin(), in.axis_coord().end(), view.axis_coord.begin());
  view.micro_batch = in.micro_batch();
  for (const std::uint32_t index : in.place_of_rank()) {
    const wire::RankView::Place& place = in.places(static_cast<int>(index));
    view.node_of_rank.push_back(place.node());
    view.host_of_rank.push_back(place.host());
    view.address_of_rank.push_back(place.address());
  }
  return view;
}

std::string ToJson(const RankView& view) {
  wire::RankView message;
  ToWire(view, &message);
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  // Fails only for messages with Any fields, and this one has none.
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) json.clear();
  return json;
}

Result<RankView> ParseRankView(std::string_view json) {
  wire::RankView message;
  // Its type for text has another name in each version of Protobuf. A string becomes all of them.
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(json), &message);
  if (!status.ok()) return InvalidArgument("rank view: " + Escaped(status.ToString()));
  return FromWire(message);
}

}  // namespace tessera::agents
