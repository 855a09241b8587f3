// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_table.h"

#include <QTest>
#include <vector>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using ptc::DeviceId;

namespace {

const RankId kFirst{"nano", {0, 0}};
const RankId kSecond{"nano", {0, 1}};

/// What a table has asked for.
struct Heard {
  std::vector<std::int64_t> killed;
  std::vector<RankId> told_to_leave;
  std::vector<std::function<void()>> later;

  RankTable::World World() {
    return {[this](std::int64_t pid) { killed.push_back(pid); },
            [this](const RankId& id) { told_to_leave.push_back(id); },
            [this](std::chrono::seconds, std::function<void()> run) {
              later.push_back(std::move(run));
            }};
  }
};

std::vector<DeviceId> Devices() { return {kFirst.device, kSecond.device}; }

}  // namespace

class RankTableTest : public QObject {
  Q_OBJECT

 private slots:
  void aDeviceGetsNoSecondRank() {
    Heard heard;
    RankTable table(heard.World());
    QVERIFY(table.CheckFree(kFirst.device));
    table.Add(kFirst, 10, {1, 1});
    const Status taken = table.CheckFree(kFirst.device);
    QVERIFY(!taken && taken.error().code == ErrorCode::kFailedPrecondition);
    QCOMPARE(taken.error().message, std::string("the rank of 'nano' on n0g0 still runs"));
    QVERIFY(table.CheckFree(kSecond.device));
    QVERIFY(heard.killed.empty());
  }

  // The next rank may train as soon as it is started, so nothing of the old one may be left.
  void aRankThatIsLeavingIsKilledForTheNextOne() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    table.Retire(*table.Find(kFirst));
    QCOMPARE(heard.told_to_leave.size(), 1U);
    QVERIFY(heard.told_to_leave[0] == kFirst && heard.killed.empty());
    QVERIFY(table.CheckFree(kFirst.device));
    QCOMPARE(heard.killed, std::vector<std::int64_t>({10}));
    table.Add(kFirst, 11, {2, 2});
    // The end of the old process is not the end of the new one, and its time to leave is over.
    QVERIFY(!table.Remove(kFirst, 10));
    heard.later.at(0)();
    QCOMPARE(heard.killed.size(), 1U);
    QVERIFY(table.Find(kFirst) && !table.Find(kFirst)->exit_expected);
  }

  void aRankThatDoesNotLeaveIsKilled() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    table.Retire(*table.Find(kFirst));
    QCOMPARE(table.NumRunning("nano"), 0);
    heard.later.at(0)();
    QCOMPARE(heard.killed, std::vector<std::int64_t>({10}));
    const auto ended = table.Remove(kFirst, 10);
    QVERIFY(ended && ended->exit_expected);
    heard.later.at(0)();  // it has ended meanwhile
    QCOMPARE(heard.killed.size(), 1U);
    QVERIFY(!table.Find(kFirst));
  }

  void ofTwoRanksOfADeviceTheLaterOneIsKept_data() {
    QTest::addColumn<bool>("later_first");
    QTest::newRow("the later one is listed first") << true;
    QTest::newRow("the earlier one is listed first") << false;
  }
  void ofTwoRanksOfADeviceTheLaterOneIsKept() {
    QFETCH(bool, later_first);
    Heard heard;
    RankTable table(heard.World());
    if (later_first) table.Recover(kFirst, 20, {4, 9});
    table.Recover(kFirst, 30, {3, 7});
    if (!later_first) table.Recover(kFirst, 20, {4, 9});
    QCOMPARE(heard.killed, std::vector<std::int64_t>({30}));
    QCOMPARE(table.Find(kFirst)->pid, 20);
    QVERIFY(!table.Find(kFirst)->exit_expected);
    QVERIFY(!table.Remove(kFirst, 30));
  }

  void aProcessIsARankByItsPidOrItsGroup() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    QVERIFY(table.Is(kFirst, 10, 3));
    QVERIFY(table.Is(kFirst, 12, 10));  // started by a shell
    QVERIFY(!table.Is(kFirst, 12, 3));
    QVERIFY(!table.Is(kSecond, 10, 10));
  }

  void ranksArePausedTogether() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    QVERIFY(!table.AllPaused("nano", Devices()));
    table.Find(kFirst)->paused = RankTable::Pause{7, 3, ""};
    QVERIFY(!table.AllPaused("nano", Devices()));  // one is not there
    table.Add(kSecond, 11, {1, 1});
    table.Find(kSecond)->paused = RankTable::Pause{6, 3, "no data"};
    QVERIFY(!table.AllPaused("nano", Devices()));  // it will make step 7
    table.Find(kSecond)->paused->step = 7;
    const auto all = table.AllPaused("nano", Devices());
    QVERIFY(all && all->step == 7 && all->request == 3 && all->reason == "no data");
    table.NoteStep(*table.Find(kFirst), 0);
    QVERIFY(!table.AllPaused("nano", Devices()));
    QVERIFY(!table.AllPaused("other", Devices()));
    QVERIFY(!table.AllPaused("nano", {}));
  }

  void theUsualTimeIsTheMedianOfTheLastSteps() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    RankTable::Rank& rank = *table.Find(kFirst);
    for (std::size_t i = 1; i < RankTable::kBusySteps; ++i) table.NoteStep(rank, 2);
    table.NoteStep(rank, 0);  // unknown
    QCOMPARE(RankTable::UsualBusySeconds(rank), 0.0);
    table.NoteStep(rank, 9);
    QCOMPARE(RankTable::UsualBusySeconds(rank), 2.0);
    for (std::size_t i = 0; i < RankTable::kBusySteps; ++i) table.NoteStep(rank, 5);
    QCOMPARE(RankTable::UsualBusySeconds(rank), 5.0);
  }

  void onlyTheRanksOfAJobAreKilled() {
    Heard heard;
    RankTable table(heard.World());
    table.Add(kFirst, 10, {1, 1});
    table.Add({"other", kSecond.device}, 11, {1, 1});
    table.KillAll("nano");
    QCOMPARE(heard.killed, std::vector<std::int64_t>({10}));
    QCOMPARE(table.NumRunning("nano"), 0);
    QCOMPARE(table.NumRunning("other"), 1);
  }
};

TESSERA_TEST_APPLESS(RankTableTest)
#include "rank_table_test.moc"
