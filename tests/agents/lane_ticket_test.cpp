// SPDX-License-Identifier: Apache-2.0
#include "agents/net/lane_ticket.h"

#include <QTest>
#include <set>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

class LaneTicketTest : public QObject {
  Q_OBJECT

 private slots:
  // The vectors of the reference implementation: key 00 01 … 0f, message 00 01 02 ….
  void itIsSipHash_data() {
    QTest::addColumn<int>("size");
    QTest::addColumn<QByteArray>("hash");
    QTest::newRow("empty") << 0 << QByteArray("a3817f04ba25a8e66df67214c7550293");
    QTest::newRow("one byte") << 1 << QByteArray("da87c1d86b99af44347659119b22fc45");
  }
  void itIsSipHash() {
    QFETCH(int, size);
    QFETCH(QByteArray, hash);
    LaneSecret secret;
    for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
    std::vector<std::byte> message;
    for (int i = 0; i < size; ++i) message.push_back(static_cast<std::byte>(i));
    const std::string got = ToBytes(SipHash128(secret, message));
    QCOMPARE(QByteArray(got.data(), 16).toHex(), hash);
  }

  void eachTransferAndLaneHasItsOwn() {
    const LaneSecret secret = NewLaneSecret();
    std::set<LaneTicket> tickets;
    for (const LaneKey& key : {LaneKey{"a", 1, 1}, LaneKey{"a", 1, 2}, LaneKey{"a", 2, 1},
                               LaneKey{"b", 1, 1}, LaneKey{"ab", 1, 1}, LaneKey{"", 1, 1}}) {
      for (const std::size_t lane : {0U, 1U, 2U}) {
        tickets.insert(TicketOf(secret, key, lane));
        tickets.insert(TicketOf(NewLaneSecret(), key, lane));
      }
    }
    QCOMPARE(tickets.size(), std::size_t{36});
    QVERIFY(TicketOf(secret, {"a", 1, 1}, 1) == TicketOf(secret, {"a", 1, 1}, 1));
  }

  void fieldsOfAnotherSizeAreNoTickets() {
    const LaneTicket ticket = NewLaneSecret();
    QVERIFY(*TicketFromBytes(ToBytes(ticket)) == ticket);
    for (const std::size_t size : {0U, 15U, 17U}) {
      const auto refused = TicketFromBytes(std::string(size, 'x'));
      QVERIFY(!refused);
      QCOMPARE(refused.error().code, ErrorCode::kInvalidArgument);
    }
    const std::vector<std::string> fields = {ToBytes(ticket), "short"};
    const auto tickets = TicketsFrom(fields);
    QVERIFY(IsEqual(tickets[0], ticket));
    QVERIFY(!IsEqual(tickets[1], ticket) && IsEqual(tickets[1], LaneTicket{}));
  }
};
TESSERA_TEST_APPLESS(LaneTicketTest)
#include "lane_ticket_test.moc"
