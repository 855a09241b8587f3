// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/cluster_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "agents/node/transaction_part.h"
#include "agents/registrar/registrar.h"
#include "agents/registrar/txn_row.h"
#include "agents/sim/sim_node.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/history/history.h"
#include "ptc/base/check.h"

namespace tessera::agents::sim {
namespace {

constexpr char kJob[] = "job";
constexpr std::size_t kLongestNote = 900;   // of a message
constexpr char kRegistrar[] = "registrar";  // in the book of steps
constexpr Time kFaultsEnd = 30'000;
constexpr Time kEnd = kFaultsEnd + 60'000;

/// An own program whose parameters tp cuts, and pp places.
constexpr char kTensors[] = R"({"layers": 2, "tensors": [
  {"name": "h.0.w", "dtype": "f32", "shape": [8], "role": "param"},
  {"name": "h.1.w", "dtype": "f32", "shape": [8], "role": "param"},
  {"name": "step", "dtype": "i64", "shape": [], "role": "scalar"}]})";
constexpr char kRules[] = R"({"rules": [
  {"match": "h.{layer}.w", "cut": {"dims": [["tp"]]}},
  {"match": "step", "cut": "replicate", "stage": "all"}]})";

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
    is_lossy_ = sim_.Chance(0.2);
    is_trainer_ = sim_.Chance(0.08);
    const int num_nodes = static_cast<int>(sim_.Pick(2, 4));
    const Time step_time = sim_.Pick(150, 800);
    for (int n = 0; n < num_nodes; ++n) AddNode(n, step_time);
    for (auto& node : nodes_) node->Start();
    for (int i = static_cast<int>(sim_.Pick(0, 7)); i > 0; --i) PlanFault();
    Operate();
  }

  ClusterResult Run() {
    while (sim_.violation.empty() && sim_.clock.RunNext(kEnd)) {
      ++result_.events;
      CheckDevices();
    }
    if (sim_.violation.empty()) CheckEnd();
    result_.violation = sim_.violation;
    return result_;
  }

 private:
  /// The connection of an agent to the registrar.
  struct Link {
    bool is_cut = false;
    bool is_connected = false, was_connected = false;
    std::int64_t connection = 0;  // counts them
    Time arrives_at_node = 0, arrives_at_registrar = 0;
    Time node_stalls_until = 0, registrar_stalls_until = 0;  // towards them
    std::deque<wire::FromNode> waiting;
  };

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
    world.send = [this](SimNode& from, const wire::FromNode& message) { FromNode(from, message); };
    world.started = [this](SimNode& node) {
      if (node.number() == 0) StartRegistrar(node);
      ConnectLater(node.number(), sim_.Pick(1, 200));
    };
    world.ended = [this](SimNode& node) {
      Disconnect(node.number());
      LinkOf(node.number()).waiting.clear();
      LinkOf(node.number()).was_connected = false;
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
    links_.emplace_back();
  }
  SimNode& At(std::int32_t n) { return *nodes_[static_cast<std::size_t>(n)]; }
  Link& LinkOf(std::int32_t n) { return links_[static_cast<std::size_t>(n)]; }

  void ConnectLater(std::int32_t n, Time delay) {
    sim_.clock.After(delay, [this, n] { Connect(n); });
  }
  void Connect(std::int32_t n) {
    Link& link = LinkOf(n);
    if (link.is_connected || link.is_cut || !At(n).is_up() || !registrar_) return;
    link.is_connected = true;
    ++link.connection;
    for (const wire::FromNode& message : std::exchange(link.waiting, {})) ToRegistrar(n, message);
    if (!std::exchange(link.was_connected, true)) return;
    At(n).process().EnterLater(0, [this, n] { At(n).agent().OnReconnected(); });
  }
  void Disconnect(std::int32_t n) {
    Link& link = LinkOf(n);
    if (!link.is_connected) return;
    link.is_connected = false;
    ++link.connection;
  }

  void FromNode(SimNode& node, const wire::FromNode& message) {
    Link& link = LinkOf(node.number());
    if (link.is_connected) return ToRegistrar(node.number(), message);
    link.waiting.push_back(message);  // its socket keeps it
  }
  void ToRegistrar(std::int32_t n, const wire::FromNode& message) {
    Link& link = LinkOf(n);
    Arrive(n, link.arrives_at_registrar, link.registrar_stalls_until,
           [this, identity = IdentityOf(n), message] {
             if (!registrar_) return;
             if (sim_.is_traced()) NoteMessage("from " + identity, message);
             At(0).process().Enter([&] { registrar_->OnNode(identity, message); });
           });
  }
  Status ToNode(const std::string& identity, const wire::ToNode& message) {
    At(0).process().Point();
    for (const auto& node : nodes_) {
      const std::int32_t n = node->number();
      if (!LinkOf(n).is_connected || IdentityOf(n) != identity) continue;
      Link& link = LinkOf(n);
      CheckOrder(n, message);
      Arrive(n, link.arrives_at_node, link.node_stalls_until, [this, n, message] {
        if (sim_.is_traced()) NoteMessage(fmt::format("to n{}", n), message);
        At(n).Deliver(message);
      });
      return OkStatus();
    }
    return Unavailable(identity + " is not connected");
  }
  template <typename Message>
  void NoteMessage(const std::string& where, const Message& message) {
    const std::string text = message.ShortDebugString();
    const bool is_usual = text.find("heartbeat") != std::string::npos ||
                          text.find("step {") != std::string::npos ||
                          text.find("progress {") != std::string::npos;
    if (!is_usual) sim_.Note(fmt::format("  {}: {}", where, text.substr(0, kLongestNote)));
  }
  /// No request of a transaction follows its outcome.
  void CheckOrder(std::int32_t n, const wire::ToNode& m) {
    if (m.has_outcome()) outcomes_.insert({n, m.outcome().transaction()});
    const std::int64_t asked = m.has_prepare()     ? m.prepare().transaction()
                               : m.has_pause_txn() ? m.pause_txn().transaction()
                               : m.has_transfer()  ? m.transfer().transaction()
                               : m.has_verify()    ? m.verify().transaction()
                                                   : 0;
    if (outcomes_.contains({n, asked})) {
      sim_.Violate(fmt::format("n{} is asked for transaction {} after its outcome", n, asked));
    }
  }
  /// Messages arrive in order, unless the connection ends before.
  void Arrive(std::int32_t n, Time& last, const Time& stalls_until, std::function<void()> then) {
    const Time now = sim_.clock.now();
    if (is_lossy_ && now < kFaultsEnd && sim_.Chance(0.01)) return;  // a queue was full
    last = std::max({last, now + sim_.Pick(0, 20), stalls_until});
    sim_.clock.After(last - now,
                     [this, n, connection = LinkOf(n).connection, then = std::move(then)] {
                       if (LinkOf(n).connection == connection) then();
                     });
  }
  std::string IdentityOf(std::int32_t n) { return fmt::format("n{}-{}", n, At(n).incarnation()); }

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
    for (const auto& other : nodes_) ConnectLater(other->number(), sim_.Pick(1, 1000));
  }
  void StopRegistrar() {
    steps_.Ended(kRegistrar);
    registrar_disk_.point = nullptr;
    registrar_.reset();
    for (const auto& node : nodes_) Disconnect(node->number());
  }
  Registrar::World RegistrarWorld(Process& process) {
    return {
        .send = [this](const std::string& identity,
                       const wire::ToNode& message) { return ToNode(identity, message); },
        .reply = [this](const std::string&, const wire::Reply& reply) { OnReply(reply); },
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

  // ---- the operator
  using OnAnswer = std::function<void(const wire::Reply&)>;
  /// `then` runs with the answer, now or later.
  void Request(wire::Request request, OnAnswer then = {}) {
    if (!registrar_) return;
    request.set_id(fmt::format("request-{}", ++requests_));
    request.set_sequence(static_cast<std::uint64_t>(requests_));
    if (then) answers_[request.id()] = std::move(then);
    At(0).process().Enter([&] { registrar_->OnRequest("operator", request); });
  }
  void OnReply(const wire::Reply& reply) {
    if (const auto found = answers_.find(reply.id()); found != answers_.end()) {
      const OnAnswer then = std::move(found->second);
      answers_.erase(found);
      then(reply);
    }
    if (reply.has_error()) sim_.Note("refused: " + reply.error().message());
    if (reply.has_apply()) ++result_.transactions;
  }
  std::optional<engine::ClusterSnapshot> Look() {
    wire::Request request;
    request.mutable_status();
    std::optional<engine::ClusterSnapshot> out;
    Request(request, [&](const wire::Reply& reply) {
      auto status = Decode(reply.status());
      TESSERA_CHECK(status.has_value());
      out = std::move(*status);
    });
    answers_.erase(fmt::format("request-{}", requests_));  // the registrar has died
    return out;
  }

  void Operate() {
    const bool calm = sim_.clock.now() > kFaultsEnd;
    sim_.clock.After(calm ? 3000 : sim_.Pick(200, 5000), [this] {
      Operate();
      if (const auto status = Look()) Act(*status);
    });
  }
  void Act(const engine::ClusterSnapshot& status) {
    const bool calm = sim_.clock.now() > kFaultsEnd;
    if (status.jobs.empty()) {
      StartJob();
      return;
    }
    const engine::JobStatus& job = status.jobs.front();
    wire::Request request;
    if (job.state == engine::JobState::kFailed) {
      request.mutable_job()->set_act(wire::JobRequest::STOP);
      request.mutable_job()->set_job(kJob);
    } else if (job.state == engine::JobState::kPaused && (calm || sim_.Chance(0.7))) {
      request.mutable_job()->set_act(wire::JobRequest::RESUME);
      request.mutable_job()->set_job(kJob);
    } else if (job.state == engine::JobState::kRunning && !calm && sim_.Chance(0.1)) {
      request.mutable_job()->set_act(wire::JobRequest::PAUSE);
      request.mutable_job()->set_job(kJob);
    } else if (job.state == engine::JobState::kSuspended && (calm || sim_.Chance(0.2))) {
      if (job.decision && job.decision->can_continue()) {
        request.mutable_decision()->set_job(kJob);
        request.mutable_decision()->set_choice(
            static_cast<std::uint32_t>(engine::LossChoice::kContinue));
      } else if (!job.decision) {
        request.mutable_job()->set_act(wire::JobRequest::RESUME);
        request.mutable_job()->set_job(kJob);
      } else {
        return;
      }
    } else if (!calm && sim_.Chance(0.02)) {
      may_lose_state_ = true;
      const ptc::DeviceId device =
          job.devices[static_cast<std::size_t>(sim_.Pick(0, std::ssize(job.devices) - 1))];
      sim_.Note(ToString(device) + " fails");
      Encode(device, request.mutable_fail_device()->mutable_device());
    } else if (!calm && sim_.Chance(0.8)) {
      request.mutable_apply()->mutable_plan()->set_job(kJob);
      wire::PlanRequest& plan = *request.mutable_apply()->mutable_plan();
      Encode(ChooseDevices(status, plan.mutable_devices()), plan.mutable_mesh());
      if (plan.devices().empty()) return;
    } else {
      return;
    }
    if (request.has_apply() && known_plan_ && sim_.Chance(0.15)) {
      // As a panel does whose picture of the cluster is old.
      *request.mutable_apply()->mutable_plan() = known_plan_->request;
      request.mutable_apply()->set_plan_hash(known_plan_->hash);
      return Request(request, [this, epoch = known_plan_->epoch](const wire::Reply& reply) {
        if (!reply.has_apply() || reply.apply().plan().epoch() == epoch) return;
        sim_.Violate(fmt::format("a plan of epoch {} is applied in epoch {}", epoch,
                                 reply.apply().plan().epoch()));
      });
    }
    if (request.has_apply() && sim_.Chance(0.3)) {
      wire::Request wanted;
      *wanted.mutable_plan() = request.apply().plan();
      Request(wanted, [this, plan = wanted.plan()](const wire::Reply& reply) {
        if (reply.has_plan()) known_plan_ = {plan, reply.plan().hash(), reply.plan().epoch()};
      });
    }
    Request(request);
  }
  void StartJob() {
    wire::Request request;
    wire::StartJobRequest& start = *request.mutable_start_job();
    if (is_trainer_) {
      start.set_model("gpt-nano");
    } else {  // few tensors: layouts are planned and parsed faster
      start.set_command("train");
      start.mutable_tensors()->set_name("tensors");
      start.mutable_tensors()->set_text(kTensors);
      start.mutable_rules()->set_name("rules");
      start.mutable_rules()->set_text(kRules);
    }
    start.set_name(kJob);
    if (sim_.Chance(0.4)) start.mutable_snapshots()->set_steps(sim_.Pick(5, 30));
    start.set_on_failure(static_cast<std::uint32_t>(engine::OnFailure::kShrink));
    const auto status = Look();
    if (!status) return;
    Encode(ChooseDevices(*status, start.mutable_devices()), start.mutable_mesh());
    Request(request);
  }
  /// Usable devices, and a mesh for them.
  ptc::MeshShape ChooseDevices(const engine::ClusterSnapshot& status,
                               google::protobuf::RepeatedPtrField<wire::Device>* out) {
    std::vector<ptc::DeviceId> usable;
    for (const engine::NodeStatus& node : status.nodes) {
      if (node.state != engine::NodeState::kAlive) continue;
      for (const engine::DeviceStatus& device : node.devices) {
        if (!device.failed && sim_.Chance(0.7)) usable.push_back(device.id);
      }
    }
    ptc::MeshShape shape;
    auto num = static_cast<std::int64_t>(usable.size());
    if (num > 2 && num % 2 != 0 && sim_.Chance(0.5)) --num;
    for (std::int64_t i = 0; i < num; ++i) Encode(usable[static_cast<std::size_t>(i)], out->Add());
    const bool is_even = num % 2 == 0;
    const ptc::Axis other = sim_.Chance(0.5) ? ptc::Axis::kTp : ptc::Axis::kPp;
    const std::int64_t across = is_even && sim_.Chance(0.5) ? 2 : 1;
    shape[other] = across;
    shape[ptc::Axis::kDp] = std::max<std::int64_t>(num, 1) / across;
    return shape;
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
        return sim_.clock.After(begin, [this, n, length] {
          sim_.Note(fmt::format("n{} is cut off for {} ms", n, length));
          LinkOf(n).is_cut = true;
          Disconnect(n);
          sim_.clock.After(length, [this, n] {
            LinkOf(n).is_cut = false;
            ConnectLater(n, sim_.Pick(1, 1000));
          });
        });
      case 2:  // no packet arrives, in one direction or both
        if (n == 0) return;
        return sim_.clock.After(begin, [this, n, length, which = sim_.Pick(1, 3)] {
          sim_.Note(fmt::format("the link of n{} stalls for {} ms ({})", n, length, which));
          const Time until = sim_.clock.now() + length;
          if (which & 1) LinkOf(n).node_stalls_until = until;
          if (which & 2) LinkOf(n).registrar_stalls_until = until;
        });
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
    const auto status = Look();
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

  SimWorld sim_;
  Collectives collectives_;
  StepBook steps_{[this](std::int64_t step) {
    const auto row = history_->Samples({.job = kJob, .after_step = step - 1, .limit = 1});
    return row && !row->empty() && row->front().step == step;
  }};
  std::unique_ptr<engine::History> history_;
  MemoryStore registrar_disk_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::deque<Link> links_;
  std::optional<Registrar> registrar_;  // in the process of n0
  std::optional<Time> down_;            // of the next agent that dies
  bool is_trainer_ = false;             // else the job is an own program
  bool is_lossy_ = false;               // single messages are lost
  bool may_lose_state_ = false;
  std::map<std::string, OnAnswer> answers_;  // by request
  struct KnownPlan {
    wire::PlanRequest request;
    std::string hash;
    std::int64_t epoch = 0;
  };
  std::optional<KnownPlan> known_plan_;
  std::int64_t requests_ = 0;
  std::set<std::int64_t> commits_;                            // epochs
  std::set<std::pair<std::int32_t, std::int64_t>> outcomes_;  // that nodes were sent
  ClusterResult result_;
};

}  // namespace

ClusterResult SimulateCluster(std::uint64_t seed,
                              std::function<void(const std::string& line)> trace) {
  return Cluster(seed, std::move(trace)).Run();
}

}  // namespace tessera::agents::sim
