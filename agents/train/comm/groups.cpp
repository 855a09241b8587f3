// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agents/train/comm/gloo_group.h"
#include "agents/train/comm/shm_group.h"
#include "ptc/mesh.h"

namespace tessera::agents::train {
namespace {

constexpr std::size_t kDp = static_cast<std::size_t>(ptc::Axis::kDp);
constexpr std::size_t kTp = static_cast<std::size_t>(ptc::Axis::kTp);

/// Builds the group of the ranks `members`, of which this rank is one.
Result<CollectivePtr> Connect(const tessera_view& view, const std::vector<int>& members,
                              const std::string& name,
                              const std::shared_ptr<Rendezvous>& rendezvous,
                              std::chrono::milliseconds timeout) {
  if (members.size() == 1) return MakeSelfGroup();
  GroupOptions options;
  options.name = name;
  options.rank =
      static_cast<int>(std::find(members.begin(), members.end(), view.rank) - members.begin());
  options.size = static_cast<int>(members.size());
  options.timeout = timeout;
  options.abandoned = [rendezvous] { return rendezvous->Abandoned(); };
  const bool one_host = std::all_of(members.begin(), members.end(), [&](int rank) {
    return view.host_of_rank[rank] == view.host_of_rank[members[0]];
  });
  if (!one_host) return MakeGlooGroup(options, view.address_of_rank[view.rank], rendezvous);
  TESSERA_TRY(const int fd, rendezvous->SharedMemory(name, ShmGroupBytes(options.size)));
  return MakeShmGroup(options, fd);
}

}  // namespace

void Groups::Abort() {
  for (const CollectivePtr& group : {tp, dp, world}) {
    if (group) group->Abort();
  }
}

Groups SelfGroups() {
  Groups groups;
  groups.world = groups.dp = groups.tp = MakeSelfGroup();
  return groups;
}

Result<Groups> ConnectGroups(const tessera_view& view, std::shared_ptr<Rendezvous> rendezvous,
                             std::uint64_t fingerprint, std::chrono::milliseconds timeout) {
  const int dp = static_cast<int>(view.axis_size[kDp]);
  const int tp = static_cast<int>(view.axis_size[kTp]);
  if (view.rank < 0 || view.rank >= view.world || dp * tp != view.world) {
    return InvalidArgument(fmt::format("rank {} of {} is not in a mesh of dp = {}, tp = {}",
                                       view.rank, view.world, dp, tp));
  }
  // Ranks are row-major over (dp, tp).
  const int replica = view.rank / tp;
  const int part = view.rank % tp;
  std::vector<int> everybody, same_part, same_replica;
  for (int rank = 0; rank < view.world; ++rank) {
    everybody.push_back(rank);
    if (rank % tp == part) same_part.push_back(rank);
    if (rank / tp == replica) same_replica.push_back(rank);
  }
  Groups groups;
  groups.epoch = view.epoch;
  groups.attempt = view.attempt;
  TESSERA_TRY(groups.world, Connect(view, everybody, "world", rendezvous, timeout));
  std::vector<std::uint64_t> fingerprints(static_cast<std::size_t>(view.world));
  TESSERA_RETURN_IF_ERROR(groups.world->AllGather(std::as_bytes(std::span(&fingerprint, 1)),
                                                  std::as_writable_bytes(std::span(fingerprints))));
  for (std::size_t rank = 1; rank < fingerprints.size(); ++rank) {
    if (fingerprints[rank] != fingerprints[0]) {
      return FailedPrecondition(
          fmt::format("the data set of rank {} differs from that of rank 0", rank));
    }
  }
  if (same_part == everybody) {
    groups.dp = groups.world;
  } else {
    TESSERA_TRY(groups.dp,
                Connect(view, same_part, fmt::format("dp-t{}", part), rendezvous, timeout));
  }
  if (same_replica == everybody) {
    groups.tp = groups.world;
  } else {
    TESSERA_TRY(groups.tp,
                Connect(view, same_replica, fmt::format("tp-d{}", replica), rendezvous, timeout));
  }
  return groups;
}

}  // namespace tessera::agents::train
