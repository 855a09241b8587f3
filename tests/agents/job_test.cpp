// SPDX-License-Identifier: Apache-2.0 Ranks of a job from start to end: pauses, changes, restarts
// of the agent.
#include <QTest>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/agents/job_node.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::test;

class JobTest : public QObject {
  Q_OBJECT
 private slots:
  // With a rank of the same node that has made it, the job would wait for ever.
  void aFirstWaitBeforeAnUpdateThatIsLeftIsRefused() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.MoveTo(0, 1, 1, 30);
    node.LeaveUpdate(0, 31);
    node.StartRank(0, ViewOf(0, 1, 1), false, 60, 0);
    QCOMPARE(node.ExitStatus(0), 1);
  }

  void aJobMakesItsStepsAndLeaves() {
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 30, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(heard.attached, 1);
      QCOMPARE(heard.pid, node.processes[r]);
      QCOMPARE(*heard.paused, -1);
      QVERIFY(heard.connected.at({1, 0}).has_value());
      QCOMPARE(node.Value(r), 0.0F);  // initialised before it waited
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, 30);
      QCOMPARE(heard.request, engine::kRequestStepsDone);
      QCOMPARE(Steps(heard.decided).size(), 30U);
      QCOMPARE(heard.decided.front().step, 1);
      QCOMPARE(heard.decided.back().loss, 1.0);
      QCOMPARE(heard.decided.back().tokens, 2);
      QVERIFY(heard.decided.back().seconds > 0);
      // Of rank 0 only. What is requested after a decision goes with the next one, and after the
      // last one with its repetition.
      std::vector<std::int64_t> checkpoints;
      for (const RankDecision& decision : heard.decided) {
        const engine::Metrics counted = {{"count", static_cast<double>(decision.step)}};
        QVERIFY(decision.metrics == (r == 0 ? counted : engine::Metrics()));
        if (decision.checkpoint) checkpoints.push_back(decision.step);
      }
      QVERIFY((checkpoints ==
               (r == 0 ? std::vector<std::int64_t>{11, 21, 30} : std::vector<std::int64_t>())));
      QCOMPARE(node.Value(r), 30.0F);
      const auto& header = node.devices[static_cast<std::size_t>(r)].header();
      for (const auto* word :
           {&header.grads_step, &header.decision_step, &header.begin, &header.end}) {
        QCOMPARE(word->load(), 30U);
      }
      QVERIFY(!node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(5), 1, false); }));
    }
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
    for (int r = 0; r < 2; ++r) QCOMPARE(node.ExitStatus(r), 0);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).gone, 1, kLimit);
    QVERIFY(!node.agent.Do([](RankPort& port) { return port.IsAttached(Node::Id(1)); }));
  }

  void aRequestOnOneDevicePausesAllAtOneStep() {
    Node node(3);
    QVERIFY(node.agent.Start());
    node.StartJob(3, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    for (int r = 0; r < 3; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).decided.size() > 5, kLimit);
    auto& header = node.devices[1].header();
    const std::uint64_t from = header.end.load() + 20;
    header.request_step.store(from);
    header.request.store(42);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    header.request.store(0);
    for (int r = 0; r < 3; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, static_cast<std::int64_t>(from));
      QCOMPARE(heard.request, 42U);
      QCOMPARE(node.Value(r), static_cast<float>(from));
      QCOMPARE(heard.decided.back().pause, 42U);
      QCOMPARE(node.devices[static_cast<std::size_t>(r)].header().decision_pause.load(), 42U);
    }
    for (int r = 0; r < 3; ++r) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
      const Status again = node.agent.Command(Node::Id(r), RankCommand::kResume, 1);
      QVERIFY(!again && again.error().code == ErrorCode::kFailedPrecondition);
    }
    QTRY_VERIFY_WITH_TIMEOUT(
        node.agent.Of(Node::Id(2)).decided.back().step > static_cast<std::int64_t>(from), kLimit);
  }

  // While its state is copied over several steps, a job waits before each update. Its steps take
  // time all the same; a pause is no part of one.
  void stepsThatWaitBeforeTheirUpdateHaveATime_data() {
    QTest::addColumn<quint64>("request");
    QTest::addColumn<bool>("has_time");
    QTest::newRow("before the update") << quint64{42 | engine::kRequestBeforeUpdate} << true;
    QTest::newRow("a pause") << quint64{42} << false;
  }
  void stepsThatWaitBeforeTheirUpdateHaveATime() {
    QFETCH(quint64, request);
    QFETCH(bool, has_time);
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    auto& header = node.devices[0].header();
    std::int64_t step = 0;  // of the wait
    for (int wait = 0; wait < 3; ++wait) {
      header.request_step.store(header.end.load() + 20);
      header.request.store(request);
      SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kResume, 1));
      const auto has_paused_again = [&] {
        const Heard heard = node.agent.Of(Node::Id(0));
        return !heard.decided.empty() && heard.decided.back().pause == request &&
               heard.paused == heard.decided.back().step && *heard.paused > step;
      };
      QTRY_VERIFY_WITH_TIMEOUT(has_paused_again(), kLimit);
      const Heard heard = node.agent.Of(Node::Id(0));
      for (const RankDecision& decision : heard.decided) {
        const bool follows = step > 0 && decision.step == step + 1;
        if (follows) QCOMPARE(decision.seconds > 0, has_time);
      }
      step = heard.decided.back().step;
      header.request.store(0);
    }
  }

  // While it trains.
  void aRankSaysOnWhichMeshesItsProgramCanRun() {
    Node node(1);
    const std::string file = (node.directory.path() + "/fails").toStdString();
    std::ofstream(file) << "3 4";
    node.more_environment = {"COUNTING_JOB_FAILS=" + file};
    QVERIFY(node.agent.Start());
    node.StartJob(1, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kResume, 1));
    std::uint64_t check = 0;
    for (const auto& [mesh, refusal] : {std::pair{"dp=2", ""},
                                        {"dp=3", "3 ranks have no equal parts"},
                                        {"dp=2,tp=2", "4 ranks have no equal parts"},
                                        {"dp=3,tp=2", ""}}) {
      ++check;
      const ptc::MeshShape shape = *ptc::ParseMeshShape(mesh);
      SUCCEEDS(
          node.agent.Do([&](RankPort& port) { return port.SendCheck(Node::Id(0), check, shape); }));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).checked.contains(check), kLimit);
      const Status said = node.agent.Of(Node::Id(0)).checked.at(check);
      QCOMPARE(said ? std::string() : said.error().message, std::string(refusal));
      if (!said) QCOMPARE(said.error().code, ErrorCode::kFailedPrecondition);
    }
    const Status nobody = node.agent.Do(
        [&](RankPort& port) { return port.SendCheck(Node::Id(5), 1, ptc::MeshShape()); });
    QVERIFY(!nobody && nobody.error().code == ErrorCode::kUnavailable);
  }

  // One of two ranks cannot read its data: both wait at the same step, and that rank reports the
  // reason, also to a new agent.
  void aRankWithoutDataStopsAll() {
    Node node(2);
    node.data_file[1] = (node.directory.path() + "/data").toStdString();
    std::ofstream(node.data_file[1]) << "x";
    QVERIFY(node.agent.Start());
    node.StartJob(2, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).decided.size() > 5, kLimit);
    node.devices[0].header().request_step.store(1000000);  // a later pause changes nothing
    node.devices[0].header().request.store(42);
    std::filesystem::remove(node.data_file[1]);
    for (const bool again : {false, true}) {
      if (again) QVERIFY(node.agent.Restart());
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
      const Heard without = node.agent.Of(Node::Id(1)), with = node.agent.Of(Node::Id(0));
      QCOMPARE(*with.paused, *without.paused);
      QCOMPARE(with.request, engine::kRequestNoData);
      QCOMPARE(without.request, engine::kRequestNoData);
      QCOMPARE(with.reason, std::string());
      QCOMPARE(without.reason, node.data_file[1]);
      QCOMPARE(with.decided.back().step, *with.paused);
      QCOMPARE(with.decided.back().pause, engine::kRequestNoData);
    }
    node.devices[0].header().request.store(0);
    const std::int64_t step = *node.agent.Of(Node::Id(0)).paused;
    std::ofstream(node.data_file[1]) << "x";
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.back().step > step + 3, kLimit);
    QCOMPARE(node.agent.Of(Node::Id(1)).request, engine::kRequestNoData);  // of the last pause
  }

  // The other rank is not held: it makes its update and computes the gradients of the next step.
  void holdKeepsTheUpdateBack() {
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    auto& header = node.devices[0].header();
    header.hold.store(1);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_COMPARE_WITH_TIMEOUT(node.devices[1].header().grads_step.load(), 2U, kLimit);
    QCOMPARE(node.Value(1), 1.0F);
    QCOMPARE(header.decision_step.load(), 1U);
    QCOMPARE(header.begin.load(), 0U);
    QCOMPARE(node.Value(0), 0.0F);
    header.hold.store(0);
    QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > 1, kLimit);
  }

  // A hold with a step does not delay earlier updates.
  void holdOfAStepLetsEarlierUpdatesPass() {
    Node node(2);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    auto& header = node.devices[0].header();
    header.hold.store(6);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    QTRY_COMPARE_WITH_TIMEOUT(node.devices[1].header().grads_step.load(), 7U, kLimit);
    QCOMPARE(header.decision_step.load(), 6U);
    QCOMPARE(header.begin.load(), 5U);
    QCOMPARE(header.end.load(), 5U);
    QCOMPARE(node.Value(0), 5.0F);
    header.hold.store(0);
    QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > 7, kLimit);
  }

  void aJobGrowsAndShrinks() {
    Node node(3);
    QVERIFY(node.agent.Start());
    node.StartJob(2, 1000000, 1);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    for (int r = 0; r < 2; ++r) SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));

    // The first attempt is abandoned before its third rank joins. Training is not disturbed.
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 3, 2, 1)); }));
    }
    // Rank 0 has met rank 1 and waits for rank 2; rank 1 waits for rank 0.
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.IsWanted(2, 1, "meeting/2"), kLimit);
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.IsWanted(2, 1, "meeting/all"), kLimit);
    for (int r = 0; r < 2; ++r) {
      QVERIFY(
          !node.agent.Of(Node::Id(r)).connected.contains({2, 1}));  // both wait for the third rank
    }
    node.agent.Do([](RankPort& port) {
      port.Abandon(kJob, 2, 1);
      return 0;
    });
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 1}), kLimit);
      QVERIFY(!node.agent.Of(Node::Id(r)).connected.at({2, 1}).has_value());
    }

    // In the second attempt the joining rank starts, and all ranks connect while they train.
    node.StartRank(2, ViewOf(2, 3, 2, 2), false, 1000000, 1);
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 3, 2, 2)); }));
    }
    for (int r = 0; r < 3; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 2}), kLimit);
      SUCCEEDS(node.agent.Of(Node::Id(r)).connected.at({2, 2}));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(2)).paused == -1, kLimit);
    node.devices[0].header().request.store(2);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    node.devices[0].header().request.store(0);
    const std::int64_t step = *node.agent.Of(Node::Id(0)).paused;
    for (int r = 0; r < 3; ++r) {
      const RankView view = ViewOf(r, 3, 2, 2);
      node.MoveTo(r, 3, 2, static_cast<float>(step));
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 0; r < 3; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
    }
    // Rank 0 gets its go and trains on; the others wait for theirs.
    const auto gradients = [&](std::size_t r) {
      return static_cast<std::int64_t>(node.devices[r].header().grads_step.load());
    };
    SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(0), 2, false); }));
    QTRY_COMPARE_WITH_TIMEOUT(gradients(0), step + 1, kLimit);
    QCOMPARE(gradients(1), step);
    QVERIFY(gradients(2) <= step);
    QCOMPARE(node.agent.Of(Node::Id(0)).decided.back().step, step);
    for (int r = 1; r < 3; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2, false); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(2)).decided.size() > 5, kLimit);
    QCOMPARE(node.agent.Of(Node::Id(2)).decided.front().step, step + 1);
    QCOMPARE(node.agent.Of(Node::Id(2)).decided.front().tokens, 3);

    // Back to one rank: two ranks leave.
    SUCCEEDS(node.agent.Do(
        [&](RankPort& port) { return port.SendConnect(Node::Id(1), ViewOf(0, 1, 3, 1)); }));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).connected.contains({3, 1}), kLimit);
    node.devices[2].header().request.store(3);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(3), kLimit);
    const std::int64_t second = *node.agent.Of(Node::Id(2)).paused;
    for (int r = 0; r < 3; ++r) QCOMPARE(node.Value(r), static_cast<float>(second));
    const RankView alone = ViewOf(0, 1, 3, 1);
    auto table = engine::AllocateInitial(kJob, 3, LayoutOf(1), 0, kCapacity);
    SUCCEEDS(table->Write(*node.devices[1].arena, engine::PieceTable::SlotOf(3)));
    for (const auto& entry : table->entries()) {
      auto* data = reinterpret_cast<float*>(node.devices[1].arena->AddressOf(entry.offset_bytes));
      for (std::int64_t i = 0; i < entry.box.num_elements(); ++i)
        data[i] = static_cast<float>(second);
    }
    engine::FlipTo(*node.devices[1].arena, 3);
    SUCCEEDS(node.agent.Command(Node::Id(1), RankCommand::kAdopt, 3, &alone));
    for (int r : {0, 2}) {
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kLeave));
      QCOMPARE(node.ExitStatus(r), 0);
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).adopted == 3, kLimit);
    SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(1), 3, false); }));
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.back().tokens == 1, kLimit);
    QVERIFY(!Steps(node.agent.Of(Node::Id(1)).decided).empty());  // every step, once, in order
  }

  void adoptRefusesAnEpochThatIsNotFlipped() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 10, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    const RankView view = ViewOf(0, 1, 2);
    SUCCEEDS(node.agent.Command(Node::Id(0), RankCommand::kAdopt, 2, &view));
    QCOMPARE(node.ExitStatus(0), 1);
  }

  void aRestartedAgentHearsItAllAgain_data() {
    QTest::addColumn<QString>("phase");
    QTest::newRow("before the ranks attach") << "start";
    QTest::newRow("while groups are built") << "connect";
    QTest::newRow("while they wait for the start") << "waiting";
    QTest::newRow("while they train") << "training";
    QTest::newRow("while they are paused") << "paused";
    QTest::newRow("while they wait for go") << "adopted";
  }
  void aRestartedAgentHearsItAllAgain() {
    QFETCH(QString, phase);
    Node node(2);
    for (int r = 0; r < 2; ++r) node.MoveTo(r, 2, 1, 0);
    const auto start = [&](int r) { node.StartRank(r, ViewOf(r, 2, 1), true, 1000000, 1); };
    if (phase == "start") {
      start(0);
      start(1);
      // Each rank has a thread that searches for the agent.
      for (int r = 0; r < 2; ++r) QTRY_VERIFY_WITH_TIMEOUT(node.NumThreads(r) > 1, kLimit);
      QVERIFY(node.agent.Start());
    } else {
      if (phase == "connect") node.agent.held_back = "meeting/all";
      QVERIFY(node.agent.Start());
      start(0);
      start(1);
    }
    if (phase == "connect") {
      // The first rank gets its shared memory from this agent, the second from the next one.
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).connected.contains({1, 0}), kLimit);
      QVERIFY(!node.agent.Of(Node::Id(1)).connected.contains({1, 0}));
      node.agent.Stop();
      node.agent.held_back.clear();
      QVERIFY(node.agent.Restart(milliseconds(200)));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    if (phase == "waiting") {
      QVERIFY(node.agent.Restart());
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    }
    for (int r = 0; r < 2; ++r) {
      QCOMPARE(*node.agent.Of(Node::Id(r)).paused, -1);
      QVERIFY(node.agent.Of(Node::Id(r)).connected.at({1, 0}).has_value());
      QCOMPARE(node.agent.Of(Node::Id(r)).pid, node.processes[r]);
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kResume, 1));
    }
    QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.size() > 3, kLimit);
    if (phase == "training") {
      const auto& header = node.devices[1].header();
      node.agent.Stop();
      const std::uint64_t stopped = header.end.load();
      QTRY_VERIFY_WITH_TIMEOUT(header.end.load() > stopped + 300, kLimit);  // trains on alone
      QVERIFY(node.agent.Restart(milliseconds(0)));
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(1)).decided.size() > 300, kLimit);
      const Heard heard = node.agent.Of(Node::Id(1));
      QCOMPARE(heard.pid, node.processes[1]);
      // Those made without an agent, and those that the last one may not have passed on.
      QCOMPARE(heard.decided.front().step, std::int64_t{1});
      QVERIFY(!Steps(heard.decided).empty());
      QCOMPARE(heard.decided.back().dropped, 0);
    }
    for (int r = 0; r < 2; ++r) {
      // The ranks reconnect at different times.
      QTRY_VERIFY_WITH_TIMEOUT(
          node.agent.Do([&](RankPort& port) { return port.IsAttached(Node::Id(r)); }), kLimit);
      SUCCEEDS(node.agent.Do(
          [&](RankPort& port) { return port.SendConnect(Node::Id(r), ViewOf(r, 2, 2, 1)); }));
    }
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).connected.contains({2, 1}), kLimit);
    }
    node.devices[0].header().request.store(2);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    node.devices[0].header().request.store(0);
    const std::int64_t step = *node.agent.Of(Node::Id(0)).paused;
    if (phase == "paused") {
      QVERIFY(node.agent.Restart());
      QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(2), kLimit);
    }
    for (int r = 0; r < 2; ++r) {
      const Heard heard = node.agent.Of(Node::Id(r));
      QCOMPARE(*heard.paused, step);
      QCOMPARE(heard.request, 2U);
      QVERIFY(heard.connected.at({2, 1}).has_value());
      QCOMPARE(heard.decided.back().step, step);
      const RankView view = ViewOf(r, 2, 2, 1);
      node.MoveTo(r, 2, 2, static_cast<float>(step));
      SUCCEEDS(node.agent.Command(Node::Id(r), RankCommand::kAdopt, 2, &view));
    }
    for (int r = 0; r < 2; ++r) {
      QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
    }
    if (phase == "adopted") {
      QVERIFY(node.agent.Restart());
      for (int r = 0; r < 2; ++r) {
        QTRY_VERIFY_WITH_TIMEOUT(node.agent.Of(Node::Id(r)).adopted == 2, kLimit);
        const auto state = node.agent.Do([&](RankPort& port) { return port.Find(Node::Id(r)); });
        QVERIFY(state && state->adopted && !state->waits && state->epoch == 2);
      }
    }
    for (int r = 0; r < 2; ++r) {
      SUCCEEDS(node.agent.Do([&](RankPort& port) { return port.SendGo(Node::Id(r), 2, false); }));
    }
    QTRY_VERIFY_WITH_TIMEOUT(
        node.devices[1].header().end.load() > static_cast<std::uint64_t>(step) + 5, kLimit);
  }

  void aKilledRankIsReported() {
    Node node(1);
    QVERIFY(node.agent.Start());
    node.StartJob(1, 10, 0);
    QTRY_VERIFY_WITH_TIMEOUT(node.Pausing(1), kLimit);
    tessera::test::SendSignal(node.processes[0], SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(node.agent.Of(Node::Id(0)).gone, 1, kLimit);
    const Status sent = node.agent.Command(Node::Id(0), RankCommand::kResume, 1);
    QVERIFY(!sent && sent.error().code == ErrorCode::kUnavailable);
  }
};

TESSERA_TEST_APPLESS(JobTest)
#include "job_test.moc"
