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
                                    const std::string& value = {}) {
    wire::Decide message;
    message.set_job(job);
    message.set_slot(slot);
    message.set_value(value);
    message.set_transaction(7);
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
  test::PartOffice office{disk, {}, [this](const auto&, const wire::ToNode& message) {
                            answers.push_back(message);
                            return OkStatus();
                          }};
  Decisions decisions{
      office.common(),
      {.is_known = [](const std::string& job) { return job == "here"; },
       .is_open = [](const std::string& job,
                     std::int64_t slot) { return job == "here" && slot == kOpen; },
       .takes_part = [](std::int32_t node) { return node == kParticipant; },
       .retire = [](const std::string& job,
                    std::int64_t slot) { return job != "here" || slot < kOpen; },
       .settled = [this](const std::string& job,
                         std::int64_t) { return job == "here" ? settled : std::nullopt; },
       .aborted = [this](std::int64_t id, const std::string&) { aborted.push_back(id); }}};
};

}  // namespace

class DecisionsTest : public QObject {
  Q_OBJECT
 private slots:
  void onlyParticipantsDecideWhatRuns() {
    Desk desk;
    QVERIFY(!desk.Decide(kOther, "here", kOpen, "abort 7"));
    QCOMPARE(desk.LastOf("here"), std::int64_t{0});
    QVERIFY(desk.aborted.empty());
    QVERIFY(desk.Decide(kParticipant, "here", kOpen) == std::string());  // not decided yet
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, kCommit) == std::string());
    QCOMPARE(desk.LastOf("here"), std::int64_t{0});
    QVERIFY(desk.Decide(kParticipant, "here", kOpen, "abort 7") == std::string("abort 7"));
    QCOMPARE(desk.aborted, std::vector<std::int64_t>{7});
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

  // A slot far away would take the name for good: new jobs start after the last one.
  void ofAJobThatHasEndedOnlyTheNextSlotIsWritten() {
    Desk desk;
    desk.Write("gone", 4, kCommit);
    QVERIFY(!desk.Decide(kOther, "gone", 6, "abort 7"));
    QVERIFY(!desk.Decide(kOther, "gone", std::int64_t{1} << 50, "abort 7"));
    QCOMPARE(desk.LastOf("gone"), std::int64_t{4});
    QVERIFY(desk.Decide(kOther, "gone", 4) == kCommit);
    QVERIFY(desk.Decide(kOther, "gone", 5, "abort 7") == std::string("abort 7"));
    QCOMPARE(desk.LastOf("gone"), std::int64_t{5});
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
