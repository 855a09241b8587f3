// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/lesson_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "engine/cluster/holding.h"
#include "engine/data/cursor.h"
#include "engine/lesson/lesson_stage.h"
#include "ptc/base/utf8.h"

namespace tessera::engine {
namespace {

constexpr LessonUnit kC = LessonUnit::kCount, kB = LessonUnit::kBytes, kS = LessonUnit::kSeconds,
                     kF = LessonUnit::kFraction, kT = LessonUnit::kText;

// The degrees and the names with a GPU are those of the plan if one is shown, else of now.
constexpr std::array kLessonNames = {
    LessonName{"dp", kC, "", "data-parallel degree", false},
    LessonName{"tp", kC, "", "tensor-parallel degree", false},
    LessonName{"pp", kC, "", "pipeline stages", false},
    LessonName{"ep", kC, "", "expert-parallel degree", false},
    LessonName{"cp", kC, "", "context-parallel degree", false},
    LessonName{"devices", kC, "", "GPUs of the job", false},
    LessonName{"nodes", kC, "", "nodes of the job", false},
    LessonName{"zero", kC, "", "ZeRO", false},
    LessonName{"tensors", kC, "", "tensors of the state", false},
    LessonName{"global_batch", kC, "", "samples of a step", false},
    LessonName{"micro_batch", kC, "", "samples of a micro-batch", false},
    LessonName{"micro_batches", kC, "", "micro-batches of a step", false},
    LessonName{"bubble", kF, "", "share of a step in which a stage waits", false},
    LessonName{"memory", kB, "", "memory of a GPU", false},
    LessonName{"state_bytes", kB, "", "one copy of the state", false},
    LessonName{"held_bytes", kB, "GPU", "state that the GPU holds", false},
    LessonName{"parameter_bytes", kB, "GPU", "parameters that the GPU holds", false},
    LessonName{"optimizer_bytes", kB, "GPU", "optimizer state that the GPU holds", false},
    LessonName{"tensor_bytes", kB, "tensor", "size of the tensor", false},
    LessonName{"shard_bytes", kB, "tensor, GPU", "shard of the tensor on the GPU", false},
    LessonName{"holders_left", kC, "[tensor]", "live GPUs that hold the rarest shard", false},
    LessonName{"lost_bytes", kB, "", "state that no live GPU holds", false},
    LessonName{"moved_bytes", kB, "", "bytes that move", true},
    LessonName{"kept_bytes", kB, "", "bytes that stay", true},
    LessonName{"repacked_bytes", kB, "", "bytes repacked on their GPU", true},
    LessonName{"host_bytes", kB, "", "bytes between GPUs of a node", true},
    LessonName{"network_bytes", kB, "", "bytes over the network", true},
    LessonName{"direct_bytes", kB, "", "bytes over the network without forwarding", true},
    LessonName{"storage_bytes", kB, "", "bytes from a checkpoint", true},
    LessonName{"received_bytes", kB, "GPU or node", "bytes that arrive", true},
    LessonName{"sent_bytes", kB, "GPU or node", "bytes that leave", true},
    LessonName{"volume_bound", kB, "", "least bytes that must move", true},
    LessonName{"network_bound", kB, "", "least bytes over the network", true},
    LessonName{"single_source_bytes", kB, "", "bytes that only one GPU can send", true},
    LessonName{"busiest_port", kT, "", "port that finishes last", true},
    LessonName{"busiest_port_bytes", kB, "", "bytes through the busiest port", true},
    LessonName{"port_seconds", kS, "", "time of the busiest port", true},
    LessonName{"direct_bound_seconds", kS, "", "least time of any plan that sends directly", true},
    LessonName{"relay_bound_seconds", kS, "", "least time of any plan", true},
    LessonName{"gap", kF, "", "distance of the plan from the bound", true},
    LessonName{"relayed", kC, "", "forwarding inside a node", true},
    LessonName{"peak_memory", kB, "[GPU]", "memory during the move", true},
    LessonName{"fits", kC, "", "room in the memory of every GPU", true},
    LessonName{"pause_seconds", kS, "", "estimated pause", true},
};

const LessonName* FindLessonName(std::string_view name) {
  const auto* const found = std::ranges::find(kLessonNames, name, &LessonName::name);
  return found == kLessonNames.end() ? nullptr : found;
}

/// Checks the name and the number of its arguments.
Result<const LessonName*> KnownLessonName(const std::string& name,
                                          const std::vector<std::string>& arguments) {
  const LessonName* known = FindLessonName(name);
  if (known == nullptr) {
    return InvalidArgument(fmt::format(
        "there is no value '{}': the guide lists the values on its page \"Writing a lesson\"",
        Escaped(name)));
  }
  const bool optional = known->arguments.starts_with('[');
  const std::size_t most =
      known->arguments.empty()
          ? 0
          : 1 + static_cast<std::size_t>(std::ranges::count(known->arguments, ','));
  if (arguments.size() > most || (arguments.size() < most && !optional)) {
    return InvalidArgument(known->arguments.empty()
                               ? fmt::format("'{}' has no arguments", name)
                               : fmt::format("'{}' needs ({})", name, known->arguments));
  }
  return known;
}

LessonValue Number(const LessonName& name, double number) { return {name.unit, number, {}}; }
LessonValue Number(const LessonName& name, std::int64_t number) {
  return Number(name, static_cast<double>(number));
}

class StageValues {
 public:
  explicit StageValues(const LessonState& state)
      : state_(state),
        plan_(state.plan.get()),
        layout_(plan_ == nullptr ? state.layout : plan_->to),
        options_(plan_ == nullptr ? state.options : plan_->options) {}

  Result<LessonValue> Of(const std::string& word, const std::vector<std::string>& arguments) const {
    TESSERA_TRY(const LessonName* name, KnownLessonName(word, arguments));
    if (name->of_plan && plan_ == nullptr) {
      return FailedPrecondition(fmt::format("'{}' needs a plan, and there is none", word));
    }
    if (name->of_plan) return OfPlan(*name, arguments);
    return OfLayout(*name, arguments);
  }

 private:
  Result<ptc::DeviceId> Device(const std::string& text) const {
    TESSERA_TRY(const ptc::DeviceId device, ptc::ParseDevice(text));
    if (!std::ranges::binary_search(state_.world->devices, device)) {
      return InvalidArgument(fmt::format("the cluster has no GPU {}", text));
    }
    return device;
  }
  Result<int> Tensor(const std::string& text) const {
    const auto tensor = layout_.collection().Find(text);
    if (tensor) return *tensor;
    return InvalidArgument(
        fmt::format("model {} has no tensor '{}'", state_.world->setup.job.model, text));
  }

  std::int64_t MicroBatchOf() const {
    const JobSettings& settings = state_.world->settings;
    if (!settings.program) return MicroBatch(settings, layout_.mesh().shape(), options_);
    return std::max<std::int64_t>(1, options_.micro_batch);
  }
  std::int64_t MicroBatches() const {
    const ptc::MeshShape& mesh = layout_.mesh().shape();
    const std::int64_t share =
        ShareOfBatch(GlobalBatchOn(state_.world->settings, mesh), 0, mesh[ptc::Axis::kDp]).size();
    return NumMicroBatches(share, MicroBatchOf());
  }

  Result<LessonValue> OfLayout(const LessonName& name,
                               const std::vector<std::string>& arguments) const {
    const ptc::MeshShape& mesh = layout_.mesh().shape();
    if (name.name == "dp") return Number(name, mesh[ptc::Axis::kDp]);
    if (name.name == "tp") return Number(name, mesh[ptc::Axis::kTp]);
    if (name.name == "pp") return Number(name, mesh[ptc::Axis::kPp]);
    if (name.name == "ep") return Number(name, mesh[ptc::Axis::kEp]);
    if (name.name == "cp") return Number(name, mesh[ptc::Axis::kCp]);
    if (name.name == "devices") return Number(name, std::int64_t{layout_.mesh().num_ranks()});
    if (name.name == "nodes") {
      std::set<std::int32_t> nodes;
      for (const ptc::DeviceId device : layout_.mesh().devices()) nodes.insert(device.node);
      return Number(name, static_cast<std::int64_t>(nodes.size()));
    }
    if (name.name == "zero") return Number(name, std::int64_t{options_.zero ? 1 : 0});
    if (name.name == "tensors") return Number(name, std::ssize(layout_.collection().tensors()));
    if (name.name == "global_batch") {
      return Number(name, GlobalBatchOn(state_.world->settings, mesh));
    }
    if (name.name == "micro_batch") return Number(name, MicroBatchOf());
    if (name.name == "micro_batches") return Number(name, MicroBatches());
    if (name.name == "bubble") {
      const auto stages = static_cast<double>(mesh[ptc::Axis::kPp]);
      return Number(name, (stages - 1) / (static_cast<double>(MicroBatches()) + stages - 1));
    }
    if (name.name == "memory") return Number(name, state_.world->setup.cluster.memory_bytes);
    if (name.name == "state_bytes") return Number(name, layout_.collection().total_bytes());
    if (name.name == "holders_left") {
      if (arguments.empty()) return Number(name, HoldersLeft(state_));
      TESSERA_TRY(const int tensor, Tensor(arguments[0]));
      return Number(name, HoldersLeft(state_, tensor));
    }
    if (name.name == "lost_bytes") return Number(name, LostBytes(state_));
    if (name.name == "tensor_bytes") {
      TESSERA_TRY(const int tensor, Tensor(arguments[0]));
      const auto& spec = layout_.collection().tensors()[static_cast<std::size_t>(tensor)];
      TESSERA_TRY(const std::int64_t elements, ptc::NumElements(spec.shape));
      return Number(name, elements * ptc::SizeBytes(spec.dtype));
    }
    if (name.name == "shard_bytes") {
      TESSERA_TRY(const int tensor, Tensor(arguments[0]));
      TESSERA_TRY(const ptc::DeviceId device, Device(arguments[1]));
      const auto& spec = layout_.collection().tensors()[static_cast<std::size_t>(tensor)];
      const auto rank = layout_.mesh().RankOf(device);
      std::int64_t elements = 0;
      if (rank) {
        for (const ptc::Box& box : layout_.Boxes(*rank, tensor)) elements += box.num_elements();
      }
      return Number(name, elements * ptc::SizeBytes(spec.dtype));
    }
    TESSERA_TRY(const ptc::DeviceId device, Device(arguments[0]));
    const auto rank = layout_.mesh().RankOf(device);
    if (!rank) return Number(name, std::int64_t{0});
    if (name.name == "held_bytes") return Number(name, layout_.BytesOf(*rank));
    const Holding holding = HoldingOf(layout_, *rank);
    if (name.name == "parameter_bytes") return Number(name, holding.parameter_bytes);
    return Number(name, holding.optimizer_bytes);  // "optimizer_bytes", the last one
  }

  /// The bytes of the flows to or from a GPU, or over the border of a node.
  Result<std::int64_t> FlowBytes(const std::string& place, bool received) const {
    std::int32_t number = 0;
    const char* end = place.data() + place.size();
    const bool is_node = place.size() > 1 && place[0] == 'n' &&
                         std::from_chars(place.data() + 1, end, number).ptr == end;
    std::optional<ptc::DeviceId> device;
    if (!is_node) {
      TESSERA_TRY(device, Device(place));
    } else if (number < 0 || number >= state_.world->setup.cluster.nodes) {
      return InvalidArgument(fmt::format("the cluster has no node {}", place));
    }
    std::int64_t bytes = 0;
    for (const FlowStatus& flow : plan_->summary.flows) {
      const ptc::DeviceId here = received ? flow.destination : flow.source;
      const ptc::DeviceId there = received ? flow.source : flow.destination;
      const bool counts = device ? here == *device : here.node == number && there.node != number;
      if (counts) bytes += flow.bytes_total;
    }
    return bytes;
  }

  Result<LessonValue> OfPlan(const LessonName& name,
                             const std::vector<std::string>& arguments) const {
    const PlanSummary& plan = plan_->summary;
    const PlanCertificate& certificate = plan.certificate;
    if (name.name == "moved_bytes") return Number(name, plan.moved());
    if (name.name == "kept_bytes") return Number(name, plan.kept);
    if (name.name == "repacked_bytes") return Number(name, plan.device);
    if (name.name == "host_bytes") return Number(name, plan.host);
    if (name.name == "network_bytes") return Number(name, plan.network);
    if (name.name == "direct_bytes") return Number(name, plan.network_direct);
    if (name.name == "storage_bytes") return Number(name, plan.storage);
    if (name.name == "received_bytes" || name.name == "sent_bytes") {
      TESSERA_TRY(const std::int64_t bytes, FlowBytes(arguments[0], name.name == "received_bytes"));
      return Number(name, bytes);
    }
    if (name.name == "volume_bound") return Number(name, plan.volume_bound);
    if (name.name == "network_bound") return Number(name, certificate.network_bound);
    if (name.name == "single_source_bytes") return Number(name, certificate.single_source_bytes);
    if (name.name == "busiest_port") return LessonValue{name.unit, 0, certificate.port};
    if (name.name == "busiest_port_bytes") return Number(name, certificate.port_bytes);
    if (name.name == "port_seconds") return Number(name, certificate.port_seconds);
    if (name.name == "direct_bound_seconds") return Number(name, certificate.direct_seconds);
    if (name.name == "relay_bound_seconds") return Number(name, certificate.relayed_seconds);
    if (name.name == "gap") return Number(name, GapAboveBound(certificate));
    if (name.name == "relayed") return Number(name, std::int64_t{plan.relayed ? 1 : 0});
    if (name.name == "fits") return Number(name, std::int64_t{plan_->fits ? 1 : 0});
    if (name.name == "pause_seconds") return Number(name, plan.pause_estimate);
    std::int64_t peak = 0;  // "peak_memory", the last one
    std::optional<ptc::DeviceId> device;
    if (!arguments.empty()) {
      TESSERA_TRY(device, Device(arguments[0]));
    }
    for (const PlanSummary::Peak& each : plan.peak_memory) {
      if (!device || each.device == *device) peak = std::max(peak, each.bytes);
    }
    return Number(name, peak);
  }

  const LessonState& state_;
  const LessonPlanned* plan_;
  const ptc::Layout& layout_;
  const StepOptions options_;
};

}  // namespace

std::span<const LessonName> LessonNameTable() { return kLessonNames; }

std::string LessonMeaning(std::string_view expression) {
  const std::size_t end = expression.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  const LessonName* name = FindLessonName(expression.substr(0, end));
  if (name == nullptr) return std::string(expression);
  if (end == std::string_view::npos) return std::string(name->meaning);
  if (expression[end] != '(') return std::string(expression);
  const std::size_t close = expression.find(')', end);
  if (close + 1 != expression.size()) return std::string(expression);
  return fmt::format("{}, {}", name->meaning, expression.substr(end + 1, close - end - 1));
}

LessonNames AnyLessonNames() {
  return [](const std::string& word,
            const std::vector<std::string>& arguments) -> Result<LessonValue> {
    TESSERA_TRY(const LessonName* name, KnownLessonName(word, arguments));
    return LessonValue{name->unit, 1, {}};
  };
}

LessonNames NamesOnStage(const LessonState& state) {
  return [&state](const std::string& name, const std::vector<std::string>& arguments) {
    return StageValues(state).Of(name, arguments);
  };
}

}  // namespace tessera::engine
