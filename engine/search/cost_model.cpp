// SPDX-License-Identifier: Apache-2.0
#include "engine/search/cost_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/search/to_double.h"
#include "engine/search/workload.h"

namespace tessera::engine {
namespace {

using ptc::Axis;

/// The cores of one machine and the work of its ranks in one step.
struct Machine {
  std::int64_t ranks = 0;
  double compute = 0, tensor = 0, pipeline = 0, reduction = 0, update = 0, gather = 0, fixed = 0;
};

/// Ranks first, first + stride, … of a mesh.
struct Group {
  std::size_t first = 0, count = 0, stride = 1;
  std::size_t operator[](std::size_t i) const { return first + i * stride; }
};

/// The estimate visits each rank a few times. What depends on a stage and on the size of a share
/// alone is computed once: shares have at most two sizes.
class Step {
 public:
  Step(const JobSettings& settings, const ptc::DeviceMesh& mesh, const StepOptions& options,
       const Machines& machines, const Calibration& calibration)
      : model_(settings.model),
        calibration_(calibration),
        dp_(mesh.shape()[Axis::kDp]),
        tp_(mesh.shape()[Axis::kTp]),
        pp_(mesh.shape()[Axis::kPp]),
        zero_(options.zero && dp_ > 1),
        batch_(GlobalBatchOn(settings, mesh.shape())),
        samples_(MicroBatch(settings, mesh.shape(), options)) {
    std::map<std::int32_t, std::size_t> index;  // of a machine, in order of their numbers
    for (const std::int32_t node : NodesOf(mesh)) {
      index.emplace(machines.MachineOf({node, 0}), 0);
    }
    for (auto& [number, position] : index) {
      position = machines_.size();
      machines_.emplace_back();
    }
    members_.resize(machines_.size());
    std::optional<std::int32_t> node;
    std::size_t machine = 0;
    std::int32_t host = 0;
    for (const ptc::DeviceId device : mesh.devices()) {
      if (node != device.node) {  // neighbours are often on one node
        node = device.node;
        machine = index.at(machines.MachineOf(device));
        host = machines.topology.HostOf(device);
      }
      machine_of_.push_back(machine);
      host_of_.push_back(host);
      ++machines_[machine].ranks;
    }
  }

  StepCost Estimate() {
    for (std::int64_t stage = 0; stage < pp_; ++stage) AddStage(stage);
    for (std::int64_t stage = 0; stage + 1 < pp_; ++stage) AddMessages(stage);
    // The two copies of a tied embedding: one message each way, one after the other.
    if (pp_ > 1 && model_.tied_head) {
      const std::int64_t bytes = TiedBytes(model_, tp_);
      for (std::int64_t d = 0; d < dp_; ++d) {
        for (std::int64_t t = 0; t < tp_; ++t) {
          const std::size_t first = RankAt(0, d, t);
          const Group ends{first, 2, RankAt(pp_ - 1, d, t) - first};
          Charge(ends, 2 * LinkOf(OnOneHost(ends)).At(bytes), &Machine::reduction);
        }
      }
    }
    // The gather of the step decision.
    constexpr std::int64_t kRecordBytes = 64;
    const Group world{0, machine_of_.size(), 1};
    const auto ranks = static_cast<std::int64_t>(world.count);
    Charge(world, GatherOf(OnOneHost(world)).Of(ranks).At(kRecordBytes * ranks), &Machine::fixed);
    return Sum();
  }

  /// Without Estimate, and without the sharing of cores.
  PipelineTimes PipelinePasses() const {
    std::int64_t share = 0;
    for (std::int64_t d = 0; d < dp_; ++d) share = std::max(share, ShareOf(d));
    PipelineTimes times{.stages = {}, .micro_batches = NumMicroBatches(share, samples_)};
    for (std::int64_t stage = 0; stage < pp_; ++stage) {
      const PassWork work = WorkOf(model_, tp_, stage, pp_, samples_);
      const Group group{RankAt(stage, 0, 0), static_cast<std::size_t>(tp_), 1};
      double both = PassSeconds(work);
      if (tp_ > 1) both += TensorSeconds(OnOneHost(group), work, samples_);
      times.stages.push_back({both * kForwardShare, both * (1 - kForwardShare)});
      if (stage + 1 == pp_) continue;
      const Group ends{group.first, 2, static_cast<std::size_t>(dp_ * tp_)};
      times.sends.push_back(LinkOf(OnOneHost(ends)).At(HiddenBytes(model_, samples_)));
    }
    return times;
  }

 private:
  static std::vector<std::int32_t> NodesOf(const ptc::DeviceMesh& mesh) {
    std::vector<std::int32_t> nodes;
    for (const ptc::DeviceId device : mesh.devices()) {
      if (nodes.empty() || nodes.back() != device.node) nodes.push_back(device.node);
    }
    return nodes;
  }

  std::size_t RankAt(std::int64_t stage, std::int64_t d, std::int64_t t) const {
    return static_cast<std::size_t>((stage * dp_ + d) * tp_ + t);
  }

  std::int64_t ShareOf(std::int64_t d) const { return ShareOfBatch(batch_, d, dp_).size(); }

  double PassSeconds(const PassWork& work) const {
    return calibration_.pass_seconds + work.layers * calibration_.layer_seconds +
           work.flops / calibration_.flops_per_second +
           work.elements * calibration_.element_seconds;
  }

  bool OnOneHost(const Group& group) const {
    for (std::size_t i = 1; i < group.count; ++i) {
      if (host_of_[group[i]] != host_of_[group.first]) return false;
    }
    return true;
  }

  const LinkCost& LinkOf(bool on_one_host) const {
    return on_one_host ? calibration_.shared_send : calibration_.network_send;
  }

  const CollectiveCost& GatherOf(bool on_one_host) const {
    return on_one_host ? calibration_.shared_gather : calibration_.network_gather;
  }

  double ReduceSeconds(std::int64_t ranks, bool on_one_host, std::int64_t bytes) const {
    const CollectiveCost& cost =
        on_one_host ? calibration_.shared_all_reduce : calibration_.network_all_reduce;
    return cost.Of(ranks).At(bytes);
  }

  /// Core-seconds of a collective that takes `seconds` where it is alone: its ranks keep as many
  /// cores busy as there are of both.
  void Charge(const Group& group, double seconds, double Machine::*what) {
    for (std::size_t i = 0; i < group.count; ++i) {
      const std::size_t machine = machine_of_[group[i]];
      if (members_[machine]++ == 0) touched_.push_back(machine);
    }
    for (const std::size_t machine : touched_) {
      machines_[machine].*what +=
          seconds * ToDouble(std::min(members_[machine], calibration_.cores));
      members_[machine] = 0;
    }
    touched_.clear();
  }

  /// What the ranks of one tp group do in the passes of a share.
  struct ShareWork {
    double compute = 0;                     // of each rank
    std::array<double, 2> reduce = {0, 0};  // of the group: between hosts; on one host
  };

  ShareWork WorkOfShare(std::int64_t stage, std::int64_t share) const {
    ShareWork out;
    for (const Passes& passes : PassesOf(share, samples_)) {
      if (passes.count == 0) continue;
      const PassWork work = WorkOf(model_, tp_, stage, pp_, passes.samples);
      out.compute += ToDouble(passes.count) * PassSeconds(work);
      if (tp_ == 1) continue;
      for (const bool on_one_host : {false, true}) {
        out.reduce[on_one_host ? 1 : 0] +=
            ToDouble(passes.count) * TensorSeconds(on_one_host, work, passes.samples);
      }
    }
    return out;
  }

  void AddStage(std::int64_t stage) {
    const double first_pass = PassSeconds(WorkOf(model_, tp_, stage, pp_, samples_));
    first_passes_ += first_pass;

    const std::int64_t parameters = ParametersOf(model_, tp_, stage, pp_);
    const std::int64_t gradient_bytes = parameters * static_cast<std::int64_t>(sizeof(float));
    // A ZeRO share is computed twice, before and after the gather (agents/train/updater.h).
    const double updated = ToDouble(parameters) * (zero_ ? 2.0 / ToDouble(dp_) : 1);
    const double update = ToDouble(parameters) * calibration_.gradient_seconds +
                          updated * calibration_.update_seconds;
    std::int64_t share = -1;
    ShareWork work;
    for (std::int64_t d = 0; d < dp_; ++d) {
      if (ShareOf(d) != share) {
        share = ShareOf(d);
        work = WorkOfShare(stage, share);
      }
      const Group group{RankAt(stage, d, 0), static_cast<std::size_t>(tp_), 1};
      for (std::size_t i = 0; i < group.count; ++i) {
        Machine& machine = machines_[machine_of_[group[i]]];
        machine.compute += work.compute;
        machine.update += update;
      }
      later_passes_ = std::max(later_passes_, work.compute - first_pass);
      if (tp_ > 1) Charge(group, work.reduce[OnOneHost(group) ? 1 : 0], &Machine::tensor);
    }
    if (dp_ == 1) return;
    for (std::int64_t t = 0; t < tp_; ++t) {
      const Group group{RankAt(stage, 0, t), static_cast<std::size_t>(dp_),
                        static_cast<std::size_t>(tp_)};
      const bool on_one_host = OnOneHost(group);
      Charge(group, ReduceSeconds(dp_, on_one_host, gradient_bytes), &Machine::reduction);
      if (!zero_) continue;
      Charge(group, GatherOf(on_one_host).Of(dp_).At(gradient_bytes), &Machine::gather);
    }
  }

  /// Between a stage and the next one.
  void AddMessages(std::int64_t stage) {
    std::int64_t share = -1;
    std::array<double, 2> seconds = {0, 0};  // between hosts; on one host
    for (std::int64_t d = 0; d < dp_; ++d) {
      if (ShareOf(d) != share) {
        share = ShareOf(d);
        seconds = {0, 0};
        // One message forward, one backward.
        for (const Passes& passes : PassesOf(share, samples_)) {
          const std::int64_t bytes = HiddenBytes(model_, passes.samples);
          for (const bool on_one_host : {false, true}) {
            seconds[on_one_host ? 1 : 0] +=
                2 * ToDouble(passes.count) * LinkOf(on_one_host).At(bytes);
          }
        }
      }
      for (std::int64_t t = 0; t < tp_; ++t) {
        const std::size_t first = RankAt(stage, d, t);
        const Group ends{first, 2, static_cast<std::size_t>(dp_ * tp_)};
        const double both = seconds[OnOneHost(ends) ? 1 : 0];
        // Each end has half of it.
        for (const std::size_t rank : {ends[0], ends[1]}) {
          machines_[machine_of_[rank]].pipeline += both / 2;
        }
      }
    }
  }

  /// Collectives over tp of one pass.
  double TensorSeconds(bool on_one_host, const PassWork& work, std::int64_t samples) const {
    const std::int64_t tokens = samples * model_.sequence;
    double seconds =
        work.tensor_reduces * ReduceSeconds(tp_, on_one_host, HiddenBytes(model_, samples));
    if (work.has_loss) {
      seconds += ReduceSeconds(tp_, on_one_host, kLossMaxBytes * tokens) +
                 ReduceSeconds(tp_, on_one_host, kLossSumBytes * tokens);
    }
    return seconds;
  }

  /// Of the machine that takes longest; the parts are that machine's.
  StepCost Sum() const {
    StepCost slowest;
    for (const Machine& m : machines_) {
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
  const Calibration& calibration_;
  const std::int64_t dp_, tp_, pp_;
  const bool zero_;
  const std::int64_t batch_, samples_;  // of a step; of a micro-batch
  double first_passes_ = 0;             // of one micro-batch through all stages
  double later_passes_ = 0;             // of the others, on the stage and replica that take longest
  std::vector<Machine> machines_;       // in order of their numbers
  std::vector<std::size_t> machine_of_;  // by rank: an index of machines_
  std::vector<std::int32_t> host_of_;    // by rank
  // Of Charge: the ranks of a group by machine, all 0 between calls, and the machines that have
  // any.
  std::vector<std::int64_t> members_;
  std::vector<std::size_t> touched_;
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

PipelineEstimate EstimatePipeline(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                                  const StepOptions& options, const Machines& machines,
                                  const Calibration& calibration) {
  PipelineTimes times = Step(settings, mesh, options, machines, calibration).PipelinePasses();
  const StepCost cost = EstimateStep(settings, mesh, options, machines, calibration);
  const double passes = cost.compute + cost.tensor + cost.pipeline;
  const double alone = MakePipelineSchedule(times).seconds;
  return {Scaled(std::move(times), alone > 0 ? passes / alone : 1), cost.total() - passes};
}

}  // namespace tessera::engine
