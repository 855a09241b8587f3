// SPDX-License-Identifier: Apache-2.0
// What `apply`, `status` and `txn show` call the phases of a change.
#include "app/commands/phase_text.h"

#include <QTest>

#include "app/commands/placement.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::app;

class PhaseTextTest : public QObject {
  Q_OBJECT
 private slots:
  void aCopyMeanwhileIsAPhaseOfItsOwn() {
    engine::TxnStatus txn;
    txn.phase = engine::TxnPhase::kPrecopying;
    txn.reason = "the state is copied after step 999";
    QCOMPARE(phaseText(txn, 0.35), std::string("prepared"));
    txn.reason.clear();
    QCOMPARE(phaseText(txn), std::string("copying while training"));
    QCOMPARE(phaseText(txn, 0.35), std::string("copying while training, at 350.0 ms a step"));
    txn.leg = 2;
    txn.legs = 3;
    QCOMPARE(phaseText(txn, 0.35),
             std::string("copying while training, step 2 of 3, at 350.0 ms a step"));
  }

  void roundsAreCounted() {
    engine::TxnStatus txn;
    txn.phase = engine::TxnPhase::kTransferring;
    QCOMPARE(phaseText(txn, 0.35), std::string("transferring"));
    txn.round = 3;
    txn.rounds = 22;
    QCOMPARE(phaseText(txn, 0.35), std::string("round 3 of 22"));
  }

  void whyAllMovesInThePauseIsASentence() {
    engine::PlanSummary plan;
    plan.overlap.why = "The job is paused already.";
    const std::string text = describePlan(plan);
    QVERIFY2(text.find("\n  moves    all in the pause. The job is paused already.\n") !=
                 std::string::npos,
             text.c_str());
  }

  // What only one device holds is a line of bytes above; the number of its shards explains nothing.
  void thePauseLineHasNoCountOfShards() {
    engine::PlanSummary plan;
    plan.pause_estimate = 0.033;
    plan.single_source = 246;
    const std::string text = describePlan(plan);
    QVERIFY2(text.find("\n  pause    33.0 ms (estimate); rollback: ") != std::string::npos,
             text.c_str());
    QVERIFY2(text.find("246") == std::string::npos, text.c_str());
  }

  void theStepTimeIsThatOfTheJob() {
    engine::ClusterSnapshot snapshot;
    snapshot.jobs.resize(2);
    snapshot.jobs[0].name = "a";
    snapshot.jobs[1].name = "b";
    snapshot.jobs[1].step_seconds = 0.5;
    QVERIFY(!stepSecondsOf(snapshot, "a"));
    QCOMPARE(stepSecondsOf(snapshot, "b"), std::optional(0.5));
    QVERIFY(!stepSecondsOf(snapshot, "c"));
  }
};

TESSERA_TEST_APPLESS(PhaseTextTest)
#include "phase_text_test.moc"
