// SPDX-License-Identifier: Apache-2.0
// What a peer with a key may cost: messages that are read of it, and bytes that wait for it.
#include "agents/registrar/message_limits.h"

#include <QTest>

#include "agents/net/outstanding.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using std::chrono::milliseconds;

class MessageLimitsTest : public QObject {
  Q_OBJECT

 private slots:
  void aKeyHasItsOwnLimit() {
    const KeyOwner laptop{"laptop", Role::kViewer}, other{"other", Role::kOperator};
    MessageLimits limits;
    const auto admitted = [&](const KeyOwner& owner, milliseconds when) {
      int count = 0;
      while (limits.Admit(&owner, at(100) + when)) ++count;
      return count;
    };
    QCOMPARE(admitted(laptop, milliseconds(0)), 1000);
    QCOMPARE(admitted(laptop, milliseconds(0)), 0);
    QCOMPARE(admitted(laptop, milliseconds(500)), 100);
    QCOMPARE(admitted(other, milliseconds(500)), 1000);
    QCOMPARE(admitted(laptop, milliseconds(3'600'000)), 1000);  // not more than at first
  }

  void nodesMaySendMoreAndRevokedKeysLittle() {
    const KeyOwner node{"n1", Role::kNode, 1};
    MessageLimits limits;
    int of_node = 0, of_revoked = 0;
    while (limits.Admit(&node, at(100))) ++of_node;
    while (limits.Admit(nullptr, at(100))) ++of_revoked;
    QCOMPARE(of_node, 200'000);
    QCOMPARE(of_revoked, 100);
  }

  void onlySomeRefusalsAreSaid() {
    const KeyOwner laptop{"laptop", Role::kViewer};
    MessageLimits limits;
    int count = 0;
    for (int i = 0; i < 10'000; ++i) {
      count += limits.MayAnswer(laptop, at(100) + milliseconds(i)) ? 1 : 0;
    }
    QCOMPARE(count, 54);  // five at once, then five a second
  }

  void bytesThatWaitAreBounded() {
    Outstanding waiting(1000);
    const auto owner = std::make_shared<int>(1);
    auto first = waiting.Add("a", 5000, owner);  // nothing waits yet
    QVERIFY(first);
    QVERIFY(!waiting.Add("a", 1, owner));
    QVERIFY(waiting.Add("b", 600, owner));  // of another peer, and released at once
    auto second = waiting.Add("b", 600, owner);
    QVERIFY(second);
    QVERIFY(!waiting.Add("b", 600, owner));
    QCOMPARE(waiting.waiting_for("b"), std::int64_t{600});
    first.reset();
    QCOMPARE(waiting.waiting_for("a"), std::int64_t{0});
    QVERIFY(waiting.Add("a", 1, owner));
    QCOMPARE(owner.use_count(), 2L);  // and that of the bytes which wait
  }

  void peersThatAreGoneAreForgotten() {
    Outstanding waiting(1000);
    for (int i = 0; i < 20'000; ++i) {
      QVERIFY(waiting.Add(std::to_string(i), 10, nullptr));
    }
    QVERIFY(waiting.num_peers() <= 4096);
  }

 private:
  static MessageLimits::Clock::time_point at(int second) {
    return MessageLimits::Clock::time_point(std::chrono::seconds(second));
  }
};

TESSERA_TEST(MessageLimitsTest)
#include "message_limits_test.moc"
