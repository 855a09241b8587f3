// SPDX-License-Identifier: Apache-2.0
#include "engine/recovery/consistent_cut.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera::engine;
using tessera::ptc::DeviceId;

namespace {

HeldState At(DeviceId device, std::int64_t step) {
  HeldState s;
  s.device = device;
  s.node = HeldState::Node::kThere;
  s.holds_state = true;
  s.begin = s.end = step;
  s.grads_step = step;
  s.decision.step = step;
  return s;
}

/// It has the gradients of the next step, but no decision about it.
HeldState Before(DeviceId device, std::int64_t step) {
  HeldState s = At(device, step);
  s.grads_step = step + 1;
  return s;
}

}  // namespace

class ConsistentCutTest : public QObject {
  Q_OBJECT

 private slots:
  void devicesAtOneStepAreTheCut() {
    const std::vector<HeldState> devices{Before({0, 0}, 7), At({0, 1}, 7)};
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 7);
    QVERIFY(cut.lost.empty() && cut.behind.empty() && cut.waits_for.empty());
  }

  void nothingIsKnownWhileANodeIsSilentOrARankLives() {
    std::vector<HeldState> devices{At({0, 0}, 7), At({1, 0}, 7)};
    devices[1].node = HeldState::Node::kSilent;
    QCOMPARE(FindConsistentCut(devices, true).waits_for, "n1 is not there");
    devices[1].node = HeldState::Node::kUnsettled;
    QCOMPARE(FindConsistentCut(devices, true).waits_for,
             "n1 still has to follow the outcome of a change");
    devices[1].node = HeldState::Node::kThere;
    devices[1].has_rank = true;
    QCOMPARE(FindConsistentCut(devices, true).waits_for, "the rank on n1g0 is still ending");
    // Nobody waits for the ranks of a node that is gone.
    devices[1].node = HeldState::Node::kGone;
    QVERIFY(FindConsistentCut(devices, true).waits_for.empty());
  }

  void aDeviceOneStepBehindFollowsWithTheDecisionOfAnother() {
    std::vector<HeldState> devices{At({0, 0}, 8), Before({0, 1}, 7)};
    devices[0].decision.clip = 42;
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 8);
    QCOMPARE(cut.behind, std::vector<DeviceId>({{0, 1}}));
    QCOMPARE(cut.decision->clip, 42U);
    QVERIFY(cut.lost.empty());
  }

  void aDecisionAloneMovesAllDevices() {
    std::vector<HeldState> devices{Before({0, 0}, 7), Before({0, 1}, 7)};
    devices[1].decision.step = 8;
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 8);
    QCOMPARE(cut.behind.size(), 2U);
    // Where devices cannot follow alone, none has to.
    const ConsistentCut stays = FindConsistentCut(devices, false);
    QCOMPARE(stays.step, 7);
    QVERIFY(stays.behind.empty() && stays.lost.empty());
  }

  void anUpdateThatNotAllCanMakeIsMadeByNone() {
    std::vector<HeldState> devices{Before({0, 0}, 7), Before({0, 1}, 7), At({1, 0}, 8)};
    devices[1].decision.step = 8;
    devices[1].grads_step = 0;  // overwritten by a change that was rolled back
    devices[2].node = HeldState::Node::kGone;
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 7);
    QVERIFY(cut.behind.empty() && cut.lost.size() == 1);
  }

  void aDecisionOnATornDeviceCounts() {
    std::vector<HeldState> devices{At({0, 0}, 7), Before({0, 1}, 7)};
    devices[0].begin = 8;
    devices[0].decision.step = 8;
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 8);
    QCOMPARE(cut.behind, std::vector<DeviceId>({{0, 1}}));
    QCOMPARE(cut.lost.size(), 1U);
    QCOMPARE(cut.lost[0].why, "n0g0 holds half of the update of step 8");
  }

  void aDeviceThatCannotFollowIsLost() {
    std::vector<HeldState> devices{At({0, 0}, 8), Before({0, 1}, 7)};
    QCOMPARE(FindConsistentCut(devices, false).lost[0].why,
             "n0g1 is after step 7, others after step 8");
    devices[1].grads_step = 7;  // without the gradients of step 8
    QCOMPARE(FindConsistentCut(devices, true).lost.size(), 1U);
    devices[1].end = devices[1].begin = 5;
    devices[1].grads_step = 8;
    QCOMPARE(FindConsistentCut(devices, true).lost.size(), 1U);
  }

  void lostNodesAndDevicesAreNamedOnce() {
    std::vector<HeldState> devices{At({0, 0}, 7), At({0, 1}, 7), At({1, 0}, 9), At({1, 1}, 9)};
    devices[1].failed = true;
    devices[2].node = devices[3].node = HeldState::Node::kGone;
    const ConsistentCut cut = FindConsistentCut(devices, true);
    QCOMPARE(cut.step, 7);  // the last reports of n1 prove nothing
    QCOMPARE(cut.lost.size(), 3U);
    QCOMPARE(ReasonOf(cut.lost), "n0g1 failed, n1 was lost");
    devices[0].holds_state = false;
    QCOMPARE(FindConsistentCut(devices, true).lost[0].why, "n0g0 no longer holds the state");
  }
};

TESSERA_TEST_APPLESS(ConsistentCutTest)
#include "consistent_cut_test.moc"
