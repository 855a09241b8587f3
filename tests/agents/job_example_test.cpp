// SPDX-License-Identifier: Apache-2.0
// The example of the rank library, with the groups that the library makes.
#include <QTest>
#include <cmath>
#include <csignal>
#include <vector>

#include "tests/agents/job_node.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

class JobExampleTest : public QObject {
  Q_OBJECT
 private slots:
  // The example computes the same losses on one rank, on two hosts, and across a change of its
  // mesh. It pauses at the requested step and continues from there.
  void theExampleTrainsOnAnyMesh_data() {
    QTest::addColumn<int>("dp");
    QTest::addColumn<int>("tp");
    QTest::addColumn<int>("hosts");
    QTest::newRow("dp 2") << 2 << 1 << 1;
    QTest::newRow("dp 3: shares of 11, 11 and 10") << 3 << 1 << 1;
    QTest::newRow("dp 2, tp 2") << 2 << 2 << 1;
    QTest::newRow("dp 2, tp 2 on two hosts") << 2 << 2 << 2;
    QTest::newRow("tp 4 on four hosts") << 1 << 4 << 4;
  }
  void theExampleTrainsOnAnyMesh() {
    QFETCH(int, dp);
    QFETCH(int, tp);
    QFETCH(int, hosts);
    constexpr int kSteps = 200;
    Node alone(1);
    QVERIFY(alone.agent.Start());
    alone.StartExample(1, 1, 1, kSteps);
    QTRY_VERIFY_WITH_TIMEOUT(alone.Pausing(1), kLimit);
    SUCCEEDS(alone.agent.Command(Node::Id(0), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(alone.Pausing(1), kLimit);
    const std::vector<RankDecision> expected = alone.agent.Of(Node::Id(0)).decided;
    QCOMPARE(expected.size(), std::size_t{kSteps});
    QVERIFY(expected.back().loss < 0.01 * expected.front().loss);

    const int ranks = dp * tp;
    Node node(ranks);
    QVERIFY(node.agent.Start());
    node.StartExample(dp, tp, hosts, kSteps);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(ranks), kLimit);
    for (const float w : node.ExampleWeights(ranks)) QCOMPARE(w, 0.0F);
    node.devices[0].header().request_step.store(60);
    node.devices[0].header().request.store(5);
    for (int r = 0; r < ranks; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(ranks), kLimit);
    node.devices[0].header().request.store(0);
    for (int r = 0; r < ranks; ++r) QCOMPARE(*node.agent.Of(Node::Id(r)).paused, 60);

    // To dp 1, tp 2: the first two stay, the others leave.
    node.PlaceExample(1, 2, 2, node.ExampleWeights(ranks), 60);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) {
        return port.SendConnect(Node::Id(r), ExampleView(r, 1, 2, 1, 2));
      }));
    }
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 0}), kLimit);
      SUCCEEDS(node.agent.Of(Node::Id(r)).connected.at({2, 0}));
      const RankView view = ExampleView(r, 1, 2, 1, 2);
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 2; r < ranks; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
      QCOMPARE(node.ExitStatus(r), 0);
    }
    // It stays paused until it receives the command to resume.
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2, true); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    QCOMPARE(node.agent.Of(Node::Id(0)).decided.back().step, 60);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 2));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    const std::vector<RankDecision> decided = node.agent.Of(Node::Id(0)).decided;
    QCOMPARE(decided.size(), expected.size());
    for (std::size_t i = 0; i < decided.size(); ++i) {
      QCOMPARE(decided[i].step, expected[i].step);
      QCOMPARE(decided[i].tokens, 32 * 256);
      QVERIFY2(std::abs(decided[i].loss - expected[i].loss) <= 1e-3 * expected[i].loss + 1e-6,
               qPrintable(QString("step %1: %2 instead of %3")
                              .arg(decided[i].step)
                              .arg(decided[i].loss)
                              .arg(expected[i].loss)));
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
    for (int r = 0; r < 2; ++r) QCOMPARE(node.ExitStatus(r), 0);
  }

  // A rank that starts again makes the update that an earlier one has left out, and a process that
  // is started for this alone ends then.
  void theExampleMakesAnUpdateThatIsLeft_data() {
    QTest::addColumn<bool>("alone");
    QTest::newRow("first") << false;
    QTest::newRow("alone") << true;
  }
  void theExampleMakesAnUpdateThatIsLeft() {
    QFETCH(bool, alone);
    Node node(1);
    QVERIFY(node.agent.Start());
    node.program = "tessera-job-example";
    std::ofstream(node.layout_file) << ptc::ToJson(ExampleLayout(1, 1));
    node.PlaceExample(1, 1, 1, std::vector<float>(256, 7), 60);
    node.LeaveUpdate(0, 61);
    if (alone) node.more_environment = {"TESSERA_FINISH_UPDATE=1"};
    node.StartRank(0, ExampleView(0, 1, 1, 1, 1), false, 1000, 0);
    if (alone) {
      QCOMPARE(node.ExitStatus(0), 0);
    } else {
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    }
    QCOMPARE(node.devices[0].header().end.load(), 61U);
    for (const float w : node.ExampleWeights(1)) QCOMPARE(w, 7.0F);  // its gradients are zeros
  }

  // The peers of a killed rank wait until the agent abandons the attempt, and then end.
  void theExampleEndsWhenItsGroupIsAbandoned_data() {
    QTest::addColumn<int>("hosts");
    QTest::newRow("one host") << 1;
    QTest::newRow("two hosts") << 2;
  }
  void theExampleEndsWhenItsGroupIsAbandoned() {
    QFETCH(int, hosts);
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartExample(2, 1, hosts, 1000000);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).decided.size() > 5, kLimit);
    tessera::test::SendSignal(node.processes[1], SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).gone, 1, kLimit);
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 1, 0);
      return 0;
    });
    QCOMPARE(node.ExitStatus(0), 1);
  }
};

TESSERA_TEST_APPLESS(JobExampleTest)
#include "job_example_test.moc"
