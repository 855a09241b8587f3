// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Takes this node's shares of views and snapshots on request of the registrar, and serves their
/// cells.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "agents/checkpoint/share_writer.h"
#include "agents/keeper/keeper_client.h"
#include "agents/net/loop.h"
#include "agents/node/config.h"
#include "agents/node/job_limits.h"
#include "agents/node/node_views.h"
#include "agents/views/disposal.h"
#include "agents/views/snapshot_store.h"
#include "agents/views/view_store.h"
#include "engine/history/durable_store.h"

namespace tessera::agents {

/// \threadsafety The loop's thread, except Resolve.
class StoredViews : public NodeViews {
 public:
  /// Keeper and journal must outlive it, and so must the devices of the views that it takes.
  /// `machine`: identity of this machine. `counts`: of the lanes of this agent.
  StoredViews(Loop& loop, const AgentConfig& config, const CurveKeys& keys, KeeperClient& keeper,
              engine::DurableStore& journal, const std::string& machine,
              std::shared_ptr<LaneCounts> counts);

  Status Recover(std::vector<std::string>* set_aside) override;
  void Take(const wire::TakeView& message, const Job& job, TakeReply reply) override;
  void Keep(std::uint64_t view) override { views_.Keep(view); }
  void Save(const wire::SaveShare& message, SaveReply reply) override;
  void Release(std::uint64_t view) override;
  void Complete(const wire::CompleteSnapshot& message, CompleteReply reply) override;
  void Drop(std::uint64_t snapshot) override { snapshots_.Drop(snapshot); }
  void OnPaused(const std::string& job, std::int64_t step) override { views_.OnPaused(job, step); }
  void GiveUp(const std::string& job) override { views_.GiveUp(job); }
  void Forget(const std::string& job) override { views_.Forget(job); }
  std::int64_t size_bytes() const override { return views_.size_bytes(); }
  void Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* snapshots) const override {
    snapshots_.Describe(snapshots);
  }

  /// The memory of a cell of a view or a snapshot, as ViewStore::Resolve. Any thread.
  /// \error kNotFound naming it, or the cell if this node does not hold it
  Result<SourceCell> Resolve(std::uint64_t id, const LaneCell& cell) const;

 private:
  /// \error kFailedPrecondition if this node holds another epoch than the one in `message`
  Result<ViewTask> MakeTask(const wire::TakeView& message, const Job& job);

  Loop& loop_;
  const std::int32_t node_;
  const JobLimits limits_;
  KeeperClient& keeper_;
  ViewStore views_;
  SnapshotStore snapshots_;
  /// The last plan.
  struct KnownPlan {
    std::uint64_t layout_hash = 0;
    std::optional<std::int32_t> guest;
    std::shared_ptr<const engine::ViewPlan> plan;
  };
  std::optional<KnownPlan> view_plan_, snapshot_plan_;
  Disposal disposal_;
  std::map<std::uint64_t, std::shared_ptr<ShareWriter>> writers_;  // by view
};

}  // namespace tessera::agents
