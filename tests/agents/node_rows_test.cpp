// SPDX-License-Identifier: Apache-2.0
// Damaged rows in the journal of a node: what is not needed is set aside, and without what is
// needed the node does not know what it holds or has promised.
#include <QTest>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agents/keeper/packet.h"
#include "agents/node/node_agent.h"
#include "agents/sim/memory_store.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/copy/checksum.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

constexpr std::int64_t kCapacity = 64 << 20;

ptc::Layout LayoutOfJob() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=1,tp=1,pp=1 on n0g0"), *tensors);
}

class StillTimers final : public Timers {
 public:
  Clock::time_point now() const override { return {}; }
  TimerId After(std::chrono::milliseconds, std::function<void()>) override { return 0; }
  TimerId Every(std::chrono::milliseconds, std::function<void()>) override { return 0; }
  void Cancel(TimerId) override {}
  void Post(std::function<void()>) override {}
};

/// Holds one device, which has state of job 'held'.
class Keeper final : public KeeperLink {
 public:
  Keeper() {
    fd_.Reset(*engine::Arena::CreateMemfd("rows test", kCapacity));
    engine::Arena arena = *engine::Arena::Map(fd_.get(), true);
    const auto table = engine::AllocateInitial("held", 1, LayoutOfJob(), 0, kCapacity);
    if (!table || !table->Write(arena, engine::PieceTable::SlotOf(1))) qFatal("no table");
    const std::string job = "held";
    arena.header().job_hash.store(engine::Checksum(std::as_bytes(std::span(job))));
    engine::FlipTo(arena, 1);
    arenas_ = {{.index = 0, .fd = fd_.get(), .bytes = kCapacity}};
  }
  const std::vector<Arena>& arenas() const override { return arenas_; }
  std::vector<Rank> ranks() const override { return {}; }
  Result<std::int64_t> Spawn(const SpawnRequest&) override { return Unavailable("none"); }
  Status Signal(std::int64_t, int) override { return OkStatus(); }
  Status Acknowledge(std::int64_t) override { return OkStatus(); }
  Status Shutdown() override { return OkStatus(); }
  Status Die() override { return OkStatus(); }

 private:
  UniqueFd fd_;
  std::vector<Arena> arenas_;
};

class NoViews final : public NodeViews {
 public:
  Status Recover(std::vector<std::string>*) override { return OkStatus(); }
  void Take(const wire::TakeView&, const Job&, TakeReply) override {}
  void Keep(std::uint64_t) override {}
  void Save(const wire::SaveShare&, SaveReply) override {}
  void Release(std::uint64_t) override {}
  void Complete(const wire::CompleteSnapshot&, CompleteReply) override {}
  void Drop(std::uint64_t) override {}
  void OnPaused(const std::string&, std::int64_t) override {}
  void GiveUp(const std::string&) override {}
  void Forget(const std::string&) override {}
  std::int64_t size_bytes() const override { return 0; }
  void Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>*) const override {}
};

/// A node whose agent restarts with these rows.
struct Node {
  Node() {
    disk.rows["keeper"] = "keeper 1";
    disk.rows["job/held"] = ToText(JobRow{"{}", LayoutOfJob(), 1, 0, 9});
  }
  Status Restart() {
    NodeWorld world;
    world.facts.keeper = "keeper 1";
    world.journal = &disk;
    world.send = [this](const wire::FromNode& message) {
      if (message.has_event()) events.push_back(message.event().text());
    };
    world.log_line = [this](const std::string& line) { log.push_back(line); };
    agent = std::make_unique<NodeAgent>(timers, AgentConfig{}, std::move(world));
    TESSERA_RETURN_IF_ERROR(agent->TakeOver(keeper));
    return agent->Recover(views);
  }
  sim::MemoryStore disk;
  std::vector<std::string> events, log;
  StillTimers timers;
  Keeper keeper;
  NoViews views;
  std::unique_ptr<NodeAgent> agent;  // last: it refers to all of the above
};

}  // namespace

class NodeRowsTest : public QObject {
  Q_OBJECT
 private slots:
  void wholeRowsAreRead() {
    Node node;
    VERIFY_OK(node.Restart());
    QVERIFY(node.log.empty());
  }

  void rowsThatAreNotNeededAreSetAside_data() {
    QTest::addColumn<QString>("key");
    QTest::newRow("of a job without devices") << QStringLiteral("job/gone");
    QTest::newRow("copies of the registrar's rows") << QStringLiteral("kept-rows");
  }
  void rowsThatAreNotNeededAreSetAside() {
    QFETCH(QString, key);
    const std::string name = key.toStdString();
    Node node;
    node.disk.rows[name] = "\xff{damaged";
    VERIFY_OK(node.Restart());
    QVERIFY(!node.disk.rows.contains(name));
    QCOMPARE(node.disk.rows.at("unreadable/" + name), std::string("\xff{damaged"));
    QCOMPARE(node.log.size(), std::size_t{1});
    const std::string said =
        "row '" + name + "' of journal.db cannot be read and is kept as 'unreadable/" + name + "'";
    QVERIFY2(node.log[0].starts_with(said), node.log[0].c_str());
    // The registrar hears it when it knows this agent.
    QVERIFY(node.events.empty());
    wire::ToNode welcome;
    welcome.mutable_welcome();
    node.agent->OnMessage(welcome);
    QVERIFY(node.events == node.log);
    node.agent->OnMessage(welcome);
    QCOMPARE(node.events.size(), std::size_t{1});
    // The next agent has nothing to say.
    node.log.clear();
    VERIFY_OK(node.Restart());
    QVERIFY(node.log.empty());
  }

  void rowsThatAreNeededStopTheNode_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QByteArray>("value");
    const auto row = [](const char* name, const char* key, const QByteArray& value) {
      QTest::newRow(name) << QString::fromLatin1(key) << value;
    };
    row("of a job with devices", "job/held", "{damaged");
    row("the keeper", "keeper", "keeper 0");
    row("no keeper", "keeper", QByteArray());
    row("the state of a transaction", "txn/state", "damaged");
    row("an unknown state", "txn/state", "7 99");
    row("the message of a transaction", "txn/prepare", "damaged");
    row("the message is cut off", "txn/prepare", "7 \xff");
    row("another message", "txn/prepare", "7 ");
  }
  void rowsThatAreNeededStopTheNode() {
    QFETCH(QString, key);
    QFETCH(QByteArray, value);
    Node node;
    node.disk.rows["txn/state"] = "7 2";
    node.disk.rows["txn/prepare"] = "7 ";
    if (value.isEmpty()) {
      node.disk.rows.erase(key.toStdString());
    } else {
      node.disk.rows[key.toStdString()] = value.toStdString();
    }
    const auto before = node.disk.rows;
    VERIFY_ERROR(node.Restart(), ErrorCode::kDataLoss,
                 "journal row '" + key.toStdString() + "' is damaged: ");
    QVERIFY(node.disk.rows == before);
  }

  // Its memory is gone, and so are its promises.
  void anotherKeeperBeginsAnew() {
    sim::MemoryStore disk;
    disk.rows = {{"keeper", "keeper 0"}, {"job/held", "{damaged"}, {"txn/state", "damaged"}};
    NodeWorld world;
    world.facts.keeper = "keeper 1";
    world.journal = &disk;
    StillTimers timers;
    NodeAgent agent(timers, AgentConfig{}, std::move(world));
    NoViews views;
    VERIFY_OK(agent.Recover(views));
    QCOMPARE(disk.rows.size(), std::size_t{1});
    QCOMPARE(disk.rows.at("keeper"), std::string("keeper 1"));
  }
};
TESSERA_TEST_APPLESS(NodeRowsTest)
#include "node_rows_test.moc"
