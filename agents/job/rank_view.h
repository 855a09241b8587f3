// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Values of the rank protocol: the identity of a rank, a layout as it sees it, and their wire
/// forms.

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::wire {
class RankView;
}

namespace tessera::agents {

/// Identifies a rank process: there is one per job and device.
struct RankId {
  std::string job;
  ptc::DeviceId device;
  friend auto operator<=>(const RankId&, const RankId&) = default;
};
/// "gpt-mini on n0g1".
std::string ToString(const RankId& id);

/// A layout as one rank sees it.
struct RankView {
  std::int64_t epoch = 0;
  std::int64_t attempt = 0;  // distinguishes attempts to reach the same epoch
  std::int32_t rank = -1;    // -1: the device is not in the mesh
  std::int32_t world = 0;
  std::array<std::int64_t, ptc::kNumAxes> axis_size{1, 1, 1, 1, 1};  // pp, dp, ep, cp, tp
  std::array<std::int64_t, ptc::kNumAxes> axis_coord{};
  std::int64_t micro_batch = 0;              // samples of one pass; 0: the job chooses
  std::vector<std::int32_t> node_of_rank;    // [world]
  std::vector<std::int32_t> host_of_rank;    // [world]: equal hosts can share memory
  std::vector<std::string> address_of_rank;  // [world]: for groups that cross hosts
  friend bool operator==(const RankView&, const RankView&) = default;
};

void ToWire(const RankView& view, wire::RankView* out);
/// \error kInvalidArgument naming the field, for a list that is not `world` long, a rank outside
///     the world, a degree below 1, a coordinate outside its degree, or a micro-batch below 0
Result<RankView> FromWire(const wire::RankView& view);

/// One line of JSON, for the environment or a file of a process.
std::string ToJson(const RankView& view);
/// \error as FromWire; kInvalidArgument for other text
Result<RankView> ParseRankView(std::string_view json);

}  // namespace tessera::agents
