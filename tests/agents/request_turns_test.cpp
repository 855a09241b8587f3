// SPDX-License-Identifier: Apache-2.0
// A key that asks for much keeps itself waiting, and nobody else.
#include "agents/registrar/request_turns.h"

#include <QTest>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agents/sim/memory_store.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

/// Requests, of which those under way hold their turns.
struct Desk {
  sim::MemoryStore journal;
  test::PartOffice around{journal};
  std::optional<RequestTurns> turns{std::in_place, around.common().timers};
  std::vector<std::string> begun;
  std::map<std::string, RequestTurns::Turn> under_way;

  Status Ask(const std::string& key, const std::string& request) {
    return turns->Take(key, [this, request](RequestTurns::Turn turn) {
      begun.push_back(request);
      under_way.emplace(request, std::move(turn));
    });
  }
  /// What is posted meanwhile runs.
  void Answer(const std::string& request) {
    under_way.erase(request);
    around.Pass(10ms);
  }
};

}  // namespace

class RequestTurnsTest : public QObject {
  Q_OBJECT
 private slots:
  void aFewOfAKeyAreUnderWayAndOthersFollowInOrder() {
    Desk desk;
    for (int i = 0; i < 6; ++i) VERIFY_OK(desk.Ask("lena", "l" + std::to_string(i)));
    QCOMPARE(desk.begun, (std::vector<std::string>{"l0", "l1", "l2", "l3"}));
    VERIFY_OK(desk.Ask("omar", "o0"));
    QCOMPARE(desk.begun.back(), std::string("o0"));
    desk.Answer("l2");
    QCOMPARE(desk.begun.back(), std::string("l4"));
    desk.Answer("o0");
    QCOMPARE(desk.begun.back(), std::string("l4"));
    desk.Answer("l4");
    QCOMPARE(desk.begun.back(), std::string("l5"));
    for (const char* request : {"l0", "l1", "l3", "l5"}) desk.Answer(request);
    for (int i = 6; i < 10; ++i) VERIFY_OK(desk.Ask("lena", "l" + std::to_string(i)));
    QCOMPARE(desk.begun.back(), std::string("l9"));
  }

  void noMoreThanALimitWait() {
    Desk desk;
    constexpr std::size_t kMost = RequestTurns::kAtOnce + RequestTurns::kMostWaiting;
    for (std::size_t i = 0; i < kMost; ++i) VERIFY_OK(desk.Ask("lena", std::to_string(i)));
    const Status refused = desk.Ask("lena", "one more");
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::kResourceExhausted);
    QCOMPARE(refused.error().message, std::string("200 requests of key 'lena' wait already"));
    VERIFY_OK(desk.Ask("omar", "o"));
    desk.Answer("0");
    VERIFY_OK(desk.Ask("lena", "again"));
  }

  // A request that is dropped without an answer ends its turn, and one may outlive all.
  void turnsEndWithTheirRequests() {
    Desk desk;
    for (int i = 0; i < 4; ++i) {
      VERIFY_OK(desk.turns->Take("lena", [](const RequestTurns::Turn&) {}));
    }
    desk.Answer("none");
    VERIFY_OK(desk.Ask("lena", "l0"));
    QCOMPARE(desk.begun.size(), std::size_t{1});
    desk.turns.reset();
    desk.Answer("l0");
  }
};
TESSERA_TEST(RequestTurnsTest)
#include "request_turns_test.moc"
