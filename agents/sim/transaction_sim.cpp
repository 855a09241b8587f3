// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/transaction_sim.h"

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "agents/decision/embedded.h"
#include "agents/node/transaction_part.h"
#include "agents/registrar/transaction_run.h"
#include "agents/sim/memory_store.h"
#include "agents/sim/sim_ranks.h"
#include "agents/sim/virtual_clock.h"
#include "ptc/base/enum_names.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents::sim {
namespace {

using engine::Decision;
using engine::ParticipantState;
using engine::TxnPhase;
using Nodes = std::set<std::int32_t>;

constexpr EnumNames kMutations(kLastMutation,
                               {"none", "commit before all verified", "go before all followed",
                                "outcome before register", "lost promise", "assumed abort",
                                "empty transfer", "early flip", "lonely abort", "stale slot",
                                "forgetful node", "forgetful registrar", "endless patience",
                                "forgotten leaver", "second rank"});

constexpr char kJob[] = "job";
constexpr Time kFaultsEnd = 60'000;
constexpr Time kEnd = kFaultsEnd + 75'000;
constexpr Time kSilent = 10'000;
constexpr Time kRegistrarSilent = 15'000;
constexpr Time kPauseDeadline = 30'000;

/// What a transaction is, in its row of the registrar's journal and in Prepare.
struct Terms {
  std::int64_t id = 0, slot = 0, epoch = 0;  // the epoch after a commit
  Nodes from, to;

  Nodes participants() const {
    Nodes all = from;
    all.insert(to.begin(), to.end());
    return all;
  }
  std::string layout_hash() const { return fmt::format("layout-{}", epoch); }
};

std::string TextOf(const Nodes& nodes) {
  std::string text = std::to_string(nodes.size());
  for (const std::int32_t node : nodes) text += fmt::format(" {}", node);
  return text;
}
Nodes ReadNodes(std::istream& in) {
  std::size_t count = 0;
  in >> count;
  Nodes nodes;
  for (std::int32_t node = 0; nodes.size() < count && in >> node;) nodes.insert(node);
  return nodes;
}
std::string TextOf(const Terms& t) {
  return fmt::format("{} {} {} {} {}", t.id, t.slot, t.epoch, TextOf(t.from), TextOf(t.to));
}
Terms TermsOf(const std::string& text) {
  std::istringstream in(text);
  Terms t;
  in >> t.id >> t.slot >> t.epoch;
  t.from = ReadNodes(in);
  t.to = ReadNodes(in);
  return t;
}

/// The registrar's row of the job.
struct JobRow {
  std::int64_t epoch = 1, slot = 1;
  Nodes layout;
};

class Simulation {
 public:
  Simulation(std::uint64_t seed, Mutation mutation, Trace trace)
      : random_(seed), mutation_(mutation), trace_(std::move(trace)) {
    const int num_nodes = static_cast<int>(Pick(2, 4));
    JobRow job;
    for (int n = 0; n < num_nodes; ++n) {
      Node& node = nodes_.emplace_back();
      node.number = n;
      SimRanks::World world{&clock_, [this, &node](Time delay, std::function<void()> then) {
                              AfterIn(node, delay, std::move(then));
                            }};
      node.ranks = std::make_unique<SimRanks>(RankId{kJob, {n, 0}}, std::move(world),
                                              seed + static_cast<std::uint64_t>(n));
      if (n == 0 || Chance(0.6)) job.layout.insert(n);
      if (mutation_ == Mutation::kLostPromise) {
        node.disk.loses = [](std::string_view key, std::string_view value) {
          return key == "txn/state" &&
                 value.ends_with(std::to_string(static_cast<int>(ParticipantState::kVerified)));
        };
      }
    }
    for (const std::int32_t n : job.layout) {
      At(n).epoch = At(n).rank_epoch = 1;
      At(n).runs = true;
      At(n).ranks->Place({1, 0});
    }
    Keep(job);
    StartRegistrar();
    for (Node& node : nodes_) StartAgent(node);
    for (int i = static_cast<int>(Pick(0, 9)); i > 0; --i) PlanFault();
    if (num_nodes > 2 && Chance(0.15)) {
      const auto n = static_cast<std::int32_t>(Pick(1, num_nodes - 1));
      clock_.After(Pick(1, kFaultsEnd), [this, n] { KillForGood(n); });
    }
  }

  SimResult Run() {
    while (result_.violation.empty() && clock_.RunNext(kEnd)) {
      ++result_.events;
      CheckEpochs();
    }
    if (result_.violation.empty()) CheckEnd();
    return result_;
  }

 private:
  /// One node: what its keeper and its disk hold, and its agent.
  struct Node {
    std::int32_t number = 0;
    MemoryStore disk;
    bool is_gone = false;
    // In the arenas, and the ranks: they survive the agent.
    std::int64_t epoch = 0;                  // of the pieces; 0: none
    std::int64_t filled = 0;                 // the transaction whose new pieces are complete
    std::int64_t rank_epoch = 0;             // of the ranks; 0: none
    bool runs = false;                       // the ranks make steps
    std::unique_ptr<SimRanks> ranks;         // their processes
    std::optional<std::int64_t> paused_for;  // the transaction that paused them
    // The agent.
    bool is_up = false;
    std::int64_t incarnation = 0;
    std::unique_ptr<TransactionPart> part;
    Terms terms;
    std::optional<Terms> waiting;  // the next transaction
    Time last_word = 0, last_message = 0;
    // The link to the registrar.
    bool is_cut = false;
    std::int64_t link = 0;               // increases when the connection is lost
    Time to_node = 0, to_registrar = 0;  // when the last message arrives
    // What the registrar knows.
    bool is_registered = false;
    std::int64_t known_incarnation = 0;
    Time last_seen = 0;
    bool is_silent = false;
  };

  struct Active {
    Terms terms;
    std::unique_ptr<TransactionRun> run;
    Time phase_began = 0;
    Nodes verified, followed;
  };

  // ---- chance and time
  Time Pick(Time least, Time most) {
    return std::uniform_int_distribution<Time>(least, most)(random_);
  }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }
  Node& At(std::int32_t n) { return nodes_[static_cast<std::size_t>(n)]; }
  void Violate(const std::string& what) {
    if (result_.violation.empty()) {
      result_.violation = fmt::format("at {} ms: {}", clock_.now(), what);
    }
  }
  void Note(const std::string& line) {
    if (trace_) trace_(fmt::format("{:>6} {}", clock_.now(), line));
  }
  /// Calls `then` if the same process still runs.
  void AfterIn(Node& node, Time delay, std::function<void()> then) {
    clock_.After(delay, [&node, incarnation = node.incarnation, then = std::move(then)] {
      if (node.is_up && node.incarnation == incarnation) then();
    });
  }

  // ---- faults
  void PlanFault() {
    const auto n = static_cast<std::int32_t>(Pick(0, std::ssize(nodes_) - 1));
    const Time begin = Pick(1, kFaultsEnd - 1);
    const Time length =
        std::min(Chance(0.5) ? Pick(20, 3000) : Pick(3000, 25'000), kFaultsEnd - begin);
    switch (Pick(0, 2)) {
      case 0:
        return clock_.After(begin, [this, n, length] { Crash(At(n), length); });
      case 1:
        if (n == 0) return;  // the registrar's own node has no network in between
        return clock_.After(begin, [this, n, length] {
          Note(fmt::format("n{} is cut off for {} ms", n, length));
          At(n).is_cut = true;
          Disconnect(At(n));
          clock_.After(length, [this, n] {
            At(n).is_cut = false;
            Connect(At(n));
          });
        });
      default: {
        MemoryStore* const disk = Chance(0.5) ? &registrar_disk_ : &At(n).disk;
        return clock_.After(begin, [this, disk, length] {
          Note(fmt::format("the disk of {} is full for {} ms",
                           disk == &registrar_disk_ ? "the registrar" : "a node", length));
          disk->refused = "";
          clock_.After(length, [disk] { disk->refused.reset(); });
        });
      }
    }
  }

  void Crash(Node& node, Time length) {
    if (!node.is_up || node.is_gone) return;
    Note(fmt::format("n{} crashes for {} ms", node.number, length));
    node.is_up = false;
    node.part.reset();
    node.waiting.reset();
    node.ranks->StopAgent();
    Disconnect(node);
    if (node.number == 0) StopRegistrar();
    clock_.After(length, [this, &node] {
      if (node.is_gone || node.is_up) return;
      if (node.number == 0) StartRegistrar();
      StartAgent(node);
    });
  }

  void KillForGood(std::int32_t n) {
    Node& node = At(n);
    Note(fmt::format("n{} is gone", n));
    node.is_gone = true;
    node.is_up = false;
    node.part.reset();
    node.waiting.reset();
    node.runs = false;
    node.rank_epoch = node.epoch = 0;
    node.ranks->Lose();
    Disconnect(node);
  }

  // ---- messages
  void Disconnect(Node& node) {
    ++node.link;
    node.is_registered = false;
  }
  void Connect(Node& node) {
    if (!node.is_up || node.is_cut || !registrar_up_) return;
    ++node.link;
    SendRegister(node);
  }
  void ToRegistrar(Node& node, std::function<void()> then) {
    if (!node.is_up || node.is_cut || !registrar_up_) return;
    node.to_registrar = std::max(node.to_registrar, clock_.now() + Pick(0, 40));
    clock_.After(node.to_registrar - clock_.now(),
                 [this, &node, link = node.link, then = std::move(then)] {
                   if (node.link == link && registrar_up_) then();
                 });
  }
  Status ToNode(std::int32_t n, std::function<void(Node&)> then) {
    Node& node = At(n);
    if (!node.is_registered) return Unavailable(fmt::format("n{} is not connected", n));
    node.to_node = std::max(node.to_node, clock_.now() + Pick(0, 40));
    clock_.After(node.to_node - clock_.now(),
                 [this, &node, link = node.link, then = std::move(then)] {
                   if (node.link != link || !node.is_up) return;
                   node.last_message = clock_.now();
                   then(node);
                 });
    return OkStatus();
  }

  // ---- the registrar
  void Keep(const JobRow& job) {
    job_ = job;
    static_cast<void>(JournalJob());
  }
  Status JournalJob() {
    return registrar_disk_.Put("job/job",
                               fmt::format("{} {} {}", job_.epoch, job_.slot, TextOf(job_.layout)));
  }

  void StartRegistrar() {
    registrar_up_ = true;
    ++registrar_incarnation_;
    if (const auto row = registrar_disk_.Get("job/job"); row && *row) {
      std::istringstream in(**row);
      in >> job_.epoch >> job_.slot;
      job_.layout = ReadNodes(in);
    }
    for (Node& node : nodes_) {
      node.is_silent = false;
      node.known_incarnation = 0;
      node.last_seen = clock_.now();
      if (node.number != 0 && !node.is_gone) Connect(node);
    }
    Tick(registrar_incarnation_);
    PlanTransaction();
    const auto text = registrar_disk_.Get("txn");
    if (!text || !*text) return;
    if (mutation_ == Mutation::kForgetfulRegistrar) {
      return static_cast<void>(registrar_disk_.Erase("txn"));
    }
    active_.emplace();
    active_->terms = TermsOf(**text);
    engine::Coordinator::Setup setup{active_->terms.participants(), active_->terms.from, {}};
    active_->run = MakeRun(engine::Coordinator::Recovered(std::move(setup)));
    active_->run->Recover();
  }

  void StopRegistrar() {
    registrar_up_ = false;
    ++registrar_incarnation_;
    active_.reset();
    for (Node& node : nodes_) Disconnect(node);
  }

  void Tick(std::int64_t incarnation) {
    if (!registrar_up_ || incarnation != registrar_incarnation_) return;
    clock_.After(1000, [this, incarnation] { Tick(incarnation); });
    for (Node& node : nodes_) {
      if (node.is_silent || clock_.now() - node.last_seen <= kSilent) continue;
      node.is_silent = true;
      Note(fmt::format("n{} is silent", node.number));
    }
    FeedSilence();
    if (!active_) return;
    const Time age = clock_.now() - active_->phase_began;
    if (active_->run->phase() == TxnPhase::kPausing && age > kPauseDeadline) {
      Feed(engine::PauseOverdue{"no step boundary"});
    }
    if (!active_ || age < 3000) return;
    const Nodes waiting = active_->run->machine().waiting_for();
    for (const std::int32_t n : waiting) {
      if (active_ && At(n).is_registered) active_->run->RepeatOutcome(n);
    }
  }

  void FeedSilence() {
    if (!active_ || mutation_ == Mutation::kEndlessPatience) return;
    const Nodes waiting = active_->run->machine().waiting_for();
    for (const std::int32_t n : waiting) {
      if (At(n).is_silent) Feed(engine::NodeSilent{n, fmt::format("n{} is silent", n)});
    }
  }

  void PlanTransaction() {
    clock_.After(Pick(200, 4000), [this, incarnation = registrar_incarnation_] {
      if (!registrar_up_ || incarnation != registrar_incarnation_) return;
      if (!active_ && clock_.now() < kFaultsEnd) BeginTransaction();
      if (!active_ && clock_.now() < kFaultsEnd) PlanTransaction();
    });
  }

  void BeginTransaction() {
    Terms terms;
    terms.id = ++next_number_;
    terms.from = job_.layout;
    terms.epoch = job_.epoch + 1;
    for (const Node& node : nodes_) {
      if (node.is_registered && !node.is_silent && Chance(0.7)) terms.to.insert(node.number);
    }
    if (terms.to.empty()) terms.to = job_.layout;
    if (mutation_ != Mutation::kStaleSlot) {
      while (*registrar_register_.Read(kJob, job_.slot)) ++job_.slot;
    } else if (job_.slot > 1 && Chance(0.3)) {
      --job_.slot;
    }
    terms.slot = job_.slot;
    if (!JournalJob() || !registrar_disk_.Put("txn", TextOf(terms))) return;
    ++result_.transactions;
    active_.emplace();
    active_->terms = terms;
    engine::Coordinator::Setup setup{terms.participants(), terms.from, {}};
    active_->run = MakeRun(engine::Coordinator(std::move(setup)));
    Feed(engine::Begin{});
  }

  void Feed(engine::CoordinatorEvent event) {
    if (active_) active_->run->Feed(std::move(event));
  }

  /// The register, with what must hold before a commit.
  class CheckedRegister : public engine::DecisionRegister {
   public:
    explicit CheckedRegister(Simulation& simulation) : simulation_(simulation) {}
    Result<Decision> Write(const std::string& job, std::int64_t slot,
                           const Decision& decision) override {
      auto held = simulation_.registrar_register_.Write(job, slot, decision);
      const bool is_new = decision.commit && held && *held == decision;
      if (is_new) simulation_.CheckVerified(decision.transaction);
      return held;
    }
    Result<std::optional<Decision>> Read(const std::string& job, std::int64_t slot) override {
      return simulation_.registrar_register_.Read(job, slot);
    }

   private:
    Simulation& simulation_;
  };

  std::unique_ptr<TransactionRun> MakeRun(engine::Coordinator machine) {
    const Terms& t = active_->terms;
    active_->phase_began = clock_.now();
    TransactionRun::World world;
    world.send = [this](const engine::CoordinatorAction& action) { return SendRequest(action); };
    world.compare = [this] { return engine::DigestsCompared{!Chance(0.02), "replicas differ"}; };
    world.adopt = [this](const Decision& decision) {
      if (clock_.now() < kFaultsEnd && Chance(0.01)) {  // after the register, before all else
        return clock_.After(0, [this] { Crash(At(0), Pick(20, 8000)); });
      }
      job_.slot = active_->terms.slot + 1;
      if (decision.commit) {
        job_.epoch = active_->terms.epoch;
        job_.layout = active_->terms.to;
      }
      static_cast<void>(JournalJob());
    };
    world.phase_changed = [this](TxnPhase) {
      Note(fmt::format("transaction {} is {}", active_->terms.id, ToString(active_->run->phase())));
      active_->phase_began = clock_.now();
      if (clock_.now() < kFaultsEnd && Chance(0.01)) {
        clock_.After(0, [this] { Crash(At(0), Pick(20, 8000)); });
      }
    };
    world.finished = [this](bool committed, const std::string&) {
      result_.commits += committed ? 1 : 0;
      if (JournalJob()) static_cast<void>(registrar_disk_.Erase("txn"));
      active_.reset();
      PlanTransaction();
    };
    world.after = [this](std::chrono::milliseconds delay, std::function<void()> then) {
      clock_.After(delay.count(), std::move(then));
    };
    world.note = [](engine::Severity, const std::string&) {};
    return std::make_unique<TransactionRun>(
        TransactionRun::Terms{t.id, kJob, t.slot, t.epoch, t.layout_hash(), {}}, std::move(machine),
        checked_register_, std::move(world));
  }

  Status SendRequest(const engine::CoordinatorAction& action) {
    const Terms terms = active_->terms;
    const std::int64_t id = terms.id;
    return std::visit(Overloaded{
                          [&](const engine::SendPrepare& a) {
                            return ToNode(a.node,
                                          [this, terms](Node& node) { OnPrepare(node, terms); });
                          },
                          [&](const engine::SendPause& a) {
                            return ToNode(a.node, [this, id](Node& node) {
                              if (HearAbout(node, id)) node.part->Feed(engine::PauseRequested{0});
                            });
                          },
                          [&](const engine::SendTransfer& a) {
                            return ToNode(a.node, [this, id, step = a.step](Node& node) {
                              if (HearAbout(node, id)) node.part->OnTransfer(step);
                            });
                          },
                          [&](const engine::SendVerify& a) {
                            return ToNode(a.node, [this, id](Node& node) {
                              if (HearAbout(node, id)) node.part->Feed(engine::VerifyRequested{});
                            });
                          },
                          [&](const engine::SendOutcome& a) {
                            return SendOutcome(a.node, terms, *active_->run->decision());
                          },
                          [&](const engine::SendGo& a) {
                            CheckFollowed(terms, active_->run->decision()->commit);
                            return SendGo(a.node, id);
                          },
                          [](const auto&) { return OkStatus(); },
                      },
                      action);
  }
  Status SendOutcome(std::int32_t n, const Terms& terms, const Decision& decision) {
    return ToNode(n, [this, terms, decision](Node& node) { OnOutcome(node, terms, decision); });
  }
  Status SendGo(std::int32_t n, std::int64_t id) {
    return ToNode(n, [this, id](Node& node) {
      if (HearAbout(node, id)) node.part->OnGo(false);
    });
  }

  void OnRegister(Node& node, std::int64_t incarnation, const std::optional<Terms>& terms,
                  ParticipantState state) {
    const bool restarted = node.known_incarnation != 0 && node.known_incarnation != incarnation;
    Note(fmt::format("n{} registers{}", node.number,
                     terms ? fmt::format(" in transaction {}", terms->id) : std::string()));
    node.known_incarnation = incarnation;
    node.is_registered = true;
    node.last_seen = clock_.now();
    node.is_silent = false;
    if (active_) {
      const bool verified =
          terms && terms->id == active_->terms.id &&
          (state == ParticipantState::kVerified || state == ParticipantState::kCommitted);
      if (restarted) {
        Feed(engine::NodeRestarted{node.number, verified});
      } else {
        Feed(engine::NodeReconnected{node.number});
      }
    }
    if (terms && (!active_ || active_->terms.id != terms->id)) SendPastOutcome(node, *terms);
  }

  /// What the slot holds; `abort` is written to an empty slot of a transaction that is over.
  std::optional<Decision> DecisionOf(const Terms& terms) {
    if (mutation_ == Mutation::kAssumedAbort) return engine::AbortOf(terms.id);
    auto held = registrar_register_.Read(kJob, terms.slot);
    if (!held) return std::nullopt;
    if (*held || (active_ && active_->terms.slot == terms.slot)) return *held;
    const auto decided = registrar_register_.Write(kJob, terms.slot, engine::AbortOf(terms.id));
    if (!decided) return std::nullopt;
    return *decided;
  }
  void SendPastOutcome(Node& node, const Terms& terms) {
    if (const auto held = DecisionOf(terms)) {
      static_cast<void>(SendOutcome(node.number, terms, *held));
    }
  }

  void OnReport(Node& node, std::int64_t id, const engine::Report& report) {
    using Kind = engine::ReportKind;
    Note(fmt::format("n{} reports {} of transaction {}: {}", node.number,
                     static_cast<int>(report.kind), id, report.reason));
    node.last_seen = clock_.now();
    const bool followed = report.kind == Kind::kCommitted || report.kind == Kind::kAborted;
    if (!active_ || active_->terms.id != id) {
      if (followed) static_cast<void>(SendGo(node.number, id));
      return;
    }
    const std::int32_t n = node.number;
    const Nodes all = active_->terms.participants();
    switch (report.kind) {
      case Kind::kPrepared:
        return Feed(engine::NodePrepared{n});
      case Kind::kRefused:
        return Feed(engine::NodeRefused{n, report.reason});
      case Kind::kPaused:
        return Feed(engine::NodePaused{n, report.step});
      case Kind::kTransferred:
        return Feed(engine::NodeTransferred{n});
      case Kind::kTransferFailed:
        return Feed(engine::NodeTransferFailed{n, report.reason});
      case Kind::kVerified: {
        active_->verified.insert(n);
        if (mutation_ == Mutation::kOutcomeBeforeRegister && active_->verified == all) {
          const Terms terms = active_->terms;
          for (const std::int32_t to : all) {
            static_cast<void>(SendOutcome(
                to, terms, Decision{true, terms.id, terms.epoch, terms.layout_hash(), 1}));
          }
        }
        if (mutation_ == Mutation::kCommitBeforeAllVerified) {
          for (const std::int32_t other : all) Feed(engine::NodeVerified{other});
          return;
        }
        return Feed(engine::NodeVerified{n});
      }
      case Kind::kCommitted:
      case Kind::kAborted:
        active_->followed.insert(n);
        if (mutation_ == Mutation::kGoBeforeAllFollowed) {
          for (const std::int32_t other : all) Feed(engine::NodeFollowed{other});
          return;
        }
        return Feed(engine::NodeFollowed{n});
    }
  }

  void OnDecide(Node& node, const Terms& terms, bool write_abort) {
    std::optional<Decision> decision;
    if (write_abort) {
      const auto held = registrar_register_.Write(kJob, terms.slot, engine::AbortOf(terms.id));
      if (held) decision = *held;
      if (held && !held->commit && active_ && active_->terms.id == terms.id) {
        Feed(engine::CancelRequested{fmt::format("n{} gave up waiting", node.number)});
      }
    } else {
      decision = DecisionOf(terms);
    }
    static_cast<void>(ToNode(node.number, [this, terms, decision](Node& to) {
      if (!to.part || to.terms.id != terms.id) return;
      to.last_word = clock_.now();
      if (decision) to.part->OnDecision(Bound(to, *decision));
    }));
  }

  // ---- the agents
  void StartAgent(Node& node) {
    node.is_up = true;
    ++node.incarnation;
    node.last_message = node.last_word = clock_.now();
    const auto kept = TransactionPart::Load(node.disk);
    if (kept && *kept && mutation_ != Mutation::kForgetfulNode) {
      node.terms = TermsOf((*kept)->prepare);
      node.part = std::make_unique<TransactionPart>(PartTerms(node.terms), (*kept)->state,
                                                    node.disk, WorldOf(node));
    }
    const bool has_left = !node.part && node.epoch == 0;
    node.ranks->StartAgent(has_left && mutation_ != Mutation::kForgottenLeaver);
    Connect(node);
    NodeTick(node);
  }

  void NodeTick(Node& node) {
    AfterIn(node, 1000, [this, &node] {
      NodeTick(node);
      ToRegistrar(node, [this, &node] {
        node.last_seen = clock_.now();
        if (!node.is_registered || node.is_silent) return Connect(node);
        static_cast<void>(ToNode(node.number, [this](Node& to) { ResumeLeftovers(to); }));
      });
      if (node.part) node.part->RepeatFollowed();
      if (!node.part) return;
      if (clock_.now() - node.last_message > kRegistrarSilent) {
        if (mutation_ == Mutation::kLonelyAbort &&
            node.part->state() == ParticipantState::kVerified) {
          CleanUp(node);
        }
        node.part->Feed(engine::RegistrarSilent{});
      } else if (clock_.now() - node.last_word > 5000) {
        node.part->Feed(engine::NoWord{});
      }
    });
  }

  /// Ranks that wait for a transaction that is over here: the registrar lets them go on.
  void ResumeLeftovers(Node& node) {
    if (!node.paused_for || node.part || !registrar_up_) return;
    if (active_ && active_->terms.id == *node.paused_for) return;
    if (node.rank_epoch == job_.epoch && node.epoch == job_.epoch) {
      node.paused_for.reset();
      node.runs = true;
    }
  }

  void SendRegister(Node& node) {
    std::optional<Terms> terms;
    ParticipantState state = ParticipantState::kIdle;
    if (node.part) {
      terms = node.terms;
      state = node.part->state();
    }
    ToRegistrar(node, [this, &node, incarnation = node.incarnation, terms, state] {
      OnRegister(node, incarnation, terms, state);
    });
  }

  static TransactionPart::Terms PartTerms(const Terms& t) {
    return {t.id, kJob, t.slot, t.layout_hash(), TextOf(t)};
  }
  bool HearAbout(Node& node, std::int64_t id) {
    if (!node.part || node.terms.id != id) return false;
    node.last_word = clock_.now();
    return true;
  }
  /// With a stale slot, what it holds is taken for the decision of this transaction.
  Decision Bound(const Node& node, Decision decision) const {
    if (mutation_ == Mutation::kStaleSlot) {
      decision.transaction = node.terms.id;
      decision.layout_hash = node.terms.layout_hash();
    }
    return decision;
  }

  void OnPrepare(Node& node, const Terms& terms) {
    if (HearAbout(node, terms.id)) return node.part->Feed(engine::PrepareRequested{});
    if (node.part) {
      const bool is_repeated = node.waiting && node.waiting->id == terms.id;
      node.waiting = terms;
      if (!is_repeated) {
        AfterIn(node, kRegistrarSilent, [this, &node, id = terms.id] {
          if (!node.waiting || node.waiting->id != id) return;
          node.waiting.reset();
          if (clock_.now() > kFaultsEnd + 2 * kRegistrarSilent) {
            Violate(fmt::format("n{} does not hear how transaction {} ended", node.number,
                                node.terms.id));
          }
          Report(node, id, {engine::ReportKind::kRefused, "another transaction", 0});
        });
      }
      return node.part->Feed(engine::NoWord{});
    }
    node.terms = terms;
    node.last_word = clock_.now();
    node.part = std::make_unique<TransactionPart>(PartTerms(terms), node.disk, WorldOf(node));
    node.part->Feed(engine::PrepareRequested{});
  }

  void OnOutcome(Node& node, const Terms& terms, const Decision& decision) {
    if (node.waiting && node.waiting->id == terms.id) node.waiting.reset();
    if (HearAbout(node, terms.id)) return node.part->OnDecision(Bound(node, decision));
    Report(
        node, terms.id,
        {decision.commit ? engine::ReportKind::kCommitted : engine::ReportKind::kAborted, {}, 0});
  }

  void Report(Node& node, std::int64_t id, engine::Report report) {
    ToRegistrar(node, [this, &node, id, report] { OnReport(node, id, report); });
  }

  TransactionPart::World WorldOf(Node& node) {
    TransactionPart::World world;
    world.check = [this, &node]() -> Status {
      const std::int64_t held = node.terms.from.contains(node.number) ? node.terms.epoch - 1 : 0;
      if (node.epoch != held) return FailedPrecondition("stale plan");
      return Chance(0.03) ? Status(ResourceExhausted("no memory")) : OkStatus();
    };
    world.connect = [this, &node] {
      if (IsJoiner(node)) {
        const Status started = node.ranks->Start({node.terms.epoch, node.terms.id},
                                                 mutation_ != Mutation::kSecondRank);
        if (!started) return node.part->Feed(engine::RanksConnected{started});
      }
      ThenFeed(node, Pick(5, 500), [this] {
        return engine::RanksConnected{Chance(0.03) ? Status(Unavailable("a rank ended"))
                                                   : OkStatus()};
      });
    };
    world.raise_request = [this, &node](std::int64_t) { RaiseRequest(node); };
    world.transfer = [this, &node](std::int64_t) {
      ThenFeed(node, Pick(10, 2000), [this, &node] {
        if (Chance(0.03)) return engine::TransferEnded{DataLoss("a chunk differs")};
        if (mutation_ != Mutation::kEmptyTransfer) node.filled = node.terms.id;
        return engine::TransferEnded{OkStatus()};
      });
    };
    world.report = [this, &node](const engine::Report& report) {
      Report(node, node.terms.id, report);
      const bool verified = report.kind == engine::ReportKind::kVerified;
      if (verified && mutation_ == Mutation::kEarlyFlip) Flip(node);
    };
    world.flip = [this, &node](std::int64_t) {
      Flip(node);
      ThenFeed(node, Pick(1, 100), [&node] {
        if (node.terms.to.contains(node.number)) node.rank_epoch = node.terms.epoch;
        return engine::RanksAttached{};
      });
    };
    world.clean_up = [this, &node] {
      CleanUp(node);
      if (IsJoiner(node)) node.ranks->Kill();
      ThenFeed(node, Pick(1, 50), [] { return engine::CleanedUp{}; });
    };
    world.release = [&node](bool) {
      const bool stays = node.terms.to.contains(node.number);
      if (!stays) node.ranks->Retire();
      node.rank_epoch = stays ? node.terms.epoch : 0;
      node.paused_for.reset();
      node.runs = stays;
    };
    world.resume_old = [&node](bool) {
      node.paused_for.reset();
      node.runs = node.rank_epoch != 0 && node.rank_epoch == node.epoch;
    };
    world.ask = [this, &node](bool write_abort) {
      ToRegistrar(node, [this, &node, terms = node.terms, write_abort] {
        OnDecide(node, terms, write_abort);
      });
    };
    world.forgotten = [this, &node](bool) {
      node.part.reset();
      const auto next = std::exchange(node.waiting, std::nullopt);
      if (next) AfterIn(node, 0, [this, &node, terms = *next] { OnPrepare(node, terms); });
    };
    world.halt = [this, &node](const std::string& why) {
      Violate(fmt::format("n{} halts: {}", node.number, why));
    };
    world.note_error = [](const std::string&) {};
    world.fault_point = [this, &node](const std::string&) {
      if (clock_.now() < kFaultsEnd && Chance(0.01)) {
        clock_.After(0, [this, &node] { Crash(node, Pick(20, 8000)); });
      }
    };
    return world;
  }

  static bool IsJoiner(const Node& node) {
    return node.terms.to.contains(node.number) && !node.terms.from.contains(node.number);
  }

  /// Feeds an event to the part later, unless another one is there then.
  template <typename Event>
  void ThenFeed(Node& node, Time delay, Event event) {
    AfterIn(node, delay, [&node, id = node.terms.id, event = std::move(event)] {
      if (node.part && node.terms.id == id) node.part->Feed(event());
    });
  }

  /// The step decision of the job carries a request to all its ranks, so they stop together.
  void RaiseRequest(Node& node) {
    const std::int64_t id = node.terms.id;
    if (node.paused_for == id) return node.part->Feed(engine::RanksPaused{1});
    clock_.After(Pick(1, 300), [this, id, epoch = node.terms.epoch - 1, from = node.terms.from] {
      for (const std::int32_t n : from) {
        Node& other = At(n);
        if (!other.runs || other.rank_epoch != epoch) continue;
        other.runs = false;
        other.paused_for = id;
        if (other.is_up && other.part && other.terms.id == id) {
          other.part->Feed(engine::RanksPaused{1});
        }
      }
    });
  }

  // ---- what must hold
  std::optional<Decision> Held(const Terms& terms) {
    return *registrar_register_.Read(kJob, terms.slot);
  }
  void Flip(Node& node) {
    const auto held = Held(node.terms);
    if (!held || !held->commit || held->transaction != node.terms.id) {
      Violate(fmt::format("n{} flips for transaction {} while the register holds '{}'", node.number,
                          node.terms.id, held ? ToText(*held) : "nothing"));
    }
    const bool stays = node.terms.to.contains(node.number);
    if (stays && node.epoch != node.terms.epoch && node.filled != node.terms.id) {
      Violate(fmt::format("n{} flips to pieces that are not filled", node.number));
    }
    node.epoch = stays ? node.terms.epoch : 0;
  }
  void CleanUp(Node& node) {
    const auto held = Held(node.terms);
    if (!held || (held->commit && held->transaction == node.terms.id)) {
      Violate(fmt::format("n{} cleans up transaction {} while the register holds '{}'", node.number,
                          node.terms.id, held ? ToText(*held) : "nothing"));
    }
  }
  void CheckVerified(std::int64_t id) {
    for (const std::int32_t n : active_->terms.participants()) {
      if (At(n).is_gone) continue;
      const auto kept = TransactionPart::Load(At(n).disk);
      if (kept && *kept && (*kept)->id == id && (*kept)->state >= ParticipantState::kVerified) {
        continue;
      }
      Violate(fmt::format("transaction {} is committed, n{} has not verified it", id, n));
    }
  }
  void CheckFollowed(const Terms& terms, bool committed) {
    for (const std::int32_t n : terms.participants()) {
      const Node& node = At(n);
      if (node.is_gone || node.is_silent) continue;
      // An agent that restarts after its report has done what it reported.
      const bool follows = active_->followed.contains(n) ||
                           (node.part && node.terms.id == terms.id && node.part->followed());
      const bool has_flipped = node.epoch == (terms.to.contains(n) ? terms.epoch : 0) || !committed;
      const bool is_over = !node.part || node.terms.id != terms.id;
      if (has_flipped && (follows || is_over)) continue;
      if (!node.is_up || !node.is_registered) continue;  // it was lost after it had followed
      Violate(fmt::format("transaction {}: ranks are released, n{} has not followed", terms.id, n));
    }
  }
  void CheckEpochs() {
    std::int64_t epoch = 0;
    for (const Node& node : nodes_) {
      if (node.ranks->num_running() > 1) {
        Violate(fmt::format("{} processes run on n{}", node.ranks->num_running(), node.number));
      }
      if (!node.runs) continue;
      if (epoch != 0 && node.rank_epoch != epoch) {
        Violate(fmt::format("ranks of epochs {} and {} run", epoch, node.rank_epoch));
      }
      epoch = node.rank_epoch;
    }
  }
  void CheckEnd() {
    if (active_) {
      return Violate(fmt::format("transaction {} is still {}", active_->terms.id,
                                 ToString(active_->run->phase())));
    }
    for (const Node& node : nodes_) {
      if (node.is_gone) continue;
      if (node.part) {
        return Violate(fmt::format("n{} is still in transaction {}: {}", node.number, node.terms.id,
                                   ToString(node.part->state())));
      }
      const bool has_rank = job_.layout.contains(node.number);
      const std::int64_t wanted = has_rank ? job_.epoch : 0;
      if (node.epoch != wanted || node.rank_epoch != wanted || node.runs != has_rank) {
        return Violate(fmt::format(
            "n{} holds epoch {}, its ranks are in {} and {}; the job is in {}", node.number,
            node.epoch, node.rank_epoch, node.runs ? "run" : "wait", wanted));
      }
      if (node.ranks->num_running() != (has_rank ? 1 : 0)) {
        return Violate(
            fmt::format("{} processes run on n{}", node.ranks->num_running(), node.number));
      }
    }
  }

  std::mt19937_64 random_;
  const Mutation mutation_;
  const Trace trace_;
  VirtualClock clock_;
  std::deque<Node> nodes_;
  bool registrar_up_ = false;
  std::int64_t registrar_incarnation_ = 0;
  MemoryStore registrar_disk_;
  EmbeddedRegister registrar_register_{registrar_disk_};
  CheckedRegister checked_register_{*this};
  JobRow job_;
  std::int64_t next_number_ = 0;
  std::optional<Active> active_;
  SimResult result_;
};

}  // namespace

std::string_view ToString(Mutation mutation) { return kMutations.Of(mutation); }

SimResult Simulate(std::uint64_t seed, Mutation mutation, Trace trace) {
  return Simulation(seed, mutation, std::move(trace)).Run();
}

}  // namespace tessera::agents::sim
