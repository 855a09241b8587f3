// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/lesson_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/cluster/holding.h"
#include "engine/lesson/lesson_names.h"
#include "engine/search/fit.h"
#include "engine/store/memory_needs.h"
#include "ptc/base/overloaded.h"

namespace tessera::engine {
namespace {

Error AtLine(const Lesson& lesson, int line, const Error& error) {
  return {error.code, fmt::format("{}:{}: {}", lesson.file, line, error.ToString()), {}};
}

bool IsLost(const LessonState& state, ptc::DeviceId device) {
  return std::ranges::binary_search(state.lost, device);
}

Status CheckKnown(const LessonState& state, const std::vector<ptc::DeviceId>& devices) {
  for (const ptc::DeviceId device : devices) {
    if (!std::ranges::binary_search(state.world->devices, device)) {
      return InvalidArgument(fmt::format("the cluster has no GPU {}", ptc::ToString(device)));
    }
  }
  return OkStatus();
}

/// By part of a tensor: the live ranks that hold it.
std::vector<std::int64_t> LiveHolders(const LessonState& state, const ptc::Parts& parts) {
  std::vector<std::int64_t> holders(parts.boxes.size(), 0);
  const ptc::DeviceMesh& mesh = state.layout.mesh();
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    if (IsLost(state, mesh.devices()[static_cast<std::size_t>(rank)])) continue;
    const std::int64_t stage = mesh.Coordinate(rank, ptc::Axis::kPp);
    if (!std::ranges::binary_search(parts.stages, stage)) continue;
    ++holders[state.layout.PartIndex(rank, parts)];
  }
  return holders;
}

Result<LessonState> Lose(LessonState next, const LessonLoseAction& lose) {
  std::vector<ptc::DeviceId> lost = lose.devices;
  for (const std::int32_t node : lose.nodes) {
    const std::size_t before = lost.size();
    std::ranges::copy_if(next.world->devices, std::back_inserter(lost),
                         [&](ptc::DeviceId device) { return device.node == node; });
    if (lost.size() == before) {
      return InvalidArgument(fmt::format("the cluster has no node n{}", node));
    }
  }
  TESSERA_RETURN_IF_ERROR(CheckKnown(next, lost));
  next.lost.insert(next.lost.end(), lost.begin(), lost.end());
  std::ranges::sort(next.lost);
  const auto twice = std::ranges::unique(next.lost);
  next.lost.erase(twice.begin(), twice.end());
  next.plan.reset();
  next.is_moved = false;
  return next;
}

/// The plan shown, or else the job as it is, with other devices in the places of these.
Result<LessonState> Swap(LessonState next, const LessonSwapAction& swap) {
  const LessonPlanned* shown = next.draft();
  const ptc::DeviceMesh& mesh = shown != nullptr ? shown->to.mesh() : next.layout.mesh();
  std::vector<ptc::DeviceId> order = mesh.devices();
  for (std::size_t i = 0; i < swap.some.size(); ++i) {
    const auto one = std::ranges::find(order, swap.some[i]);
    const auto other = std::ranges::find(order, swap.others[i]);
    if (one == order.end() && other == order.end()) {
      return FailedPrecondition(fmt::format("'swap': neither {} nor {} is in the job",
                                            ptc::ToString(swap.some[i]),
                                            ptc::ToString(swap.others[i])));
    }
    if (one != order.end()) *one = swap.others[i];
    if (other != order.end()) *other = swap.some[i];
  }
  LessonChange change{.mesh = mesh.shape(), .devices = std::move(order), .pin = true};
  if (shown != nullptr) {
    change.zero = shown->options.zero;
    change.micro_batch = shown->options.micro_batch;
    change.relay = shown->relay;
  }
  TESSERA_TRY(next.plan, PlanLessonChange(next, change));
  next.is_moved = false;
  return next;
}

NodeStatus AliveNode(std::int32_t node) {
  NodeStatus status{.node = node, .state = NodeState::kAlive, .devices = {}};
  status.host = fmt::format("lesson-n{}", node);
  return status;
}

}  // namespace

bool operator==(const LessonState& a, const LessonState& b) {
  const auto hash = [](const LessonState& s) { return s.plan ? s.plan->outline.hash : 0; };
  return a.world->setup == b.world->setup && a.layout == b.layout && a.options == b.options &&
         a.epoch == b.epoch && a.lost == b.lost && hash(a) == hash(b) && a.is_moved == b.is_moved &&
         a.view == b.view && a.colour == b.colour && a.tensor == b.tensor &&
         a.selected == b.selected && a.frame == b.frame && a.experiment == b.experiment &&
         a.has_pipeline == b.has_pipeline;
}

Result<LessonState> ActLesson(const LessonState& state, const LessonAction& action,
                              const LessonSetup& setup) {
  LessonState next = state;
  return std::visit(
      Overloaded{
          [&](const LessonSetup& start) -> Result<LessonState> {
            TESSERA_TRY(LessonState fresh, StartState(start));
            fresh.epoch = state.epoch + 1;
            return fresh;
          },
          [&](const LessonPlanAction& plan) -> Result<LessonState> {
            TESSERA_TRY(next.plan, PlanLessonChange(state, plan.change));
            next.is_moved = false;
            return next;
          },
          [&](const LessonSwapAction& swap) { return Swap(next, swap); },
          [&](const LessonMoveAction&) -> Result<LessonState> {
            const LessonPlanned* plan = state.draft();
            if (plan == nullptr) return FailedPrecondition("'move' needs a 'plan' before it");
            if (!plan->fits) {
              return FailedPrecondition("'move': the plan does not fit in the memory of the GPUs");
            }
            next.layout = plan->to;
            next.options = plan->options;
            next.is_moved = true;
            ++next.epoch;
            return next;
          },
          [&](const LessonLoseAction& lose) { return Lose(next, lose); },
          [&](const LessonResetAction&) -> Result<LessonState> {
            TESSERA_TRY(LessonState fresh, StartState(setup));
            fresh.epoch = state.epoch + 1;
            return fresh;
          },
          [&](const LessonViewAction& view) -> Result<LessonState> {
            next.view = view.view;
            return next;
          },
          [&](const LessonSelectAction& select) -> Result<LessonState> {
            TESSERA_RETURN_IF_ERROR(CheckKnown(state, select.devices));
            next.selected = select.devices;
            return next;
          },
          [&](const LessonTensorAction& tensor) -> Result<LessonState> {
            if (!state.layout.collection().Find(tensor.name)) {
              return InvalidArgument(fmt::format("model {} has no tensor '{}'; the first is '{}'",
                                                 state.world->setup.job.model, tensor.name,
                                                 state.layout.collection().tensors().front().name));
            }
            next.tensor = tensor.name;
            return next;
          },
          [&](const LessonColourAction& colour) -> Result<LessonState> {
            next.colour = colour.by;
            return next;
          },
          [&](const LessonFrameAction& frame) -> Result<LessonState> {
            TESSERA_RETURN_IF_ERROR(CheckKnown(state, frame.devices));
            next.frame = frame.devices;
            return next;
          },
          [&](const LessonExperimentAction& experiment) -> Result<LessonState> {
            next.experiment = experiment.name;
            return next;
          },
          [&](const LessonPipelineAction& pipeline) -> Result<LessonState> {
            next.has_pipeline = pipeline.is_shown;
            return next;
          }},
      action.what);
}

std::int64_t HoldersLeft(const LessonState& state, std::optional<int> tensor) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const int count = static_cast<int>(state.layout.collection().tensors().size());
  for (int t = tensor.value_or(0); t < (tensor ? *tensor + 1 : count); ++t) {
    const ptc::Parts parts = state.layout.PartsOf(t);
    const auto holders = LiveHolders(state, parts);
    for (std::size_t part = 0; part < holders.size(); ++part) {
      if (!parts.boxes[part].empty()) least = std::min(least, holders[part]);
    }
  }
  return least;
}

std::int64_t LostBytes(const LessonState& state) {
  std::int64_t bytes = 0;
  const auto& tensors = state.layout.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const ptc::Parts parts = state.layout.PartsOf(static_cast<int>(t));
    const auto holders = LiveHolders(state, parts);
    for (std::size_t part = 0; part < holders.size(); ++part) {
      if (holders[part] > 0) continue;
      // Another part may hold the same elements, for example key heads that are replicated.
      bool held = false;
      for (std::size_t other = 0; other < holders.size(); ++other) {
        const bool first = holders[other] == 0 && other < part;
        held |= parts.boxes[other] == parts.boxes[part] && (holders[other] > 0 || first);
      }
      if (held) continue;
      for (const ptc::Box& box : parts.boxes[part]) {
        bytes += box.num_elements() * ptc::SizeBytes(tensors[t].dtype);
      }
    }
  }
  return bytes;
}

ClusterSnapshot LessonSnapshot(const LessonState& state) {
  const LessonWorld& world = *state.world;
  ClusterSnapshot snapshot;
  snapshot.cluster = "simulated";
  snapshot.sequence = state.epoch;
  const std::string job = world.setup.job.model;
  const std::vector<Holding> holdings = HoldingsOf(state.layout);
  const MemoryNeeds needs(state.layout, state.layout);
  for (const ptc::DeviceId device : world.devices) {
    if (snapshot.nodes.empty() || snapshot.nodes.back().node != device.node) {
      snapshot.nodes.push_back(AliveNode(device.node));
    }
    DeviceStatus status{
        .id = device, .total_bytes = world.setup.cluster.memory_bytes, .job = {}, .rank = {}};
    status.failed = IsLost(state, device);
    if (const auto rank = state.layout.mesh().RankOf(device)) {
      const Holding& holding = holdings[static_cast<std::size_t>(*rank)];
      status.job = job;
      status.rank = *rank;
      status.pieces = holding.pieces;
      status.parameter_bytes = holding.parameter_bytes;
      status.optimizer_bytes = holding.optimizer_bytes;
      status.used_bytes = needs.OfLayout(*rank);
    }
    snapshot.nodes.back().devices.push_back(std::move(status));
  }
  for (NodeStatus& node : snapshot.nodes) {
    if (std::ranges::all_of(node.devices, &DeviceStatus::failed)) node.state = NodeState::kDead;
  }
  JobStatus status;
  status.name = status.model = job;
  const bool degraded = std::ranges::any_of(state.layout.mesh().devices(),
                                            [&](ptc::DeviceId d) { return IsLost(state, d); });
  status.state = degraded ? JobState::kWaitingDecision : JobState::kRunning;
  status.mesh = state.layout.mesh().shape();
  status.devices = state.layout.mesh().devices();
  status.epoch = state.epoch;
  status.timeline = 1;
  status.layout_hash = ptc::Hex16(state.layout.hash());
  status.global_batch = GlobalBatchOn(world.settings, status.mesh);
  status.num_tensors = std::ssize(state.layout.collection().tensors());
  status.state_bytes = state.layout.collection().total_bytes();
  status.options = state.options;
  snapshot.jobs.push_back(std::move(status));
  return snapshot;
}

Result<LessonStage> LessonStage::Make(Lesson lesson) {
  LessonStage stage;
  stage.lesson_ = std::move(lesson);
  const Lesson& script = stage.lesson_;
  auto start = StartState(script.setup);
  if (!start) return AtLine(script, 1, start.error());
  LessonState state = *std::move(start);
  for (const LessonStep& step : script.steps) {
    state.experiment.clear();
    for (const LessonAction& action : step.actions) {
      auto next = ActLesson(state, action, script.setup);
      if (!next) return AtLine(script, action.line, next.error());
      state = *std::move(next);
    }
    stage.states_.push_back(state);
    auto& answer = stage.answers_.emplace_back();
    if (!step.predict) continue;
    answer = state;
    for (const LessonAction& action : step.predict->after) {
      auto next = ActLesson(*answer, action, script.setup);
      if (!next) return AtLine(script, action.line, next.error());
      answer = *std::move(next);
    }
  }
  return stage;
}

Result<LessonAnswer> AnswerOf(const LessonQuestion& question, const LessonState& state) {
  LessonAnswer answer;
  const LessonNames names = NamesOnStage(state);
  TESSERA_TRY(answer.value, EvaluateLesson(question.answer, names));
  for (const LessonQuestion::Choice& choice : question.choices) {
    TESSERA_TRY(LessonValue value, EvaluateLesson(choice.value, names));
    const bool equal =
        value.unit == answer.value.unit && value.text == answer.value.text &&
        std::abs(value.number - answer.value.number) <= 1e-9 * std::abs(answer.value.number);
    if (equal && answer.right) {
      return InvalidArgument(fmt::format("choices {} and {} are both right: {}", *answer.right + 1,
                                         answer.choices.size() + 1, LessonText(value)));
    }
    if (equal) answer.right = answer.choices.size();
    answer.choices.push_back(std::move(value));
  }
  if (question.choices.empty() && answer.value.unit == LessonUnit::kText) {
    return InvalidArgument(
        fmt::format("the answer '{}' is a text, so it needs 'choices'", answer.value.text));
  }
  if (!question.choices.empty() && !answer.right) {
    return InvalidArgument(
        fmt::format("no choice has the answer, which is {}", LessonText(answer.value)));
  }
  return answer;
}

bool IsRight(const LessonQuestion& question, const LessonValue& truth, double entered) {
  return std::abs(entered - truth.number) <= question.tolerance * std::abs(truth.number);
}

std::vector<LessonCheck> CheckTask(const LessonTask& task, const LessonState& state,
                                   const std::shared_ptr<const LessonPlanned>& plan) {
  LessonState drafted = state;
  drafted.plan = plan;
  drafted.is_moved = false;
  const LessonNames names = NamesOnStage(drafted);
  std::vector<LessonCheck> checks;
  for (const LessonTask::Condition& condition : task.check) {
    // Without a plan a value of it is not known yet; the limit is.
    bool known = true;
    const auto lenient = [&](const std::string& name, const std::vector<std::string>& arguments) {
      auto value = names(name, arguments);
      if (value || value.error().code != ErrorCode::kFailedPrecondition) return value;
      known = false;
      return AnyLessonNames()(name, arguments);
    };
    auto check = CheckLessonCondition(condition.text, lenient);
    checks.push_back(check ? *std::move(check)
                           : LessonCheck{.left = condition.text, .comparison = {}});
    checks.back().known = known;
    checks.back().holds = checks.back().holds && known;
  }
  return checks;
}

}  // namespace tessera::engine
