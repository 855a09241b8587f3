// SPDX-License-Identifier: Apache-2.0
#include "ui/models/txn_view.h"

#include <QAction>
#include <QApplication>
#include <QMessageBox>
#include <QPushButton>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/widget_checks.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/models/change_view.h"
#include "ui/pages/history_page.h"
#include "ui/pages/progress_panel.h"
#include "ui/sentences.h"

using namespace tessera;
using engine::TxnPhase;
using ui::TxnView;

namespace {
constexpr int kNumPhases = static_cast<int>(TxnPhase::kInDoubt) + 1;

TxnPhase phaseAt(int index) { return static_cast<TxnPhase>(index); }

QByteArray nameOf(TxnPhase phase) {
  const std::string_view name = engine::ToString(phase);
  return QByteArray(name.data(), static_cast<qsizetype>(name.size()));
}
}  // namespace

class TxnViewTest : public QObject {
  Q_OBJECT

 private slots:
  void everyPhaseIsSaid_data() {
    QTest::addColumn<int>("phase");
    QTest::addColumn<int>("step");
    QTest::addColumn<bool>("active");
    QTest::addColumn<bool>("ended");
    QTest::addColumn<QString>("sentence");  // begins with
    const QString cost =
        QStringLiteral("Until the commit the old layout is intact. Cancelling costs only time.");
    const auto row = [](TxnPhase phase, int step, bool active, bool ended, const QString& text) {
      QTest::newRow(nameOf(phase)) << static_cast<int>(phase) << step << active << ended << text;
    };
    row(TxnPhase::kPlanned, TxnView::kPrepare, true, false,
        QStringLiteral("The cluster has accepted the plan. ") + cost);
    row(TxnPhase::kPreparing, TxnView::kPrepare, true, false,
        QStringLiteral("4 GPUs are starting. Training continues. ") + cost);
    row(TxnPhase::kPrecopying, TxnView::kCopy, true, false,
        QStringLiteral("The state is copied while the job trains, at 0.35 s a step. ") + cost);
    row(TxnPhase::kPausing, TxnView::kPause, true, false,
        QStringLiteral("Waiting for step 1,285 to end. ") + cost);
    row(TxnPhase::kTransferring, TxnView::kTransfer, true, false, cost);
    row(TxnPhase::kVerifying, TxnView::kVerify, true, false,
        QStringLiteral("Comparing checksums: 24 equal so far. ") + cost);
    row(TxnPhase::kCommitting, TxnView::kCommit, true, false,
        QStringLiteral("Switching to the new layout."));
    row(TxnPhase::kResuming, TxnView::kResume, true, false,
        QStringLiteral("The change is committed"));
    row(TxnPhase::kDone, TxnView::kNumSteps, false, true,
        QStringLiteral("Training resumed after step 1,280. Moved"));
    row(TxnPhase::kRollingBack, TxnView::kTransfer, false, false,
        QStringLiteral("The old layout is intact."));
    row(TxnPhase::kRolledBack, TxnView::kTransfer, false, true,
        QStringLiteral("gpt-mini keeps its old layout, 2 × 2 × 1. Reason: n1 was lost."));
    row(TxnPhase::kFailed, TxnView::kTransfer, false, true, QStringLiteral("Reason: n1 was lost."));
    row(TxnPhase::kNeedsDecision, TxnView::kTransfer, false, false,
        QStringLiteral("The change is waiting."));
    row(TxnPhase::kInDoubt, TxnView::kTransfer, false, false,
        QStringLiteral("Both layouts are kept"));
  }
  void everyPhaseIsSaid() {
    QFETCH(int, phase);
    QFETCH(int, step);
    QFETCH(bool, active);
    QFETCH(bool, ended);
    QFETCH(QString, sentence);
    auto cluster = test::PanelMove(phaseAt(phase), {62, 58, 64, 41});
    auto& txn = *cluster.transaction;
    if (step == TxnView::kTransfer && phaseAt(phase) != TxnPhase::kTransferring)
      txn.reason = "n1 was lost";
    txn.step = 1280;
    cluster.jobs.front().state = engine::JobState::kRunning;
    ui::TxnMemory memory;
    memory.reachedStep = TxnView::kTransfer;
    memory.bytesDone = txn.bytes_done;
    const TxnView view = ui::viewOf(txn, &cluster.jobs.front(), memory);
    QCOMPARE(view.step, step);
    QCOMPARE(view.active, active);
    QCOMPARE(view.ended, ended);
    QVERIFY(!view.headline.isEmpty());
    QVERIFY2(view.sentence.startsWith(sentence), qPrintable(view.sentence));
  }
  void noPhaseIsLeftOut() {
    // Every value up to the last one has a name, so the rows above are all there are.
    QCOMPARE(kNumPhases, 14);
    for (int i = 0; i < kNumPhases; ++i) QVERIFY(!nameOf(phaseAt(i)).isEmpty());
  }

  // What can be done in each phase, and what cannot, with a reason.
  void everyPhaseAllowsWhatItShould_data() {
    QTest::addColumn<int>("phase");
    QTest::addColumn<bool>("running");    // no draft can be edited
    QTest::addColumn<bool>("cancel");     // and its rate limited, and a closing window asks
    QTest::addColumn<QString>("reason");  // why it cannot be cancelled
    const auto row = [](TxnPhase phase, bool running, bool cancel, const char* reason) {
      QTest::newRow(nameOf(phase))
          << static_cast<int>(phase) << running << cancel << QString::fromLatin1(reason);
    };
    const char* committed = "The change is already committed.";
    const char* none = "No change is in progress.";
    row(TxnPhase::kPlanned, true, true, "");
    row(TxnPhase::kPreparing, true, true, "");
    row(TxnPhase::kPrecopying, true, true, "");
    row(TxnPhase::kPausing, true, true, "");
    row(TxnPhase::kTransferring, true, true, "");
    row(TxnPhase::kVerifying, true, true, "");
    row(TxnPhase::kCommitting, true, false, committed);
    row(TxnPhase::kResuming, true, false, committed);
    row(TxnPhase::kDone, false, false, none);
    row(TxnPhase::kRollingBack, true, false, "The change is already being rolled back.");
    row(TxnPhase::kRolledBack, false, false, none);
    row(TxnPhase::kFailed, false, false, none);
    row(TxnPhase::kNeedsDecision, true, false, "The change waits for a decision.");
    row(TxnPhase::kInDoubt, true, false, "The outcome of the change is not known yet.");
  }
  void everyPhaseAllowsWhatItShould() {
    QFETCH(int, phase);
    QFETCH(bool, running);
    QFETCH(bool, cancel);
    QFETCH(QString, reason);
    test::Panel panel({.operate = true}, test::PanelMove(TxnPhase::kPlanned, {0, 0, 0, 0}));
    panel.setSnapshot(test::PanelMove(phaseAt(phase), {62, 58, 64, 41}));
    ui::MainWindow& window = *panel.window;
    window.actions()->refresh();
    test::settle();
    const ui::ProgressPanel* progress = window.progressPanel();
    const auto action = [&](const char* id) {
      return window.actions()->find(QString::fromLatin1(id));
    };
    QVERIFY(progress->isVisible());
    QVERIFY(!progress->headline().isEmpty() && !progress->sentence().isEmpty());

    QCOMPARE(window.meshView()->isReadOnly(), running);
    QVERIFY(!action("plan.apply")->isEnabled());
    QVERIFY(!action("plan.apply")->toolTip().isEmpty());
    QCOMPARE(action("plan.cancelMove")->isEnabled(), cancel);
    QCOMPARE(action("plan.throttle")->isEnabled(), cancel);
    QCOMPARE(progress->cancelButton()->isVisible() && progress->cancelButton()->isEnabled(),
             cancel);
    if (!cancel) {
      QVERIFY2(action("plan.cancelMove")->toolTip().contains(reason),
               qPrintable(action("plan.cancelMove")->toolTip()));
      QVERIFY(action("plan.throttle")->toolTip().contains(reason));
    }
    // An outcome is followed by the next change, and by its report.
    QCOMPARE(progress->followButton()->isVisible(), !running);
    if (!running) {
      const bool committed = phaseAt(phase) == TxnPhase::kDone;
      QCOMPARE(progress->followButton()->text(),
               committed ? QStringLiteral("Plan an undo…") : QStringLiteral("Plan again…"));
    }
    QCOMPARE(panel.commands.mutations(), 0);

    window.close();
    QCOMPARE(window.isVisible(), cancel);
    QCOMPARE(window.findChild<QMessageBox*>() != nullptr, cancel);
  }

  // Every phase of every kind of change, with its job in every state: what is said is true and is
  // for people.
  void everyStateIsSaidInPlainWords() {
    for (int kind = 0; kind <= static_cast<int>(engine::ChangeKind::kBegin); ++kind)
      for (int phase = 0; phase < kNumPhases; ++phase)
        for (int state = 0; state <= static_cast<int>(engine::JobState::kUnknown); ++state)
          for (const bool rests : {false, true}) {
            auto cluster = test::PanelMove(phaseAt(phase), {62, 58, 64, 41});
            engine::TxnStatus& txn = *cluster.transaction;
            engine::JobStatus& job = cluster.jobs.front();
            txn.kind = static_cast<engine::ChangeKind>(kind);
            txn.rests = rests;
            txn.step = 1280;
            txn.reason = "a joining node was lost: n1 was silent for 3 s";
            job.state = static_cast<engine::JobState>(state);
            if (txn.kind != engine::ChangeKind::kReconfigure) txn.to_mesh = txn.from_mesh;
            const TxnView view = ui::viewOf(txn, &job, {});
            const QString text = view.headline + QStringLiteral(". ") + view.sentence;
            const QString wrong = test::wrongWords(text);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong + QStringLiteral(": ") + text));
            QVERIFY2(!text.contains(u'_'), qPrintable(text));
            const bool trains = !rests && (job.state == engine::JobState::kRunning ||
                                           job.state == engine::JobState::kReconfiguring);
            if (!trains) {
              QVERIFY2(!text.contains(QStringLiteral("Training continues")), qPrintable(text));
            }
            if (txn.kind != engine::ChangeKind::kReconfigure) {
              QVERIFY2(!text.contains(QStringLiteral("econfigur")), qPrintable(text));
              QVERIFY2(!text.contains(QStringLiteral("old layout")), qPrintable(text));
            }
          }
  }

  // The same for all that the window shows meanwhile.
  void noWidgetShowsNamesOfTheProgram() {
    test::Panel panel;
    engine::HistoryEntry entry = test::PanelHistory().front();
    panel.commands.entries.clear();
    for (const char* result : {"committed", "rolled_back", "failed", "unknown"}) {
      entry.result = result;
      entry.kind = static_cast<engine::ChangeKind>(entry.id % 5);
      ++entry.id;
      entry.requester = "operator: tessera, lena@lab3";
      panel.commands.entries.push_back(entry);
    }
    auto* history = panel.window->findChild<ui::HistoryPage*>();
    test::settle();
    history->reload();
    QTRY_COMPARE(history->model()->rowCount(), 4);
    for (int row = 0; row < 4; ++row)
      for (int column = 0; column < history->model()->columnCount(); ++column)
        for (const int role :
             {static_cast<int>(Qt::DisplayRole), static_cast<int>(Qt::ToolTipRole)}) {
          const QString text = history->model()->index(row, column).data(role).toString();
          QVERIFY2(test::wrongWords(text).isEmpty(), qPrintable(text));
        }
    for (int phase = 0; phase < kNumPhases; ++phase)
      for (int state = 0; state <= static_cast<int>(engine::JobState::kUnknown); ++state) {
        auto cluster = test::PanelMove(phaseAt(phase), {62, 58, 64, 41});
        cluster.transaction->kind = static_cast<engine::ChangeKind>((phase + state) % 5);
        cluster.transaction->rests = state % 2 == 1;
        cluster.jobs.front().state = static_cast<engine::JobState>(state);
        cluster.jobs.front().reason = "n1 was lost";
        cluster.lease = engine::OperatorLease{"other", "operator: tessera, lena@lab3", 1.6e9};
        panel.setSnapshot(cluster);
        for (const QString& text : test::textsOf(*panel.window)) {
          const QString wrong = test::wrongWords(text);
          QVERIFY2(wrong.isEmpty(), qPrintable(wrong + QStringLiteral(": ") + text));
        }
      }
  }

  void theStepOfTheOutcomeStays() {
    auto cluster = test::PanelGrown();
    cluster.transaction->step = 1280;
    cluster.jobs.front().state = engine::JobState::kRunning;
    const auto sentence = [&](std::int64_t step) {
      cluster.jobs.front().step = step;
      return ui::viewOf(*cluster.transaction, &cluster.jobs.front(), {}).sentence;
    };
    QCOMPARE(sentence(1281), sentence(1300));
    QVERIFY(sentence(1281).contains(QStringLiteral("after step 1,280")));
  }

  void aMeshThatStaysIsNoArrow() {
    auto txn = *test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}).transaction;
    txn.to_mesh = txn.from_mesh;
    txn.to_options = {true, 4};
    const QString options = ui::viewOf(txn, nullptr, {}).headline;
    QVERIFY2(options.endsWith(QStringLiteral("2 × 2 × 1, ZeRO on, micro-batch 4")),
             qPrintable(options));
    txn.to_options = txn.from_options;
    const QString devices = ui::viewOf(txn, nullptr, {}).headline;
    QVERIFY2(devices.endsWith(QStringLiteral("2 × 2 × 1 on other GPUs")), qPrintable(devices));
  }

  // A loaded checkpoint, and the loss of GPUs, cannot be undone by another mesh.
  void onlyAnotherMeshIsUndone() {
    for (int kind = 0; kind <= static_cast<int>(engine::ChangeKind::kBegin); ++kind) {
      test::Panel panel({.operate = true}, test::PanelMove(TxnPhase::kPlanned, {0, 0, 0, 0}));
      auto grown = test::PanelGrown();
      grown.transaction->kind = static_cast<engine::ChangeKind>(kind);
      panel.setSnapshot(grown);
      const bool canUndo = grown.transaction->kind == engine::ChangeKind::kReconfigure;
      QCOMPARE(panel.window->progressPanel()->followButton()->isVisible(), canUndo);
      engine::HistoryEntry entry = test::PanelHistory().front();
      entry.kind = grown.transaction->kind;
      QCOMPARE(ui::undoBlockedReason(entry).isEmpty(), canUndo);
      QVERIFY(ui::changeText(entry).contains(QStringLiteral("→")) ==
              (canUndo || entry.kind == engine::ChangeKind::kRecover));
    }
  }

  void sentencesBeginWithACapitalUnlessWithAName() {
    QCOMPARE(ui::capitalized(QStringLiteral("opening data: n1")),
             QStringLiteral("Opening data: n1"));
    for (const char* text :
         {"dp=2,tp=2 stays", "tp stays at 2", "n1 37.5 %", "gpt-mini waits", "", "Opening data"})
      QCOMPARE(ui::capitalized(QString::fromLatin1(text)), QString::fromLatin1(text));
  }

  void whatNewRanksReadIsSaid() {
    auto txn = *test::PanelMove(TxnPhase::kPreparing, {0, 0, 0, 0}).transaction;
    txn.reason = "opening data: n1 37.5 % of 8.4 GiB";
    const QString sentence = ui::viewOf(txn, nullptr, {}).sentence;
    QVERIFY2(sentence.startsWith(QStringLiteral(
                 "4 GPUs are starting. Training continues. Opening data: n1 37.5 % of "
                 "8.4 GiB. Until the commit ")),
             qPrintable(sentence));
  }

  void aMoveInRoundsSaysWhichAndThatItIsDecided() {
    auto txn = *test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}).transaction;
    txn.round = 2;
    txn.rounds = 5;
    txn.can_cancel = false;
    QCOMPARE(ui::viewOf(txn, nullptr, {}).sentence,
             QStringLiteral("Round 2 of 5. The change is decided and can no longer be cancelled."));
  }

  void whenTheCopyBeginsIsSaid() {
    auto txn = *test::PanelMove(TxnPhase::kPrecopying, {0, 0, 0, 0}).transaction;
    txn.reason = "the state is copied after step 400";
    const ui::TxnView waiting = ui::viewOf(txn, nullptr, {});
    QVERIFY2(waiting.sentence.startsWith(
                 QStringLiteral("The cluster is prepared. Training continues. The state is copied "
                                "after step 400. Until the commit ")),
             qPrintable(waiting.sentence));
    QVERIFY(waiting.numbers.isEmpty());
    txn.reason.clear();
    const QString copying = ui::viewOf(txn, nullptr, {}).sentence;
    QVERIFY2(copying.startsWith(QStringLiteral("The state is copied while the job trains. ")),
             qPrintable(copying));
    txn.leg = 2;
    txn.legs = 3;
    const QString following = ui::viewOf(txn, nullptr, {}).numbers;
    QVERIFY2(following.startsWith(QStringLiteral("step 2 of 3 · ")), qPrintable(following));
  }

  void theFirstGuessOfTheTimeLeftIsHidden() {
    auto txn = *test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}).transaction;
    ui::TxnMemory memory;
    memory.bytesDone = txn.bytes_done;
    memory.transferAge = 0.5;
    QVERIFY(!ui::viewOf(txn, nullptr, memory).numbers.contains(QStringLiteral("left")));
    memory.transferAge = 2.0;
    QVERIFY(ui::viewOf(txn, nullptr, memory).numbers.contains(QStringLiteral("0.20 s left")));
  }

  void bytesNeverDecreaseAndTheWholeIsKeptForTheCommit() {
    test::Panel panel({.operate = true}, test::PanelMove(TxnPhase::kPreparing, {0, 0, 0, 0}));
    auto* progress = panel.window->progressPanel();
    double last = 0;
    for (const std::vector<int>& done : {std::vector<int>{10, 10, 10, 10},
                                         {60, 60, 60, 60},
                                         {30, 30, 30, 30},
                                         {100, 100, 100, 100}}) {
      panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, done));
      QVERIFY(*progress->overall() >= last);
      last = *progress->overall();
    }
    QCOMPARE(last, 0.99);
    QVERIFY(panel.window->windowTitle().startsWith(QStringLiteral("[99 %]")));
    panel.setSnapshot(test::PanelMove(TxnPhase::kCommitting, {100, 100, 100, 100}));
    QCOMPARE(*progress->overall(), 0.99);
    panel.setSnapshot(test::PanelGrown());
    QCOMPARE(*progress->overall(), 1.0);
    QVERIFY(!panel.window->windowTitle().contains(QLatin1Char('%')));
  }

  // Two cards would leave no room for the timeline, and the newer one matters.
  void aDecisionTakesThePlaceOfACommittedChange() {
    test::Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 2, 3, 4}));
    auto* progress = panel.window->progressPanel();
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(progress->isVisible());
    auto lost = test::PanelLost();
    lost.transaction = test::PanelGrown().transaction;
    panel.setSnapshot(lost);
    QVERIFY(!progress->isVisible());
  }

  void cancelIsThereOnlyBeforeTheCommit() {
    test::Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 2, 3, 4}));
    auto* progress = panel.window->progressPanel();
    QVERIFY(progress->cancelButton()->isVisible());
    progress->cancelButton()->click();
    QCOMPARE(panel.commands.cancelled, (std::vector<std::int64_t>{4}));
    panel.setSnapshot(test::PanelMove(TxnPhase::kRollingBack, {1, 2, 3, 4}));
    test::settle();
    auto back = test::PanelCluster();
    back.transaction = test::PanelMove(TxnPhase::kRolledBack, {1, 2, 3, 4}).transaction;
    back.transaction->can_cancel = false;
    panel.setSnapshot(back);
    QVERIFY(progress->headline().startsWith(QStringLiteral("Rolled back in ")));
    QVERIFY(!progress->cancelButton()->isVisible());
    QVERIFY(progress->followButton()->isVisible());

    panel.setSnapshot(test::PanelMove(TxnPhase::kCommitting, {100, 100, 100, 100}));
    QVERIFY(!progress->cancelButton()->isVisible());
  }

  void anOldOutcomeIsNoNews() {
    test::Panel panel({}, test::PanelGrown());
    QVERIFY(!panel.window->progressPanel()->isVisible());
  }

  void aMoveThatWasTooQuickToSeeIsStillReported() {
    test::Panel panel({.operate = true});
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(panel.window->progressPanel()->isVisible());
    QVERIFY(panel.window->progressPanel()->sentence().contains(QStringLiteral("pause 0.31 s")));
    panel.window->progressPanel()->dismiss();
    QVERIFY(!panel.window->progressPanel()->isVisible());
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(!panel.window->progressPanel()->isVisible());
  }
};

TESSERA_WIDGET_TEST(TxnViewTest)
#include "txn_view_test.moc"
