// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "agents/train/comm/shm_group.h"
#include "agents/train/comm/tcp_group.h"
#include "ptc/mesh.h"

namespace tessera::agents::train {
namespace {

/// Where a rank is in the mesh. Ranks are row-major over (pp, dp, tp).
struct MeshCoordinates {
  int pp = 0, dp = 0, tp = 0;
};

/// The degrees of the mesh of a view.
struct Degrees {
  int pp = 1, dp = 1, tp = 1;
  MeshCoordinates At(int rank) const { return {rank / (dp * tp), rank / tp % dp, rank % tp}; }
};

/// \error kInvalidArgument if the view's rank is not in its mesh
Result<Degrees> DegreesOf(const tessera_view& view) {
  const auto degree = [&](ptc::Axis axis) {
    return static_cast<int>(view.axis_size[static_cast<std::size_t>(axis)]);
  };
  const Degrees d{degree(ptc::Axis::kPp), degree(ptc::Axis::kDp), degree(ptc::Axis::kTp)};
  if (view.rank < 0 || view.rank >= view.world || d.pp * d.dp * d.tp != view.world) {
    return InvalidArgument(
        fmt::format("rank {} of {} is not in a mesh of pp = {}, dp = {}, tp = {}", view.rank,
                    view.world, d.pp, d.dp, d.tp));
  }
  return d;
}

/// Makes one group for each set of members.
class Connector {
 public:
  Connector(const tessera_view& view, std::shared_ptr<Rendezvous> rendezvous,
            std::chrono::milliseconds timeout, std::shared_ptr<const Patience> patience,
            std::shared_ptr<WaitClock> waits)
      : view_(view),
        rendezvous_(std::move(rendezvous)),
        timeout_(timeout),
        patience_(std::move(patience)),
        waits_(std::move(waits)) {}

  /// Returns the group of `members`, which include this rank. All members call in the same order.
  Result<CollectivePtr> Get(const std::vector<int>& members, const std::string& name,
                            std::size_t message_floats) {
    CollectivePtr& group = made_[members];
    if (!group) {
      TESSERA_TRY(group, Make(members, name, message_floats));
      group = Timed(std::move(group), waits_);
    }
    return group;
  }

 private:
  Result<CollectivePtr> Make(const std::vector<int>& members, const std::string& name,
                             std::size_t message_floats) {
    if (members.size() == 1) return MakeSelfGroup();
    GroupOptions options;
    options.name = name;
    options.rank =
        static_cast<int>(std::find(members.begin(), members.end(), view_.rank) - members.begin());
    options.size = static_cast<int>(members.size());
    options.timeout = timeout_;
    options.patience = patience_;
    options.message_floats = message_floats;
    options.abandoned = [rendezvous = rendezvous_] { return rendezvous->Abandoned(); };
    const bool one_host = std::all_of(members.begin(), members.end(), [&](int rank) {
      return view_.host_of_rank[rank] == view_.host_of_rank[members[0]];
    });
    if (!one_host) return MakeTcpGroup(options, view_.address_of_rank[view_.rank], rendezvous_);
    TESSERA_TRY(const int fd, rendezvous_->SharedMemory(
                                  name, ShmGroupBytes(options.size, options.message_floats)));
    return MakeShmGroup(options, fd);
  }

  const tessera_view& view_;
  const std::shared_ptr<Rendezvous> rendezvous_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<const Patience> patience_;
  const std::shared_ptr<WaitClock> waits_;
  std::map<std::vector<int>, CollectivePtr> made_;
};

/// \error kFailedPrecondition naming a rank whose fingerprint differs
Status CompareFingerprints(Collective& world, std::uint64_t fingerprint) {
  std::vector<std::uint64_t> fingerprints(static_cast<std::size_t>(world.size()));
  TESSERA_RETURN_IF_ERROR(world.AllGather(std::as_bytes(std::span(&fingerprint, 1)),
                                          std::as_writable_bytes(std::span(fingerprints))));
  for (std::size_t rank = 1; rank < fingerprints.size(); ++rank) {
    if (fingerprints[rank] != fingerprints[0]) {
      return FailedPrecondition(
          fmt::format("the data set of rank {} differs from that of rank 0", rank));
    }
  }
  return OkStatus();
}

}  // namespace

void Groups::Abort() {
  for (const CollectivePtr& group : {tp, pp, dp, world}) {
    if (group) group->Abort();
  }
}

Groups SelfGroups() {
  Groups groups;
  groups.world = groups.dp = groups.tp = groups.pp = MakeSelfGroup();
  return groups;
}

Result<Groups> LoneGroups(const tessera_view& view) {
  TESSERA_TRY(const Degrees degrees, DegreesOf(view));
  const MeshCoordinates mine = degrees.At(view.rank);
  Groups groups;
  groups.epoch = view.epoch;
  groups.attempt = view.attempt;
  groups.world = MakeLoneGroup(view.rank, view.world);
  groups.pp = MakeLoneGroup(mine.pp, degrees.pp);
  groups.dp = MakeLoneGroup(mine.dp, degrees.dp);
  groups.tp = MakeLoneGroup(mine.tp, degrees.tp);
  return groups;
}

Result<Groups> ConnectGroups(const tessera_view& view, std::shared_ptr<Rendezvous> rendezvous,
                             std::uint64_t fingerprint, std::chrono::milliseconds timeout,
                             std::size_t message_floats, std::shared_ptr<Patience> patience) {
  TESSERA_TRY(const Degrees degrees, DegreesOf(view));
  if (degrees.pp > 1 && message_floats == 0) {
    return InvalidArgument(
        fmt::format("{} pipeline stages need the size of their messages", degrees.pp));
  }
  const MeshCoordinates mine = degrees.At(view.rank);
  std::vector<int> everybody, same_piece, same_stage, same_replica;
  for (int rank = 0; rank < view.world; ++rank) {
    const MeshCoordinates other = degrees.At(rank);
    everybody.push_back(rank);
    if (other.pp == mine.pp && other.tp == mine.tp) same_piece.push_back(rank);
    if (other.pp == mine.pp && other.dp == mine.dp) same_stage.push_back(rank);
    if (other.dp == mine.dp && other.tp == mine.tp) same_replica.push_back(rank);
  }
  Groups groups;
  Connector connector(view, rendezvous, timeout, patience, groups.waits);
  groups.patience = std::move(patience);
  groups.epoch = view.epoch;
  groups.attempt = view.attempt;
  // Where all ranks are stages of one replica, the group of all carries their messages.
  TESSERA_TRY(groups.world,
              connector.Get(everybody, "world", degrees.pp == view.world ? message_floats : 0));
  TESSERA_RETURN_IF_ERROR(CompareFingerprints(*groups.world, fingerprint));
  TESSERA_TRY(groups.dp, connector.Get(same_piece, fmt::format("dp-p{}-t{}", mine.pp, mine.tp), 0));
  TESSERA_TRY(groups.tp, connector.Get(same_stage, fmt::format("tp-p{}-d{}", mine.pp, mine.dp), 0));
  TESSERA_TRY(groups.pp, connector.Get(same_replica, fmt::format("pp-d{}-t{}", mine.dp, mine.tp),
                                       message_floats));
  return groups;
}

}  // namespace tessera::agents::train
