// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_groups.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "agents/train/comm/shm_group.h"
#include "agents/train/comm/tcp_group.h"

namespace tessera::agents {
namespace {

/// How long a rank waits for another to connect.
constexpr std::chrono::seconds kConnectTimeout{60};

Result<train::CollectivePtr> Make(const tessera_view& view, const std::vector<int>& members,
                                  const std::string& name,
                                  const std::shared_ptr<train::Rendezvous>& rendezvous,
                                  const std::shared_ptr<const train::Patience>& patience) {
  if (members.size() == 1) return train::MakeSelfGroup();
  train::GroupOptions options;
  options.name = name;
  options.rank =
      static_cast<int>(std::find(members.begin(), members.end(), view.rank) - members.begin());
  options.size = static_cast<int>(members.size());
  options.timeout = kConnectTimeout;
  options.patience = patience;
  options.abandoned = [rendezvous] { return rendezvous->Abandoned(); };
  const bool one_host = std::all_of(members.begin(), members.end(), [&](int rank) {
    return view.host_of_rank[rank] == view.host_of_rank[members[0]];
  });
  if (!one_host) {
    return train::MakeTcpGroup(options, view.address_of_rank[view.rank], rendezvous);
  }
  TESSERA_TRY(const int fd, rendezvous->SharedMemory(name, train::ShmGroupBytes(options.size)));
  return train::MakeShmGroup(options, fd);
}

}  // namespace

Result<RankGroups> RankGroups::Connect(const tessera_view& view,
                                       std::shared_ptr<train::Rendezvous> rendezvous,
                                       std::chrono::seconds collective_timeout) {
  std::vector<int> everybody;
  for (int rank = 0; rank < view.world; ++rank) everybody.push_back(rank);
  RankGroups groups;
  groups.patience = std::make_shared<train::Patience>(collective_timeout);
  groups.waits = std::make_shared<train::WaitClock>();
  TESSERA_TRY(groups.world, Make(view, everybody, "world", rendezvous, groups.patience));
  groups.world = train::Timed(std::move(groups.world), groups.waits);
  // Ranks are numbered row-major over the axes: neighbours along the last axis differ by 1.
  int stride = 1;
  for (int axis = ptc::kNumAxes - 1; axis >= 0; --axis) {
    const int degree = static_cast<int>(view.axis_size[axis]);
    const int mine = static_cast<int>(view.axis_coord[axis]);
    train::CollectivePtr& along = groups.along[static_cast<std::size_t>(axis)];
    if (degree == view.world) {
      along = groups.world;
    } else {
      std::vector<int> members;
      for (int i = 0; i < degree; ++i) members.push_back(view.rank + (i - mine) * stride);
      const std::string name =
          std::string(ptc::ToString(ptc::kAxes[static_cast<std::size_t>(axis)]))
              .append("-")
              .append(std::to_string(members[0]));
      TESSERA_TRY(along, Make(view, members, name, rendezvous, groups.patience));
      along = train::Timed(std::move(along), groups.waits);
    }
    stride *= degree;
  }
  return groups;
}

void RankGroupsByAttempt::Put(Attempt attempt, RankGroups groups) {
  const std::lock_guard lock(mutex_);
  groups_[attempt] = std::make_shared<const RankGroups>(std::move(groups));
}

std::shared_ptr<const RankGroups> RankGroupsByAttempt::Get(Attempt attempt) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(attempt);
  return found == groups_.end() ? nullptr : found->second;
}

void RankGroupsByAttempt::KeepFrom(Attempt attempt) {
  const std::lock_guard lock(mutex_);
  std::erase_if(groups_, [&](const auto& entry) {
    const Attempt& other = entry.first;
    return other.epoch < attempt.epoch || (other.epoch == attempt.epoch && other != attempt);
  });
}

}  // namespace tessera::agents
