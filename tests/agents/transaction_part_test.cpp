// SPDX-License-Identifier: Apache-2.0
// One transaction at a node, with a journal that fails and decisions that contradict it.
#include "agents/node/transaction_part.h"

#include <QTest>

#include "agents/sim/memory_store.h"
#include "engine/txn/coordinator.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using engine::ParticipantState;

namespace {

const TransactionPart::Terms kTerms{9, "job", 3, "abcd"};
const std::string kPlan = "the plan";

// Does at once what an agent does, and records it.
struct Node {
  sim::MemoryStore disk;
  Status check = OkStatus();
  std::vector<std::string> done;
  int texts = 0;  // how often the message was requested
  std::unique_ptr<TransactionPart> part;

  explicit Node(std::optional<ParticipantState> recovered = {}, int rounds = 0, int moved = 0) {
    TransactionPart::Terms terms = kTerms;
    terms.rounds = rounds;
    TransactionPart::World w;
    w.round = [this](int round, std::int64_t step) {
      done.push_back("round " + std::to_string(round) + " of " + std::to_string(step));
      part->Feed(engine::RoundEnded{round, OkStatus()});
    };
    w.settle = [this](int settled, std::int64_t step) {
      done.push_back("settle " + std::to_string(settled) + " of " + std::to_string(step));
    };
    w.check = [this]() -> Status {
      done.push_back("check");
      if (check) return OkStatus();
      return check.error();
    };
    w.prepare = [this] {
      ++texts;
      return kPlan;
    };
    w.connect = [this] {
      done.push_back("connect");
      part->Feed(engine::RanksConnected{OkStatus()});
    };
    w.raise_request = [this](const engine::RaiseRequest& request) {
      if (request.leg > 1) done.push_back("leg " + std::to_string(request.leg));
      if (request.before_update) part->Feed(engine::StateReached{request.leg});
      part->Feed(engine::RanksPaused{6 + request.leg});
    };
    w.precopy = [this](const engine::RunPrecopy& leg, const wire::StepDecision& followed) {
      done.push_back("precopy " + std::to_string(leg.step) +
                     (followed.step() > 0 ? " with " + std::to_string(followed.step()) : ""));
      part->Feed(engine::PrecopyEnded{});
    };
    w.transfer = [this](std::int64_t step, const wire::StepDecision& pending, bool anew) {
      done.push_back("transfer " + std::to_string(step) +
                     (pending.step() > 0 ? " before " + std::to_string(pending.step()) : "") +
                     (anew ? " anew" : ""));
      part->Feed(engine::TransferEnded{OkStatus()});
    };
    w.report = [this](const engine::Report& r) {
      constexpr const char* kNames[] = {"prepared",        "refused",   "paused",    "transferred",
                                        "transfer failed", "verified",  "committed", "aborted",
                                        "reached",         "precopied", "moved"};
      done.push_back(std::string("report ") + kNames[static_cast<int>(r.kind)] +
                     (r.round > 0 ? " " + std::to_string(r.round) : "") +
                     (r.reason.empty() ? "" : ": " + r.reason));
    };
    w.flip = [this](std::int64_t step) {
      done.push_back("flip " + std::to_string(step));
      part->Feed(engine::RanksAttached{});
    };
    w.clean_up = [this] {
      done.push_back("clean up");
      part->Feed(engine::CleanedUp{});
    };
    w.release = [this](bool stays) { done.push_back(stays ? "release paused" : "release"); };
    w.resume_old = [this](bool) { done.push_back("resume old"); };
    w.ask = [this](bool writes) { done.push_back(writes ? "write abort" : "read"); };
    w.forgotten = [this](bool, bool) {
      done.push_back("forgotten");
      part.reset();
    };
    w.halt = [this](const std::string& why) { done.push_back("halt: " + why); };
    w.note_error = [](const std::string&) {};
    part = recovered
               ? std::make_unique<TransactionPart>(terms, *recovered, disk, std::move(w), moved)
               : std::make_unique<TransactionPart>(terms, disk, std::move(w));
  }

  void ToTransferred() {
    part->Feed(engine::PrepareRequested{});
    part->Feed(engine::PauseRequested{0});
    part->OnTransfer(7, {}, false);
  }
  std::vector<std::string> Since(std::size_t count) const {
    return {done.begin() + static_cast<std::ptrdiff_t>(count), done.end()};
  }
};

using Words = std::vector<std::string>;
const engine::Decision kCommit{true, 9, 2, "abcd", 7};

}  // namespace

class TransactionPartTest : public QObject {
  Q_OBJECT

 private slots:
  void precopiesBeforeThePause() {
    Node node;
    node.part->Feed(engine::PrepareRequested{});
    node.part->Feed(engine::PauseRequested{7, true});
    node.part->OnPrecopy({7}, {});
    node.part->OnPrecopy({7}, {});  // the answer was lost
    wire::StepDecision pending;
    pending.set_step(8);
    node.part->OnTransfer(7, pending, false);
    QCOMPARE(node.done, (Words{"check", "connect", "report prepared", "report reached 1",
                               "report paused", "precopy 7", "report precopied 1",
                               "report precopied 1", "transfer 7 before 8", "report transferred"}));
  }

  // What is requested again of a leg that has ended has no effect.
  void legsFollowEachOther() {
    Node node;
    node.part->Feed(engine::PrepareRequested{});
    node.part->Feed(engine::PauseRequested{7, true});
    node.part->OnPrecopy({7, 1, 2}, {});
    const std::size_t before = node.done.size();
    node.part->Feed(engine::PauseRequested{8, true, 2});
    wire::StepDecision followed, pending;
    followed.set_step(8);
    pending.set_step(9);
    node.part->OnPrecopy({8, 2, 2}, followed);
    node.part->OnPrecopy({7, 1, 2}, {});
    node.part->OnTransfer(8, pending, true);
    QCOMPARE(node.Since(before),
             (Words{"leg 2", "report reached 2", "report paused", "precopy 8 with 8",
                    "report precopied 2", "transfer 8 before 9 anew", "report transferred"}));
  }

  void commits() {
    Node node;
    node.ToTransferred();
    node.part->Feed(engine::VerifyRequested{});
    const auto kept = TransactionPart::Load(node.disk);
    QVERIFY(kept && *kept);
    QCOMPARE(node.texts, 1);
    QCOMPARE((*kept)->id, kTerms.id);
    QCOMPARE((*kept)->state, ParticipantState::kVerified);
    QCOMPARE((*kept)->prepare, kPlan);
    node.part->OnDecision(kCommit);
    node.part->OnGo(false);
    QCOMPARE(node.done, (Words{"check", "connect", "report prepared", "report paused", "transfer 7",
                               "report transferred", "report verified", "flip 7",
                               "report committed", "release", "forgotten"}));
    QVERIFY(node.disk.rows.empty());
  }

  // The register's decision permits the first round only, and a round is journaled before it is
  // reported.
  void movesInRounds() {
    Node node({}, 2);
    node.ToTransferred();
    node.part->Feed(engine::VerifyRequested{});
    const std::size_t before = node.done.size();
    node.part->OnDecision(kCommit);
    QCOMPARE(node.Since(before), (Words{"round 1 of 7", "report moved 1"}));
    const auto kept = TransactionPart::Load(node.disk);
    QVERIFY(kept && *kept);
    QCOMPARE((*kept)->moved, 1);
    node.part->OnDecision(kCommit);
    QCOMPARE(node.done.back(), std::string("report moved 1"));

    Node restarted(ParticipantState::kCommitted, 2, (*kept)->moved);
    restarted.disk.refused = "txn/state";
    restarted.part->OnDecision(kCommit, 2);
    QCOMPARE(restarted.done, (Words{"round 2 of 7"}));
    restarted.disk.refused.reset();
    restarted.part->OnDecision(kCommit, 2);
    QCOMPARE(restarted.done, (Words{"round 2 of 7", "round 2 of 7", "report moved 2"}));
    restarted.part->OnDecision(kCommit, 0);
    QCOMPARE(restarted.done.back(), std::string("report committed"));
    restarted.part->OnGo(false);
    QCOMPARE(restarted.done.back(), std::string("forgotten"));
    QVERIFY(TransactionPart::HasEnded(restarted.disk, kTerms.id));
    QVERIFY(!TransactionPart::HasEnded(restarted.disk, kTerms.id + 1));
  }

  // A node is lost in the second round: what the first one has moved counts, also for an agent that
  // restarts and learns only that the change was decided.
  void roundsThatEndAreSettled() {
    Node node({}, 2);
    node.ToTransferred();
    node.part->Feed(engine::VerifyRequested{});
    node.part->OnDecision(kCommit);
    std::size_t before = node.done.size();
    node.part->OnDecision(kCommit, engine::kGivenUp, 1);
    QCOMPARE(node.Since(before), (Words{"settle 1 of 7", "clean up", "report committed"}));
    const auto kept = TransactionPart::Load(node.disk);
    QVERIFY(kept && *kept);
    QCOMPARE((*kept)->moved, 1);
    before = node.done.size();
    node.part->OnGo(false);
    QCOMPARE(node.Since(before), (Words{"forgotten"}));

    Node restarted(ParticipantState::kCommitted, 2, 1);
    restarted.part->OnDecision(kCommit, 0);
    QCOMPARE(restarted.done, (Words{"clean up", "report committed"}));
    restarted.part->OnGo(false);
    QCOMPARE(restarted.done.back(), std::string("forgotten"));

    // It has verified less than the others believe: only a fault of disk or memory can cause that.
    Node behind(ParticipantState::kCommitted, 3, 1);
    behind.part->OnDecision(kCommit, engine::kGivenUp, 2);
    QVERIFY(!behind.done.empty());
    QCOMPARE(behind.done.back(),
             std::string("halt: the state is left after 2 rounds, but this node has verified 1"));
  }

  // A restarted agent could not carry it out either, and would be restarted for ever.
  void aPlanThatFailsItsCheckIsNotJournaled() {
    Node node;
    node.check = FailedPrecondition("stale plan");
    node.part->Feed(engine::PrepareRequested{});
    QCOMPARE(node.done, (Words{"check", "report refused: stale plan"}));
    QVERIFY(node.disk.rows.empty());
  }

  void aJournalThatFailsIsARefusal_data() {
    QTest::addColumn<QString>("refused");
    QTest::newRow("message") << "txn/prepare";
    QTest::newRow("state") << "txn/state";
  }
  void aJournalThatFailsIsARefusal() {
    QFETCH(const QString, refused);
    Node node;
    node.disk.refused = refused.toStdString();
    node.part->Feed(engine::PrepareRequested{});
    QCOMPARE(node.done, (Words{"check", "report refused: the disk is full"}));
    node.part->Feed(engine::PrepareRequested{});
    QCOMPARE(node.done.back(), std::string("report refused: the disk is full"));
    node.part->OnDecision(engine::AbortOf(9));
    QCOMPARE(node.done.back(), std::string("report aborted"));
  }

  void whatIsNotJournaledIsNotVerified() {
    Node node;
    node.ToTransferred();
    const std::size_t before = node.done.size();
    node.disk.refused = "txn/state";
    node.part->Feed(engine::VerifyRequested{});
    QCOMPARE(node.Since(before), (Words{"report transfer failed: the disk is full"}));
    node.part->Feed(engine::VerifyRequested{});  // repeated: still not verified
    QVERIFY(node.part->state() < ParticipantState::kVerified);
    // It may still abort alone.
    node.part->Feed(engine::RegistrarSilent{});
    QCOMPARE(node.done.back(), std::string("write abort"));
  }

  // The registrar may have committed since: a disk that is full now must not take the promise back.
  void aPromiseThatWasJournaledIsKept() {
    Node node;
    node.ToTransferred();
    node.part->Feed(engine::VerifyRequested{});
    node.disk.refused = "";
    const std::size_t before = node.done.size();
    node.part->Feed(engine::VerifyRequested{});  // repeated
    QCOMPARE(node.Since(before), (Words{"report verified"}));
    QCOMPARE(node.part->state(), ParticipantState::kVerified);
    node.part->OnDecision(kCommit);
    QCOMPARE(node.done.back(), std::string("report committed"));
  }

  void anOutcomeNeedsNoJournal() {
    Node node(ParticipantState::kVerified);
    node.disk.refused = "";
    node.part->OnDecision(kCommit);
    QCOMPARE(node.done, (Words{"flip 7", "report committed"}));
  }

  void aCommitBelowVerifiedStopsTheAgent_data() {
    QTest::addColumn<int>("state");
    for (const ParticipantState state :
         {ParticipantState::kPreparing, ParticipantState::kPrepared,
          ParticipantState::kTransferring, ParticipantState::kTransferred,
          ParticipantState::kAborted})
      QTest::newRow(std::string(ToString(state)).c_str()) << static_cast<int>(state);
  }
  void aCommitBelowVerifiedStopsTheAgent() {
    QFETCH(const int, state);
    Node node(static_cast<ParticipantState>(state));
    node.part->OnDecision(kCommit);
    QCOMPARE(node.done.size(), std::size_t{1});
    QVERIFY2(node.done[0].starts_with("halt: the register holds 'commit', but this node is"),
             node.done[0].c_str());
    node.part->OnGo(false);
    QCOMPARE(node.done.size(), std::size_t{1});
  }

  void anAbortAfterACommitStopsTheAgent() {
    Node node(ParticipantState::kCommitted);
    node.part->OnDecision(engine::AbortOf(9));
    QVERIFY(node.done.at(0).starts_with("halt: "));
  }

  void aCommitOfAnotherLayoutStopsTheAgent() {
    Node node(ParticipantState::kVerified);
    engine::Decision other = kCommit;
    other.layout_hash = "eeee";
    node.part->OnDecision(other);
    QCOMPARE(node.done,
             (Words{"halt: transaction 9 was committed for layout eeee, prepared for abcd"}));
  }

  // The slot belongs to another transaction, so this one can never be committed.
  void aDecisionOfAnotherTransactionIsAnAbort() {
    Node node(ParticipantState::kVerified);
    engine::Decision other = kCommit;
    other.transaction = 8;
    node.part->OnDecision(other);
    QCOMPARE(node.done, (Words{"clean up", "report aborted"}));
  }

  // Without a word, it only reads: the registrar may be there, with a message lost.
  void itAsksAboutItsOwnTransaction() {
    Node node;
    node.ToTransferred();
    const std::size_t before = node.done.size();
    node.part->Feed(engine::NoWord{});
    QCOMPARE(node.Since(before), (Words{"read"}));
    node.part->OnDecision(engine::AbortOf(9));
    node.part->Feed(engine::NoWord{});  // the barrier is the registrar's
    QCOMPARE(node.done.back(), std::string("report aborted"));
  }

  // The rows of an earlier transaction stay if their erasure fails. Its state must not count for
  // the next one: that would be flipped without being filled.
  void theStateOfAnEarlierTransactionIsIgnored() {
    sim::MemoryStore disk;
    disk.rows["txn/state"] = "8 5";
    disk.rows["txn/prepare"] = "9 the plan";
    const auto kept = TransactionPart::Load(disk);
    QVERIFY(kept && !*kept);
  }

  void damagedRowsAreNamed() {
    sim::MemoryStore disk;
    disk.rows["txn/prepare"] = "9 the plan";
    disk.rows["txn/state"] = "nine";
    VERIFY_ERROR(TransactionPart::Load(disk), ErrorCode::kDataLoss, "'txn/state' is damaged");
    disk.rows["txn/state"] = "9 77";
    VERIFY_ERROR(TransactionPart::Load(disk), ErrorCode::kDataLoss, "'txn/state' is damaged");
    // Not the row of another transaction, which would be ignored.
    disk.rows["txn/state"] = "9 2";
    for (const char* const text : {"the plan", "9", "9the plan", ""}) {
      disk.rows["txn/prepare"] = text;
      VERIFY_ERROR(TransactionPart::Load(disk), ErrorCode::kDataLoss, "'txn/prepare' is damaged");
    }
    disk.rows["txn/prepare"] = "9  \n";  // the message is bytes
    const auto kept = TransactionPart::Load(disk);
    QVERIFY(kept && *kept);
    QCOMPARE((**kept).prepare, std::string(" \n"));
  }
};

TESSERA_TEST_APPLESS(TransactionPartTest)
#include "transaction_part_test.moc"
