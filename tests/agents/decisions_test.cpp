// SPDX-License-Identifier: Apache-2.0
// What nodes may read and write in the decision register.
#include "agents/registrar/decisions.h"

#include <QTest>
#include <optional>
#include <string>
#include <vector>

#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/txn/coordinator.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr std::int32_t kParticipant = 1, kOther = 2;
const std::string kCommit = "commit 7 2 0123456789abcdef 40";
constexpr std::int64_t kOpen = 3;  // the slot of the transaction that runs, of job "here"
constexpr std::int64_t kRunning = 9, kEarlier = 7, kLost = 8;  // transactions

struct Desk {
  Desk() {
    for (const std::int32_t node : {kParticipant, kOther}) {
      wire::Register message;
      message.set_node(node);
      office.members().Register(std::to_string(node), message, {});
    }
  }
  /// \return the answer; nullopt if there is none
  std::optional<std::string> Decide(std::int32_t node, const std::string& job, std::int64_t slot,
                                    const std::string& value = {},
                                    std::int64_t transaction = kEarlier) {
    wire::Decide message;
    message.set_job(job);
    message.set_slot(slot);
    message.set_value(value);
    message.set_transaction(transaction);
    answers.clear();
    decisions.OnDecide(node, message);
    if (answers.empty()) return std::nullopt;
    const wire::ToNode& last = answers.back();
    return last.has_outcome() ? last.outcome().value() : last.decided().value();
  }
  /// As the registrar does for its transactions.
  void Write(const std::string& job, std::int64_t slot, const std::string& value) {
    decisions.decision_register().Write(job, slot, *engine::ParseDecision(value),
                                        [](const auto&) {});
  }
  std::int64_t LastOf(const std::string& job) {
    std::int64_t last = -1;
    decisions.decision_register().FindLast(
        job, [&](const Result<std::int64_t>& found) { last = *found; });
    return last;
  }

  sim::MemoryStore disk;
  std::vector<wire::ToNode> answers;
  std::vector<std::int64_t> aborted;
  std::optional<int> settled;  // of the transaction that has ended
  std::int64_t next = kOpen;   // slot of job "here"
  bool runs = true;
  test::PartOffice office{disk, {}, [this](const auto&, const wire::ToNode& message) {
                            answers.push_back(message);
                            return OkStatus();
                          }};
  Decisions decisions{
      office.common(),
      {.next_slot =
           [this](const std::string& job) {
             return job == "here" ? std::optional(next) : std::nullopt;
           },
       .is_explained = [](std::int32_t, const std::string& job) { return job != "lost"; },
       .running =
           [this](const std::string& job, std::int64_t slot) {
             return job == "here" && slot == kOpen && runs ? std::optional(kRunning) : std::nullopt;
           },
       .takes_part = [](std::int32_t node) { return node == kParticipant; },
       .took_part =
           [](std::int32_t node, const std::string& job, std::int64_t transaction) {
             return node == kParticipant && (job == "here" || job == "gone") &&
                    (transaction == kEarlier || transaction == kLost);
           },
       .retire =
           [this](const std::string& job, std::int64_t slot) {
             if (job == "here") next = slot + 1;
             return true;
           },
       .settled = [this](const std::string& job,
                         std::int64_t) { return job == "here" ? settled : std::nullopt; },
       .aborted = [this](std::int64_t id, const std::string&) { aborted.push_back(id); }}};
};

}  // namespace

class DecisionsTest : public QObject {
  Q_OBJECT
 private slots:
  // Its slots were lost with the job table: an empty one may have been decided.
  void ofAJobThatTheTableDoesNotKnowNothingIsDecided() {
    Desk desk;
    for (const char* value : {"", "abort 7"}) QVERIFY(!desk.Decide(kOther, "lost", 1, value));
    wire::Register past;
    past.set_transaction(7);
    past.set_transaction_job("lost");
    past.set_transaction_slot(1);
    desk.decisions.SendPastOutcome(kOther, past);
    QVERIFY(desk.answers.empty());
    QCOMPARE(desk.LastOf("lost"), std::int64_t{0});
  }

  void onlyParticipantsDecideWhatRuns() {
    Desk desk;
    QVERIFY(!desk.Decide(kOther, "here", kOpen, "abort 7"));
    QCOMPARE(desk.LastOf("here"), std::int64_t{0});
    QVERIFY(desk.aborted.empty());
    QVERIFY(desk.Decide(kParticipant, "here", kOpen) == std::string());  // not decided yet
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, kCommit) == std::string());
    QCOMPARE(desk.LastOf("here"), std::int64_t{0});
    // The number is not taken from the message.
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, "abort 7") == std::string("abort 9"));
    QCOMPARE(desk.aborted, std::vector<std::int64_t>{kRunning});
  }

  // The text names the transaction that runs, the slot another one.
  void anotherSlotDoesNotAbortWhatRuns() {
    Desk desk;
    for (const std::string job : {"here", "gone", "never"}) {
      for (const std::int64_t slot : {1, 2, 4, 5}) {
        for (const std::int32_t node : {kParticipant, kOther}) {
          desk.Decide(node, job, slot, "abort 9");
          desk.Decide(node, job, slot, "abort 9", kRunning);
        }
      }
    }
    QVERIFY(desk.aborted.empty());
    QVERIFY(desk.Decide(kParticipant, "here", kOpen) == std::string());
  }

  void whatIsDecidedStays() {
    Desk desk;
    desk.Write("here", kOpen, kCommit);
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, "abort 7") == kCommit);
    QVERIFY(desk.aborted.empty());
  }

  // Its decision alone would permit the first round of a move.
  void ofWhatHasEndedTheOutcomeIsTold() {
    Desk desk;
    desk.Write("here", kOpen - 1, kCommit);
    QVERIFY(desk.Decide(kOther, "here", kOpen - 1) == kCommit);
    QVERIFY(desk.answers.back().has_outcome());
    QCOMPARE(desk.answers.back().outcome().transaction(), 7);
    QCOMPARE(desk.answers.back().outcome().round(), 0);
    desk.Write("here", kOpen, kCommit);
    QVERIFY(desk.Decide(kParticipant, "here", kOpen) == kCommit);
    QVERIFY(desk.answers.back().has_decided());
  }

  // A node that was out of reach when the rounds were given up must not take them for ended.
  void ofRoundsThatWereGivenUpItIsToldHowManyCount() {
    Desk desk;
    desk.Write("here", kOpen - 1, kCommit);
    desk.settled = 5;
    QVERIFY(desk.Decide(kOther, "here", kOpen - 1) == kCommit);
    QCOMPARE(desk.answers.back().outcome().round(), engine::kGivenUp);
    QCOMPARE(desk.answers.back().outcome().settled(), 5);
    wire::Register back;
    back.set_node(kOther);
    back.set_transaction(7);
    back.set_transaction_job("here");
    back.set_transaction_slot(kOpen - 1);
    desk.answers.clear();
    desk.decisions.SendPastOutcome(kOther, back);
    QCOMPARE(desk.answers.at(0).outcome().round(), engine::kGivenUp);
    QCOMPARE(desk.answers.at(0).outcome().settled(), 5);
  }

  // Nobody else would decide it.
  void anOlderSlotWithoutADecisionIsAborted() {
    Desk desk;
    QVERIFY(desk.Decide(kOther, "here", kOpen - 1) == std::string("abort 7"));
    QVERIFY(!desk.Decide(kOther, "here", kOpen + 1));  // of a later transaction
    QCOMPARE(desk.LastOf("here"), kOpen - 1);
  }

  // The search for the outcome of an earlier transaction ends at a smaller number.
  void noNumberHidesEarlierDecisions() {
    Desk desk;
    desk.Write("here", 1, "commit 5 1 0123456789abcdef 10");
    desk.next = 5;
    desk.runs = false;
    for (const std::int64_t slot : {2, 4}) {
      for (const std::int64_t transaction : {0, 1, 4, 5}) {
        for (const std::int32_t node : {kOther, kParticipant}) {
          QVERIFY(!desk.Decide(node, "here", slot, {}, transaction));
        }
      }
    }
    QCOMPARE(desk.LastOf("here"), std::int64_t{1});
    std::optional<engine::Decision> found;
    desk.decisions.FindOutcome("here", 5, [&](const auto& held) { found = *held; });
    QVERIFY(found && found->commit);
    QVERIFY(desk.Decide(kOther, "here", 4) == std::string("abort 7"));
    QVERIFY(!desk.Decide(kOther, "here", 4 + 1));
  }

  // A slot far away would take the name for good: new jobs start after the last one.
  void ofAJobThatHasEndedOnlyTheNextSlotIsWritten() {
    Desk desk;
    desk.Write("gone", 4, "commit 5 2 0123456789abcdef 40");
    QVERIFY(!desk.Decide(kParticipant, "gone", 6, "abort 7"));
    QVERIFY(!desk.Decide(kParticipant, "gone", std::int64_t{1} << 50, "abort 7"));
    QCOMPARE(desk.LastOf("gone"), std::int64_t{4});
    QVERIFY(desk.Decide(kOther, "gone", 4).has_value());
    QVERIFY(!desk.Decide(kOther, "gone", 5, "abort 7"));  // it took no part
    QCOMPARE(desk.LastOf("gone"), std::int64_t{4});
    QVERIFY(desk.Decide(kParticipant, "gone", 5, "abort 7") == std::string("abort 7"));
    QCOMPARE(desk.LastOf("gone"), std::int64_t{5});
  }

  // Each slot is a write to a disk, and is kept for ever.
  void noNodeFillsTheRegister_data() {
    QTest::addColumn<std::string>("job");
    for (const char* job : {"here", "gone", "never"}) QTest::newRow(job) << std::string(job);
  }
  void noNodeFillsTheRegister() {
    QFETCH(const std::string, job);
    Desk desk;
    desk.runs = false;
    desk.Write(job, kOpen - 1, "commit 5 2 0123456789abcdef 40");
    for (std::int64_t i = 0; i < 20; ++i) {
      for (const std::int32_t node : {kParticipant, kOther}) {
        for (const std::int64_t transaction : {kEarlier, kLost, kRunning}) {
          desk.Decide(node, job, kOpen + i, {}, transaction);
          wire::Register back;
          back.set_node(node);
          back.set_transaction(transaction);
          back.set_transaction_job(job);
          back.set_transaction_slot(kOpen + i);
          desk.decisions.SendPastOutcome(node, back);
        }
      }
    }
    // One for each transaction in which the participant took part.
    QCOMPARE(desk.LastOf(job), job == "never" ? kOpen - 1 : kOpen + 1);
  }

  void theOutcomeOfAnEarlierTransactionIsFound() {
    Desk desk;
    desk.Write("here", 1, "commit 2 1 0123456789abcdef 10");
    desk.Write("here", 2, "abort 4");
    desk.Write("here", 4, "commit 9 3 0123456789abcdef 30");
    const auto find = [&](std::int64_t transaction) {
      std::optional<engine::Decision> found;
      bool answered = false;
      desk.decisions.FindOutcome("here", transaction, [&](const auto& held) {
        answered = held.has_value();
        if (held) found = *held;
      });
      return answered ? (found ? ToText(*found) : std::string("none")) : std::string("no answer");
    };
    QCOMPARE(find(2), std::string("commit 2 1 0123456789abcdef 10"));
    QCOMPARE(find(4), std::string("abort 4"));
    QCOMPARE(find(9), std::string("commit 9 3 0123456789abcdef 30"));
    for (const std::int64_t none : {1, 3, 5, 12}) QCOMPARE(find(none), std::string("none"));
  }

  void whatIsNoSlotOrNoNameIsIgnored() {
    Desk desk;
    QVERIFY(!desk.Decide(kParticipant, "here", 0, "abort 7"));
    QVERIFY(!desk.Decide(kParticipant, "here", -1));
    QVERIFY(!desk.Decide(kParticipant, "../here", 1, "abort 7"));
    QVERIFY(!desk.Decide(kParticipant, "", 1, "abort 7"));
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, "nonsense") == std::string());
    QCOMPARE(desk.LastOf("here"), std::int64_t{0});
  }
};
TESSERA_TEST(DecisionsTest)
#include "decisions_test.moc"
