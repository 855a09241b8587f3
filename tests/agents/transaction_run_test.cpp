// SPDX-License-Identifier: Apache-2.0
// One transaction at the registrar, with links and a register that fail.
#include "agents/registrar/transaction_run.h"

#include <QTest>

#include "agents/decision/embedded.h"
#include "agents/sim/memory_store.h"
#include "ptc/base/overloaded.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using engine::TxnPhase;

namespace {

const engine::Coordinator::Setup kThreeNodes{{0, 1, 2}, {0, 1}, {}};

// Records what the run sends, as "prepare 0".
struct Desk {
  sim::MemoryStore disk;
  EmbeddedRegister decisions{disk};
  std::vector<std::string> sent;
  std::set<std::int32_t> cut;  // nodes that nothing reaches
  std::vector<engine::Decision> adopted;
  std::vector<std::function<void()>> timers;
  std::vector<std::string> notes;
  std::optional<bool> committed;
  std::string reason;
  std::unique_ptr<TransactionRun> run;

  explicit Desk(engine::Coordinator machine = engine::Coordinator(kThreeNodes)) {
    TransactionRun::World world;
    world.send = [this](const engine::CoordinatorAction& action) { return Send(action); };
    world.compare = [] { return engine::DigestsCompared{true, {}}; };
    world.adopt = [this](const engine::Decision& d) { adopted.push_back(d); };
    world.phase_changed = [](TxnPhase) {};
    world.finished = [this](bool commit, const std::string& why) {
      committed = commit;
      reason = why;
      run.reset();
    };
    world.after = [this](std::chrono::milliseconds, std::function<void()> then) {
      timers.push_back(std::move(then));
    };
    world.note = [this](engine::Severity, const std::string& text) { notes.push_back(text); };
    run = std::make_unique<TransactionRun>(TransactionRun::Terms{9, "job", 3, 2, "abcd", {}},
                                           std::move(machine), decisions, std::move(world));
  }

  Status Send(const engine::CoordinatorAction& action) {
    const auto [node, what] =
        std::visit(Overloaded{
                       [](const engine::SendPrepare& a) {
                         return std::pair{a.node, "prepare"};
                       },
                       [](const engine::SendPause& a) {
                         return std::pair{a.node, "pause"};
                       },
                       [](const engine::SendTransfer& a) {
                         return std::pair{a.node, "transfer"};
                       },
                       [](const engine::SendVerify& a) {
                         return std::pair{a.node, "verify"};
                       },
                       [](const engine::SendOutcome& a) {
                         return std::pair{a.node, a.commit ? "commit" : "abort"};
                       },
                       [](const engine::SendGo& a) {
                         return std::pair{a.node, "go"};
                       },
                       [](const auto&) {
                         return std::pair{-1, "?"};
                       },
                   },
                   action);
    if (cut.contains(node)) return Unavailable("no connection");
    sent.push_back(std::string(what) + " " + std::to_string(node));
    return OkStatus();
  }

  void ToCommit() {
    run->Feed(engine::Begin{});
    for (const std::int32_t n : {0, 1, 2}) run->Feed(engine::NodePrepared{n});
    for (const std::int32_t n : {0, 1}) run->Feed(engine::NodePaused{n, 7});
    for (const std::int32_t n : {0, 1, 2}) run->Feed(engine::NodeTransferred{n});
    for (const std::int32_t n : {0, 1, 2}) run->Feed(engine::NodeVerified{n});
  }
};

}  // namespace

class TransactionRunTest : public QObject {
  Q_OBJECT

 private slots:
  void commits() {
    Desk desk;
    desk.ToCommit();
    QCOMPARE(desk.run->phase(), TxnPhase::kResuming);
    QCOMPARE(desk.adopted.size(), std::size_t{1});
    QVERIFY(desk.adopted[0].commit);
    QCOMPARE(desk.adopted[0].step, std::int64_t{7});
    for (const std::int32_t n : {0, 1, 2}) desk.run->Feed(engine::NodeFollowed{n});
    QCOMPARE(desk.committed, std::optional(true));
  }

  // A request after the outcome would begin a transaction at the node that is over.
  void nothingIsPreparedAfterTheOutcome() {
    Desk desk;
    desk.cut = {0};
    desk.run->Feed(engine::Begin{});
    bool decided = false;
    for (const std::string& message : desk.sent) {
      decided = decided || message.starts_with("abort");
      QVERIFY2(!decided || !message.starts_with("prepare"), message.c_str());
    }
    QVERIFY(decided);
    for (const std::int32_t n : {1, 2}) desk.run->Feed(engine::NodeFollowed{n});
    desk.run->Feed(engine::NodeSilent{0, "n0 was silent"});
    QCOMPARE(desk.committed, std::optional(false));
    QVERIFY2(desk.reason.find("no connection") != std::string::npos, desk.reason.c_str());
  }

  void aDiskThatIsFullDelaysTheOutcome() {
    Desk desk;
    desk.disk.refused = "decision/";
    desk.ToCommit();
    QCOMPARE(desk.run->phase(), TxnPhase::kCommitting);
    QVERIFY(desk.adopted.empty());
    QCOMPARE(desk.timers.size(), std::size_t{1});
    QCOMPARE(desk.notes.size(), std::size_t{1});
    desk.disk.refused.reset();
    desk.timers[0]();
    QCOMPARE(desk.run->phase(), TxnPhase::kResuming);
    QCOMPARE(desk.sent.back(), std::string("commit 2"));
  }

  void aTimerOutlivesTheRun() {
    Desk desk;
    desk.disk.refused = "decision/";
    desk.ToCommit();
    desk.run.reset();
    desk.timers[0]();
    QVERIFY(desk.adopted.empty());
  }

  void anAbortOfAParticipantWins() {
    Desk desk;
    desk.decisions.Write("job", 3, engine::AbortOf(9), [](const auto& held) { QVERIFY(held); });
    desk.ToCommit();
    QCOMPARE(desk.run->phase(), TxnPhase::kRollingBack);
    QVERIFY(!desk.adopted[0].commit);
  }

  // The slot's number may be older than the register if a journal write was lost.
  void aDecisionOfAnotherTransactionIsNotFollowed_data() {
    QTest::addColumn<QString>("held");
    QTest::newRow("an old commit") << "commit 8 2 abcd 5";
    QTest::newRow("an old abort") << "abort 8";
    QTest::newRow("another layout") << "commit 9 2 eeee 7";
  }
  void aDecisionOfAnotherTransactionIsNotFollowed() {
    QFETCH(const QString, held);
    Desk desk;
    desk.disk.rows["decision/job/3"] = held.toStdString();
    desk.ToCommit();
    QCOMPARE(desk.run->phase(), TxnPhase::kRollingBack);
    QCOMPARE(desk.adopted[0], engine::AbortOf(9));
    QCOMPARE(desk.notes.size(), std::size_t{1});
    QVERIFY2(desk.notes[0].find(held.toStdString()) != std::string::npos, desk.notes[0].c_str());
  }

  void aRestartedRegistrarFollowsTheRegister_data() {
    QTest::addColumn<QString>("held");
    QTest::addColumn<bool>("commits");
    QTest::newRow("nothing") << "" << false;
    QTest::newRow("abort") << "abort 9" << false;
    QTest::newRow("commit") << "commit 9 2 abcd 7" << true;
  }
  void aRestartedRegistrarFollowsTheRegister() {
    QFETCH(const QString, held);
    QFETCH(const bool, commits);
    Desk desk(engine::Coordinator::Recovered(kThreeNodes));
    if (!held.isEmpty()) desk.disk.rows["decision/job/3"] = held.toStdString();
    desk.run->Recover();
    QCOMPARE(desk.adopted.at(0).commit, commits);
    QCOMPARE(desk.sent.front(), std::string(commits ? "commit 0" : "abort 0"));
    // Participants that never return do not hold it up.
    desk.run->Feed(engine::NodeFollowed{0});
    desk.run->Feed(engine::NodeSilent{1, "n1 was silent"});
    desk.run->Feed(engine::NodeSilent{2, "n2 was silent"});
    QCOMPARE(desk.committed, std::optional(commits));
  }

  void aSilentNodeThatReturnsLearnsTheOutcome() {
    Desk desk;
    desk.run->Feed(engine::Begin{});
    desk.run->Feed(engine::NodeSilent{2, "n2 was silent"});
    QCOMPARE(desk.run->phase(), TxnPhase::kRollingBack);
    desk.sent.clear();
    desk.run->Feed(engine::NodeReconnected{2});
    QCOMPARE(desk.sent, std::vector<std::string>{"abort 2"});
    for (const std::int32_t n : {0, 1}) desk.run->Feed(engine::NodeFollowed{n});
    QVERIFY(!desk.committed);  // it is there again, so the others wait for it
    desk.run->Feed(engine::NodeReconnected{2});
    QCOMPARE(desk.sent.size(), std::size_t{2});
    desk.run->Feed(engine::NodeFollowed{2});
    QCOMPARE(desk.committed, std::optional(false));
  }
};

TESSERA_TEST_APPLESS(TransactionRunTest)
#include "transaction_run_test.moc"
