// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/cluster_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agents/registrar/node_claims.h"
#include "agents/registrar/registrar.h"
#include "agents/sim/chance_model.h"
#include "agents/sim/invariants.h"
#include "agents/sim/modelled_data.h"
#include "agents/sim/remote_register.h"
#include "agents/sim/sim_faults.h"
#include "agents/sim/sim_links.h"
#include "agents/sim/sim_node.h"
#include "agents/sim/sim_operator.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/history/history.h"
#include "ptc/base/check.h"

namespace tessera::agents::sim {
namespace {

constexpr Time kFaultsEnd = 30'000;
constexpr Time kCalm = 12'000;  // then it may end, if all that must hold in the end does
constexpr Time kEnd = kFaultsEnd + 60'000;
const KeyOwner kOperator{"operator", Role::kOperator};

std::unique_ptr<engine::History> OpenHistory() {
  auto history = engine::History::InMemory();
  TESSERA_CHECK(history.has_value());
  return std::move(*history);
}

class Cluster {
 public:
  Cluster(std::uint64_t seed, std::function<void(const std::string& line)> trace)
      : sim_(seed, std::move(trace)) {
    decision_rows().before_first = [this](std::string_view, std::string_view value) {
      invariants_.OnDecided(std::string(value));
      faults_.OnRegisterWrite();
    };
    if (is_remote_ && sim_.Chance(0.7)) {
      servers_.down_from = sim_.Pick(0, kFaultsEnd);
      servers_.down_until = std::min(servers_.down_from + sim_.Pick(500, 15'000), kFaultsEnd);
    }
    sim_.on_decision = [this](const std::string& job, std::int64_t epoch) {
      operator_.OnDecision(job, epoch);
      faults_.OnDecision();
    };
    const int num_nodes = static_cast<int>(sim_.Pick(2, 4));
    const Time step_time = sim_.Pick(150, 800);
    model_.emplace(sim_, step_time, update_time_);
    if (is_trainer_ && sim_.Chance(0.7)) {
      // So slow that the state of the trainer takes about as long as one to three steps.
      constexpr std::int64_t kState = 1'500'000;
      link_ = kState * 1000 / (step_time * sim_.Pick(6, 20) / 10);
    }
    for (int n = 0; n < num_nodes; ++n) AddNode(n);
    for (auto& node : nodes_) node->Start();
    for (int i = static_cast<int>(sim_.Pick(0, 7)); i > 0; --i) faults_.Plan();
    operator_.Operate();
    sim_.clock.After(kFaultsEnd + kCalm, [this] {
      faults_.EndDeaths();  // what follows from the last one takes time
      if (!is_watched_) EndIfSettled();
    });
  }

  ClusterResult Run() {
    while (sim_.violation.empty() && !is_settled_ && sim_.clock.RunNext(kEnd)) {
      ++result_.events;
      invariants_.CheckDevices();
    }
    if (sim_.violation.empty() && !is_settled_) {
      if (const std::string wrong = invariants_.FindWrong(); !wrong.empty()) sim_.Violate(wrong);
    }
    result_.violation = sim_.violation;
    result_.transactions = operator_.num_changes();
    return result_;
  }

 private:
  void EndIfSettled() {
    is_settled_ = invariants_.FindWrong().empty();
    if (!is_settled_) sim_.clock.After(kCalm / 4, [this] { EndIfSettled(); });
  }

  // ---- nodes and their links
  void AddNode(int n) {
    AgentConfig config;
    config.cluster = "sim";
    config.node = n;
    config.host = fmt::format("h{}", n);
    config.directory = "/none";
    config.endpoint = fmt::format("tcp://n{}:1", n);
    config.registrar_endpoint = "tcp://n0:1";
    config.devices = 2;
    config.device_bytes = is_trainer_ ? 4 << 20 : 256 << 10;
    config.link_bytes_per_second = link_;
    SimNode::World world;
    world.sim = &sim_;
    world.collectives = &collectives_;
    world.model = &*model_;
    world.steps = &steps_;
    world.memory_of = [this](ptc::DeviceId device) {
      return nodes_[static_cast<std::size_t>(device.node)]->memory(device.index);
    };
    world.serves = [this](std::int32_t node, const LaneKey& key) { return At(node).serves(key); };
    world.share_of = [this](std::int32_t node, std::uint64_t id) { return At(node).share(id); };
    world.fails = [this] { return sim_.clock.now() < kFaultsEnd && sim_.Chance(0.01); };
    world.send = [this](SimNode& from, const wire::FromNode& message) {
      links_.FromNode(from, message);
    };
    world.reach_register = [this](Process& process) -> std::unique_ptr<engine::DecisionRegister> {
      if (!is_remote_) return nullptr;
      return std::make_unique<RemoteRegister>(sim_, process, servers_);
    };
    world.killed = [this](const SimRank& rank) { invariants_.OnKill(rank); };
    world.started = [this](SimNode& node) {
      faults_.OnAgentStarted(node);
      if (node.number() == 0) StartRegistrar(node);
      links_.ConnectLater(node.number(), sim_.Pick(1, 200));
    };
    world.ended = [this](SimNode& node) {
      links_.OnAgentEnded(node.number());
      if (node.number() == 0) StopRegistrar();
      if (!node.has_keeper()) return;
      sim_.Note(fmt::format("the agent of n{} ends", node.number()));
      sim_.clock.After(faults_.DownTime(node.number()), [&node] {
        if (node.has_keeper() && !node.is_up()) node.StartAgent();
      });
    };
    nodes_.push_back(std::make_unique<SimNode>(std::move(config), std::move(world)));
    links_.Add();
  }
  SimNode& At(std::int32_t n) { return *nodes_[static_cast<std::size_t>(n)]; }

  // ---- the registrar
  void StartRegistrar(SimNode& node) {
    Process& process = node.process();
    registrar_disk_.point = [&process] { process.Point(); };
    if (is_remote_) {
      decisions_ = std::make_unique<RemoteRegister>(sim_, process, servers_);
    } else {
      decisions_ = std::make_unique<EmbeddedRegister>(registrar_disk_);
    }
    registrar_.emplace(process, node.config(), RegistrarWorld(process));
    if (const Status recovered = registrar_->Recover(); !recovered) {
      if (!registrar_disk_.is_broken()) {
        sim_.Violate("the registrar cannot start: " + recovered.error().ToString());
      }
      throw Crash();
    }
    for (const auto& other : nodes_) links_.ConnectLater(other->number(), sim_.Pick(1, 1000));
  }
  void StopRegistrar() {
    steps_.Ended(kRegistrar);
    registrar_disk_.point = nullptr;
    registrar_.reset();
    decisions_.reset();
    for (const auto& node : nodes_) links_.Disconnect(node->number());
  }
  Registrar::World RegistrarWorld(Process& process) {
    return {
        .send =
            [this, &process](const std::string& identity, const wire::ToNode& message) {
              process.Point();
              invariants_.OnToNode(message);
              return links_.ToNode(identity, message);
            },
        .reply = [this](const std::string&, const wire::Reply& reply) { operator_.OnReply(reply); },
        .publish = [this](const wire::Published& message) { OnPublished(message); },
        .wall_clock = [this] { return sim_.wall_clock(); },
        .print = [this](const std::string& line) { sim_.Note("registrar: " + line); },
        .fault_point = [&process](const std::string&) { process.Point(); },
        .data = std::make_unique<ModelledData>(process),
        .compute =
            [this, &process](const std::function<void()>& work, std::function<void()> then) {
              work();
              process.EnterLater(sim_.Pick(0, 50), std::move(then));
            },
        .decisions = *decisions_,
        .journal = registrar_disk_,
        .history = *history_,
        .reader = *history_,
        .longest_value = longest_value_,
    };
  }

  void OnPublished(const wire::Published& message) {
    invariants_.OnPublished(message);
    if (!message.has_sample()) return;
    steps_.Knows(kRegistrar, message.sample().job(), message.sample().step());
    if (sim_.is_traced()) sim_.Note(fmt::format("step {}", message.sample().step()));
  }

  SimOperator::World OperatorWorld() {
    return {&sim_, is_trainer_, kFaultsEnd,
            [this](const wire::Request& request) {
              if (!registrar_ || At(0).process().is_blocked()) return;
              At(0).process().Enter([&] { registrar_->OnRequest("operator", kOperator, request); });
            },
            [this] { faults_.NoteStateLoss(); }};
  }
  SimFaults::World FaultWorld() {
    return {&sim_,
            [this](std::int32_t n) -> SimNode& { return At(n); },
            [this] { return static_cast<std::int32_t>(nodes_.size()); },
            &links_,
            &registrar_disk_,
            is_trainer_,
            is_lossy_,
            kFaultsEnd};
  }
  Invariants::World InvariantWorld() {
    return {&sim_,
            [this](std::int32_t n) -> SimNode& { return At(n); },
            [this] { return static_cast<std::int32_t>(nodes_.size()); },
            &registrar_disk_,
            &decision_rows(),
            history_.get(),
            &steps_,
            &faults_,
            &operator_,
            &result_};
  }
  SimLinks::World LinkWorld() {
    return {&sim_,
            [this](std::int32_t n) -> SimNode& { return At(n); },
            [this] { return registrar_.has_value(); },
            [this](const std::string& identity, const wire::FromNode& message) {
              At(0).process().Deliver([this, identity, message] {
                if (const Status claims = CheckClaims(message); !claims) {
                  sim_.Violate("a node says what cannot be: " + claims.error().message);
                }
                if (registrar_) registrar_->OnNode(identity, message);
              });
            },
            is_lossy_,
            kFaultsEnd};
  }

  SimWorld sim_;
  const bool is_lossy_ = sim_.Chance(0.2);     // single messages are lost
  const bool is_trainer_ = sim_.Chance(0.08);  // else the job is an own program
  std::int64_t link_ = 0;
  const Time update_time_ = sim_.Chance(0.2) ? 400 : 6;  // at most
  const bool is_remote_ = sim_.Chance(0.3);              // the register is on other machines
  const bool is_watched_ = sim_.Chance(0.2);             // to the end, in any case
  const std::size_t longest_value_ = sim_.Chance(0.5) ? 4096 : 0;  // 0: all are documents
  Collectives collectives_;
  std::optional<ChanceModel> model_;
  StepBook steps_{[this](const std::string& job, std::int64_t step) {
    const auto row = history_->Samples({.job = job, .after_step = step - 1, .limit = 1});
    // What the history has may be of an earlier timeline.
    return row && !row->empty() && row->front().step == step &&
           row->front().loss == ChanceModel::LossOf(step, steps_.TimelineOf(job, step));
  }};
  std::unique_ptr<engine::History> history_ = OpenHistory();
  MemoryStore registrar_disk_;
  RemoteRegister::Servers servers_;
  MemoryStore& decision_rows() { return is_remote_ ? servers_.rows : registrar_disk_; }
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::unique_ptr<engine::DecisionRegister> decisions_;  // as the registrar reaches it
  std::optional<Registrar> registrar_;                   // in the process of n0
  SimLinks links_{LinkWorld()};
  SimFaults faults_{FaultWorld()};
  SimOperator operator_{OperatorWorld()};
  Invariants invariants_{InvariantWorld()};
  ClusterResult result_;
  bool is_settled_ = false;
};

}  // namespace

ClusterResult SimulateCluster(std::uint64_t seed,
                              std::function<void(const std::string& line)> trace) {
  return Cluster(seed, std::move(trace)).Run();
}

}  // namespace tessera::agents::sim
