// SPDX-License-Identifier: Apache-2.0
// Which panel operates a cluster: takes, renewals, take-overs and ends.
#include "agents/registrar/operator_lease.h"

#include <QTest>
#include <map>
#include <memory>
#include <string>

#include "agents/registrar/clients.h"
#include "agents/sim/memory_store.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

using Act = wire::OperateRequest;
const KeyOwner kLena{"lena", Role::kOperator};
const KeyOwner kOmar{"omar", Role::kOperator};

struct Office {
  wire::Reply last;
  sim::MemoryStore journal;
  test::PartOffice around{journal,
                          [this](const std::string&, const wire::Reply& reply) { last = reply; }};
  OperatorLease lease{around.common()};

  wire::Reply Operate(const KeyOwner& owner, const std::string& panel, Act::Act act,
                      const std::string& identity = {}) {
    wire::OperateRequest request;
    request.set_panel(panel);
    request.set_act(act);
    const std::string at = identity.empty() ? "of " + panel : identity;
    const auto reply = std::make_shared<PendingReply>(
        "", owner.name + ": tessera",
        [this](const std::string&, const wire::Reply& out) { last = out; });
    reply->Join(at, 1);
    lease.OnOperate(at, owner, request, reply);
    return last;
  }
  bool Takes(const KeyOwner& owner, const std::string& panel, Act::Act act = Act::TAKE) {
    return Operate(owner, panel, act).operate().granted();
  }
  /// Seconds pass as for a registrar.
  void Pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      around.Pass(1s);
      lease.OnTick();
    }
  }
  std::string Holder() const { return lease.current() ? lease.current()->who : ""; }
};

}  // namespace

class OperatorLeaseTest : public QObject {
  Q_OBJECT

 private slots:
  void onePanelAtATime() {
    Office office;
    QVERIFY(office.Takes(kLena, "a"));
    QCOMPARE(office.Holder(), std::string("lena: tessera"));
    const wire::Reply refused = office.Operate(kOmar, "b", Act::TAKE);
    QVERIFY(!refused.operate().granted());
    QCOMPARE(refused.operate().lease().who(), std::string("lena: tessera"));
    QVERIFY(office.Takes(kLena, "a"));  // renews
    QVERIFY(office.Takes(kOmar, "b", Act::TAKE_OVER));
    QCOMPARE(office.Holder(), std::string("omar: tessera"));
    QVERIFY(!office.Takes(kLena, "a"));  // learns of it
    QCOMPARE(office.around.events().back().text,
             std::string("omar: tessera operates the cluster instead of lena: tessera"));
  }

  // The name of a panel is seen by all, so it alone gives no right.
  void anotherKeyWithTheSamePanelIsAnotherPanel() {
    Office office;
    QVERIFY(office.Takes(kLena, "a"));
    QVERIFY(!office.Takes(kOmar, "a"));
    office.Operate(kOmar, "a", Act::RELEASE);
    QCOMPARE(office.Holder(), std::string("lena: tessera"));
  }

  void itEndsWithItsPanel() {
    Office office;
    QVERIFY(office.Takes(kLena, "a"));
    office.Operate(kLena, "a", Act::RELEASE);
    QVERIFY(!office.lease.current());
    QVERIFY(office.Takes(kOmar, "b"));
    for (int i = 0; i < 10; ++i) {
      office.Pass(5);
      QVERIFY(office.Takes(kOmar, "b"));
    }
    QVERIFY(office.lease.current());
    office.Pass(15);
    QVERIFY(office.lease.current());
    office.Pass(1);
    QVERIFY(!office.lease.current());
    QVERIFY(office.Takes(kLena, "a"));
  }

  void renewalsAreNoEvents() {
    Office office;
    for (int i = 0; i < 5; ++i) QVERIFY(office.Takes(kLena, "a"));
    QCOMPARE(office.around.num_events(), std::size_t{1});
  }

  void aPanelNeedsAName() {
    Office office;
    for (const std::string& name : {std::string(), std::string(65, 'x')}) {
      const wire::Reply reply = office.Operate(kLena, name, Act::TAKE);
      QCOMPARE(reply.error().message(), "the name of a panel has " + std::to_string(name.size()) +
                                            " characters: 1 to 64 are allowed");
    }
    QVERIFY(!office.lease.current());
    QVERIFY(office.Takes(kLena, std::string(64, 'x')));
  }

  // Others act all the same, and learn whose panel operates.
  void othersAreTold() {
    Office office;
    Clients clients(office.around.common(), office.lease);
    const auto told = [&](const std::string& identity, const wire::Request& request) {
      const ReplyPtr reply = clients.Admit(identity, kOmar, request);
      reply->Done({});
      return office.last.operated_by();
    };
    wire::Request act, look, plan;
    act.mutable_apply();
    look.mutable_status();
    plan.mutable_plan();
    QCOMPARE(told("x", act), std::string());
    QVERIFY(office.Takes(kLena, "a"));
    QCOMPARE(told("x", act), std::string("lena: tessera"));
    QCOMPARE(told("x", plan), std::string("lena: tessera"));
    QCOMPARE(told("x", look), std::string());
    QCOMPARE(told("of a", act), std::string());
    office.Operate(kLena, "a", Act::TAKE, "after a reconnect");
    QCOMPARE(told("after a reconnect", act), std::string());
  }
};

TESSERA_TEST(OperatorLeaseTest)
#include "operator_lease_test.moc"
