// SPDX-License-Identifier: Apache-2.0
#include "agents/node/step_reports.h"

#include <QTest>
#include <vector>

#include "agents/sim/memory_store.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using Steps = std::vector<std::int64_t>;

namespace {

const RankId kRank0{"nano", {0, 0}};
const RankId kRank1{"nano", {0, 1}};

/// A node that has the job "nano", and what it has sent.
struct Node {
  AgentConfig config;
  sim::MemoryStore journal;
  NodeWorld world;
  Uplink uplink{config, world};
  HeldJobs jobs{0, journal, uplink};
  StepReports steps{jobs, uplink};
  std::vector<wire::StepReport> sent;

  Node() {
    world.send = [this](const wire::FromNode& message) { sent.push_back(message.step()); };
    List(7, 1);
  }
  void List(std::int64_t epoch, std::int64_t timeline) {
    auto layout = ptc::ParseLayout(
        R"({"mesh":"dp=2,tp=1,pp=1 on n0g0,n0g1","num_layers":1,"tensors":[{"dtype":"f32",)"
        R"("name":"w","place":"all","role":"param","rule":[[]],"shape":[8]}]})");
    QVERIFY2(layout.has_value(), layout ? "" : layout.error().ToString().c_str());
    jobs.Put({.name = "nano", .row = {"{}", *layout, epoch, timeline}});
  }
  void Decide(const RankId& id, std::int64_t step) { steps.OnDecided(id, {.step = step}); }
  Steps TakeSent() {
    Steps out;
    for (const wire::StepReport& step : sent) out.push_back(step.step());
    sent.clear();
    return out;
  }
};

}  // namespace

class StepReportsTest : public QObject {
  Q_OBJECT

 private slots:
  void rank0Reports() {
    Node node;
    node.steps.OnDecided(kRank0, {.step = 4,
                                  .loss = 2.5,
                                  .tokens = 64,
                                  .clip = 0.5,
                                  .metrics = {{"accuracy", 0.75}},
                                  .checkpoint = true});
    QCOMPARE(node.sent.size(), 1U);
    const wire::StepReport& step = node.sent[0];
    QCOMPARE(step.job(), std::string("nano"));
    QCOMPARE(step.step(), 4);
    QCOMPARE(step.loss(), 2.5);
    QCOMPARE(step.tokens(), 64);
    QCOMPARE(step.clip(), 0.5);
    QCOMPARE(step.epoch(), 7);
    QCOMPARE(step.timeline(), 1);
    QCOMPARE(step.metrics().at("accuracy"), 0.75);
    QVERIFY(step.checkpoint());
  }

  void theOtherRanksKeepWhatTheyKnow() {
    Node node;
    node.Decide(kRank1, 4);
    QCOMPARE(node.TakeSent(), Steps());
    node.steps.Repeat("nano", 3);
    QCOMPARE(node.TakeSent(), Steps({4}));
  }

  // A rank repeats its last steps to a new agent, possibly in a later epoch. What rank 0 reports
  // replaces what was kept, and what the others report does not.
  void onlyRank0ReplacesAKeptStep() {
    Node node;
    node.Decide(kRank1, 4);
    node.List(8, 2);
    node.Decide(kRank1, 4);
    node.steps.Repeat("nano", 0);
    QCOMPARE(node.sent.at(0).epoch(), 7);
    node.sent.clear();
    node.Decide(kRank0, 4);
    QCOMPARE(node.sent.at(0).epoch(), 8);
  }

  void onlyStepsAfterARecordedOneAreRepeated() {
    Node node;
    for (std::int64_t step = 1; step <= 5; ++step) node.Decide(kRank0, step);
    node.TakeSent();
    node.steps.Repeat("nano", 3);
    QCOMPARE(node.TakeSent(), Steps({4, 5}));
    node.steps.Repeat("nano", 5);
    node.steps.Repeat("other", 0);
    QCOMPARE(node.TakeSent(), Steps());
  }

  void theOldestStepsAreDropped() {
    Node node;
    const auto last = static_cast<std::int64_t>(StepReports::kMaxRecent) + 2;
    for (std::int64_t step = 1; step <= last; ++step) node.Decide(kRank0, step);
    node.TakeSent();
    node.steps.Repeat("nano", 0);
    const Steps repeated = node.TakeSent();
    QCOMPARE(repeated.size(), StepReports::kMaxRecent);
    QCOMPARE(repeated.front(), 3);
    QCOMPARE(repeated.back(), last);
  }

  void aForgottenJobRepeatsNothing() {
    Node node;
    node.Decide(kRank0, 1);
    node.TakeSent();
    node.steps.Forget("nano");
    node.steps.Repeat("nano", 0);
    QCOMPARE(node.TakeSent(), Steps());
  }

  void aJobThatIsNotListedIsIgnored() {
    Node node;
    node.Decide({"other", {0, 0}}, 1);
    node.steps.Repeat("other", 0);
    QCOMPARE(node.TakeSent(), Steps());
  }
};

TESSERA_TEST_APPLESS(StepReportsTest)
#include "step_reports_test.moc"
