// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/fleet.h"

#include <fmt/format.h>

#include <utility>

#include "agents/sim/modelled_data.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/simulated_limits.h"
#include "engine/search/calibration.h"

namespace tessera::agents::sim {
namespace {

constexpr std::size_t kMostLines = 500;  // of a node's log
constexpr Time kRestart = 400;           // until a keeper has started the next agent
constexpr double kLongestCut = 86400;
constexpr double kSlowest = 1000;
constexpr char kNoBytes[] = "the state of a simulated job has no bytes";

Status CheckRange(const char* what, double value, double least, double most) {
  if (value >= least && value <= most) return OkStatus();
  return InvalidArgument(fmt::format("{} {} is not in {}…{}", what, value, least, most));
}

}  // namespace

Status Fleet::Check(const AgentConfig& config) {
  if (config.simulation->nodes * config.devices > engine::kMostSimulatedDevices) {
    return InvalidArgument(fmt::format("{} nodes of {} GPUs: at most {} GPUs are simulated",
                                       config.simulation->nodes, config.devices,
                                       engine::kMostSimulatedDevices));
  }
  if (config.device_bytes % kMemoryUnit != 0) {
    return InvalidArgument(fmt::format("{} bytes of GPU memory are no multiple of {}",
                                       config.device_bytes, kMemoryUnit));
  }
  return OkStatus();
}

Fleet::Fleet(const AgentConfig& config, Hardware hardware, World world)
    : config_(config),
      hardware_(hardware),
      world_(std::move(world)),
      sim_(static_cast<std::uint64_t>(config.simulation->seed)),
      model_(sim_, std::move(hardware), config.devices,
             static_cast<std::uint64_t>(config.simulation->seed)) {
  for (std::int64_t n = 0; n < config.simulation->nodes; ++n) Add(static_cast<std::int32_t>(n));
  for (const auto& node : nodes_) node->Start();
}

// Agents send while they end.
Fleet::~Fleet() = default;

std::unique_ptr<DataOpener> Fleet::MakeData() { return std::make_unique<ModelledData>(registrar_); }

std::string Fleet::RackOfNode(std::int32_t number) const {
  const SimulationConfig& wanted = *config_.simulation;
  if (wanted.racks > 0) return RackOf(number, wanted.nodes, wanted.racks);
  return RackOf(number, hardware_.nodes_per_rack, 1);
}

void Fleet::Add(std::int32_t number) {
  AgentConfig config = config_;
  config.node = number;
  config.host = fmt::format("{}-n{}", config_.cluster, number);
  config.rack = RackOfNode(number);
  config.directory = "/none";
  config.endpoint = fmt::format("tcp://n{}:1", number);
  config.registrar_endpoint = "tcp://n0:1";
  config.etcd = {};
  config.simulation = {};
  SimNode::World world;
  world.sim = &sim_;
  world.collectives = &collectives_;
  world.steps = &steps_;
  world.model = &model_;
  world.is_sparse = true;
  world.warm_time = world_.warm_time;
  world.memo = memo_;
  world.memory_of = [this](ptc::DeviceId device) { return At(device.node).memory(device.index); };
  world.serves = [this](std::int32_t node, const LaneKey& key) { return At(node).serves(key); };
  world.share_of = [this](std::int32_t node, std::uint64_t id) { return At(node).share(id); };
  world.fails = [] { return false; };
  world.send = [this](SimNode& from, const wire::FromNode& message) {
    links_.FromNode(from, message);
  };
  world.reach_register = [](Process&) { return nullptr; };
  world.run_query = [this](SimNode& node, const wire::NodeQuery& query, const auto& reply) {
    reply(AnswerTo(node.number(), query));
  };
  world.limit_lanes = [this](SimNode& node, std::int64_t bytes_per_second) {
    model_.fabric().Limit(node.number(), bytes_per_second);
  };
  world.log = [this](SimNode& node, const std::string& line) { Note(node.number(), line); };
  world.killed = [](const SimRank&) {};
  world.started = [this](SimNode& node) { links_.ConnectLater(node.number(), sim_.Pick(1, 200)); };
  world.ended = [this](SimNode& node) {
    links_.OnAgentEnded(node.number());
    if (!node.has_keeper()) return;
    sim_.clock.After(kRestart, [&node] {
      if (node.has_keeper() && !node.is_up()) node.StartAgent();
    });
  };
  nodes_.push_back(std::make_unique<SimNode>(std::move(config), std::move(world)));
  nodes_.back()->disk.remembers = false;
  nodes_.back()->disk.share = [this](std::string_view value) { return memo_->Share(value); };
  logs_.emplace_back();
  links_.Add();
}

Result<SimNode*> Fleet::Find(std::int32_t number) {
  if (number >= 0 && number < num_nodes()) return &At(number);
  return NotFound(
      fmt::format("node n{} does not exist: the cluster has {} nodes", number, num_nodes()));
}

void Fleet::Note(std::int32_t node, const std::string& line) {
  Log& log = logs_[static_cast<std::size_t>(node)];
  log.lines.push_back(line);
  if (log.lines.size() > kMostLines) log.lines.pop_front();
  if (world_.log) world_.log(fmt::format("n{}: {}", node, line));
}

wire::NodeAnswer Fleet::AnswerTo(std::int32_t node, const wire::NodeQuery& query) const {
  wire::NodeAnswer answer;
  answer.set_ticket(query.ticket());
  switch (query.body_case()) {
    case wire::NodeQuery::kDoctor: {
      wire::CheckInfo* const check = answer.mutable_doctor()->add_checks();
      check->set_node(node);
      check->set_name("machine");
      check->set_value("simulated: " + hardware_.title);
      break;
    }
    case wire::NodeQuery::kLog: {
      const std::deque<std::string>& lines = logs_[static_cast<std::size_t>(node)].lines;
      const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(query.log().lines(), 0));
      answer.mutable_log();
      for (std::size_t i = lines.size() - std::min(wanted, lines.size()); i < lines.size(); ++i) {
        answer.mutable_log()->add_lines(lines[i]);
      }
      break;
    }
    case wire::NodeQuery::kProbe:
      answer.mutable_probe()->set_calibration(
          engine::ToJson(CalibrationOf(hardware_, config_.devices)));
      break;
    case wire::NodeQuery::kLinks:
      answer.set_error("the links of a simulated cluster have the speed of its hardware");
      break;
    default:
      answer.set_error(kNoBytes);
  }
  return answer;
}

SimLinks::World Fleet::LinkWorld() {
  return {&sim_,
          [this](std::int32_t n) -> SimNode& { return At(n); },
          [] { return true; },
          [this](const std::string& identity, const wire::FromNode& message) {
            world_.to_registrar(identity, message);
          },
          false,
          0};
}

std::optional<Status> Fleet::Send(const std::string& identity, const wire::ToNode& message) {
  if (!links_.Knows(identity)) return std::nullopt;
  return links_.ToNode(identity, message);
}

Status Fleet::AddNodes(std::int64_t count) {
  const std::int64_t room = engine::kMostSimulatedDevices / config_.devices - num_nodes();
  if (count < 1 || count > room) {
    return InvalidArgument(fmt::format("{} nodes cannot join: at most {} more", count, room));
  }
  for (std::int64_t n = 0; n < count; ++n) {
    Add(num_nodes());
    nodes_.back()->Start();
  }
  return OkStatus();
}

Status Fleet::StartNode(std::int32_t number) {
  TESSERA_TRY(SimNode* const node, Find(number));
  if (node->has_keeper()) return FailedPrecondition(fmt::format("node n{} is running", number));
  node->disk.Clear();  // it comes back as a new one
  node->Start();
  return OkStatus();
}

Status Fleet::LoseNode(std::int32_t number) {
  TESSERA_TRY(SimNode* const node, Find(number));
  if (!node->has_keeper()) {
    return FailedPrecondition(fmt::format("node n{} is not running", number));
  }
  node->Lose();
  return OkStatus();
}

Status Fleet::RestartAgent(std::int32_t number) {
  TESSERA_TRY(SimNode* const node, Find(number));
  if (!node->is_up()) return FailedPrecondition(fmt::format("node n{} has no agent", number));
  node->EndAgent();
  return OkStatus();
}

Status Fleet::Cut(std::int32_t number, double seconds) {
  TESSERA_TRY(SimNode* const node, Find(number));
  TESSERA_RETURN_IF_ERROR(CheckRange("a cut of seconds", seconds, 0.001, kLongestCut));
  links_.Cut(node->number(), static_cast<Time>(seconds * 1000));
  return OkStatus();
}

Status Fleet::SetPort(std::int32_t number, double share) {
  TESSERA_TRY(SimNode* const node, Find(number));
  TESSERA_RETURN_IF_ERROR(CheckRange("a share of the port", share, 0.0001, 1));
  model_.fabric().SetPort(node->number(), share);
  return OkStatus();
}

Status Fleet::SetSlow(ptc::DeviceId device, double factor) {
  TESSERA_TRY(SimNode* const node, Find(device.node));
  if (device.index < 0 || device.index >= node->config().devices) {
    return NotFound(fmt::format("device {} does not exist", ToString(device)));
  }
  TESSERA_RETURN_IF_ERROR(CheckRange("a factor", factor, 0.1, kSlowest));
  model_.SetSlow(device, factor);
  return OkStatus();
}

Status Fleet::Steer(const wire::SimulateRequest& request) {
  switch (request.act_case()) {
    case wire::SimulateRequest::kStartNode:
      return StartNode(request.start_node());
    case wire::SimulateRequest::kRestartAgent:
      return RestartAgent(request.restart_agent());
    case wire::SimulateRequest::kCut:
      return Cut(request.cut().node(), request.cut().seconds());
    case wire::SimulateRequest::kPort:
      return SetPort(request.port().node(), request.port().share());
    case wire::SimulateRequest::kSlow: {
      TESSERA_TRY(const ptc::DeviceId device, Decode(request.slow().device()));
      return SetSlow(device, request.slow().factor());
    }
    case wire::SimulateRequest::kAddNodes:
      return AddNodes(request.add_nodes().count());
    default:
      return InvalidArgument("the request names nothing that this simulation can do");
  }
}

}  // namespace tessera::agents::sim
