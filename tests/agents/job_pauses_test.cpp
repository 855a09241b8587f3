// SPDX-License-Identifier: Apache-2.0
// Which pauses an agent ends, and which it leaves alone, also those that ranks report late.
#include "agents/node/job_pauses.h"

#include <QTest>
#include <string>
#include <vector>

#include "agents/job/rank_links.h"
#include "agents/keeper/packet.h"
#include "agents/node/node_views.h"
#include "agents/node/node_world.h"
#include "agents/sim/memory_store.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

const RankId kRank{"nano", {0, 0}};

class Ranks : public RankLinks {
 public:
  int resumed = 0;

  Status SendConnect(const RankId&, const RankView&) override { return OkStatus(); }
  Status SendCheck(const RankId&, std::uint64_t, const ptc::MeshShape&) override {
    return OkStatus();
  }
  void Abandon(const std::string&, std::int64_t, std::int64_t) override {}
  Status SendCommand(const RankId&, RankCommand command, std::int64_t, const RankView*) override {
    if (command == RankCommand::kResume) ++resumed;
    return OkStatus();
  }
  Status SendGo(const RankId&, std::int64_t, bool) override { return OkStatus(); }
  void Forget(const std::string&) override {}
  std::optional<State> Find(const RankId&) const override { return std::nullopt; }
};

class NoViews : public NodeViews {
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

/// A node with the only rank of the job "nano".
struct Node {
  AgentConfig config;
  sim::MemoryStore journal;
  NodeWorld world;
  Uplink uplink{config, world};
  HeldJobs jobs{0, journal, uplink};
  RankTable table{{[](std::int64_t) {}, [](const RankId&) {},
                   [](std::chrono::seconds, std::function<void()>) {}}};
  RendezvousRelay rendezvous{[](wire::FromNode) {}};
  Ranks ranks;
  NoViews views;
  NodeLinks links{.views = &views, .ranks = &ranks};
  DeviceStore devices;
  JobPauses pauses{devices, table, jobs, rendezvous, links, uplink};
  std::vector<wire::JobPaused> sent;
  int ready = 0;  // how often that was reported

  Node() {
    world.send = [this](const wire::FromNode& message) {
      if (message.has_job_paused()) sent.push_back(message.job_paused());
      ready += message.has_job_ready() ? 1 : 0;
    };
    const auto fd = engine::Arena::CreateMemfd("pauses", 1 << 16);
    QVERIFY(fd.has_value());
    const UniqueFd owner(*fd);
    DeviceStore::Device device;
    device.id = kRank.device;
    device.arena = std::make_unique<engine::Arena>(*engine::Arena::Map(*fd, true));
    device.table = *engine::PieceTable::Make(3, 1, kRank.job, {}, 1 << 16);
    devices.devices().emplace(device.id, std::move(device));
    auto layout = ptc::ParseLayout(
        R"({"mesh":"dp=1,tp=1,pp=1 on n0g0","num_layers":1,"tensors":[{"dtype":"f32",)"
        R"("name":"w","place":"all","role":"param","rule":[[]],"shape":[8]}]})");
    QVERIFY2(layout.has_value(), layout ? "" : layout.error().ToString().c_str());
    jobs.Put({.name = kRank.job, .row = {"{}", *layout, 3, 1}});
    table.Add(kRank, 10, {3, 1});
  }
  /// The rank reports its pause, as it does to each agent.
  void OnPaused(std::uint64_t request) {
    pauses.Note(*table.Find(kRank), {9, request, ""});
    pauses.Follow(*table.Find(kRank));
  }
};

}  // namespace

class JobPausesTest : public QObject {
  Q_OBJECT

 private slots:
  void aPauseIsReportedAndEndsWithItsResume() {
    Node node;
    node.OnPaused(4);
    QCOMPARE(node.sent.size(), 1U);
    QCOMPARE(node.sent[0].request(), 4U);
    QCOMPARE(node.sent[0].step(), 9);
    wire::ResumeJob resume;
    resume.set_job(kRank.job);
    resume.set_through(4);
    node.pauses.OnResumeJob(resume);
    QCOMPARE(node.ranks.resumed, 1);
    QVERIFY(!node.pauses.AllPaused(kRank.job));
  }

  // The request of a transaction has a higher number than that of the operator.
  void aRankThatReportsAfterTheTransactionIsResumed_data() {
    QTest::addColumn<bool>("stay_paused");
    QTest::newRow("of a job that ran") << false;
    QTest::newRow("not if the job was paused before") << true;
  }
  void aRankThatReportsAfterTheTransactionIsResumed() {
    QFETCH(bool, stay_paused);
    Node node;
    node.pauses.EndRequest(kRank.job, 5, stay_paused);  // the rank has not attached again yet
    node.OnPaused(4);
    QCOMPARE(node.ranks.resumed, stay_paused ? 0 : 1);
    QCOMPARE(node.sent.size(), stay_paused ? 1U : 0U);
    QCOMPARE(node.pauses.AllPaused(kRank.job).has_value(), stay_paused);
  }

  // A node that was away follows an old outcome after its ranks have been started again.
  void aTransactionDoesNotResumeAJobThatIsBeingStarted() {
    Node node;
    node.jobs.Find(kRank.job)->starting = true;
    node.pauses.Note(*node.table.Find(kRank), {-1, 0, ""});
    node.pauses.EndRequest(kRank.job, 5, false);
    QCOMPARE(node.ranks.resumed, 0);
    node.pauses.RepeatReady();
    QCOMPARE(node.ready, 1);
    wire::ResumeJob resume;
    resume.set_job(kRank.job);
    node.pauses.OnResumeJob(resume);
    QCOMPARE(node.ranks.resumed, 1);
  }

  void ranksThatWaitAreResumedWithTheTransaction_data() {
    QTest::addColumn<bool>("stay_paused");
    QTest::addColumn<quint64>("request");
    QTest::addColumn<int>("resumed");
    QTest::newRow("its own request") << false << quint64{5} << 1;
    QTest::newRow("of a paused job") << true << quint64{4} << 0;
    QTest::newRow("without data") << false << quint64{engine::kRequestNoData} << 0;
  }
  void ranksThatWaitAreResumedWithTheTransaction() {
    QFETCH(bool, stay_paused);
    QFETCH(quint64, request);
    QFETCH(int, resumed);
    Node node;
    node.OnPaused(request);
    node.pauses.RaiseRequest(kRank.job, 5, 0);
    node.pauses.EndRequest(kRank.job, 5, stay_paused);
    QCOMPARE(node.ranks.resumed, resumed);
    QCOMPARE(node.devices.Find(kRank.device)->arena->header().request.load(), std::uint64_t{0});
  }
};

TESSERA_TEST_APPLESS(JobPausesTest)
#include "job_pauses_test.moc"
