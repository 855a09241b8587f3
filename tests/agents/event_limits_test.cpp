// SPDX-License-Identifier: Apache-2.0
// What is printed and reported without end stays bounded: lines of ranks, events of nodes, rows of
// requests.
#include "agents/registrar/event_limits.h"

#include <QTest>
#include <string>
#include <vector>

#include "agents/node/output_events.h"
#include "agents/registrar/acts.h"
#include "agents/sim/memory_store.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

Status NothingIsSetAside(const std::string&, const std::string&, const Error& why) { return why; }

}  // namespace

class EventLimitsTest : public QObject {
  Q_OBJECT
 private slots:
  void linesOfRanksAboveTheBoundAreOnlyInLogs() {
    std::vector<std::string> events, logged;
    NodeWorld world;
    world.send = [&](const wire::FromNode& message) { events.push_back(message.event().text()); };
    world.log_line = [&](const std::string& line) { logged.push_back(line); };
    AgentConfig config;  // of the registrar's node, which logs what the registrar records
    const Uplink uplink(config, world);
    OutputEvents output(uplink, world);
    const auto begin = Allowance::Clock::time_point{} + 1h;
    for (int i = 0; i < 1000; ++i) output.Add("nano n0g0", "line " + std::to_string(i), begin);
    QCOMPARE(events.size(), std::size_t{200});
    QCOMPARE(events.back(), std::string("line 199"));
    QCOMPARE(logged.size(), std::size_t{800});
    QCOMPARE(logged.back(), std::string("info nano n0g0: line 999"));
    output.Add("nano n0g0", "later", begin + 1s);
    QCOMPARE(events.size(), std::size_t{202});
    QCOMPARE(events[200], std::string("800 lines of ranks are in `job logs` only"));
    QCOMPARE(events[201], std::string("later"));
  }

  void aNodeHasItsOwnBound() {
    EventLimits limits;
    const auto begin = Allowance::Clock::time_point{} + 1h;
    int passed = 0;
    for (int i = 0; i < 2000; ++i) passed += limits.Admit(1, begin) ? 1 : 0;
    QCOMPARE(passed, 500);
    QVERIFY(limits.Admit(2, begin) == std::optional<std::int64_t>(0));
    QVERIFY(limits.Admit(1, begin + 1s) == std::optional<std::int64_t>(1500));
    QVERIFY(limits.Admit(1, begin + 1s) == std::optional<std::int64_t>(0));
  }

  void rowsOfOldRequestsAreErased() {
    sim::MemoryStore journal;
    const auto begin = [&](Acts& acts, std::int64_t transaction) {
      return journal.Write(acts.RowsFor("request " + std::to_string(transaction), transaction));
    };
    for (int process = 0; process < 2; ++process) {
      Acts acts(journal);
      VERIFY_OK(acts.Recover(NothingIsSetAside));
      for (std::int64_t n = 1; n <= 700; ++n) VERIFY_OK(begin(acts, process * 700 + n));
      QCOMPARE(journal.rows.size(), Acts::kMost);
    }
    Acts acts(journal);
    VERIFY_OK(acts.Recover(NothingIsSetAside));
    QVERIFY(acts.Find("request 1400") == std::optional<std::int64_t>(1400));
    QVERIFY(acts.Find("request 901") == std::optional<std::int64_t>(901));
    QVERIFY(!acts.Find("request 900") && !acts.Find("") && !acts.Find("another"));
    QVERIFY(acts.RowsFor("", 7).empty());
  }

  // Rows of a program that did not erase any.
  void leftRowsAreErasedAtTheStart() {
    sim::MemoryStore journal;
    for (int n = 1; n <= 1000; ++n) {
      VERIFY_OK(journal.Put("act/" + std::to_string(n * 7919 % 1009), std::to_string(n)));
    }
    Acts acts(journal);
    VERIFY_OK(acts.Recover(NothingIsSetAside));
    QCOMPARE(journal.rows.size(), Acts::kMost);
    for (const auto& [key, value] : journal.rows) QVERIFY(std::stoi(value) > 500);
  }
};
TESSERA_TEST(EventLimitsTest)
#include "event_limits_test.moc"
