// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_exits.h"

#include <QTest>
#include <vector>

#include "agents/job/tessera_job.h"
#include "agents/node/rank_tag.h"
#include "agents/sim/memory_store.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using Pids = std::vector<std::int64_t>;

namespace {

const RankId kInside{"nano", {0, 0}};   // in the layout of the job
const RankId kOutside{"nano", {0, 1}};  // not in it

/// A keeper that notes which exits are acknowledged.
class Keeper : public KeeperLink {
 public:
  Pids acknowledged;

  const std::vector<Arena>& arenas() const override { return arenas_; }
  std::vector<Rank> ranks() const override { return {}; }
  Result<std::int64_t> Spawn(const SpawnRequest&) override { return Cancelled("no processes"); }
  Status Signal(std::int64_t, int) override { return OkStatus(); }
  Status Acknowledge(std::int64_t pid) override {
    acknowledged.push_back(pid);
    return OkStatus();
  }
  Status Shutdown() override { return OkStatus(); }
  Status Die() override { return OkStatus(); }

 private:
  std::vector<Arena> arenas_;
};

/// A node with the job "nano" on its first device.
struct Node {
  AgentConfig config;
  sim::MemoryStore journal;
  NodeWorld world;
  Uplink uplink{config, world};
  HeldJobs jobs{0, journal, uplink};
  RankTable ranks{{[](std::int64_t) {}, [](const RankId&) {},
                   [](std::chrono::seconds, std::function<void()>) {}}};
  Keeper keeper;
  NodeLinks links{.keeper = &keeper};
  std::optional<RankExits::Joining> joining;
  RankExits exits{ranks, jobs, links, uplink, [this](const RankId&) { return joining; }};
  std::vector<wire::RankExited> sent;

  Node() {
    world.send = [this](const wire::FromNode& message) {
      if (message.has_rank_exited()) sent.push_back(message.rank_exited());
    };
    auto layout = ptc::ParseLayout(
        R"({"mesh":"dp=1,tp=1,pp=1 on n0g0","num_layers":1,"tensors":[{"dtype":"f32",)"
        R"("name":"w","place":"all","role":"param","rule":[[]],"shape":[8]}]})");
    QVERIFY2(layout.has_value(), layout ? "" : layout.error().ToString().c_str());
    jobs.Put({.name = "nano", .row = {"{}", *layout, 3, 1}, .start = 5});
  }
  /// Lists a rank of epoch 3 and ends its process with code 1.
  bool End(const RankId& id, std::int64_t pid) {
    ranks.Add(id, pid, {3, 4});
    return OnExited(id, pid);
  }
  bool OnExited(const RankId& id, std::int64_t pid, int status = 1 << 8) {
    return exits.OnExited({pid, TagOf(id, {3, 4}), 0, true, status});
  }
};

}  // namespace

class RankExitsTest : public QObject {
  Q_OBJECT

 private slots:
  void anExitIsReportedUntilItIsNoted() {
    Node node;
    QVERIFY(node.End(kInside, 10));
    QCOMPARE(node.sent.size(), 1U);
    const wire::RankExited exit = node.sent[0];
    QCOMPARE(exit.job(), std::string("nano"));
    QCOMPARE(exit.epoch(), 3);
    QCOMPARE(exit.attempt(), 4);
    QCOMPARE(exit.start(), 5U);
    QCOMPARE(exit.pid(), 10);
    QVERIFY(!exit.joining());
    QVERIFY(node.keeper.acknowledged.empty());  // the next agent must see it
    QVERIFY(!node.ranks.Find(kInside));
    node.exits.Repeat();
    QCOMPARE(node.sent.size(), 2U);
    node.exits.OnNoted(11);
    QVERIFY(node.keeper.acknowledged.empty());
    node.exits.OnNoted(10);
    node.exits.OnNoted(10);  // the registrar notes a repeated report again
    QCOMPARE(node.keeper.acknowledged, Pids({10}));
    node.exits.Repeat();
    QCOMPARE(node.sent.size(), 2U);
  }

  void theReasonHasTheLastLineOfOutput() {
    Node node;
    node.ranks.Add(kInside, 10, {3, 4});
    node.ranks.Find(kInside)->last_line = "out of memory";
    node.OnExited(kInside, 10);
    QVERIFY(node.sent.at(0).reason().ends_with(": out of memory"));
  }

  void aRefusalIsReportedAsOne_data() {
    QTest::addColumn<int>("status");
    QTest::addColumn<bool>("refused");
    QTest::newRow("refused") << (TESSERA_EXIT_REFUSED << 8) << true;
    QTest::newRow("failed") << (1 << 8) << false;
    QTest::newRow("killed") << 9 << false;
  }
  void aRefusalIsReportedAsOne() {
    QFETCH(int, status);
    QFETCH(bool, refused);
    Node node;
    node.ranks.Add(kInside, 10, {3, 4});
    node.OnExited(kInside, 10, status);
    QCOMPARE(node.sent.at(0).refused(), refused);
  }

  void anExpectedExitIsAcknowledgedAtOnce_data() {
    QTest::addColumn<bool>("is_told");
    QTest::newRow("the rank was told to leave") << true;
    QTest::newRow("an earlier agent told it: it is in no layout") << false;
  }
  void anExpectedExitIsAcknowledgedAtOnce() {
    QFETCH(bool, is_told);
    Node node;
    const RankId id = is_told ? kInside : kOutside;
    node.ranks.Add(id, 10, {3, 4});
    if (is_told) node.ranks.Retire(*node.ranks.Find(id));
    QVERIFY(node.OnExited(id, 10));
    QVERIFY(node.sent.empty());
    QCOMPARE(node.keeper.acknowledged, Pids({10}));
  }

  void aProcessThatIsNoRankIsAcknowledged() {
    Node node;
    QVERIFY(!node.OnExited(kInside, 10));
    QVERIFY(!node.exits.OnExited({11, "not a tag", 0, true, 0}));
    QVERIFY(node.sent.empty());
    QCOMPARE(node.keeper.acknowledged, Pids({10, 11}));
  }

  void aJoiningRankIsReportedForItsTransaction_data() {
    QTest::addColumn<bool>("is_committed");
    QTest::newRow("before the commit") << false;
    QTest::newRow("after the commit it is a rank of the job") << true;
  }
  void aJoiningRankIsReportedForItsTransaction() {
    QFETCH(bool, is_committed);
    Node node;
    node.joining = {.epoch = 9, .is_committed = is_committed};
    QVERIFY(node.End(kOutside, 10));
    QCOMPARE(node.sent.size(), 1U);
    QCOMPARE(node.sent[0].joining(), !is_committed);
    QCOMPARE(node.sent[0].epoch(), is_committed ? 3 : 9);
  }
};

TESSERA_TEST_APPLESS(RankExitsTest)
#include "rank_exits_test.moc"
