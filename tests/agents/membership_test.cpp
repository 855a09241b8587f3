// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/membership.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using engine::NodeState;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

wire::Register RegisterOf(std::int32_t node, std::int64_t incarnation = 1,
                          std::int64_t keeper = 10) {
  wire::Register message;
  message.set_node(node);
  message.set_incarnation(incarnation);
  message.set_keeper_pid(keeper);
  message.set_host("h" + std::to_string(node));
  message.set_address("127.0.0.1");
  message.set_machine("m");
  message.add_lanes("tcp://127.0.0.1:1");
  for (int index = 0; index < 2; ++index) {
    message.add_devices()->set_index(index);
    message.mutable_devices(index)->set_arena_path("/proc/10/fd/" + std::to_string(index));
  }
  return message;
}

wire::FromNode From(std::int32_t node, std::int64_t incarnation = 1) {
  wire::FromNode message;
  message.set_node(node);
  message.set_incarnation(incarnation);
  return message;
}

}  // namespace

class MembershipTest : public QObject {
  Q_OBJECT

 private slots:
  // Why an agent takes no part holds until it does, or says nothing any more.
  void aProblemHoldsWhileItIsRepeated() {
    Membership members(seconds(30));
    const auto at = [](int second) { return Membership::Clock::time_point(seconds(second)); };
    QVERIFY(members.NoteProblem(1, "damaged", at(0)));  // a node that has not registered yet
    QCOMPARE(members.Find(1)->problem, std::string("damaged"));
    QVERIFY(members.TakeChanged().contains(1));
    QVERIFY(!members.NoteProblem(1, "damaged", at(8)));
    members.Tick(at(16));
    QCOMPARE(members.Find(1)->problem, std::string("damaged"));
    QVERIFY(members.NoteProblem(1, "damaged otherwise", at(17)));
    members.Register("one", RegisterOf(1), at(18));
    QVERIFY(members.Find(1)->problem.empty());
    QVERIFY(members.NoteProblem(1, "damaged", at(19)));
    QVERIFY(members.Accept("one", From(1), at(19)) != nullptr);
    QVERIFY(members.Find(1)->problem.empty());
    QVERIFY(members.NoteProblem(1, "damaged", at(20)));
    members.TakeChanged();
    members.Tick(at(31));
    QVERIFY(members.Find(1)->problem.empty());
    QVERIFY(members.TakeChanged().contains(1));
  }

  // A node whose agent restarts may be in another rack, or name none any more.
  void theRackIsThatOfTheLastRegistration() {
    Membership members(seconds(10));
    wire::Register message = RegisterOf(1);
    message.set_rack("r3");
    members.Register("a", message, at(0));
    members.Register("b", RegisterOf(2), at(0));
    QCOMPARE(members.Find(1)->rack, std::string("r3"));
    QCOMPARE(members.Find(2)->rack, std::string());
    static_cast<void>(members.TakeChanged());
    members.Register("c", RegisterOf(1, 2), at(1));
    QCOMPARE(members.Find(1)->rack, std::string());
    QCOMPARE(members.TakeChanged(), std::set<std::int32_t>{1});
  }

  // What is published costs in proportion to what has changed.
  void onlyWhatIsShownCountsAsAChange() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    members.Register("b", RegisterOf(2), at(0));
    QCOMPARE(members.TakeChanged(), (std::set<std::int32_t>{1, 2}));
    wire::Heartbeat beat;
    *beat.mutable_devices() = RegisterOf(1).devices();
    Membership::Node& node = *members.Find(1);
    beat.mutable_devices(0)->set_end(5);  // a step
    members.NoteHeartbeat(node, beat, at(1));
    QVERIFY(!members.has_changed());
    beat.mutable_devices(0)->set_used(5);
    members.NoteHeartbeat(node, beat, at(2));
    members.NoteHeartbeat(node, beat, at(3));
    QCOMPARE(members.TakeChanged(), std::set<std::int32_t>{1});
    QVERIFY(members.Accept("a", From(1), at(3)));
    members.Tick(at(3) + milliseconds(1));
    QCOMPARE(members.TakeChanged(), std::set<std::int32_t>{2});  // suspect
    members.NoteHeartbeat(*members.Find(2), beat, at(4));
    QCOMPARE(members.TakeChanged(), std::set<std::int32_t>{2});
  }

  void aThousandNodesSendHeartbeatsLessOften() {
    Membership members(seconds(10));
    for (std::int32_t node = 0; node < 1024; ++node) {
      members.Register("a", RegisterOf(node), at(0));
    }
    QCOMPARE(members.beat(), seconds(1));
    QCOMPARE(members.suspect_after().count(), 3.0);
    members.Register("a", RegisterOf(1024), at(0));
    QCOMPARE(members.beat(), seconds(2));
    QCOMPARE(members.suspect_after().count(), 6.0);  // three missed ones
    Membership hasty(seconds(5));
    for (std::int32_t node = 0; node <= 1024; ++node) {
      hasty.Register("a", RegisterOf(node), at(0));
    }
    QCOMPARE(hasty.beat(), seconds(1));
  }

  void aNodeThatRegistersIsAPeerAgain() {
    Membership members(seconds(10));
    const std::int64_t before = members.peers_revision();
    members.Register("a", RegisterOf(1), at(0));
    QVERIFY(members.peers_revision() != before);
  }

  void aNodeMustRegisterFirst() {
    Membership members(seconds(10));
    QVERIFY(!members.Accept("a", From(1), at(0)));
    const auto arrival = members.Register("a", RegisterOf(1), at(0));
    QVERIFY(arrival.is_new && !arrival.restarted && !arrival.has_new_keeper && !arrival.was_away);
    Membership::Node* node = members.Accept("b", From(1), at(5));
    QVERIFY(node);
    QCOMPARE(node->identity, std::string("b"));  // of its newest connection
    QVERIFY(node->last_seen == at(5));
    QVERIFY(!members.Accept("b", From(1, 2), at(6)));  // another agent
    QVERIFY(!members.Accept("b", From(2), at(6)));
    QCOMPARE(members.peers().size(), 1);
    QCOMPARE(members.peers()[0].arena_paths().size(), 2);
  }

  void itSaysWhatIsNewOfANode() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    auto arrival = members.Register("b", RegisterOf(1), at(1));  // a new connection
    QVERIFY(!arrival.is_new && !arrival.restarted && !arrival.has_new_keeper);
    arrival = members.Register("b", RegisterOf(1, 2), at(2));
    QVERIFY(!arrival.is_new && arrival.restarted && !arrival.has_new_keeper);
    arrival = members.Register("b", RegisterOf(1, 3, 11), at(3));
    QVERIFY(arrival.restarted && arrival.has_new_keeper && !arrival.was_away);
    members.Tick(at(10));
    arrival = members.Register("b", RegisterOf(1, 3, 11), at(10));
    QVERIFY(arrival.was_away && !arrival.restarted);
    QVERIFY(members.Find(1)->state == NodeState::kAlive);
  }

  void silenceMakesANodeSuspectAndThenLost() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    members.Register("b", RegisterOf(2), at(0));
    QVERIFY(members.Tick(at(3)).empty());
    QVERIFY(members.Accept("b", From(2), at(3)));
    auto changes = members.Tick(at(4));
    QCOMPARE(changes.size(), std::size_t{1});
    QVERIFY(changes[0].node == 1 && changes[0].state == NodeState::kSuspect);
    QVERIFY(members.Tick(at(5)).empty());  // said once

    QVERIFY(members.Accept("a", From(1), at(5)));  // a message is enough
    changes = members.Tick(at(6));
    QVERIFY(changes.size() == 1 && changes[0].state == NodeState::kAlive);

    QVERIFY(members.Accept("b", From(2), at(16)));
    changes = members.Tick(at(16));
    QCOMPARE(changes.size(), std::size_t{2});  // the tick was late: suspect and lost at once
    QVERIFY(changes[1].node == 1 && changes[1].state == NodeState::kUnmanaged);
    QVERIFY(Membership::IsSilent(*members.Find(1)));
    QCOMPARE(members.SilentText(*members.Find(1)), std::string("n1 was silent for 10 s"));
    // It has missed things, so a message is no longer enough.
    QVERIFY(!members.Accept("a", From(1), at(17)));
    QVERIFY(members.Register("a", RegisterOf(1), at(17)).was_away);
    QVERIFY(members.Accept("a", From(1), at(18)));
  }

  void aKilledNodeIsDead() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    members.Find(1)->killed = true;
    const auto changes = members.Tick(at(11));
    QVERIFY(changes.back().state == NodeState::kDead);
    QVERIFY(Membership::IsSilent(*members.Find(1)));
    members.Register("a", RegisterOf(1, 2, 11), at(12));
    QVERIFY(!members.Find(1)->killed);
  }

  void aSilentNodeThatIsGivenUpIsDead() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    QVERIFY(members.Tick(at(11)).back().state == NodeState::kUnmanaged);
    members.Find(1)->killed = true;
    const auto changes = members.Tick(at(12));
    QCOMPARE(changes.size(), std::size_t{1});
    QVERIFY(changes[0].state == NodeState::kDead);
    QVERIFY(members.Tick(at(13)).empty());
  }

  // With a short time until a node is lost, a heartbeat that is late by a second means nothing.
  void oneLateHeartbeatMeansNothing() {
    Membership members(seconds(3));
    QVERIFY(members.suspect_after() == seconds(2));
    members.Register("a", RegisterOf(1), at(0));
    QVERIFY(members.Tick(at(0) + milliseconds(1900)).empty());
    QVERIFY(Membership(seconds(100)).suspect_after() == seconds(30));
  }

  void aNodeOfTheJournalCountsAsLostIfItNeverComes() {
    Membership members(seconds(10));
    members.Expect(1, at(0));
    members.Expect(2, at(0));
    QVERIFY(members.Find(1)->state == NodeState::kSuspect);
    QVERIFY(members.peers().empty());  // nothing is known of it
    QVERIFY(members.Register("b", RegisterOf(2), at(1)).is_new);
    members.Expect(2, at(2));  // changes nothing
    QVERIFY(members.Find(2)->state == NodeState::kAlive);
    QVERIFY(members.Accept("b", From(2), at(10)));
    QVERIFY(members.Tick(at(10)).empty());  // it is not alive just because little time has passed
    const auto changes = members.Tick(at(11));
    QVERIFY(changes.size() == 1 && changes[0].node == 1 &&
            changes[0].state == NodeState::kUnmanaged);
  }

  void heartbeatsReplaceWhatIsKnown() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    wire::Heartbeat heartbeat;
    heartbeat.add_devices()->set_index(1);
    heartbeat.mutable_devices(0)->set_job("nano");
    heartbeat.set_view_bytes(7);
    heartbeat.mutable_network()->set_corrupt(3);
    heartbeat.add_snapshots()->set_view(9);
    members.NoteHeartbeat(*members.Find(1), heartbeat, at(0));
    QVERIFY(!members.FindDevice({1, 0}));
    QCOMPARE(members.FindDevice({1, 1})->job(), std::string("nano"));  // not at its usual place
    QCOMPARE(members.Find(1)->view_bytes, 7);
    QCOMPARE(members.Find(1)->network.corrupt, std::int64_t{3});
    heartbeat.mutable_network()->set_corrupt(-1);  // no count: what is known stays
    members.NoteHeartbeat(*members.Find(1), heartbeat, at(0));
    QCOMPARE(members.Find(1)->network.corrupt, std::int64_t{3});
    QVERIFY(members.Find(1)->snapshots.contains(9));
    members.NoteHeartbeat(*members.Find(1), {}, at(0));
    QVERIFY(members.Find(1)->snapshots.empty() && !members.FindDevice({1, 1}));
  }

  void heartbeatsFromBeforeAnOrderDoNotAnswerIt() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    Membership::Node& node = *members.Find(1);
    node.awaited_order = 5;
    node.ordered = at(0);
    wire::Heartbeat heartbeat;
    heartbeat.set_order(4);
    members.NoteHeartbeat(node, heartbeat, at(1));
    QCOMPARE(node.awaited_order, 5U);
    heartbeat.set_order(5);
    members.NoteHeartbeat(node, heartbeat, at(2));
    QCOMPARE(node.awaited_order, 0U);
    // An order that is not acknowledged was lost.
    node.awaited_order = 6;
    members.NoteHeartbeat(node, heartbeat, at(5));
    QCOMPARE(node.awaited_order, 6U);
    members.NoteHeartbeat(node, heartbeat, at(6));
    QCOMPARE(node.awaited_order, 0U);
    // A node that registers says all that it holds, and may never have received the order.
    node.awaited_order = 6;
    members.Register("a", RegisterOf(1), at(1));
    QCOMPARE(members.Find(1)->awaited_order, 0U);
  }

  void devicesThatCannotBeUsedAreNamed() {
    Membership members(seconds(10));
    members.Register("a", RegisterOf(1), at(0));
    QVERIFY(members.CheckDevice({1, 1}, at(0)));
    for (const ptc::DeviceId id :
         {ptc::DeviceId{1, 2}, ptc::DeviceId{1, -1}, ptc::DeviceId{7, 0}}) {
      const Status missing = members.CheckDevice(id, at(0));
      QVERIFY(!missing && missing.error().code == ErrorCode::kNotFound);
      QCOMPARE(missing.error().message,
               "device " + ToString(id) + " does not exist: the cluster has 2 devices on 1 nodes");
    }
    // The journal names it, and this registrar has just started.
    members.Expect(2, at(0));
    const Status expected = members.CheckDevice({2, 0}, at(0));
    QVERIFY(!expected && expected.error().code == ErrorCode::kFailedPrecondition);
    QVERIFY2(expected.error().message.starts_with(
                 "device n2g0 cannot be used yet: n2 has not registered since"),
             expected.error().message.c_str());
    members.Register("b", RegisterOf(2), at(1));
    QVERIFY(members.CheckDevice({2, 0}, at(1)));
    QCOMPARE(members.CheckDevice({2, 9}, at(1)).error().code, ErrorCode::kNotFound);
    members.Tick(at(4));
    QCOMPARE(members.CheckDevice({1, 0}, at(4)).error().message,
             std::string("device n1g0 cannot be used: n1 is suspect, last seen 4 s ago"));
    wire::Heartbeat heartbeat;
    heartbeat.add_devices()->set_failed(true);
    members.NoteHeartbeat(*members.Find(1), heartbeat, at(4));
    QCOMPARE(members.CheckDevice({1, 0}, at(4)).error().message,
             std::string("device n1g0 cannot be used: it failed"));
  }

  void anotherMachineOrLinkHasAnotherMark() {
    wire::Register one = RegisterOf(1), other = RegisterOf(1, 2, 3);
    QCOMPARE(Membership::LinkMarkOf(one), Membership::LinkMarkOf(other));
    other.set_link_bytes_per_second(1000);
    QVERIFY(Membership::LinkMarkOf(one) != Membership::LinkMarkOf(other));
  }

  // The secret of plain lanes stays with the registrar. Others get tickets of one transfer.
  void peersOfATransferHaveTheTicketsOfPlainLanes() {
    Membership members(seconds(10));
    const LaneSecret secret = NewLaneSecret();
    wire::Register plain = RegisterOf(1);
    plain.clear_lanes();
    plain.add_lanes("tcp://10.0.0.1:1");
    plain.add_lanes("tcp://10.0.0.1:2");
    plain.set_lane_secret(ToBytes(secret));
    members.Register("a", plain, at(0));
    members.Register("b", RegisterOf(2), at(0));
    const LaneKey key{"job", 3, 3};
    const Peers peers = members.PeersFor(key);
    QCOMPARE(peers.size(), 2);
    QCOMPARE(peers[0].lane_tickets_size(), 2);
    for (int lane : {0, 1}) {
      QCOMPARE(peers[0].lane_tickets(lane),
               ToBytes(TicketOf(secret, key, static_cast<std::size_t>(lane))));
    }
    QCOMPARE(peers[1].lane_tickets_size(), 0);
    QCOMPARE(members.peers()[0].lane_tickets_size(), 0);
    for (const wire::Peer& peer : peers) {
      QVERIFY(peer.SerializeAsString().find(ToBytes(secret)) == std::string::npos);
    }
    plain.clear_lane_secret();  // it has been configured again
    members.Register("a", plain, at(1));
    QCOMPARE(members.PeersFor(key)[0].lane_tickets_size(), 0);
  }

 private:
  static Membership::Clock::time_point at(int second) {
    return Membership::Clock::time_point(seconds(1000 + second));
  }
};

TESSERA_TEST_APPLESS(MembershipTest)
#include "membership_test.moc"
