// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_node.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agents/job/rank_environment.h"
#include "agents/wire/convert.h"
#include "engine/model/gpt.h"
#include "ptc/base/check.h"

namespace tessera::agents::sim {
namespace {

/// Thousands of ranks have a view each, and nobody connects to an address here.
RankView WithoutAddresses(const RankView& view) {
  return {.epoch = view.epoch,
          .attempt = view.attempt,
          .rank = view.rank,
          .world = view.world,
          .axis_size = view.axis_size,
          .axis_coord = view.axis_coord,
          .micro_batch = view.micro_batch,
          .node_of_rank = view.node_of_rank,
          .host_of_rank = {},
          .address_of_rank = {}};
}

}  // namespace

// ---- the agent's end of the keeper

class SimNode::Keeper : public KeeperLink {
 public:
  Keeper(SimNode& node, Process& process) : node_(node), process_(process) {
    for (std::size_t i = 0; i < node.memories_.size(); ++i) {
      const DeviceMemory& memory = node.memories_[i];
      arenas_.push_back(
          {static_cast<int>(i), memory.fd.get(), memory.arena.capacity(), node.world_.is_sparse});
    }
  }
  void Attach(Handlers handlers) {
    handlers_ = std::move(handlers);
    for (const auto& [pid, exit] : node_.exits_) ReportExit(pid, exit);
  }
  void ReportExit(std::int64_t pid, const Exit& exit) {
    process_.EnterLater(1, [this, pid, exit] {
      handlers_.exited({pid, exit.tag, exit.device, true, exit.status});
    });
  }

  const std::vector<Arena>& arenas() const override { return arenas_; }
  std::vector<Rank> ranks() const override {
    std::map<std::int64_t, Rank> out;
    for (const auto& [pid, running] : node_.ranks_) {
      out[pid] = {pid, running.tag, running.rank->spec().id.device.index, false, 0};
    }
    for (const auto& [pid, exit] : node_.exits_) {
      out[pid] = {pid, exit.tag, exit.device, true, exit.status};
    }
    std::vector<Rank> rows;
    for (const auto& [pid, row] : out) rows.push_back(row);
    return rows;
  }
  Result<std::int64_t> Spawn(const SpawnRequest& request) override {
    process_.Point();
    auto pid = node_.Spawn(request);
    process_.Point();
    return pid;
  }
  Status Signal(std::int64_t pid, int) override {
    SimRank* const rank = node_.FindRank(pid);
    if (!rank) return NotFound("no such rank");
    node_.world_.killed(*rank);
    rank->Kill();
    return OkStatus();
  }
  Status Acknowledge(std::int64_t pid) override {
    node_.exits_.erase(pid);
    return OkStatus();
  }
  // Nobody asks for it: a simulated cluster goes down with its process.
  Status Shutdown() override { return OkStatus(); }
  Status Die() override {
    node_.world_.sim->clock.After(0, [node = &node_] { node->Lose(); });
    return OkStatus();
  }

 private:
  SimNode& node_;
  Process& process_;
  Handlers handlers_;
  std::vector<Arena> arenas_;
};

// ---- the agent's end of the links to ranks

class SimNode::Links : public RankLinks {
 public:
  Links(SimNode& node, Process& process) : node_(node), process_(process) {}

  void Listen(Handlers handlers) {
    handlers.decided = [this, decided = handlers.decided](const RankId& id, const RankDecision& d) {
      node_.world_.steps->Knows(node_.process_name(), id.job, d.step);
      decided(id, d);
    };
    handlers_ = std::move(handlers);
    for (SimRank* const rank : node_.ranks()) rank->OnAgent();
  }

  // From ranks.
  void Attach(std::int64_t pid, std::function<void(bool)> then) {
    if (!handlers_) return;
    process_.EnterLater(node_.world_.sim->Pick(0, 3), [this, pid, then] {
      SimRank* const rank = node_.FindRank(pid);
      if (!rank) return;
      const RankId& id = rank->spec().id;
      const bool is_accepted = handlers_->expects(id, pid);
      node_.world_.sim->clock.After(0, [node = &node_, pid, then, is_accepted] {
        if (node->FindRank(pid)) then(is_accepted);
      });
      if (!is_accepted) return;
      attached_[id] = {pid, rank->epoch(), false, false};
      for (const auto& [job, attempt] : abandoned_) {
        if (job == id.job) rank->OnAbandon(attempt);
      }
      handlers_->attached(id, pid);
    });
  }
  void Report(std::int64_t pid, SimRank::World::Report report) {
    Time& last = last_[pid];
    last = std::max(last, node_.world_.sim->clock.now() + node_.world_.sim->Pick(0, 3));
    process_.EnterLater(last - node_.world_.sim->clock.now(), [this, pid, report] {
      const auto found = std::find_if(attached_.begin(), attached_.end(),
                                      [&](const auto& entry) { return entry.second.pid == pid; });
      if (found != attached_.end()) report(*handlers_, found->second);
    });
  }
  void OnEnded(std::int64_t pid) {
    std::erase_if(attached_, [&](const auto& entry) { return entry.second.pid == pid; });
  }

  Status SendConnect(const RankId& id, const RankView& view) override {
    process_.Point();
    TESSERA_TRY(SimRank* const rank, Find(id, nullptr));
    rank->OnConnect(WithoutAddresses(view));
    return OkStatus();
  }
  Status SendCheck(const RankId&, std::uint64_t, const ptc::MeshShape&) override {
    return Unavailable("simulated ranks have no program");
  }
  void Abandon(const std::string& job, std::int64_t epoch, std::int64_t attempt) override {
    const Attempt abandoned{epoch, attempt};
    abandoned_.insert({job, abandoned});
    for (SimRank* const rank : node_.ranks()) {
      if (rank->spec().id.job == job) rank->OnAbandon(abandoned);
    }
  }
  Status SendCommand(const RankId& id, RankCommand command, std::int64_t epoch,
                     const RankView* view) override {
    process_.Point();
    State* state = nullptr;
    TESSERA_TRY(SimRank* const rank, Find(id, &state));
    if (!state->waits) return FailedPrecondition("it does not wait");
    state->waits = false;
    rank->OnCommand(command, epoch, view ? std::optional(WithoutAddresses(*view)) : std::nullopt);
    return OkStatus();
  }
  Status SendGo(const RankId& id, std::int64_t epoch, bool stay_paused) override {
    process_.Point();
    State* state = nullptr;
    TESSERA_TRY(SimRank* const rank, Find(id, &state));
    state->adopted = false;
    rank->OnGo(epoch, stay_paused);
    return OkStatus();
  }
  void Forget(const std::string& job) override {
    std::erase_if(abandoned_, [&](const auto& entry) { return entry.first == job; });
  }
  std::optional<State> Find(const RankId& id) const override {
    const auto found = attached_.find(id);
    return found == attached_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  Result<SimRank*> Find(const RankId& id, State** state) {
    const auto found = attached_.find(id);
    SimRank* const rank = found == attached_.end() ? nullptr : node_.FindRank(found->second.pid);
    if (!rank) return Unavailable("it is not attached");
    if (state) *state = &found->second;
    return rank;
  }

  SimNode& node_;
  Process& process_;
  std::optional<Handlers> handlers_;
  std::map<RankId, State> attached_;
  std::map<std::int64_t, Time> last_;  // delivery, by pid
  std::set<std::pair<std::string, Attempt>> abandoned_;
};

struct SimNode::Agent {
  explicit Agent(SimNode& node)
      : process(*node.world_.sim, [&node] { node.EndAgent(); }),
        keeper(node, process),
        links(node, process),
        views(process, {node.world_.sim, node.number(), node.world_.memory_of, &node.kept_,
                        node.world_.share_of, node.world_.fails}),
        decisions(node.world_.reach_register(process)) {}
  Process process;
  Keeper keeper;
  Links links;
  SimViews views;
  std::unique_ptr<engine::DecisionRegister> decisions;
  std::shared_ptr<const MoveContext> served;  // by its lanes
  std::optional<NodeAgent> agent;
};

// ---- the node

SimNode::SimNode(AgentConfig config, World world)
    : config_(std::move(config)), world_(std::move(world)) {}
SimNode::~SimNode() = default;

void SimNode::Start() {
  has_keeper_ = true;
  failed_.clear();
  ++keeper_;
  keeper_since_ = world_.sim->wall_clock();
  for (std::int32_t i = 0; i < config_.devices; ++i) {
    const auto fd = world_.is_sparse ? engine::Arena::CreateSparse("sim", config_.device_bytes)
                                     : engine::Arena::CreateMemfd("sim", config_.device_bytes);
    TESSERA_CHECK(fd.has_value());
    auto arena = world_.is_sparse ? engine::Arena::MapWindows(*fd) : engine::Arena::Map(*fd, true);
    TESSERA_CHECK(arena.has_value());
    memories_.push_back({UniqueFd(*fd), std::move(*arena), {}});
  }
  StartAgent();
}

void SimNode::Lose() {
  if (!has_keeper_) return;
  world_.sim->Note(fmt::format("n{} is lost", number()));
  has_keeper_ = false;
  if (is_up()) EndAgent();
  for (auto& [pid, running] : ranks_) running.rank->Kill();
  ranks_.clear();
  exits_.clear();
  memories_.clear();
  kept_.clear();
}

DeviceMemory* SimNode::memory(std::int32_t index) {
  return has_keeper_ ? &memories_[static_cast<std::size_t>(index)] : nullptr;
}

bool SimNode::serves(const LaneKey& key) const {
  return agent_ && agent_->served && agent_->served->key == key;
}

std::vector<SimRank*> SimNode::ranks() const {
  std::vector<SimRank*> out;
  for (const auto& [pid, running] : ranks_) {
    if (running.rank->is_alive()) out.push_back(running.rank.get());
  }
  return out;
}

int SimNode::num_ranks(std::int32_t index) const {
  return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [&](const auto& entry) {
    const SimRank& rank = *entry.second.rank;
    return rank.is_alive() && rank.spec().id.device.index == index;
  }));
}

SimRank* SimNode::FindRank(std::int64_t pid) {
  const auto found = ranks_.find(pid);
  return found != ranks_.end() && found->second.rank->is_alive() ? found->second.rank.get()
                                                                 : nullptr;
}

std::optional<std::int64_t> SimNode::share(std::uint64_t id) const {
  const auto found = kept_.find(id);
  if (found != kept_.end()) return found->second.version;
  return agent_ ? agent_->views.share(id) : std::nullopt;
}

bool SimNode::has_failed(std::int32_t index) const {
  return failed_.contains(index) || disk.rows.contains(fmt::format("failed/{}", index));
}

void SimNode::StartAgent() {
  ++incarnation_;
  agent_ = std::make_unique<Agent>(*this);
  disk.point = [process = &agent_->process] { process->Point(); };
  Agent& a = *agent_;
  a.process.Enter([&] {
    world_.started(*this);
    a.agent.emplace(a.process, config_, MakeWorld());
    Status recovered = a.agent->TakeOver(a.keeper);
    if (recovered) recovered = a.agent->Recover(a.views);
    if (!recovered) {
      if (!disk.is_broken()) {
        world_.sim->Violate(
            fmt::format("n{} cannot start: {}", number(), recovered.error().ToString()));
      }
      throw Crash();
    }
    a.keeper.Attach(a.agent->keeper_handlers());
    a.links.Listen(a.agent->rank_handlers());
    a.agent->Start(a.links, {fmt::format("tcp://n{}:2", number())});
  });
}

Process& SimNode::process() { return agent_->process; }
NodeAgent& SimNode::agent() { return *agent_->agent; }

void SimNode::EndAgent() {
  disk.point = nullptr;
  world_.steps->Ended(process_name());
  world_.ended(*this);
  agent_.reset();
  for (SimRank* const rank : ranks()) rank->OnAgentGone();
}

void SimNode::Deliver(std::shared_ptr<const wire::ToNode> message) {
  if (!is_up()) return;
  // The disk may be too full to keep that.
  if (message->has_fail_device()) failed_.insert(message->fail_device().index());
  agent_->process.Deliver(
      [this, message = std::move(message)] { agent_->agent->OnMessage(*message); });
}

NodeWorld SimNode::MakeWorld() {
  NodeWorld world;
  world.facts.incarnation = incarnation_;
  world.facts.keeper = fmt::format("keeper {}", keeper_);
  world.facts.keeper_pid = keeper_;
  world.facts.machine = config_.host;
  world.facts.address = config_.host;
  world.facts.public_key = "key";
  world.facts.rank_socket = "ranks.sock";
  world.journal = &disk;
  world.memo = world_.memo;
  world.decisions = agent_->decisions.get();
  world.send = [this](const wire::FromNode& message) {
    agent_->process.Point();
    world_.send(*this, message);
  };
  world.run_query = [this](const wire::NodeQuery& query, const auto& reply) {
    if (world_.run_query) world_.run_query(*this, query, reply);
  };
  world.write_job_files = [this](const std::string& job, const std::string& settings,
                                 const ptc::Layout& layout) -> Status {
    settings_[job] = settings;
    world_.model->NoteLayout(layout);
    return OkStatus();
  };
  world.write_view_file = [this](const std::string& job, std::int32_t device,
                                 const RankView& view) -> Result<std::string> {
    std::string path = fmt::format("{}/view-g{}.json", job, device);
    views_.insert_or_assign(path, WithoutAddresses(view));
    return path;
  };
  world.remove_job_files = [this](const std::string& job) { settings_.erase(job); };
  world.trainer_path = [] { return std::string("tessera-train"); };
  world.environment = [] { return std::vector<std::string>(); };
  world.memory_available = [] { return std::int64_t{0}; };
  world.process_group = [](std::int64_t pid) { return pid; };
  world.start_move = [this](std::shared_ptr<const MoveContext> context, MoveMode mode,
                            std::function<void(MoveResult)> done) {
    return StartMove(std::move(context), mode, std::move(done));
  };
  world.start_kept_digests = [this](KeptState state, std::function<void(KeptResult)> done) {
    return StartKeptDigests(std::move(state), std::move(done));
  };
  const auto later = [this](std::function<Status()> work, std::function<void(const Status&)> done) {
    auto run = std::make_shared<bool>(true);
    agent_->process.EnterLater(
        world_.sim->Pick(0, 5), [this, work, done, weak = std::weak_ptr(run)] {
          if (weak.expired()) return;
          done(world_.fails() ? DataLoss("a gradient cannot be read") : work());
        });
    return run;
  };
  world.save_gradients = [this, later](std::shared_ptr<const MoveContext> context,
                                       std::function<void(const Status&)> done) {
    return later([this, context] { return Save(*context, world_.memory_of); }, std::move(done));
  };
  world.update_copies = [this, later](std::shared_ptr<const MoveContext> context,
                                      const StepUpdate& update,
                                      std::function<void(const Status&)> done) {
    return later([this, context, update] { return Update(*context, update, world_.memory_of); },
                 std::move(done));
  };
  world.warm_pages = [this](const std::shared_ptr<const MoveContext>&,
                            const std::function<void()>& done) -> std::shared_ptr<void> {
    if (world_.warm_time == 0) return nullptr;
    auto run = std::make_shared<bool>(true);
    agent_->process.EnterLater(world_.warm_time, [done, weak = std::weak_ptr(run)] {
      if (!weak.expired()) done();
    });
    return run;
  };
  world.serve = [this](std::shared_ptr<const MoveContext> context) {
    agent_->served = std::move(context);
  };
  world.limit_lanes = [this](std::int64_t bytes_per_second) {
    if (world_.limit_lanes) world_.limit_lanes(*this, bytes_per_second);
  };
  world.network_faults = [] { return engine::NetworkFaults(); };
  world.log_line = [this](const std::string& line) {
    if (world_.log) world_.log(*this, line);
    if (world_.sim->is_traced()) world_.sim->Note(fmt::format("n{}: {}", number(), line));
  };
  world.fault_point = [this](const std::string&) { agent_->process.Point(); };
  world.exit = [this] {
    world_.sim->Violate(fmt::format("the agent of n{} halts", number()));
    throw Crash();
  };
  return world;
}

std::unique_ptr<Move> SimNode::StartMove(std::shared_ptr<const MoveContext> context, MoveMode mode,
                                         std::function<void(MoveResult)> done) {
  auto move = std::make_unique<SimMove>(*context);
  const bool copies = !OnlyReads(mode);
  move->Start(agent_->process, [this, context, mode, done, copies](bool is_cancelled) {
    MoveResult result;
    if (is_cancelled) {
      result.status = Error{ErrorCode::kCancelled, "cancelled", {}};
    } else if (copies && world_.fails()) {
      result.status = DataLoss("a chunk is corrupt");
    } else {
      const auto readable = [this, &context](ptc::DeviceId device) -> DeviceMemory* {
        const bool is_served = device.node == number() || world_.serves(device.node, context->key);
        return is_served ? world_.memory_of(device) : nullptr;
      };
      result = CopyAndDigest(*context, mode, readable, world_.share_of, copies && world_.fails());
    }
    done(std::move(result));
  });
  move->Keep(world_.model->Transfer(*context, mode, move->flows(), move->ended()));
  return move;
}

// Ranks may not update what is read. As in a real read, the versions are those before the hold is
// cleared.
std::unique_ptr<KeptRun> SimNode::StartKeptDigests(KeptState state,
                                                   std::function<void(KeptResult)> done) {
  agent_->process.EnterLater(world_.model->Digests(*state.change), [this, state, done] {
    const MoveContext& c = *state.change;
    const auto shared = world_.memo->NeededCells(c.from, c.to);
    const ptc::DeviceCells& cells = *shared;
    std::vector<DeviceDigests> devices = DigestsOf(c, cells, [&](ptc::DeviceId device) {
      return world_.memory_of(device)->VersionOf(c.key.job, c.local.at(device).next_table.epoch());
    });
    KeptResult result;
    if (world_.fails()) {
      result.status = DataLoss("it cannot be read");
    } else {
      result = DescribeKept(cells, std::move(devices));
    }
    ReleaseUpdates(state);
    done(std::move(result));
  });
  return std::make_unique<KeptRun>();
}

// ---- ranks

Result<std::int64_t> SimNode::Spawn(const KeeperLink::SpawnRequest& request) {
  const auto value = [&](const std::string& name) {
    for (const std::string& entry : request.environment) {
      if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    }
    return std::string();
  };
  if (world_.fails()) return ResourceExhausted("no memory for a process");
  const std::int64_t pid = ++last_pid_;
  SimRank::Spec spec;
  TESSERA_TRY(const ptc::DeviceId device, ptc::ParseDevice(value(rank_variable::kDevice)));
  spec.id = {value(rank_variable::kJob), device};
  spec.pid = pid;
  auto file = views_.extract(value(rank_variable::kViewFile));
  if (file.empty()) return NotFound("the file of the rank's view");
  spec.view = std::move(file.mapped());
  spec.initialises = value(rank_variable::kInitialise) == "1";
  spec.finishes_update = !value(rank_variable::kFinishUpdate).empty();
  TESSERA_TRY(auto settings, engine::ParseJobSettings(settings_[spec.id.job]));
  spec.settings = std::make_shared<const engine::JobSettings>(std::move(settings));
  ranks_[pid] = {request.tag, nullptr};
  ranks_[pid].rank = std::make_unique<SimRank>(std::move(spec), WorldOfRank(pid, device.index));
  return pid;
}

SimRank::World SimNode::WorldOfRank(std::int64_t pid, int device) {
  SimRank::World world;
  world.sim = world_.sim;
  world.collectives = world_.collectives;
  world.steps = world_.steps;
  world.model = world_.model;
  world.memory = memory(device);
  world.to_agent = [this, pid](SimRank::World::Report report) {
    if (agent_) agent_->links.Report(pid, std::move(report));
  };
  world.attach = [this, pid](std::function<void(bool)> then) {
    if (agent_) agent_->links.Attach(pid, std::move(then));
  };
  world.ended = [this, pid](int status) { OnRankEnded(pid, status); };
  return world;
}

void SimNode::OnRankEnded(std::int64_t pid, int status) {
  world_.sim->clock.After(world_.sim->Pick(1, 30), [this, pid, status, keeper = keeper_] {
    const auto found = keeper == keeper_ ? ranks_.find(pid) : ranks_.end();
    if (found == ranks_.end()) return;
    Exit exit{found->second.tag, found->second.rank->spec().id.device.index, status};
    ranks_.erase(found);
    if (agent_) {
      agent_->links.OnEnded(pid);
      agent_->keeper.ReportExit(pid, exit);
    }
    exits_.emplace(pid, std::move(exit));
  });
}

}  // namespace tessera::agents::sim
