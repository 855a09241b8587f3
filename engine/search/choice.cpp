// SPDX-License-Identifier: Apache-2.0
#include "engine/search/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tessera::engine {
namespace {

using ptc::Axis;

/// "1 device", "2 devices".
std::string Devices(std::int64_t count) {
  return fmt::format("{} device{}", count, count == 1 ? "" : "s");
}

/// "tp = 2", with the other degrees above 1 but dp before it.
std::string KeptDegrees(const ptc::MeshShape& shape) {
  std::string text;
  for (const Axis axis : ptc::kAxes) {
    if (axis == Axis::kDp || (axis != Axis::kTp && shape[axis] == 1)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} = {}", ptc::ToString(axis), shape[axis]);
  }
  return text;
}

/// "n0g1 stays idle", "n0g1 and n0g2 stay idle", "n0g1, n0g2 and n0g3 stay idle".
std::string StayIdle(const std::vector<ptc::DeviceId>& devices) {
  std::string names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i > 0) names += i + 1 == devices.size() ? " and " : ", ";
    names += ptc::ToString(devices[i]);
  }
  return names + (devices.size() == 1 ? " stays idle" : " stay idle");
}

}  // namespace

Result<Choice> ChooseMesh(const ptc::MeshShape& current, std::int64_t global_batch,
                          std::vector<ptc::DeviceId> devices,
                          const std::vector<ptc::DeviceId>& in_job, const MeshPredicate& can_run) {
  if (devices.empty()) return InvalidArgument("no device given: a mesh needs at least 1");
  if (global_batch < 1) {
    return InvalidArgument(fmt::format("global batch = {} is below 1", global_batch));
  }
  ptc::MeshShape mesh = current;
  mesh[Axis::kDp] = 1;
  const std::int64_t replica = mesh.num_ranks();
  const auto count = static_cast<std::int64_t>(devices.size());
  if (count < replica) {
    return InvalidArgument(fmt::format("{} cannot hold {}: the smallest set that fits has {}",
                                       Devices(count), KeptDegrees(mesh), Devices(replica)));
  }

  Status can = OkStatus();
  bool refused_larger = false;
  std::int64_t dp = std::min(count / replica, global_batch);
  for (; dp >= 1; --dp) {
    if (global_batch % dp != 0) continue;
    mesh[Axis::kDp] = dp;
    if (can_run) can = can_run(mesh);
    if (can) break;
    refused_larger = true;
  }
  if (!can) return std::move(can).error();

  std::sort(devices.begin(), devices.end());
  std::stable_partition(devices.begin(), devices.end(), [&in_job](ptc::DeviceId device) {
    return std::find(in_job.begin(), in_job.end(), device) != in_job.end();
  });
  Choice choice;
  choice.mesh = mesh;
  const auto used_end = devices.begin() + mesh.num_ranks();
  choice.used.assign(devices.begin(), used_end);
  choice.idle.assign(used_end, devices.end());
  std::sort(choice.used.begin(), choice.used.end());
  std::sort(choice.idle.begin(), choice.idle.end());
  choice.why =
      fmt::format("{} stays; dp = {} is the largest that fits {} and divides the batch of {}{}",
                  KeptDegrees(mesh), dp, Devices(count), global_batch,
                  refused_larger ? ", among those that the job can run" : "");
  if (!choice.idle.empty()) choice.why += fmt::format("; {}", StayIdle(choice.idle));
  choice.why += '.';
  return choice;
}

}  // namespace tessera::engine
