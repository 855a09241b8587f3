// SPDX-License-Identifier: Apache-2.0
// Coordinator and participants exchange messages in any order between nodes, with kills of agents
// and of the registrar at any point.
#include <QTest>
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "engine/txn/coordinator.h"
#include "engine/txn/decision.h"
#include "engine/txn/participant.h"
#include "ptc/base/overloaded.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

namespace {

// One cluster with one transaction. It does the work of agents/node, and separates memory that
// survives kills from memory that does not.
class World {
 public:
  struct Node {
    // Survives the agent: its journal, the arena, the ranks.
    std::optional<ParticipantState> journal;
    int moved = 0;  // rounds, in the journal
    int freed = 0;  // rounds whose old pieces are freed
    bool settled = false, lost = false;
    bool flipped = false;
    int paused = 0, reached = 0, copied = 0;  // the last leg in which it was so
    bool has_memory = true;                   // to copy while ranks compute
    bool can_follow = true;
    int fails = 0;             // the leg of which it copies a part only
    bool has_digests = false;  // of the agent that made the transfer
    int go_on_new = 0, go_on_old = 0;
    bool away = false, was_away = false;  // out of the registrar's reach
    // Does not.
    std::optional<Participant> machine;
    std::deque<ParticipantEvent> inbox;
  };

  World(std::mt19937_64& rng, int nodes, bool already_paused) : rng_(rng) {
    if (rng() % 3 == 0) setup_.rounds = 1 + static_cast<int>(rng() % 4);
    setup_.precopies = !already_paused && setup_.rounds == 0 && rng() % 2 == 0;
    if (rng() % 2 == 0) setup_.legs = 1 + static_cast<int>(rng() % 4);
    for (int n = 0; n < nodes; ++n) {
      setup_.participants.insert(n);
      if (n < (nodes + 1) / 2) setup_.pausing.insert(n);
      nodes_[n] = {};
      nodes_[n].has_memory = rng() % 8 != 0;
      nodes_[n].can_follow = rng() % 8 != 0;
      if (rng() % 8 == 0) nodes_[n].fails = 1 + static_cast<int>(rng() % 4);
    }
    if (already_paused) setup_.paused_at = 7;
    if (rng() % 2 == 0) setup_.digesting = setup_.participants;
    coordinator_.emplace(setup_);
    Perform(coordinator_->On(Begin{}));
  }

  /// Runs until no message is left. Kills that many agents, and breaks that many connections with
  /// all their messages.
  /// `lose`: a node is lost for good between two rounds. `silences`: how often a node is out
  /// of reach for so long that it counts as silent. Messages of both sides then arrive late, in
  /// order.
  void Run(int kills, int cuts, bool cancel, bool lose = false, int silences = 0) {
    for (int i = 0; i < 20000; ++i) {
      if (silences > 0 && rng_() % 16 == 0) {
        --silences;
        GoAway(static_cast<int>(rng_() % nodes_.size()));
        continue;
      }
      if (rng_() % 16 == 0 && ComeBack()) continue;
      if (lose && coordinator_->round() > 0 && rng_() % 6 == 0) {
        lose = false;
        Lose(static_cast<int>(rng_() % nodes_.size()));
        continue;
      }
      if (kills > 0 && rng_() % 12 == 0) {
        --kills;
        Kill();
        continue;
      }
      if (cuts > 0 && rng_() % 8 == 0) {
        --cuts;
        Cut(static_cast<int>(rng_() % nodes_.size()));
        continue;
      }
      if (cancel && rng_() % 20 == 0 && coordinator_) {
        cancel = false;
        Perform(coordinator_->On(CancelRequested{"cancelled"}));
        continue;
      }
      if (!Deliver()) {
        if (ComeBack() || Ask()) continue;
        if (kills <= 0) return;
        --kills;
        Kill();
      }
    }
    QFAIL("the world does not come to rest");
  }

  void Check() {
    QVERIFY2(finished_.has_value(), "the coordinator did not finish");
    QVERIFY(decided_.has_value());
    QCOMPARE(*finished_, *decided_);
    if (gave_up()) return CheckSettled();
    bool can_report =
        *decided_ && !setup_.digesting.empty() && !is_recovered_ && !transfers_digested_;
    for (const auto& [number, node] : nodes_) {
      can_report = can_report && node.has_digests && !node.was_away;
    }
    if (can_report) QCOMPARE(digested_, setup_.digesting);
    for (const auto& [number, node] : nodes_) {
      QCOMPARE(node.flipped, *decided_);
      QVERIFY2(!node.journal, "a participant still remembers the transaction");
      if (*decided_) {
        QVERIFY(node.go_on_new >= 1 && node.go_on_old == 0);
      } else {
        QCOMPARE(node.go_on_new, 0);
      }
    }
  }
  bool committed() const { return decided_.value_or(false); }
  bool gave_up() const { return !setup_.given_up.empty(); }
  int precopies() const { return precopies_; }
  /// The nodes that are to copy while ranks compute, if all have the memory.
  int expected_precopies() const {
    const bool can =
        std::ranges::all_of(nodes_, [](const auto& entry) { return entry.second.has_memory; });
    if (!setup_.precopies || !can) return 0;
    int legs = LegsAsked();
    for (const auto& [number, node] : nodes_) {
      if (node.fails > 0 && legs > 1) legs = std::min(legs, node.fails);
    }
    return static_cast<int>(nodes_.size()) * legs;
  }
  int LegsAsked() const {
    const bool follow =
        std::ranges::all_of(nodes_, [](const auto& entry) { return entry.second.can_follow; });
    return follow ? setup_.legs : 1;
  }

 private:
  // All have freed what the same rounds have moved, and hold what these rounds have moved.
  void CheckSettled() {
    for (const auto& [number, node] : nodes_) {
      if (node.lost) continue;
      QVERIFY2(node.settled, "a node was not told where the state is left");
      QCOMPARE(node.freed, setup_.settled);
      QVERIFY2(!node.journal, "a participant still remembers the transaction");
      QCOMPARE(node.go_on_new + node.go_on_old, 0);
    }
  }

  void Lose(int number) {
    nodes_[number] = Node{};
    nodes_[number].lost = true;
    std::erase_if(to_coordinator_, [number](const CoordinatorEvent& event) {
      return std::visit(
          [number](const auto& e) {
            if constexpr (requires { e.node; }) return e.node == number;
            return false;
          },
          event);
    });
    setup_.given_up = "a node is gone";
    setup_.settled = coordinator_->round() - 1;
    Perform(coordinator_->On(NodeGone{number, setup_.given_up}));
  }

  void GoAway(int number) {
    Node& node = nodes_[number];
    if (node.lost || node.away) return;
    node.away = node.was_away = true;
    if (!finished_) to_coordinator_.push_back(NodeSilent{number, "it is silent"});
  }

  // The node registers again.
  bool ComeBack() {
    for (auto& [number, node] : nodes_) {
      if (!node.away) continue;
      node.away = false;
      if (finished_) {
        Restarted(number);
      } else {
        to_coordinator_.push_back(NodeReconnected{number});
      }
      return true;
    }
    return false;
  }

  // A node that still has the transaction repeats its report, or asks for the outcome.
  bool Ask() {
    if (!finished_) return false;
    for (auto& [number, node] : nodes_) {
      if (!node.machine) continue;
      if (node.machine->followed()) {
        node.inbox.push_back(
            OutcomeReceived{node.machine->state() == ParticipantState::kCommitted});
      } else {
        node.inbox.push_back(NoWord{});
      }
      return true;
    }
    return false;
  }

  // What the registrar tells a node that still has the transaction after its end.
  OutcomeReceived PastOutcome() const {
    const bool left = *decided_ && gave_up();
    return {*decided_, left ? kGivenUp : 0, left ? setup_.settled : 0};
  }

  void Kill() {
    const auto victim = static_cast<int>(rng_() % (nodes_.size() + 1));
    if (victim == static_cast<int>(nodes_.size())) {
      // The registrar restarts and reads the register, unless the transaction is over.
      if (finished_) return;
      to_coordinator_.clear();
      coordinator_.emplace(Coordinator::Recovered(setup_));
      is_recovered_ = true;
      WriteDecision(false);
      for (auto& [number, node] : nodes_) Restarted(number);
      return;
    }
    Node& node = nodes_[victim];
    if (node.lost) return;
    node.inbox.clear();
    node.machine.reset();
    node.has_digests = false;
    if (node.journal)
      node.machine = Participant::Recovered(*node.journal, setup_.rounds, node.moved);
    Restarted(victim);
  }

  void Cut(int number) {
    Node& node = nodes_[number];
    if (node.lost) return;
    std::erase_if(node.inbox, [](const ParticipantEvent& event) {
      return std::holds_alternative<PrepareRequested>(event) ||
             std::holds_alternative<PauseRequested>(event) ||
             std::holds_alternative<PrecopyRequested>(event) ||
             std::holds_alternative<TransferRequested>(event) ||
             std::holds_alternative<VerifyRequested>(event) ||
             std::holds_alternative<OutcomeReceived>(event) ||
             std::holds_alternative<GoReceived>(event);
    });
    bool restarts = false;  // as yet unheard: it registers again
    std::erase_if(to_coordinator_, [&](const CoordinatorEvent& event) {
      return std::visit(
          [&](const auto& e) {
            if constexpr (requires { e.node; }) {
              if (e.node != number) return false;
              restarts = restarts || std::is_same_v<decltype(e), const NodeRestarted&>;
              return true;
            } else {
              return false;
            }
          },
          event);
    });
    if (restarts || finished_) return Restarted(number);
    to_coordinator_.push_back(NodeReconnected{number});
  }

  // The agent registers and reports the state in its journal.
  void Restarted(int number) {
    Node& node = nodes_[number];
    if (node.lost) {
      if (!finished_) to_coordinator_.push_back(NodeSilent{number, "it is gone"});
      return;
    }
    if (finished_) {
      if (node.journal && !node.away) node.inbox.push_back(PastOutcome());
      return;
    }
    to_coordinator_.push_back(
        NodeRestarted{number, node.journal == ParticipantState::kVerified ||
                                  node.journal == ParticipantState::kCommitted});
  }

  bool Deliver() {
    std::vector<int> ready;
    for (auto& [number, node] : nodes_) {
      if (!node.inbox.empty() && !node.away) ready.push_back(number);
    }
    if (!to_coordinator_.empty()) ready.push_back(-1);
    if (ready.empty()) return false;
    const int who = ready[rng_() % ready.size()];
    if (who == -1) {
      const CoordinatorEvent event = to_coordinator_.front();
      to_coordinator_.pop_front();
      Perform(coordinator_->On(event));
      // The registrar answers a node whose transaction is over with the outcome.
      const auto* again = std::get_if<NodeRestarted>(&event);
      const auto* back = std::get_if<NodeReconnected>(&event);
      if (finished_ && again != nullptr) Restarted(again->node);
      if (finished_ && back != nullptr) Restarted(back->node);
      const auto* late = std::get_if<NodeFollowed>(&event);
      if (finished_ && late != nullptr) nodes_[late->node].inbox.push_back(GoReceived{});
      return true;
    }
    Node& node = nodes_[who];
    const ParticipantEvent event = node.inbox.front();
    node.inbox.pop_front();
    if (node.lost) return true;
    if (!node.machine) {
      if (std::holds_alternative<PrepareRequested>(event)) {
        node.machine.emplace(setup_.rounds);
      } else if (const auto* outcome = std::get_if<OutcomeReceived>(&event)) {
        // The node does not know it: it never began, or it was carried out and forgotten.
        if (outcome->commit)
          Expect(node.flipped || node.settled, "a commit was forgotten before the flip");
        Say(who, {outcome->commit ? ReportKind::kCommitted : ReportKind::kAborted, {}, 0});
        return true;
      } else {
        return true;
      }
    }
    for (const ParticipantAction& action : node.machine->On(event)) Perform(who, action);
    if (const auto* ended = std::get_if<RoundEnded>(&event); ended && !ended->status) {
      node.inbox.push_back(OutcomeReceived{true, ended->round});  // as the agent tries again
    }
    return true;
  }

  static void Expect(bool holds, const char* otherwise) { QVERIFY2(holds, otherwise); }

  void Say(int number, const Report& report) {
    const auto [kind, reason, step, round, is_whole] = report;
    if (finished_) {
      const bool followed = kind == ReportKind::kCommitted || kind == ReportKind::kAborted;
      if (followed) nodes_[number].inbox.push_back(GoReceived{});
      return;
    }
    switch (kind) {
      case ReportKind::kMoved:
        to_coordinator_.push_back(NodeMoved{number, round});
        break;
      case ReportKind::kPrepared:
        to_coordinator_.push_back(
            NodePrepared{number, nodes_[number].has_memory, nodes_[number].can_follow});
        break;
      case ReportKind::kReached:
        to_coordinator_.push_back(NodeReached{number, round});
        break;
      case ReportKind::kPrecopied:
        to_coordinator_.push_back(NodePrecopied{number, round, is_whole});
        break;
      case ReportKind::kRefused:
        to_coordinator_.push_back(NodeRefused{number, "no"});
        break;
      case ReportKind::kPaused:
        to_coordinator_.push_back(NodePaused{number, step});
        break;
      case ReportKind::kTransferred:
        to_coordinator_.push_back(NodeTransferred{number});
        break;
      case ReportKind::kTransferFailed:
        to_coordinator_.push_back(NodeTransferFailed{number, "broken"});
        break;
      case ReportKind::kVerified:
        to_coordinator_.push_back(NodeVerified{number});
        break;
      case ReportKind::kCommitted:
      case ReportKind::kAborted:
        to_coordinator_.push_back(NodeFollowed{number});
        break;
    }
  }

  void SayDigests(int number) {
    if (finished_) return;
    const bool has_digests = nodes_[number].has_digests;
    to_coordinator_.push_back(NodeDigested{number, has_digests});
    if (has_digests) digested_.insert(number);
  }

  void Perform(int number, const ParticipantAction& action) {
    Node& node = nodes_[number];
    std::visit(
        Overloaded{
            [&](const CheckAndReserve&) { node.inbox.push_back(LocalChecked{OkStatus()}); },
            [&](const ConnectRanks&) { node.inbox.push_back(RanksConnected{OkStatus()}); },
            [&](const RaiseRequest& a) {
              QVERIFY2(node.journal, "a pause was asked for without a journaled transaction");
              QVERIFY(a.leg == 1 || a.before_update);
              if (a.leg > node.reached && a.leg > 1) {
                // Ranks go on once all wait, and all have the tensors of the leg before.
                for (const NodeNumber n : setup_.pausing) QVERIFY(nodes_[n].paused >= a.leg - 1);
                for (const auto& [other, state] : nodes_) QCOMPARE(state.copied, a.leg - 1);
              }
              if (a.before_update) {
                node.reached = std::max(node.reached, a.leg);
                node.inbox.push_back(StateReached{node.reached});
              }
              // Ranks may pause before or after the others have copied.
              node.paused = std::max(node.reached, 1);
              node.inbox.push_back(RanksPaused{6 + node.paused});
            },
            [&](const RunPrecopy& a) {
              QCOMPARE(a.step, 6 + a.leg);
              QCOMPARE(a.legs, LegsAsked());
              QVERIFY2(node.has_memory, "a copy without the memory for it");
              for (const NodeNumber n : setup_.pausing) {
                QVERIFY2(nodes_[n].reached == a.leg, "a copy of a state that a node does not have");
              }
              ++precopies_;
              node.copied = a.leg;
              failed_ = failed_ || (a.legs > 1 && node.fails == a.leg);
              node.inbox.push_back(PrecopyEnded{a.legs == 1 || node.fails != a.leg});
            },
            [&](const RunTransfer&) {
              node.has_digests = !transfers_digested_;
              node.inbox.push_back(TransferEnded{OkStatus()});
            },
            [&](const JournalState& a) {
              node.journal = a.state;
              node.moved = a.moved;
            },
            [&](const Report& a) { Say(number, a); },
            [&](const OfferRound& a) { QCOMPARE(a.round, node.moved); },
            [&](const RunRound& a) {
              QVERIFY2(decided_ == true, "a round before the register held commit");
              QCOMPARE(a.round, node.moved + 1);
              QVERIFY2(!node.settled, "a round after they were given up");
              for (const auto& [other, state] : nodes_) {
                if (state.lost) continue;
                // One that has settled has forgotten the rounds; this node hears of it next.
                QVERIFY2(state.settled || state.moved >= a.round - 1,
                         "a round before all had the one before");
                QVERIFY2(state.freed < a.round, "a copy of what is freed");
              }
              node.freed = a.round - 1;
              const bool fails = rng_() % 6 == 0;
              node.inbox.push_back(
                  RoundEnded{a.round, fails ? Status(Unavailable("broken")) : OkStatus()});
            },
            [&](const FlipAndAdopt&) {
              QVERIFY2(decided_ == true, "a flip before the register held commit");
              for (const auto& [other, state] : nodes_) {
                QVERIFY2(state.flipped || state.moved == setup_.rounds,
                         "the last flip before all rounds were moved");
              }
              node.flipped = true;
              node.inbox.push_back(RanksAttached{});
            },
            [&](const Settle& a) {
              QVERIFY2(gave_up(), "a state is left although no node is lost");
              QVERIFY2(node.freed <= a.rounds, "what the state is left with is freed");
              QVERIFY2(a.rounds <= node.moved,
                       "a state is left with rounds that were not verified");
              node.freed = a.rounds;
              node.settled = true;
            },
            [&](const CleanUp&) {
              QVERIFY2(decided_ == false || node.settled,
                       "a rollback before the register held abort");
              node.inbox.push_back(CleanedUp{});
            },
            [&](const ReleaseRanks&) {
              // The barrier: no step in the new epoch before every node has flipped.
              for (const auto& [other, state] : nodes_) {
                QVERIFY(state.flipped || state.was_away);
              }
              ++node.go_on_new;
              SayDigests(number);
            },
            [&](const ResumeOld&) {
              QVERIFY(!node.flipped);
              ++node.go_on_old;
            },
            [&](const ReadRegister&) {
              if (finished_) node.inbox.push_back(PastOutcome());
            },
            [&](const Halt& a) { QFAIL(a.reason.c_str()); },
            [&](const Forget&) {
              node.journal.reset();
              node.moved = 0;
              node.machine.reset();
            },
        },
        action);
  }

  void WriteDecision(bool commit) {
    if (!decided_) {
      if (commit) {
        for (const auto& [number, node] : nodes_) {
          QVERIFY2(node.journal && *node.journal >= ParticipantState::kVerified,
                   "commit was written before every participant had journaled verified");
        }
      }
      decided_ = commit;
    }
    Perform(coordinator_->On(RegisterAnswered{*decided_}));
  }

  void Perform(const std::vector<CoordinatorAction>& actions) {
    for (const CoordinatorAction& action : actions) {
      std::visit(
          Overloaded{
              [&](const SendPrepare& a) { nodes_[a.node].inbox.push_back(PrepareRequested{}); },
              [&](const SendPause& a) {
                nodes_[a.node].inbox.push_back(PauseRequested{0, a.before_update, a.leg});
              },
              [&](const SendPrecopy& a) {
                nodes_[a.node].inbox.push_back(PrecopyRequested{6 + a.leg, a.leg, a.legs});
              },
              [&](const SendTransfer& a) {
                if (!setup_.paused_at) {
                  for (const NodeNumber n : setup_.pausing) QVERIFY(nodes_[n].paused > 0);
                }
                QCOMPARE(a.anew, failed_);
                transfers_digested_ = coordinator_->follows();
                nodes_[a.node].inbox.push_back(TransferRequested{});
              },
              [&](const CompareDigests&) {
                to_coordinator_.push_back(DigestsCompared{true, {}});
              },
              [&](const SendVerify& a) { nodes_[a.node].inbox.push_back(VerifyRequested{}); },
              [&](const WriteRegister& a) { WriteDecision(a.commit); },
              [&](const SendOutcome& a) {
                // The registrar notes it first.
                setup_.round = std::max(setup_.round, RoundToNote(a, setup_.rounds));
                nodes_[a.node].inbox.push_back(OutcomeReceived{a.commit, a.round, a.settled});
              },
              [&](const SendGo& a) { nodes_[a.node].inbox.push_back(GoReceived{}); },
              [&](const AskDigests& a) {
                // As long as the node has the transaction, its report follows.
                if (!nodes_[a.node].machine) SayDigests(a.node);
              },
              [&](const Finish& a) { finished_ = a.committed; },
          },
          action);
    }
  }

  std::mt19937_64& rng_;
  Coordinator::Setup setup_;
  std::optional<Coordinator> coordinator_;
  std::deque<CoordinatorEvent> to_coordinator_;
  std::map<int, Node> nodes_;
  std::optional<bool> decided_;  // the write-once register
  std::optional<bool> finished_;
  std::set<int> digested_;  // nodes that have reported digests, perhaps in vain
  bool is_recovered_ = false;
  int precopies_ = 0;
  bool failed_ = false;              // a node has copied a part of a leg only
  bool transfers_digested_ = false;  // all that was copied
};

void Expect(bool holds) { QVERIFY(holds); }

/// A coordinator that waits until all participants have followed the commit.
Coordinator Committed(const Coordinator::Setup& setup) {
  Coordinator c(setup);
  c.On(Begin{});
  for (const NodeNumber n : setup.participants) c.On(NodePrepared{n});
  for (const NodeNumber n : setup.participants) c.On(NodeTransferred{n});
  c.On(DigestsCompared{true, {}});
  for (const NodeNumber n : setup.participants) c.On(NodeVerified{n});
  c.On(RegisterAnswered{true});
  return c;
}

}  // namespace

class TxnTest : public QObject {
  Q_OBJECT

 private slots:
  void commitsWithoutFaults() {
    std::mt19937_64 rng(test::Seed());
    for (const bool paused : {false, true}) {
      for (int i = 0; i < 50; ++i) {
        World world(rng, 1 + i % 5, paused);
        world.Run(0, 0, false);
        world.Check();
        QVERIFY(world.committed());
        QCOMPARE(world.precopies(), world.expected_precopies());
      }
    }
  }

  void everyOutcomeIsTheRegisters() {
    std::mt19937_64 rng(test::Seed());
    int commits = 0, aborts = 0;
    for (int i = 0; i < 4000; ++i) {
      World world(rng, 1 + static_cast<int>(rng() % 4), rng() % 4 == 0);
      world.Run(static_cast<int>(rng() % 4), static_cast<int>(rng() % 4), rng() % 3 == 0, false,
                static_cast<int>(rng() % 2));
      world.Check();
      if (QTest::currentTestFailed()) return;
      ++(world.committed() ? commits : aborts);
    }
    // Both outcomes occurred often enough.
    QVERIFY(commits > 200);
    QVERIFY(aborts > 200);
  }

  // Broken connections do not change the outcome: without kills, all commit.
  void lostWordsAreSaidAgain() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 4000; ++i) {
      World world(rng, 1 + static_cast<int>(rng() % 4), rng() % 4 == 0);
      world.Run(0, 1 + static_cast<int>(rng() % 8), false);
      world.Check();
      if (QTest::currentTestFailed()) return;
      QVERIFY(world.committed());
    }
  }

  // A node is lost between two rounds, whoever restarts meanwhile: the others hold what the same
  // rounds have moved, and their ranks take no step.
  void aLossBetweenRoundsLeavesOneState() {
    std::mt19937_64 rng(test::Seed());
    int losses = 0;
    for (int i = 0; i < 6000; ++i) {
      World world(rng, 2 + static_cast<int>(rng() % 3), rng() % 4 == 0);
      world.Run(static_cast<int>(rng() % 4), static_cast<int>(rng() % 4), false, true,
                static_cast<int>(rng() % 3));
      world.Check();
      if (QTest::currentTestFailed()) return;
      losses += world.gave_up() ? 1 : 0;
    }
    QVERIFY(losses > 100);  // about 257
  }

  // The state is copied once all nodes have it, and the gradients move once all ranks wait, in
  // whatever order these come.
  void precopiesEndInAPause() {
    const Coordinator::Setup setup{{0, 1}, {0, 1}, {}, {}, true};
    const auto begun = [&] {
      Coordinator c(setup);
      c.On(Begin{});
      c.On(NodePrepared{0, true});
      const auto pauses = c.On(NodePrepared{1, true});
      Expect(pauses.size() == 2 && std::get<SendPause>(pauses[0]).before_update);
      return c;
    };
    {  // the copy ends first
      Coordinator c = begun();
      QCOMPARE(c.phase(), TxnPhase::kPrecopying);
      QVERIFY(c.On(NodeReached{0}).empty());
      const auto copies = c.On(NodeReached{1});
      QCOMPARE(copies.size(), std::size_t{2});
      QVERIFY(std::holds_alternative<SendPrecopy>(copies[0]));
      QVERIFY(c.On(NodePrecopied{0}).empty());
      const auto awaits = c.On(NodePrecopied{1});
      QCOMPARE(c.phase(), TxnPhase::kPausing);
      QVERIFY(std::get<SendPause>(awaits.at(0)).before_update);
      QVERIFY(c.On(NodePaused{0, 7}).empty());
      QVERIFY(!c.has_paused());
      QCOMPARE(std::get<SendTransfer>(c.On(NodePaused{1, 7}).at(0)).step, 7);
      QCOMPARE(c.phase(), TxnPhase::kTransferring);
    }
    {  // the ranks pause first
      Coordinator c = begun();
      c.On(NodeReached{0});
      QVERIFY(std::holds_alternative<SendPrecopy>(c.On(NodePaused{1, 7}).at(0)));
      c.On(NodePaused{0, 7});
      QVERIFY(c.has_paused());
      QVERIFY(c.On(PauseOverdue{"late"}).empty());
      c.On(NodePrecopied{0});
      QVERIFY(std::holds_alternative<SendTransfer>(c.On(NodePrecopied{1}).at(0)));
    }
    {  // one has no memory for it
      Coordinator c(setup);
      c.On(Begin{});
      c.On(NodePrepared{0, false});
      QVERIFY(!std::get<SendPause>(c.On(NodePrepared{1, true}).at(0)).before_update);
      QCOMPARE(c.phase(), TxnPhase::kPausing);
    }
    {  // a rank is lost, ranks wait at different steps, the job makes no step
      for (const CoordinatorEvent& event :
           {CoordinatorEvent(RankLost{0, false, "n0g0 ended"}), CoordinatorEvent(NodePaused{1, 8}),
            CoordinatorEvent(PauseOverdue{"late"}), CoordinatorEvent(CancelRequested{"no"})}) {
        Coordinator c = begun();
        c.On(NodePaused{0, 7});
        QVERIFY(!std::get<WriteRegister>(c.On(event).at(0)).commit);
        QCOMPARE(c.phase(), TxnPhase::kCommitting);
      }
    }
  }

  // The ranks make an update only once all nodes have copied a leg. What a node says again of an
  // earlier one has no effect.
  void legsFollowEachOther() {
    Coordinator c({{0, 1}, {0}, {}, {0, 1}, true, 2});
    c.On(Begin{});
    c.On(NodePrepared{0});
    c.On(NodePrepared{1});
    const auto copies = c.On(NodeReached{0});
    QCOMPARE(copies.size(), std::size_t{2});
    QCOMPARE(std::get<SendPrecopy>(copies[0]).legs, 2);
    c.On(NodePaused{0, 7});
    c.On(NodePrecopied{0, 1});
    const auto next = c.On(NodePrecopied{1, 1});
    QCOMPARE(next.size(), std::size_t{1});
    QCOMPARE(std::get<SendPause>(next[0]).leg, 2);
    QVERIFY(c.phase() == TxnPhase::kPrecopying && c.leg() == 2 && !c.is_copying());
    QVERIFY(!c.has_paused() && !c.step());
    for (const CoordinatorEvent& late :
         {CoordinatorEvent(NodePaused{0, 7}), CoordinatorEvent(NodeReached{0, 1}),
          CoordinatorEvent(NodePrecopied{1, 1})}) {
      QVERIFY(c.On(late).empty());
    }
    QCOMPARE(std::get<SendPrecopy>(c.On(NodeReached{0, 2}).at(0)).leg, 2);
    c.On(NodePrecopied{0, 2});
    QVERIFY(std::get<SendPause>(c.On(NodePrecopied{1, 2}).at(0)).leg == 2);
    QCOMPARE(c.phase(), TxnPhase::kPausing);
    const auto transfers = c.On(NodePaused{0, 8});
    QVERIFY(!std::get<SendTransfer>(transfers.at(0)).anew);
    QVERIFY(c.follows());
    QCOMPARE(c.step(), std::optional<std::int64_t>(8));
  }

  // The job has made its last step, or cannot read the data of the next one.
  void withoutAnotherUpdateThereIsNoFurtherLeg() {
    Coordinator c({{0, 1}, {0}, {}, {0, 1}, true, 3});
    c.On(Begin{});
    c.On(NodePrepared{0});
    c.On(NodePrepared{1});
    QVERIFY(std::holds_alternative<SendPrecopy>(c.On(NodePaused{0, 7, false}).at(0)));
    c.On(NodePrecopied{0});
    const auto transfers = c.On(NodePrecopied{1});
    QCOMPARE(transfers.size(), std::size_t{2});
    QVERIFY(std::get<SendTransfer>(transfers[0]).anew);
    QVERIFY(!c.follows());
  }

  // After the commit the ranks continue at once, and only the end waits for the digests.
  void digestsEndACommit() {
    Coordinator c = Committed({{0, 1, 2}, {0}, 5, {0, 1}});
    c.On(NodeFollowed{0});
    c.On(NodeFollowed{1});
    const auto going = c.On(NodeFollowed{2});
    QCOMPARE(going.size(), std::size_t{3});
    QVERIFY(std::ranges::all_of(
        going, [](const auto& action) { return std::holds_alternative<SendGo>(action); }));
    QCOMPARE(c.phase(), TxnPhase::kResuming);
    QVERIFY(c.awaits_digests());
    QCOMPARE(c.waiting_for(), (std::set<NodeNumber>{0, 1}));
    // What was lost is sent again.
    QCOMPARE(std::get<SendGo>(c.On(NodeFollowed{2}).at(0)).node, 2);
    QCOMPARE(std::get<AskDigests>(c.On(NodeReconnected{1}).at(1)).node, 1);
    QVERIFY(c.On(NodeDigested{0, true}).empty());
    QCOMPARE(c.On(NodeReconnected{0}).size(), std::size_t{1});
    QVERIFY(c.On(NodeDigested{0, true}).empty());
    QVERIFY(std::get<Finish>(c.On(NodeDigested{1, true}).at(0)).committed);
    QCOMPARE(c.phase(), TxnPhase::kDone);
  }

  void digestsThatCannotComeAreNotWaitedFor_data() {
    QTest::addColumn<int>("event");
    QTest::newRow("a node has none") << 0;
    QTest::newRow("an agent restarted") << 1;
    QTest::newRow("a node is silent") << 2;
    QTest::newRow("a rank has ended") << 3;
    QTest::newRow("they are late") << 4;
  }
  void digestsThatCannotComeAreNotWaitedFor() {
    QFETCH(int, event);
    const std::vector<CoordinatorEvent> events{NodeDigested{1, false}, NodeRestarted{1, false},
                                               NodeSilent{1, "silent"},
                                               RankLost{1, false, "signal 9"}, DigestsOverdue{}};
    Coordinator c = Committed({{0, 1}, {0}, 5, {0, 1}});
    c.On(NodeFollowed{0});
    c.On(NodeFollowed{1});
    QVERIFY(c.awaits_digests());
    const auto actions = c.On(events[static_cast<std::size_t>(event)]);
    QVERIFY(std::get<Finish>(actions.at(0)).committed);
    QCOMPARE(c.phase(), TxnPhase::kDone);
  }

  // A rollback has no digests, nor has a node that was restarted before ranks continued.
  void whereThereAreNoDigestsTheEndDoesNotWait() {
    Coordinator c = Committed({{0, 1}, {0}, 5, {0, 1}});
    c.On(NodeRestarted{1, true});
    c.On(NodeFollowed{0});
    QVERIFY(std::holds_alternative<Finish>(c.On(NodeFollowed{1}).back()));
    Coordinator aborted({{0}, {0}, 5, {0}});
    aborted.On(Begin{});
    aborted.On(CancelRequested{"cancelled"});
    aborted.On(RegisterAnswered{false});
    QVERIFY(!std::get<Finish>(aborted.On(NodeFollowed{0}).back()).committed);
    Coordinator recovered = Coordinator::Recovered({{0}, {0}, {}, {0}});
    recovered.On(RegisterAnswered{true});
    QVERIFY(std::get<Finish>(recovered.On(NodeFollowed{0}).back()).committed);
  }

  // Nothing is cancelled or lost between two rounds, whoever is silent, and a round begins only
  // once all have verified the one before.
  void roundsOnlyGoForward() {
    Coordinator::Setup setup{{0, 1}, {0}, 5};
    setup.rounds = 2;
    Coordinator c = Committed(setup);
    QCOMPARE(c.phase(), TxnPhase::kTransferring);
    QCOMPARE(c.round(), 1);
    QVERIFY(!c.can_cancel());
    for (const CoordinatorEvent& event :
         {CoordinatorEvent(CancelRequested{"no"}), CoordinatorEvent(NodeSilent{1, "silent"}),
          CoordinatorEvent(RankLost{0, false, "signal 9"}), CoordinatorEvent(NodeMoved{0, 2}),
          CoordinatorEvent(NodeTransferFailed{0, "broken"})}) {
      QVERIFY(c.On(event).empty());
    }
    QCOMPARE(std::get<SendOutcome>(c.On(NodeReconnected{1}).at(0)).round, 1);
    QVERIFY(c.On(NodeMoved{0, 1}).empty());
    QVERIFY(c.On(NodeMoved{0, 1}).empty());
    QCOMPARE(std::get<SendOutcome>(c.On(NodeRestarted{0, true}).at(0)).round, 1);
    QCOMPARE(std::get<SendOutcome>(c.On(NodeReconnected{0}).at(0)).round, 1);
    const auto second = c.On(NodeMoved{1, 1});
    QCOMPARE(second.size(), std::size_t{2});
    QCOMPARE(std::get<SendOutcome>(second.at(0)).round, 2);
    QCOMPARE(std::get<SendOutcome>(c.On(NodeRestarted{1, true}).at(0)).round, 2);
    c.On(NodeMoved{0, 2});
    const auto last = c.On(NodeMoved{1, 2});
    QCOMPARE(std::get<SendOutcome>(last.at(0)).round, 0);
    QCOMPARE(c.phase(), TxnPhase::kResuming);
  }

  // A node that has lost its memory between two rounds has taken the only copy of some cells.
  void aNodeThatIsGoneBetweenTwoRoundsEndsThem() {
    Coordinator::Setup setup{{0, 1}, {0}, 5, {0, 1}};
    setup.rounds = 2;
    Coordinator c = Committed(setup);
    const auto told = c.On(NodeGone{1, "n1 has left"});
    QCOMPARE(told.size(), std::size_t{1});
    QCOMPARE(std::get<SendOutcome>(told.at(0)).round, kGivenUp);
    QCOMPARE(std::get<SendOutcome>(told.at(0)).settled, 0);
    QVERIFY(c.gave_up());
    QCOMPARE(c.reason(), std::string("n1 has left"));
    QVERIFY(std::holds_alternative<Finish>(c.On(NodeFollowed{0}).back()));
    Participant p = Participant::Recovered(ParticipantState::kCommitted, 2, 1);
    QVERIFY(std::holds_alternative<RunRound>(p.On(OutcomeReceived{true, 2}).at(0)));
    QVERIFY(std::holds_alternative<Halt>(p.On(OutcomeReceived{true, kGivenUp, 2}).at(0)));
    const auto left = p.On(OutcomeReceived{true, kGivenUp, 1});
    QCOMPARE(std::get<JournalState>(left.at(0)).moved, 1);
    QCOMPARE(std::get<Settle>(left.at(1)).rounds, 1);
    QVERIFY(std::holds_alternative<CleanUp>(left.at(2)));
    QVERIFY(p.On(RoundEnded{2, OkStatus()}).empty());
    QCOMPARE(std::get<Report>(p.On(CleanedUp{}).at(0)).kind, ReportKind::kCommitted);
    QCOMPARE(p.On(GoReceived{}).size(), std::size_t{1});  // its ranks take no step
  }

  // Others may have freed the sources of a round that was reported.
  void aJournaledRoundIsNotCopiedAgain() {
    Participant p = Participant::Recovered(ParticipantState::kCommitted, 3, 1);
    const auto again = p.On(OutcomeReceived{true, 1});
    QCOMPARE(std::get<Report>(again.at(0)).kind, ReportKind::kMoved);
    QCOMPARE(std::get<Report>(again.at(0)).round, 1);
    QCOMPARE(std::get<OfferRound>(again.at(1)).round, 1);  // its agent may have restarted
    QCOMPARE(std::get<RunRound>(p.On(OutcomeReceived{true, 2}).at(0)).round, 2);
    QVERIFY(p.On(OutcomeReceived{true, 2}).empty());
    QVERIFY(p.On(RoundEnded{2, Unavailable("broken")}).empty());
    QVERIFY(std::holds_alternative<RunRound>(p.On(OutcomeReceived{true, 2}).at(0)));
    QCOMPARE(std::get<JournalState>(p.On(RoundEnded{2, OkStatus()}).at(0)).moved, 2);
    QVERIFY(std::holds_alternative<Halt>(Participant::Recovered(ParticipantState::kCommitted, 3, 1)
                                             .On(OutcomeReceived{true, 3})
                                             .at(0)));
    // The others have given the rounds up meanwhile.
    QVERIFY(std::holds_alternative<CleanUp>(p.On(OutcomeReceived{true, 0}).at(0)));
  }

  void aLostRefusalIsSaidAgain() {
    Participant p;
    p.On(PrepareRequested{});
    QVERIFY(p.On(PrepareRequested{}).empty());  // it is still being checked
    p.On(LocalChecked{FailedPrecondition("device n1g0 failed")});
    const Report again = std::get<Report>(p.On(PrepareRequested{}).at(0));
    QCOMPARE(again.kind, ReportKind::kRefused);
    QCOMPARE(again.reason, std::string("device n1g0 failed"));
  }

  void aLostFailureOfATransferIsSaidAgain() {
    Participant p;
    p.On(PrepareRequested{});
    p.On(LocalChecked{OkStatus()});
    p.On(RanksConnected{OkStatus()});
    p.On(TransferRequested{});
    QVERIFY(p.On(TransferRequested{}).empty());
    p.On(TransferEnded{Unavailable("broken")});
    QCOMPARE(std::get<Report>(p.On(TransferRequested{}).at(0)).reason, std::string("broken"));
  }

  void aRefusalEndsItBeforeAnyPause() {
    Coordinator c({{0, 1}, {0}, {}});
    QCOMPARE(c.On(Begin{}).size(), 2U);
    const auto actions = c.On(NodeRefused{1, "device n1g0 failed"});
    QCOMPARE(actions.size(), 1U);
    QVERIFY(!std::get<WriteRegister>(actions[0]).commit);
    QCOMPARE(c.reason(), std::string("n1 refused: device n1g0 failed"));
    QVERIFY(!c.can_cancel());
  }

  void aLostJoinerRollsBackWithoutWaitingForIt() {
    Coordinator c({{0, 1}, {0}, {}});
    c.On(Begin{});
    c.On(NodeSilent{1, "n1 was silent for 10 s"});
    QCOMPARE(c.reason(), std::string("a joining node was lost: n1 was silent for 10 s"));
    QCOMPARE(c.On(RegisterAnswered{false}).size(), 1U);
    QCOMPARE(c.phase(), TxnPhase::kRollingBack);
    const auto actions = c.On(NodeFollowed{0});
    QCOMPARE(c.phase(), TxnPhase::kRolledBack);
    QVERIFY(std::holds_alternative<Finish>(actions.back()));
  }

  void aLostJoiningRankIsNamed() {
    Coordinator c({{0, 1}, {0}, {}});
    c.On(Begin{});
    c.On(RankLost{1, true, "the rank on n1g0 ended: signal 9"});
    QCOMPARE(c.reason(), std::string("a joining rank was lost: the rank on n1g0 ended: signal 9"));
  }

  void unequalStepsEndIt() {
    Coordinator c({{0, 1}, {0, 1}, {}});
    c.On(Begin{});
    c.On(NodePrepared{0});
    c.On(NodePrepared{1});
    c.On(NodePaused{0, 41});
    const auto actions = c.On(NodePaused{1, 42});
    QVERIFY(!std::get<WriteRegister>(actions.at(0)).commit);
    QCOMPARE(c.reason(), std::string("n1 paused after step 42, others after step 41"));
  }

  void differentDigestsEndIt() {
    Coordinator c({{0}, {0}, 5});
    c.On(Begin{});
    c.On(NodePrepared{0});
    c.On(NodeTransferred{0});
    QCOMPARE(c.phase(), TxnPhase::kVerifying);
    const auto actions = c.On(DigestsCompared{false, "tensor 'w' [0:4]: digest a became b"});
    QVERIFY(!std::get<WriteRegister>(actions.at(0)).commit);
  }

  void anAnswerOfTheRegisterBeatsWhatWasAsked() {
    Coordinator c = Coordinator::Recovered({{0}, {0}, {}});
    c.On(RegisterAnswered{true});
    QCOMPARE(c.phase(), TxnPhase::kResuming);
    QVERIFY(c.reason().empty());
  }

  void nothingIsCancelledAfterTheDecision_data() {
    QTest::addColumn<int>("phase");
    for (int p = 0; p <= static_cast<int>(TxnPhase::kInDoubt); ++p) {
      QTest::newRow(std::string(ToString(static_cast<TxnPhase>(p))).c_str()) << p;
    }
  }
  void nothingIsCancelledAfterTheDecision() {
    QFETCH(int, phase);
    const auto p = static_cast<TxnPhase>(phase);
    QCOMPARE(*ParseTxnPhase(ToString(p)), p);
    if (p == TxnPhase::kCommitting) {
      Coordinator c = Coordinator::Recovered({{0}, {0}, {}});
      QVERIFY(!c.can_cancel());
      QVERIFY(c.On(CancelRequested{"late"}).empty());
    }
  }

  // Who gives up waiting writes `abort`, and follows what the register then holds.
  void aParticipantThatVerifiedFollowsTheRegister() {
    Participant verified = Participant::Recovered(ParticipantState::kVerified);
    QVERIFY(std::get<ReadRegister>(verified.On(RegistrarSilent{}).at(0)).write_abort);
    QVERIFY(!std::get<ReadRegister>(verified.On(NoWord{}).at(0)).write_abort);
    QCOMPARE(verified.state(), ParticipantState::kVerified);
    Participant prepared = Participant::Recovered(ParticipantState::kPrepared);
    QVERIFY(std::get<ReadRegister>(prepared.On(RegistrarSilent{}).at(0)).write_abort);
    QVERIFY(prepared.On(VerifyRequested{}).empty());  // it lost what it had transferred
  }

  void aParticipantThatWasRestartedBeforeItVerifiedOnlyRefuses() {
    Participant preparing = Participant::Recovered(ParticipantState::kPreparing);
    QVERIFY(preparing.On(RanksConnected{OkStatus()}).empty());  // the ranks report it again
    QCOMPARE(preparing.state(), ParticipantState::kPreparing);
    for (const auto state : {ParticipantState::kPreparing, ParticipantState::kPrepared}) {
      Participant restarted = Participant::Recovered(state);
      const auto actions = restarted.On(PrepareRequested{});
      QCOMPARE(actions.size(), std::size_t{1});
      QCOMPARE(std::get<Report>(actions.front()).kind, ReportKind::kRefused);
      QCOMPARE(restarted.state(), state);
      // What was on its way to the agent before. Others may be a step further.
      for (const ParticipantEvent& late :
           {ParticipantEvent(PauseRequested{0, true, 1}), ParticipantEvent(PrecopyRequested{7}),
            ParticipantEvent(TransferRequested{}), ParticipantEvent(VerifyRequested{})}) {
        QVERIFY(restarted.On(late).empty());
      }
      QCOMPARE(restarted.state(), state);
    }
  }

  void decisionsRoundTrip() {
    const Decision commit{true, 9, 4, "00ff00ff00ff00ff", 128};
    QCOMPARE(*ParseDecision(ToText(commit)), commit);
    const Decision abort{false, 9, 0, "", 0};
    QCOMPARE(*ParseDecision(ToText(abort)), abort);
    for (const char* bad : {"", "maybe 3", "commit", "commit 1 2", "abort x", "abort 1 2"}) {
      QVERIFY2(!ParseDecision(bad), bad);
    }
  }
};

TESSERA_TEST_APPLESS(TxnTest)
#include "txn_test.moc"
