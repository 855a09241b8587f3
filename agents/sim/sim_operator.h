// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The operator of a simulated cluster: starts the job, changes, pauses and resumes it, fails
/// devices, and decides. Once the faults are over, only what brings the job back.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agents/sim/sim_world.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/cluster/snapshot.h"

namespace tessera::agents::sim {

class SimOperator {
 public:
  struct World {
    SimWorld* sim = nullptr;
    bool is_trainer = false;  // the job is the built-in trainer; else an own program
    Time faults_end = 0;
    /// Hands the request to the registrar, if there is one.
    std::function<void(const wire::Request& request)> request;
    std::function<void()> device_fails;
  };
  explicit SimOperator(World world) : world_(std::move(world)) {}

  /// Acts now and then from now on.
  void Operate();
  void OnReply(const wire::Reply& reply);
  /// A rank of this epoch of a job has heard what was decided for a step.
  void OnDecision(const std::string& job, std::int64_t epoch);
  /// The status of the cluster; nullopt without a registrar.
  std::optional<engine::ClusterSnapshot> Look();
  /// The last one that was started.
  const std::string& job() const { return job_; }
  /// That the registrar has accepted.
  std::int64_t num_changes() const { return num_changes_; }

 private:
  using OnAnswer = std::function<void(const wire::Reply&)>;
  /// `then` runs with the answer, now or later.
  void Request(wire::Request request, OnAnswer then = {});
  void Act(const engine::ClusterSnapshot& status);
  void StartJob();
  /// Usable devices, and a mesh for them.
  ptc::MeshShape ChooseDevices(const engine::ClusterSnapshot& status,
                               google::protobuf::RepeatedPtrField<wire::Device>* out);

  const World world_;
  std::string job_ = "job";
  std::int64_t stops_ = 0;
  std::int64_t requests_ = 0, num_changes_ = 0;
  std::map<std::string, OnAnswer> answers_;  // by request
  struct KnownPlan {
    wire::PlanRequest request;
    std::string hash;
    std::int64_t epoch = 0;
  };
  std::optional<KnownPlan> known_plan_;
  std::optional<std::int64_t> paused_epoch_;  // of a pause at its request, which nothing has ended
};

}  // namespace tessera::agents::sim
