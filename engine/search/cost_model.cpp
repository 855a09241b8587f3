// SPDX-License-Identifier: Apache-2.0
#include "engine/search/cost_model.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/search/to_double.h"
#include "engine/search/workload.h"

namespace tessera::engine {
namespace {

using ptc::Axis;

/// Micro-batches of one size.
struct Passes {
  std::int64_t count = 0, samples = 0;
};

/// The cores of one machine and the work of its ranks in one step.
struct Machine {
  std::int64_t ranks = 0;
  double compute = 0, tensor = 0, pipeline = 0, reduction = 0, update = 0, gather = 0, fixed = 0;
};

class Step {
 public:
  Step(const JobSettings& settings, const ptc::DeviceMesh& mesh, const StepOptions& options,
       const Machines& machines, const Calibration& calibration)
      : model_(settings.model),
        mesh_(mesh),
        machines_(machines),
        calibration_(calibration),
        zero_(options.zero && mesh.shape()[Axis::kDp] > 1),
        batch_(GlobalBatchOn(settings, mesh.shape())),
        samples_(MicroBatch(settings, mesh.shape(), options)) {
    for (const ptc::DeviceId device : mesh.devices()) ++machine(device).ranks;
  }

  StepCost Estimate() {
    const ptc::MeshShape& shape = mesh_.shape();
    const std::int64_t dp = shape[Axis::kDp], tp = shape[Axis::kTp], pp = shape[Axis::kPp];
    for (std::int64_t stage = 0; stage < pp; ++stage) AddStage(stage);

    for (std::int64_t stage = 0; stage + 1 < pp; ++stage) {
      for (std::int64_t d = 0; d < dp; ++d) {
        for (std::int64_t t = 0; t < tp; ++t) {
          const std::vector<ptc::DeviceId> ends = {At(stage, d, t), At(stage + 1, d, t)};
          double seconds = 0;
          for (const Passes& passes : PassesOf(d)) {  // one message forward, one backward
            seconds +=
                2 * ToDouble(passes.count) * LinkOf(ends).At(HiddenBytes(model_, passes.samples));
          }
          // Each end has half of it.
          for (const ptc::DeviceId device : ends) machine(device).pipeline += seconds / 2;
        }
      }
    }
    // The two copies of a tied embedding: one message each way, one after the other.
    if (pp > 1 && model_.tied_head) {
      const std::int64_t bytes = (model_.vocab + tp - 1) / tp * model_.width * 4;
      for (std::int64_t d = 0; d < dp; ++d) {
        for (std::int64_t t = 0; t < tp; ++t) {
          const std::vector<ptc::DeviceId> ends = {At(0, d, t), At(pp - 1, d, t)};
          Charge(ends, 2 * LinkOf(ends).At(bytes), &Machine::reduction);
        }
      }
    }
    // The gather of the step decision.
    constexpr std::int64_t kRecordBytes = 64;
    const std::vector<ptc::DeviceId>& world = mesh_.devices();
    const std::int64_t ranks = std::ssize(world);
    Charge(world, GatherOf(world).Of(ranks).At(kRecordBytes * ranks), &Machine::fixed);
    return Sum();
  }

 private:
  Machine& machine(ptc::DeviceId device) { return by_number_[machines_.MachineOf(device)]; }

  ptc::DeviceId At(std::int64_t stage, std::int64_t d, std::int64_t t) const {
    const ptc::MeshShape& shape = mesh_.shape();
    const std::int64_t rank = (stage * shape[Axis::kDp] + d) * shape[Axis::kTp] + t;
    return mesh_.devices()[static_cast<std::size_t>(rank)];
  }

  /// Of data-parallel rank `d`: full ones, then the one that holds what is left of its share.
  std::array<Passes, 2> PassesOf(std::int64_t d) const {
    const std::int64_t share = ShareOfBatch(batch_, d, mesh_.shape()[Axis::kDp]).size();
    const std::int64_t rest = share % samples_;
    return {Passes{share / samples_, samples_}, Passes{rest > 0 ? 1 : 0, rest}};
  }

  double PassSeconds(const PassWork& work) const {
    return calibration_.pass_seconds + work.layers * calibration_.layer_seconds +
           work.flops / calibration_.flops_per_second +
           work.elements * calibration_.element_seconds;
  }

  bool OnOneHost(const std::vector<ptc::DeviceId>& group) const {
    return std::all_of(group.begin(), group.end(), [&](ptc::DeviceId device) {
      return machines_.topology.HostOf(device) == machines_.topology.HostOf(group.front());
    });
  }

  const LinkCost& LinkOf(const std::vector<ptc::DeviceId>& ends) const {
    return OnOneHost(ends) ? calibration_.shared_send : calibration_.network_send;
  }

  const CollectiveCost& GatherOf(const std::vector<ptc::DeviceId>& group) const {
    return OnOneHost(group) ? calibration_.shared_gather : calibration_.network_gather;
  }

  double ReduceSeconds(const std::vector<ptc::DeviceId>& group, std::int64_t bytes) const {
    const CollectiveCost& cost =
        OnOneHost(group) ? calibration_.shared_all_reduce : calibration_.network_all_reduce;
    return cost.Of(std::ssize(group)).At(bytes);
  }

  /// Core-seconds of a collective that takes `seconds` where it is alone: its ranks keep as many
  /// cores busy as there are of both.
  void Charge(const std::vector<ptc::DeviceId>& group, double seconds, double Machine::*what) {
    std::map<std::int32_t, std::int64_t> members;
    for (const ptc::DeviceId device : group) ++members[machines_.MachineOf(device)];
    for (const auto& [number, count] : members) {
      by_number_[number].*what += seconds * ToDouble(std::min(count, calibration_.cores));
    }
  }

  void AddStage(std::int64_t stage) {
    const ptc::MeshShape& shape = mesh_.shape();
    const std::int64_t dp = shape[Axis::kDp], tp = shape[Axis::kTp], pp = shape[Axis::kPp];
    const double first_pass = PassSeconds(WorkOf(model_, tp, stage, pp, samples_));
    first_passes_ += first_pass;

    const std::int64_t parameters = ParametersOf(model_, tp, stage, pp);
    const std::int64_t gradient_bytes = parameters * static_cast<std::int64_t>(sizeof(float));
    // A ZeRO share is computed twice, before and after the gather (agents/train/updater.h).
    const double updated = ToDouble(parameters) * (zero_ ? 2.0 / ToDouble(dp) : 1);
    const double update = ToDouble(parameters) * calibration_.gradient_seconds +
                          updated * calibration_.update_seconds;
    for (std::int64_t d = 0; d < dp; ++d) {
      std::vector<ptc::DeviceId> tp_group;
      for (std::int64_t t = 0; t < tp; ++t) tp_group.push_back(At(stage, d, t));
      double compute = 0, reduce = 0;  // of one rank's passes; of the group's reductions in them
      for (const Passes& passes : PassesOf(d)) {
        if (passes.count == 0) continue;
        const PassWork work = WorkOf(model_, tp, stage, pp, passes.samples);
        compute += ToDouble(passes.count) * PassSeconds(work);
        if (tp > 1)
          reduce += ToDouble(passes.count) * TensorSeconds(tp_group, work, passes.samples);
      }
      for (const ptc::DeviceId device : tp_group) {
        machine(device).compute += compute;
        machine(device).update += update;
      }
      later_passes_ = std::max(later_passes_, compute - first_pass);
      if (tp > 1) Charge(tp_group, reduce, &Machine::tensor);
    }
    if (dp == 1) return;
    for (std::int64_t t = 0; t < tp; ++t) {
      std::vector<ptc::DeviceId> dp_group;
      for (std::int64_t d = 0; d < dp; ++d) dp_group.push_back(At(stage, d, t));
      Charge(dp_group, ReduceSeconds(dp_group, gradient_bytes), &Machine::reduction);
      if (!zero_) continue;
      Charge(dp_group, GatherOf(dp_group).Of(dp).At(gradient_bytes), &Machine::gather);
    }
  }

  /// Collectives over tp of one pass.
  double TensorSeconds(const std::vector<ptc::DeviceId>& group, const PassWork& work,
                       std::int64_t samples) const {
    const std::int64_t tokens = samples * model_.sequence;
    double seconds = work.tensor_reduces * ReduceSeconds(group, HiddenBytes(model_, samples));
    if (work.has_loss) {
      seconds += ReduceSeconds(group, 4 * tokens) + ReduceSeconds(group, 8 * tokens);
    }
    return seconds;
  }

  /// Of the machine that takes longest; the parts are that machine's.
  StepCost Sum() const {
    StepCost slowest;
    for (const auto& [number, m] : by_number_) {
      const double busy = ToDouble(std::min(m.ranks, calibration_.cores));
      const double speed = Speed(m.ranks);
      StepCost cost{.compute = m.compute / speed,
                    .tensor = m.tensor / busy,
                    .pipeline = m.pipeline / busy,
                    .reduction = m.reduction / busy,
                    .update = m.update / speed,
                    .gather = m.gather / busy,
                    .fixed = (m.fixed + calibration_.step_seconds * ToDouble(m.ranks)) / busy};
      // The pipeline's critical path: one micro-batch through all stages, the others behind it
      // through the slowest (1F1B; Narayanan et al., SC 2021, section 2.2). Where several stages
      // share a core, its bubble is another stage's time, and the work bound holds.
      const double path = (first_passes_ + later_passes_) / (speed / busy);
      cost.pipeline += std::max(0.0, path - cost.compute);
      if (cost.total() > slowest.total()) slowest = cost;
    }
    return slowest;
  }

  /// What `ranks` that compute get done in the time in which one alone does 1.
  double Speed(std::int64_t ranks) const {
    const std::int64_t cores = calibration_.cores;
    if (cores == 1 || ranks <= 1) return 1;
    const double share = ToDouble(std::min(ranks, cores) - 1) / ToDouble(cores - 1);
    return 1 + share * (calibration_.all_cores_speed - 1);
  }

  const GptConfig& model_;
  const ptc::DeviceMesh& mesh_;
  const Machines& machines_;
  const Calibration& calibration_;
  const bool zero_;
  const std::int64_t batch_, samples_;  // of a step; of a micro-batch
  double first_passes_ = 0;             // of one micro-batch through all stages
  double later_passes_ = 0;             // of the others, on the stage and replica that take longest
  std::map<std::int32_t, Machine> by_number_;
};

}  // namespace

std::int32_t Machines::MachineOf(ptc::DeviceId device) const {
  const auto it = machine_of_node.find(device.node);
  return it == machine_of_node.end() ? device.node : it->second;
}

StepCost EstimateStep(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                      const StepOptions& options, const Machines& machines,
                      const Calibration& calibration) {
  return Step(settings, mesh, options, machines, calibration).Estimate();
}

}  // namespace tessera::engine
