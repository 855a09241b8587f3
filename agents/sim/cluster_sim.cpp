// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/cluster_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "agents/node/transaction_part.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/txn_row.h"
#include "agents/sim/sim_links.h"
#include "agents/sim/sim_node.h"
#include "agents/sim/sim_operator.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/history/history.h"
#include "ptc/base/check.h"

namespace tessera::agents::sim {
namespace {

constexpr char kJob[] = "job";
constexpr char kRegistrar[] = "registrar";  // in the book of steps
constexpr Time kFaultsEnd = 30'000;
constexpr Time kEnd = kFaultsEnd + 60'000;

/// Data are there at once.
class SimData : public DataOpener {
 public:
  explicit SimData(Timers& timers) : timers_(timers) {}
  Id Open(const engine::JobSettings&, Progress, Done done) override {
    timers_.Post([done = std::move(done)] { done(engine::DataStatus{}); });
    return ++last_;
  }
  void Cancel(Id) override {}

 private:
  Timers& timers_;
  Id last_ = 0;
};

class Cluster {
 public:
  Cluster(std::uint64_t seed, std::function<void(const std::string& line)> trace)
      : sim_(seed, std::move(trace)) {
    auto history = engine::History::Open(":memory:");
    TESSERA_CHECK(history.has_value());
    history_ = std::move(*history);
    registrar_disk_.before_first = [this](std::string_view, std::string_view value) {
      CheckCommit(std::string(value));
    };
    const int num_nodes = static_cast<int>(sim_.Pick(2, 4));
    const Time step_time = sim_.Pick(150, 800);
    for (int n = 0; n < num_nodes; ++n) AddNode(n, step_time);
    for (auto& node : nodes_) node->Start();
    for (int i = static_cast<int>(sim_.Pick(0, 7)); i > 0; --i) PlanFault();
    operator_.Operate();
  }

  ClusterResult Run() {
    while (sim_.violation.empty() && sim_.clock.RunNext(kEnd)) {
      ++result_.events;
      CheckDevices();
    }
    if (sim_.violation.empty()) CheckEnd();
    result_.violation = sim_.violation;
    result_.transactions = operator_.num_changes();
    return result_;
  }

 private:
  // ---- nodes and their links
  void AddNode(int n, Time step_time) {
    AgentConfig config;
    config.cluster = "sim";
    config.node = n;
    config.host = fmt::format("h{}", n);
    config.directory = "/none";
    config.endpoint = fmt::format("tcp://n{}:1", n);
    config.registrar_endpoint = "tcp://n0:1";
    config.devices = 2;
    config.device_bytes = is_trainer_ ? 4 << 20 : 256 << 10;
    SimNode::World world;
    world.sim = &sim_;
    world.collectives = &collectives_;
    world.steps = &steps_;
    world.memory_of = [this](ptc::DeviceId device) {
      return nodes_[static_cast<std::size_t>(device.node)]->memory(device.index);
    };
    world.share_of = [this](std::int32_t node, std::uint64_t id) { return At(node).share(id); };
    world.fails = [this] { return sim_.clock.now() < kFaultsEnd && sim_.Chance(0.01); };
    world.send = [this](SimNode& from, const wire::FromNode& message) {
      links_.FromNode(from, message);
    };
    world.started = [this](SimNode& node) {
      if (node.number() == 0) StartRegistrar(node);
      links_.ConnectLater(node.number(), sim_.Pick(1, 200));
    };
    world.ended = [this](SimNode& node) {
      links_.OnAgentEnded(node.number());
      if (node.number() == 0) StopRegistrar();
      if (!node.has_keeper()) return;
      sim_.Note(fmt::format("the agent of n{} ends", node.number()));
      const Time down = down_.value_or(sim_.Pick(100, 400));
      down_.reset();
      sim_.clock.After(down, [&node] {
        if (node.has_keeper() && !node.is_up()) node.StartAgent();
      });
    };
    nodes_.push_back(std::make_unique<SimNode>(std::move(config), step_time, std::move(world)));
    links_.Add();
  }
  SimNode& At(std::int32_t n) { return *nodes_[static_cast<std::size_t>(n)]; }

  // ---- the registrar
  void StartRegistrar(SimNode& node) {
    Process& process = node.process();
    registrar_disk_.point = [&process] { process.Point(); };
    registrar_.emplace(process, node.config(), RegistrarWorld(process));
    if (const Status recovered = registrar_->Recover(); !recovered) {
      if (!registrar_disk_.refused) {
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
    for (const auto& node : nodes_) links_.Disconnect(node->number());
  }
  Registrar::World RegistrarWorld(Process& process) {
    return {
        .send =
            [this, &process](const std::string& identity, const wire::ToNode& message) {
              process.Point();
              return links_.ToNode(identity, message);
            },
        .reply = [this](const std::string&, const wire::Reply& reply) { operator_.OnReply(reply); },
        .publish = [this](const wire::Published& message) { OnPublished(message); },
        .wall_clock = [this] { return sim_.wall_clock(); },
        .print = [this](const std::string& line) { sim_.Note("registrar: " + line); },
        .fault_point = [&process](const std::string&) { process.Point(); },
        .data = std::make_unique<SimData>(process),
        .compute =
            [this, &process](const std::function<void()>& work, std::function<void()> then) {
              work();
              process.EnterLater(sim_.Pick(0, 50), std::move(then));
            },
        .journal = registrar_disk_,
        .history = *history_,
        .reader = *history_,
    };
  }

  void OnPublished(const wire::Published& message) {
    if (!message.has_sample()) return;
    steps_.Knows(kRegistrar, message.sample().step());
    if (sim_.is_traced()) sim_.Note(fmt::format("step {}", message.sample().step()));
  }

  // ---- faults
  void PlanFault() {
    const auto n = static_cast<std::int32_t>(sim_.Pick(0, std::ssize(nodes_) - 1));
    const Time begin = sim_.Pick(2000, kFaultsEnd - 1);
    const Time length = std::min(sim_.Chance(0.5) ? sim_.Pick(20, 3000) : sim_.Pick(3000, 25'000),
                                 kFaultsEnd - begin);
    switch (sim_.Pick(0, 6)) {
      case 0:  // the agent dies, at once or at one of its next acts
        return sim_.clock.After(begin, [this, n, length] {
          if (!At(n).is_up()) return;
          sim_.Note(fmt::format("the agent of n{} will die", n));
          down_ = length;
          if (sim_.Chance(0.3)) return At(n).EndAgent();
          At(n).process().CrashAfter(sim_.Pick(1, 60));
        });
      case 1:  // the connection is lost, and comes back later
        if (n == 0) return;
        return sim_.clock.After(begin, [this, n, length] { links_.Cut(n, length); });
      case 2:  // no packet arrives, in one direction or both
        if (n == 0) return;
        return sim_.clock.After(
            begin, [this, n, length, where = sim_.Pick(1, 3)] { links_.Stall(n, length, where); });
      case 3: {  // a disk is full
        MemoryStore* const disk = sim_.Chance(0.5) ? &registrar_disk_ : &At(n).disk;
        return sim_.clock.After(begin, [this, n, disk, length] {
          sim_.Note(fmt::format("the disk of {} is full for {} ms",
                                disk == &registrar_disk_ ? "the registrar" : fmt::format("n{}", n),
                                length));
          disk->refused = "";
          sim_.clock.After(length, [disk] { disk->refused.reset(); });
        });
      }
      case 4:  // a rank dies
        return sim_.clock.After(begin, [this, n] {
          if (SimRank* const rank = AnyRank(n)) {
            sim_.Note(fmt::format("the rank on {} is killed{}", ToString(rank->spec().id.device),
                                  rank->is_updating() ? " in its update" : ""));
            // Nobody else can make the update of an own program.
            may_lose_state_ |= rank->is_updating() || !is_trainer_;
            rank->Kill();
          }
        });
      case 5:  // a rank is stopped
        return sim_.clock.After(begin, [this, n, length] {
          if (SimRank* const rank = AnyRank(n)) {
            sim_.Note(fmt::format("the rank on {} is stopped for {} ms",
                                  ToString(rank->spec().id.device), length));
            rank->StopUntil(sim_.clock.now() + length);
          }
        });
      default:  // a node is lost, and may come back
        if (n == 0 || sim_.Chance(0.5)) return;
        return sim_.clock.After(begin, [this, n, length] {
          if (!At(n).has_keeper()) return;
          may_lose_state_ = true;
          At(n).Lose();
          if (!sim_.Chance(0.6)) return;
          sim_.clock.After(length, [this, n] {
            sim_.Note(fmt::format("n{} comes back", n));
            At(n).Start();
          });
        });
    }
  }
  SimRank* AnyRank(std::int32_t n) {
    const auto ranks = At(n).ranks();
    if (ranks.empty()) return nullptr;
    return ranks[static_cast<std::size_t>(sim_.Pick(0, std::ssize(ranks) - 1))];
  }

  // ---- what must hold
  /// The job as its row in the registrar's journal has it.
  std::optional<JobTableRow> Row() {
    const auto text = registrar_disk_.Get(fmt::format("job/{}", kJob));
    if (!text || !*text) return std::nullopt;
    auto row = ParseJobTableRow("job", **text);
    if (!row) return std::nullopt;
    return std::move(*row);
  }
  void CheckCommit(const std::string& value) {
    const auto decision = engine::ParseDecision(value);
    if (!decision || !decision->commit) return;
    commits_.insert(decision->epoch);
    ++result_.commits;
    const auto text = registrar_disk_.Get("txn");
    const auto txn = text && *text ? ParseTxnRow(**text) : Result<TxnRow>(NotFound(""));
    const auto job = Row();
    if (!txn || !job) return sim_.Violate("a commit without a transaction and a job");
    std::set<std::int32_t> participants;
    for (const ptc::DeviceId device : txn->to.mesh().devices()) participants.insert(device.node);
    if (txn->recovery) {
      ++result_.recoveries;
    } else {
      for (const ptc::DeviceId device : job->job.layout.mesh().devices()) {
        participants.insert(device.node);
      }
    }
    for (const std::int32_t n : participants) {
      if (!At(n).has_keeper() || At(n).keeper_since() > txn->started) continue;
      const auto kept = TransactionPart::Load(At(n).disk);
      const bool has = kept && *kept && (*kept)->id == decision->transaction &&
                       (*kept)->state >= engine::ParticipantState::kVerified;
      if (!has) {
        sim_.Violate(fmt::format("transaction {} is committed, n{} has not verified it",
                                 decision->transaction, n));
      }
    }
  }
  void CheckDevices() {
    for (const auto& node : nodes_) {
      if (!node->has_keeper()) continue;
      for (std::int32_t i = 0; i < node->config().devices; ++i) {
        if (node->num_ranks(i) > 1) {
          sim_.Violate(fmt::format("two ranks run on n{}g{}", node->number(), i));
        }
        const engine::ArenaHeader& header = node->memory(i)->header();
        const auto epoch = static_cast<std::int64_t>(header.epoch.load());
        if (epoch > 1 && header.job_hash.load() != 0 && !commits_.contains(epoch)) {
          sim_.Violate(fmt::format("n{}g{} is in epoch {}, which nobody has committed",
                                   node->number(), i, epoch));
        }
        result_.steps = std::max(result_.steps, static_cast<std::int64_t>(header.end.load()));
      }
    }
  }
  void CheckEnd() {
    const auto status = operator_.Look();
    if (!status) return sim_.Violate("there is no registrar");
    if (status->jobs.empty()) return sim_.Violate("there is no job");
    const engine::JobStatus& job = status->jobs.front();
    if (status->transaction && !IsFinal(status->transaction->phase)) {
      return sim_.Violate(fmt::format("transaction {} is still {}", status->transaction->id,
                                      ToString(status->transaction->phase)));
    }
    // If nothing is heard of any of its nodes, the job may still train there.
    const bool is_there =
        std::any_of(job.devices.begin(), job.devices.end(),
                    [&](ptc::DeviceId device) { return At(device.node).has_keeper(); });
    if (!is_there) return;
    const bool is_lost = job.decision && !job.decision->can_continue();
    if (is_lost && may_lose_state_) return;
    if (job.state != engine::JobState::kRunning) {
      return sim_.Violate(fmt::format("the job is {} after step {}: {}", ToString(job.state),
                                      job.step, job.decision ? job.decision->why_not : job.reason));
    }
    if (job.step < 1) return sim_.Violate("the job has made no step");
    for (const auto& node : nodes_) {
      if (!node->has_keeper()) continue;
      for (std::int32_t i = 0; i < node->config().devices; ++i) {
        const ptc::DeviceId id{node->number(), i};
        const bool has_rank =
            std::find(job.devices.begin(), job.devices.end(), id) != job.devices.end();
        const int running = node->num_ranks(i);
        if (running != (has_rank ? 1 : 0)) {
          return sim_.Violate(fmt::format("{} ranks run on {}", running, ToString(id)));
        }
      }
    }
    CheckSamples();
  }
  void CheckSamples() {
    const auto samples = history_->Samples({.job = kJob});
    TESSERA_CHECK(samples.has_value());
    std::int64_t last = 0;
    for (const engine::Sample& sample : *samples) {
      while (last + 1 < sample.step && steps_.is_lost(last + 1)) ++last;
      if (sample.step != last + 1) {
        return sim_.Violate(
            fmt::format("step {} follows step {} in the history", sample.step, last));
      }
      last = sample.step;
      if (sample.loss != LossOf(sample.step)) {
        return sim_.Violate(fmt::format("step {} has loss {} in the history", last, sample.loss));
      }
    }
    if (last == 0) sim_.Violate("the history has no step");
  }

  SimOperator::World OperatorWorld() {
    return {&sim_,
            kJob,
            is_trainer_,
            kFaultsEnd,
            [this](const wire::Request& request) {
              if (!registrar_) return;
              At(0).process().Enter([&] { registrar_->OnRequest("operator", request); });
            },
            [this] { may_lose_state_ = true; }};
  }
  SimLinks::World LinkWorld() {
    return {&sim_,
            [this](std::int32_t n) -> SimNode& { return At(n); },
            [this] { return registrar_.has_value(); },
            [this](const std::string& identity, const wire::FromNode& message) {
              At(0).process().Enter([&] { registrar_->OnNode(identity, message); });
            },
            is_lossy_,
            kFaultsEnd};
  }

  SimWorld sim_;
  const bool is_lossy_ = sim_.Chance(0.2);     // single messages are lost
  const bool is_trainer_ = sim_.Chance(0.08);  // else the job is an own program
  Collectives collectives_;
  StepBook steps_{[this](std::int64_t step) {
    const auto row = history_->Samples({.job = kJob, .after_step = step - 1, .limit = 1});
    return row && !row->empty() && row->front().step == step;
  }};
  std::unique_ptr<engine::History> history_;
  MemoryStore registrar_disk_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::optional<Registrar> registrar_;  // in the process of n0
  std::optional<Time> down_;            // of the next agent that dies
  SimLinks links_{LinkWorld()};
  SimOperator operator_{OperatorWorld()};
  bool may_lose_state_ = false;
  std::set<std::int64_t> commits_;  // epochs
  ClusterResult result_;
};

}  // namespace

ClusterResult SimulateCluster(std::uint64_t seed,
                              std::function<void(const std::string& line)> trace) {
  return Cluster(seed, std::move(trace)).Run();
}

}  // namespace tessera::agents::sim
