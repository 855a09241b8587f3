// SPDX-License-Identifier: Apache-2.0
#include "agents/node/rank_logs.h"

#include <QTest>
#include <string>

#include "tests/support/test_main.h"

using tessera::agents::RankLogs;

class RankLogsTest : public QObject {
  Q_OBJECT

 private slots:
  void linesAreFollowedByTheirNumbers() {
    RankLogs logs;
    for (int i = 0; i < 5; ++i) logs.Add("a", 1, "line " + std::to_string(i));
    logs.Add("a", 0, "of another device");
    const auto last = logs.From("a", 1, 0, 2);
    QVERIFY((last.lines == std::vector<std::string>{"line 3", "line 4"}));
    QCOMPARE(last.next, std::int64_t{5});
    QVERIFY(logs.From("a", 1, last.next, 100).lines.empty());
    logs.Add("a", 1, "line 5");
    QVERIFY((logs.From("a", 1, last.next, 100).lines == std::vector<std::string>{"line 5"}));
    QVERIFY(logs.From("b", 1, 0, 100).lines.empty());
    logs.Add("b", 1, "of another job");
    logs.Forget("b");
    QVERIFY(logs.From("b", 1, 0, 100).lines.empty());
    QCOMPARE(logs.From("a", 1, 0, 100).lines.size(), std::size_t{6});
    QCOMPARE(logs.From("b", 1, 7, 100).next, std::int64_t{0});
  }

  void theOldestLinesGo() {
    RankLogs logs;
    const auto most = static_cast<std::int64_t>(RankLogs::kMostLines);
    for (std::int64_t i = 0; i < most + 10; ++i) logs.Add("a", 0, std::to_string(i));
    const auto all = logs.From("a", 0, 0, 2 * most);
    QCOMPARE(all.lines.size(), RankLogs::kMostLines);
    QCOMPARE(all.lines.front(), std::string("10"));
    QCOMPARE(all.next, most + 10);
    // A caller that asks from a number of an agent before gets all of this one.
    QCOMPARE(logs.From("a", 0, most + 11, 2 * most).lines.size(), RankLogs::kMostLines);
  }

  void longLinesAndManyRanksAreBounded() {
    RankLogs logs;
    for (std::size_t i = 0; i < 2 * RankLogs::kMostBytes / RankLogs::kMostLineBytes; ++i) {
      logs.Add("a", 0, std::string(3 * RankLogs::kMostLineBytes, 'x'));
    }
    const auto all = logs.From("a", 0, 0, 100'000);
    QCOMPARE(all.lines.size(), RankLogs::kMostBytes / RankLogs::kMostLineBytes);
    QCOMPARE(all.lines.front().size(), RankLogs::kMostLineBytes);
    for (std::size_t i = 0; i < RankLogs::kMostRanks; ++i)
      logs.Add("b" + std::to_string(i), 0, "x");
    QVERIFY(logs.From("a", 0, 0, 1).lines.empty());
    QCOMPARE(logs.From("b0", 0, 0, 1).lines.size(), std::size_t{1});
  }
};
TESSERA_TEST(RankLogsTest)
#include "rank_logs_test.moc"
