// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A simulated node's shares of views and snapshots: the version that its devices had after a step.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "agents/node/node_views.h"
#include "agents/sim/process.h"
#include "agents/sim/sim_move.h"

namespace tessera::agents::sim {

/// A share of a view or a snapshot.
struct SimShare {
  std::string job;
  std::int64_t version = 0;
  ptc::Layout layout;
  std::uint64_t origin = 0;  // of the job
};

class SimViews : public NodeViews {
 public:
  struct World {
    SimWorld* sim = nullptr;
    std::int32_t node = 0;
    MemoryOf memory_of;  // of the node's devices
    /// Shares that the keeper holds: they survive the agent.
    std::map<std::uint64_t, SimShare>* kept = nullptr;
    ShareOf share_of;  // of any node
    /// Whether something fails that does so now and then.
    std::function<bool()> fails;
  };
  SimViews(Process& process, World world) : process_(process), world_(std::move(world)) {}

  Status Recover(std::vector<std::string>*) override { return OkStatus(); }
  void Take(const wire::TakeView& message, const Job& job, TakeReply reply) override;
  void Keep(std::uint64_t) override {}
  /// The simulation has no disk.
  void Save(const wire::SaveShare& message, SaveReply reply) override;
  void Release(std::uint64_t view) override { taken_.erase(view); }
  void Complete(const wire::CompleteSnapshot& message, CompleteReply reply) override;
  void Drop(std::uint64_t snapshot) override;
  void OnPaused(const std::string& job, std::int64_t step) override;
  void GiveUp(const std::string& job) override;
  void Forget(const std::string& job) override;
  /// The version of a share that is taken and not complete.
  std::optional<std::int64_t> share(std::uint64_t id) const {
    const auto found = taken_.find(id);
    return found == taken_.end() ? std::nullopt : std::optional(found->second.version);
  }
  std::int64_t size_bytes() const override { return 0; }
  void Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* snapshots) const override;

 private:
  struct Taking {
    wire::TakeView message;
    ptc::Layout layout;
    std::uint64_t origin = 0;
    TakeReply reply;
  };
  /// Looks whether the devices are where the view is to be taken.
  void Look(std::uint64_t view);
  void Finish(std::uint64_t view, wire::ViewReport report);
  /// Fetches the share of this node if it is the guest of the snapshot.
  void TakeAsGuest(const wire::ViewReply& shares);

  Process& process_;
  const World world_;
  std::map<std::uint64_t, Taking> taking_;
  std::map<std::uint64_t, SimShare> taken_;
};

}  // namespace tessera::agents::sim
