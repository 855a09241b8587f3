// SPDX-License-Identifier: Apache-2.0
#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QHeaderView>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>
#include <algorithm>
#include <set>

#include "engine/cluster/holding.h"
#include "engine/model/gpt.h"
#include "engine/search/group_traffic.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/dialogs/checkpoint_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"
#include "ui/models/draft.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/countdown_bar.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/shortcut_sheet.h"
#include "ui/pages/state_page.h"
#include "ui/plots/job_plots.h"
#include "ui/theme.h"
#include "ui/views/colour_bar.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/legend.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/stacked_bar.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/widgets/toggle_switch.h"

using namespace tessera;
using engine::TxnPhase;
using test::Panel;

namespace {

using Devices = std::vector<ptc::DeviceId>;
using Set = std::set<ptc::DeviceId>;
const QList<ptc::DeviceId> kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};
const Set kN1Set(kN1.begin(), kN1.end());

void drop(Panel& panel, const QList<ptc::DeviceId>& devices, bool intoMesh) {
  emit panel.window->meshView()->devicesDropped(devices, intoMesh);
}

QAction* action(Panel& panel, const char* id) {
  return panel.window->actions()->find(QString::fromLatin1(id));
}

template <typename T>
T* child(Panel& panel) {
  return panel.window->findChild<T*>();
}

/// The texts of the notices that are shown.
QStringList notices(Panel& panel) {
  QStringList texts;
  for (auto* bar : panel.window->findChildren<ui::NoticeBar*>()) {
    if (bar->isVisible()) texts << bar->text();
  }
  return texts;
}

/// Presses a button of the question that closing the window asks.
void answerQuitting(Panel& panel, const char* answer) {
  auto* box = child<QMessageBox>(panel);
  QVERIFY(box != nullptr);
  for (QAbstractButton* button : box->buttons()) {
    if (button->text() == QLatin1String(answer)) return button->click();
  }
  QFAIL(answer);
}

/// As a user chooses an item.
void choose(QComboBox* box, ui::MoveWay way) {
  const int index = static_cast<int>(way);
  box->setCurrentIndex(index);
  emit box->activated(index);
}

}  // namespace

class MainWindowTest : public QObject {
  Q_OBJECT

 private slots:
  // Draft
  void aDropOpensADraftAndSendsNothing() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QCOMPARE(panel.window->draft()->added(), Devices(kN1.begin(), kN1.end()));
    QVERIFY(panel.window->meshView()->scene().draft);
    QVERIFY(panel.waitForPlan());
    QCOMPARE(panel.window->planPanel()->productText(), QStringLiteral("4 × 2 × 1 = 8 of 8 ✓"));
    QVERIFY(panel.window->planPanel()->applyButton()->text().startsWith(
        QStringLiteral("Apply: move 37.6 MiB")));
    QVERIFY(panel.window->planPanel()->applyButton()->isEnabled());
    test::settle();
    QCOMPARE(panel.commands.mutations(), 0);
    QVERIFY(notices(panel).contains(QStringLiteral("Draft: nothing moves until you apply it.")));
  }

  void aSwapIsADraftThatKeepsTheChosenPlaces() {
    Panel panel({.operate = true});
    panel.window->meshView()->setSelection({{0, 1}});
    QVERIFY(!action(panel, "edit.paste")->isEnabled());
    action(panel, "edit.cut")->trigger();
    panel.window->meshView()->setSelection({{0, 2}});
    QVERIFY(action(panel, "edit.paste")->isEnabled());
    action(panel, "edit.paste")->trigger();
    QCOMPARE(panel.window->draft()->undoStack()->undoText(), QStringLiteral("swap n0g1 and n0g2"));
    QVERIFY(panel.window->meshView()->scene().draft);
    QTRY_VERIFY(panel.window->planPanel()->applyButton()->isEnabled());
    QVERIFY(panel.commands.planned.back().pinned);
    QCOMPARE(panel.commands.planned.back().devices, (Devices{{0, 0}, {0, 2}, {0, 1}, {0, 3}}));
    QCOMPARE(*panel.window->meshView()->scene().find({0, 2})->rank, 1);
    QVERIFY(panel.window->planPanel()->command().contains(
        QStringLiteral("--devices n0g0,n0g2,n0g1,n0g3 --mesh dp=2,tp=2,pp=1 --pin")));
    QTest::keyClick(panel.window.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(panel.window->draft()->isEmpty());
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void theFrameOfAnotherJobShowsIt() {
    auto cluster = test::PanelCluster();
    engine::JobStatus other = cluster.jobs.front();
    other.name = "other";
    other.mesh = test::Shape(1, 1, 1);
    other.devices = {{1, 3}};
    cluster.nodes[1].devices[3].job = other.name;
    cluster.nodes[1].devices[3].rank = 0;
    cluster.jobs.push_back(other);
    Panel panel({}, cluster);
    ui::MeshView* mesh = panel.window->meshView();
    const QRect frame = mesh->jobRect(QStringLiteral("other"));
    QVERIFY(frame.isValid());
    QTest::mouseClick(mesh->viewport(), Qt::LeftButton, Qt::NoModifier,
                      frame.topLeft() + QPoint(20, 12));
    QCOMPARE(panel.model.job()->name, std::string("other"));
    QVERIFY(mesh->scene().find({1, 3})->inMesh);
    QVERIFY(mesh->jobRect(QString::fromStdString(test::kJob)).isValid());
  }

  void undoAndRedoByKeys() {
    Panel panel({.operate = true});
    const Devices live = panel.window->draft()->devices();
    drop(panel, {{1, 0}, {1, 1}}, true);
    drop(panel, {{0, 3}}, false);
    QTest::keyClick(panel.window.get(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(panel.window->draft()->added(), (Devices{{1, 0}, {1, 1}}));
    QVERIFY(panel.window->draft()->removed().empty());
    QTest::keyClick(panel.window.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(panel.window->draft()->isEmpty());
    QCOMPARE(panel.window->draft()->devices(), live);
    QTest::keyClick(panel.window.get(), Qt::Key_Y, Qt::ControlModifier);
    QTest::keyClick(panel.window.get(), Qt::Key_Y, Qt::ControlModifier);
    QCOMPARE(panel.window->draft()->removed(), (Devices{{0, 3}}));
    QVERIFY(!action(panel, "edit.redo")->isEnabled());
  }

  void spaceBuildsTheSameDraftAsADrop() {
    Panel byMouse({.operate = true});
    drop(byMouse, kN1, true);
    QVERIFY(byMouse.waitForPlan());

    Panel byKeys({.operate = true});
    byKeys.window->meshView()->setFocus();
    byKeys.window->meshView()->setSelection(kN1Set);
    QTest::keyClick(byKeys.window->meshView(), Qt::Key_Space);
    QVERIFY(byKeys.waitForPlan());
    QVERIFY(byKeys.window->draft()->edits() == byMouse.window->draft()->edits());
    QCOMPARE(byKeys.commands.planned.back(), byMouse.commands.planned.back());
    QCOMPARE(byKeys.window->draft()->undoStack()->count(), 1);

    byKeys.window->planPanel()->applyButton()->setFocus();
    QTest::keyClick(byKeys.window->planPanel()->applyButton(), Qt::Key_Return);
    auto* sheet = child<ui::ApplySheet>(byKeys);
    QVERIFY(sheet != nullptr);
    sheet->applyButton()->click();
    QTRY_COMPARE(byKeys.commands.applied.size(), std::size_t{1});
  }

  void escStepsBackOneLevel() {
    Panel panel({.operate = true});
    drop(panel, {{1, 0}}, true);
    panel.window->meshView()->setSelection({{0, 1}});
    QTest::keyClick(panel.window.get(), Qt::Key_Escape);
    QVERIFY(panel.window->meshView()->selection().empty());
    QVERIFY(panel.window->meshView()->scene().draft);
    QTest::keyClick(panel.window.get(), Qt::Key_Escape);
    QVERIFY(!panel.window->meshView()->scene().draft);
    QVERIFY(!panel.window->draft()->isEmpty());
    panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    QTest::keyClick(panel.window.get(), Qt::Key_Escape);
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void discardGoesBackToLive() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    panel.window->planPanel()->discardButton()->click();
    QVERIFY(panel.window->draft()->isEmpty());
    QVERIFY(!panel.window->meshView()->scene().draft);
  }

  void axisFieldsFixDegrees() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    auto* plan = panel.window->planPanel();
    plan->axisBox(ptc::Axis::kTp)->setValue(4);
    QVERIFY(plan->axisLock(ptc::Axis::kTp)->isChecked());
    QVERIFY(panel.waitForPlan());
    QTRY_COMPARE(panel.commands.planned.back().mesh, std::optional(test::Shape(2, 4, 1)));
    QCOMPARE(plan->productText(), QStringLiteral("2 × 4 × 1 = 8 of 8 ✓"));
    plan->axisBox(ptc::Axis::kTp)->setValue(3);
    QCOMPARE(plan->productText(), QStringLiteral("2 × 3 × 1 = 6 of 8 ✕"));
    QVERIFY(plan->problemText().contains(QStringLiteral("uses 6 of 8 GPUs")));
    QVERIFY(!plan->applyButton()->isEnabled());
    QCOMPARE(plan->applyButton()->toolTip(), plan->problemText());
    plan->axisLock(ptc::Axis::kTp)->click();
    QTRY_VERIFY(!panel.commands.planned.back().mesh);
  }

  // Fields of ep and cp are there where they divide something, or where a program may use them.
  void rareAxesHaveFieldsWhereTheyCount() {
    auto cluster = test::PanelCluster();
    engine::JobStatus& job = cluster.jobs.front();
    const auto hasField = [](const Panel& panel, ptc::Axis axis) {
      return !panel.window->planPanel()->axisBox(axis)->isHidden();
    };
    Panel panel({.operate = true}, cluster);
    for (const ptc::Axis axis : {ptc::Axis::kDp, ptc::Axis::kTp, ptc::Axis::kPp})
      QVERIFY(hasField(panel, axis));
    QVERIFY(!hasField(panel, ptc::Axis::kEp) && !hasField(panel, ptc::Axis::kCp));

    job.mesh = test::Shape(1, 2, 1);
    job.mesh[ptc::Axis::kCp] = 2;
    job.epoch += 1;
    panel.setSnapshot(cluster);
    QVERIFY(!hasField(panel, ptc::Axis::kEp) && hasField(panel, ptc::Axis::kCp));
    QCOMPARE(panel.window->planPanel()->axisBox(ptc::Axis::kCp)->value(), 2);
    panel.window->planPanel()->axisBox(ptc::Axis::kCp)->setValue(4);
    QCOMPARE((*panel.window->draft()->mesh())[ptc::Axis::kCp], std::int64_t{4});

    job.mesh = test::Shape(2, 2, 1);
    job.command = "python3 train.py";
    Panel own({.operate = true}, cluster);
    QVERIFY(hasField(own, ptc::Axis::kEp) && hasField(own, ptc::Axis::kCp));
  }

  void idleDevicesAndTheReasonAreNamed() {
    Panel panel({.operate = true});
    drop(panel, {{1, 0}}, true);
    QVERIFY(panel.waitForPlan());
    auto* plan = panel.window->planPanel();
    QCOMPARE(plan->facts()->value(QStringLiteral("unused")), QStringLiteral("n1g0"));
    QVERIFY(plan->whyText().startsWith(QStringLiteral("tp stays at 2")));
    QCOMPARE(plan->productText(), QStringLiteral("2 × 2 × 1 = 4 of 5 ✓"));
    // One GPU more is no other mesh: there is nothing to apply.
    QVERIFY(!plan->applyButton()->isEnabled());
    QCOMPARE(plan->applyButton()->toolTip(), QStringLiteral("The draft does not change the job."));
    QCOMPARE(plan->command(),
             QStringLiteral(
                 "tesseractl --cluster local plan gpt-mini --devices n0g0,n0g1,n0g2,n0g3,n1g0"));
  }

  // Configurations first, then the bar, then what decides; the rest is folded. The buttons are
  // visible in the smallest window, too.
  void thePlanBeginsWithTheConfigurations() {
    Panel panel({.operate = true});
    panel.window->resize(panel.window->minimumSize());
    panel.window->show();
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    auto* plan = panel.window->planPanel();
    QTRY_VERIFY(plan->candidates()->rowCount() > 3);
    test::settle();
    const auto topOf = [plan](const QWidget* widget) {
      return widget->mapTo(plan, QPoint(0, 0)).y();
    };
    const QTableView* table = plan->candidateTable();
    QVERIFY(topOf(table) < topOf(plan->axisBox(ptc::Axis::kDp)));
    QVERIFY(topOf(plan->axisBox(ptc::Axis::kDp)) < topOf(plan->bar()));
    QVERIFY(topOf(plan->bar()) < topOf(plan->mainFacts()));
    // Three whole rows, and no number is elided.
    QCOMPARE(table->viewport()->height() / table->rowHeight(0), 3);
    for (const auto column :
         {ui::CandidateTableModel::StepColumn, ui::CandidateTableModel::MovesColumn,
          ui::CandidateTableModel::PauseColumn}) {
      QVERIFY(!table->isColumnHidden(column));
      for (int row = 0; row < plan->candidates()->rowCount(); ++row) {
        const QString text = plan->candidates()->index(row, column).data().toString();
        const QFontMetrics metrics(ui::uiFont(12));
        QVERIFY2(metrics.horizontalAdvance(text) + 4 <= table->columnWidth(column),
                 qPrintable(text));
      }
    }
    QVERIFY(!plan->facts()->isVisible() && plan->mainFacts()->isVisible());
    QVERIFY(!plan->mainFacts()->value(QStringLiteral("pause (estimate)")).isEmpty());
    QVERIFY(plan->mainFacts()->value(QStringLiteral("busiest port")).isEmpty());
    for (const bool open : {false, true}) {
      plan->detailsButton()->setChecked(open);
      test::settle();
      QCOMPARE(plan->facts()->isVisible(), open);
      for (const QPushButton* button : {plan->applyButton(), plan->discardButton()}) {
        const QRect area(button->mapTo(plan, QPoint(0, 0)), button->size());
        QVERIFY(button->isVisible() && plan->rect().contains(area));
      }
      QVERIFY(plan->height() <= panel.window->height());
    }
  }

  void thePlanSaysHowFarItIsFromTheBound() {
    Panel panel({.operate = true});
    panel.commands.adjustPlan = [](engine::PlanSummary plan) {
      plan.certificate.port = "n1 in";
      plan.certificate.port_bytes = std::int64_t{382} << 20U;
      plan.certificate.port_seconds = 1.004;
      plan.certificate.direct_seconds = 1;
      plan.certificate.single_source_bytes = std::int64_t{3} << 20U;
      plan.single_source = 7;
      plan.survival = engine::Survival{1, std::int64_t{18} << 20U};
      return plan;
    };
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    const auto* facts = panel.window->planPanel()->facts();
    QCOMPARE(facts->value(QStringLiteral("busiest port")),
             QStringLiteral("382 MiB (at most 0.4 % above the least)"));
    QCOMPARE(facts->value(QStringLiteral("held only once")), QStringLiteral("3 MiB in 7 shards"));
    QCOMPARE(facts->value(QStringLiteral("loss of any node")),
             QStringLiteral("n1 would lose 18 MiB"));
    panel.commands.adjustPlan = [](engine::PlanSummary plan) {
      plan.certificate = {};
      return plan;
    };
    drop(panel, kN1, false);
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    QTRY_COMPARE(facts->value(QStringLiteral("busiest port")), QStringLiteral("nothing moves"));
  }

  void tooMuchMemoryBlocksApplyAndNamesTheDevice() {
    Panel panel({.operate = true});
    panel.commands.adjustPlan = [](engine::PlanSummary plan) {
      plan.peak_memory[5].bytes = plan.peak_memory[5].capacity + 1;
      return plan;
    };
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    QVERIFY(!panel.window->planPanel()->applyButton()->isEnabled());
    QVERIFY(panel.window->planPanel()->applyButton()->toolTip().contains(QStringLiteral("n1g1")));
  }

  void aStalePlanCannotBeApplied() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    auto cluster = test::PanelCluster();
    cluster.jobs.front().layout_hash = "0000000000000001";
    panel.setSnapshot(cluster);
    QVERIFY(!panel.window->planPanel()->applyButton()->isEnabled());
    QVERIFY(!action(panel, "plan.apply")->isEnabled());
    QTRY_VERIFY(panel.window->planPanel()->applyButton()->isEnabled());
    QCOMPARE(panel.commands.planned.size(), std::size_t{2});
  }

  // Monitor and Operate
  void monitorSendsNothing() {
    Panel panel;
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    auto* plan = panel.window->planPanel();
    QVERIFY(!plan->applyButton()->isEnabled());
    QCOMPARE(plan->applyButton()->text(), QStringLiteral("Apply: only in Operate"));
    QVERIFY(plan->applyButton()->toolTip().contains(QStringLiteral("Ctrl+Shift+O")));
    emit plan->applyRequested();
    for (QAction* each : panel.window->actions()->all()) {
      const QString id = each->objectName();
      if (id.startsWith(QLatin1String("plan.")) ||
          (id.startsWith(QLatin1String("cluster.")) && id != QLatin1String("cluster.operate"))) {
        each->setEnabled(true);  // even if a rule were wrong
        each->trigger();
      }
    }
    panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    QVERIFY(!panel.window->progressPanel()->cancelButton()->isEnabled());
    action(panel, "plan.cancelMove")->setEnabled(true);
    action(panel, "plan.cancelMove")->trigger();
    for (auto* box : panel.window->findChildren<QMessageBox*>()) {
      for (QAbstractButton* button : box->buttons()) button->click();
    }
    for (auto* choice : panel.window->findChildren<QInputDialog*>()) choice->accept();
    for (auto* question : panel.window->findChildren<ui::TypedNameDialog*>()) {
      question->nameEdit()->setText(question->name());
      question->actButton()->click();
    }
    test::settle();
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void readOnlyCannotBeArmed() {
    Panel panel({.readonly = true, .operate = true, .live = true});
    QVERIFY(!panel.window->isOperating());
    QVERIFY(!panel.window->isLiveMode());
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!panel.window->isOperating());
    QVERIFY(!child<ui::HeaderBar>(panel)->operateButton()->isEnabled());
  }

  // The cluster says what the key may do, so a panel that was armed locks.
  void aViewersKeyLocksThePanel() {
    Panel panel({.operate = true, .live = true});
    QVERIFY(panel.window->isOperating());
    panel.model.setViewerKey(QStringLiteral("guest"));
    panel.model.flush();
    QVERIFY(!panel.window->isOperating());
    QVERIFY(!panel.window->isLiveMode());
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!panel.window->isOperating());
    auto* const button = child<ui::HeaderBar>(panel)->operateButton();
    QVERIFY(!button->isEnabled());
    const auto labels = panel.window->findChildren<QLabel*>();
    QVERIFY(std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text().endsWith("viewer's key 'guest': changes need an operator's");
    }));
    QCOMPARE(button->toolTip(),
             QStringLiteral("Key 'guest' is a viewer's: only an operator's key can change this "
                            "cluster."));
    panel.model.setViewerKey(QString());
    panel.model.flush();
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(panel.window->isOperating());
  }

  // The operator lease: one panel operates, and sees who else wants to.
  void anotherPanelThatOperatesIsShownAndCanBeTakenOver() {
    Panel panel;
    const engine::OperatorLease lease{"other", "lena: tessera, lena@lab3", 1.6e9};
    panel.commands.otherLease = lease;
    engine::ClusterSnapshot snapshot = test::PanelCluster();
    snapshot.lease = lease;
    panel.setSnapshot(snapshot);
    const auto labels = [&](const QString& text) {
      const auto all = panel.window->findChildren<QLabel*>();
      return std::any_of(all.begin(), all.end(), [&](const QLabel* label) {
        return label->isVisible() && label->text().contains(text);
      });
    };
    QVERIFY(labels(QStringLiteral("operated by tessera, lena@lab3 (key lena), since ")));
    QVERIFY(!labels(QStringLiteral("This panel is in Monitor.")));
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    test::settle();
    QVERIFY(!panel.window->isOperating());
    QVERIFY(labels(
        QStringLiteral("This cluster is operated by tessera, lena@lab3 (key lena), since ")));
    QPushButton* takeOver = nullptr;
    for (auto* notice : panel.window->findChildren<ui::NoticeBar*>()) {
      if (notice->actionButton()->text() == QLatin1String("Take over")) {
        takeOver = notice->actionButton();
      }
    }
    QVERIFY(takeOver != nullptr && takeOver->isVisible());
    takeOver->click();
    test::settle();
    QVERIFY(panel.window->isOperating());
    QCOMPARE(panel.commands.operated.back().second, ui::OperateAct::TakeOver);
    const QString own = panel.commands.operated.back().first;
    snapshot.lease = engine::OperatorLease{own.toStdString(), "omar: tessera, omar@lab3", 1.6e9};
    panel.setSnapshot(snapshot);
    QVERIFY(panel.window->isOperating());
    QVERIFY(!takeOver->isVisible());
    QVERIFY(!labels(QStringLiteral("operated by")));

    // Now it is taken over itself.
    snapshot.lease = lease;
    panel.setSnapshot(snapshot);
    QVERIFY(!panel.window->isOperating());
    QVERIFY(labels(QStringLiteral("Taken over by tessera, lena@lab3 (key lena), since ")));
    // What is not its own is not released.
    QCOMPARE(panel.commands.operated.back().second, ui::OperateAct::TakeOver);
    // The other one leaves: nothing to take over.
    snapshot.lease.reset();
    panel.commands.otherLease.reset();
    panel.setSnapshot(snapshot);
    QVERIFY(!takeOver->isVisible());
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    test::settle();
    QVERIFY(panel.window->isOperating());
    QCOMPARE(panel.commands.operated.back().second, ui::OperateAct::Take);
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(panel.commands.operated.back().second, ui::OperateAct::Release);
  }

  void operateIsArmedByKeysAndLockedAgain() {
    Panel panel;
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(panel.window->isOperating());
    child<ui::HeaderBar>(panel)->liveToggle()->click();
    QVERIFY(panel.window->isLiveMode());
    QTest::keyClick(panel.window.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!panel.window->isOperating());
    QVERIFY(!panel.window->isLiveMode());
  }

  // Apply
  void theSheetNamesWhatWillHappenAndEnterDoesNotApply() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    panel.window->planPanel()->applyButton()->click();
    auto* sheet = child<ui::ApplySheet>(panel);
    QVERIFY(sheet != nullptr && sheet->isVisible());
    for (const char* key : {"cluster", "job", "bytes to move", "pause (estimate)", "peak memory",
                            "can be rolled back"}) {
      QVERIFY2(!sheet->facts()->value(QString::fromLatin1(key)).isEmpty(), key);
    }
    QCOMPARE(sheet->applyButton()->text(), QStringLiteral("Move 37.6 MiB, pause ≈ 0.42 s"));
    QTRY_VERIFY(sheet->cancelButton()->hasFocus());
    QTest::keyClick(sheet, Qt::Key_Return);
    test::settle();
    QCOMPARE(panel.commands.mutations(), 0);

    // The button that has the focus is the one that Enter presses.
    panel.window->planPanel()->applyButton()->click();
    sheet = panel.window->findChildren<ui::ApplySheet*>().last();
    sheet->applyButton()->setFocus();
    QTest::keyClick(sheet->applyButton(), Qt::Key_Return);
    QTRY_COMPARE(panel.commands.applied.size(), std::size_t{1});
  }

  void anAcceptedSheetSendsThePlanThatItShowed() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    action(panel, "plan.apply")->trigger();
    child<ui::ApplySheet>(panel)->applyButton()->click();
    QTRY_COMPARE(panel.commands.applied.size(), std::size_t{1});
    QCOMPARE(panel.commands.applied[0].first, panel.commands.planned.back());
    QCOMPARE(panel.commands.applied[0].second, QStringLiteral("plan1"));
    QTRY_VERIFY(panel.window->draft()->isEmpty());
    QVERIFY(!panel.window->draft()->undoStack()->canUndo());
    QVERIFY(!panel.window->meshView()->scene().draft);
  }

  void theWayOfAMoveIsChosen() {
    Panel panel({.operate = true});
    auto* const plan = panel.window->planPanel();
    QVERIFY(plan->wayBox()->isHidden());  // there is nothing to move
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    QVERIFY(!plan->wayBox()->isHidden());
    QVERIFY(panel.commands.planned.back().way == ui::MoveWay::Auto);
    QVERIFY(!plan->command().contains(QStringLiteral("--overlap")));
    for (const auto way : {ui::MoveWay::WhileTraining, ui::MoveWay::InPause}) {
      choose(plan->wayBox(), way);
      QTRY_VERIFY(panel.commands.planned.back().way == way);
      QVERIFY(panel.waitForPlan());
      QVERIFY(plan->command().endsWith(way == ui::MoveWay::InPause
                                           ? QStringLiteral("--overlap off")
                                           : QStringLiteral("--overlap on")));
    }
    action(panel, "plan.discard")->trigger();
    QVERIFY(plan->wayBox()->isHidden());
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    QVERIFY(panel.commands.planned.back().way == ui::MoveWay::Auto);  // of the next draft
  }

  // From the first round on nothing is rolled back, so the sheet asks for the name of the job.
  void aChangeInRoundsAsksForTheNameOfTheJob() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 0});
    choose(panel.window->planPanel()->wayBox(), ui::MoveWay::InRounds);  // of no draft
    drop(panel, kN1, true);
    QTRY_COMPARE(panel.commands.applied.size(), std::size_t{1});

    Panel other({.operate = true});
    drop(other, kN1, true);
    QVERIFY(other.waitForPlan());
    auto* const plan = other.window->planPanel();
    choose(plan->wayBox(), ui::MoveWay::InRounds);
    QTRY_VERIFY(other.commands.planned.back().way == ui::MoveWay::InRounds);
    QVERIFY(other.waitForPlan());
    QVERIFY(plan->command().endsWith(QStringLiteral("--move-memory auto")));
    QCOMPARE(plan->facts()->value(QStringLiteral("can be rolled back")),
             QStringLiteral("only until the first round"));
    action(other, "plan.apply")->trigger();
    auto* sheet = child<ui::ApplySheet>(other);
    QVERIFY(sheet->nameField()->isVisible());
    QVERIFY(sheet->facts()->value(QStringLiteral("rounds")).startsWith(QStringLiteral("5, each")));
    QVERIFY(!sheet->applyButton()->isEnabled());
    sheet->nameField()->setText(QStringLiteral("another"));
    QVERIFY(!sheet->applyButton()->isEnabled());
    sheet->nameField()->setFocus();
    QTest::keyClick(sheet->nameField(), Qt::Key_Return);  // neither applies nor cancels
    QVERIFY(sheet->isVisible());
    sheet->nameField()->setText(QString::fromStdString(test::PanelCluster().jobs.front().name));
    QVERIFY(sheet->applyButton()->isEnabled());
    QTest::keyClick(sheet->nameField(), Qt::Key_Return);
    QCOMPARE(other.commands.mutations(), 0);
    QCOMPARE(sheet->focusWidget(), sheet->applyButton());
    QTest::keyClick(sheet->applyButton(), Qt::Key_Return);
    QTRY_COMPARE(other.commands.applied.size(), std::size_t{1});
    QVERIFY(other.commands.applied[0].first.way == ui::MoveWay::InRounds);
  }

  void aSheetOfAStalePlanClosesItself() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    panel.window->planPanel()->applyButton()->click();
    QPointer<ui::ApplySheet> sheet = child<ui::ApplySheet>(panel);
    auto cluster = test::PanelCluster();
    cluster.jobs.front().epoch = 8;
    panel.setSnapshot(cluster);
    QTRY_VERIFY(sheet.isNull());
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void aRefusalKeepsTheDraftAndSaysWhy() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 0});
    panel.commands.applyAnswer = FailedPrecondition("plan is of epoch 3, the job is at epoch 4");
    drop(panel, kN1, true);
    QTRY_COMPARE(panel.commands.applied.size(), std::size_t{1});
    QTRY_VERIFY(notices(panel).join(QLatin1Char(' ')).contains(QStringLiteral("epoch 4")));
    QCOMPARE(panel.window->draft()->added().size(), std::size_t{4});
  }

  // What cannot be recorded
  void aMoveThatCannotBeRecordedIsRefusedUnlessAllowed() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    panel.model.setRecordProblem(QStringLiteral("lab.sqlite: database or disk is full"));
    panel.model.flush();
    QVERIFY(notices(panel).contains(
        QStringLiteral("The history cannot be written: lab.sqlite: database or disk is full. "
                       "Monitoring continues.")));
    QVERIFY(panel.window->planPanel()->applyButton()->toolTip().startsWith(
        QStringLiteral("The change cannot be recorded: ")));
    action(panel, "plan.apply")->trigger();
    auto* sheet = child<ui::ApplySheet>(panel);
    QVERIFY(sheet->unrecordedBox()->isVisible());
    QCOMPARE(sheet->unrecordedBox()->text(),
             QStringLiteral("Apply even though the change cannot be recorded"));
    QVERIFY(!sheet->unrecordedBox()->isChecked());
    QVERIFY(!sheet->applyButton()->isEnabled());
    QVERIFY(sheet->applyButton()->toolTip().contains(QStringLiteral("disk is full")));
    sheet->unrecordedBox()->click();
    sheet->applyButton()->click();
    QTRY_COMPARE(panel.commands.applied.size(), std::size_t{1});

    // Once changes can be recorded again, there is no notice and no question.
    panel.model.setRecordProblem({});
    panel.model.flush();
    QVERIFY(notices(panel).filter(QStringLiteral("History")).isEmpty());
  }

  void anOpenSheetFollowsTheRecord() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    action(panel, "plan.apply")->trigger();
    auto* sheet = child<ui::ApplySheet>(panel);
    QVERIFY(!sheet->unrecordedBox()->isVisible());
    panel.model.setRecordProblem(QStringLiteral("locked"));
    panel.model.flush();
    QVERIFY(sheet->unrecordedBox()->isVisible());
    QVERIFY(!sheet->applyButton()->isEnabled());
    sheet->unrecordedBox()->click();
    panel.model.setRecordProblem({});
    panel.model.flush();
    QVERIFY(sheet->applyButton()->isEnabled());
    // After another failure the question appears again.
    panel.model.setRecordProblem(QStringLiteral("full"));
    panel.model.flush();
    QVERIFY(!sheet->applyButton()->isEnabled());
  }

  void liveModeDoesNotMoveWhatCannotBeRecorded() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 0});
    panel.model.setRecordProblem(QStringLiteral("locked"));
    panel.model.flush();
    drop(panel, kN1, true);
    QTRY_VERIFY(
        !notices(panel)
             .filter(QStringLiteral("Nothing was moved. The change cannot be recorded: locked."))
             .isEmpty());
    QVERIFY(!panel.window->isCountingDown());
    QCOMPARE(panel.commands.mutations(), 0);
    // Not skipped, as the question is in live mode otherwise.
    action(panel, "plan.apply")->trigger();
    QVERIFY(child<ui::ApplySheet>(panel) != nullptr);
    QCOMPARE(panel.commands.mutations(), 0);
  }

  // Live mode
  void aDropInLiveModeAppliesAfterTheCountdown() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 1});
    drop(panel, kN1, true);
    QTRY_VERIFY(panel.window->isCountingDown());
    auto* bar = child<ui::CountdownBar>(panel);
    QVERIFY(bar->isVisible());
    QCOMPARE(bar->text(), QStringLiteral("The change starts in 1 s. Esc stops it."));
    QCOMPARE(panel.commands.mutations(), 0);
    QTRY_COMPARE_WITH_TIMEOUT(panel.commands.applied.size(), std::size_t{1}, 5000);
    QVERIFY(!panel.window->isCountingDown());
    QVERIFY(child<ui::ApplySheet>(panel) == nullptr);
    QCOMPARE(panel.commands.applied[0].first.devices.size(), std::size_t{8});
  }

  void escStopsTheCountdownAndKeepsTheDraft() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 1});
    panel.window->meshView()->setSelection(kN1Set);
    drop(panel, kN1, true);
    QTRY_VERIFY(panel.window->isCountingDown());
    QTest::keyClick(panel.window.get(), Qt::Key_Escape);
    QVERIFY(!panel.window->isCountingDown());
    QVERIFY(!child<ui::CountdownBar>(panel)->isVisible());
    QCOMPARE(panel.window->meshView()->selection(), kN1Set);
    QCOMPARE(panel.window->draft()->added().size(), std::size_t{4});
    // The countdown of a later drop ends after the stopped one would have: only it applies.
    panel.window->draft()->undoStack()->undo();
    drop(panel, {{1, 0}, {1, 1}}, true);
    drop(panel, {{1, 2}, {1, 3}}, true);
    QTRY_COMPARE_WITH_TIMEOUT(panel.commands.applied.size(), std::size_t{1}, 10'000);
    test::settle();
    QCOMPARE(panel.commands.mutations(), 1);
  }

  void anotherDropStartsTheCountdownAnew() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 1});
    drop(panel, {{1, 0}, {1, 1}}, true);
    QTRY_VERIFY(panel.window->isCountingDown());
    drop(panel, {{1, 2}, {1, 3}}, true);
    QVERIFY(!panel.window->isCountingDown());
    QTRY_VERIFY(panel.window->isCountingDown());
    QTRY_COMPARE_WITH_TIMEOUT(panel.commands.applied.size(), std::size_t{1}, 5000);
    QCOMPARE(panel.commands.applied[0].first.devices.size(), std::size_t{8});
  }

  void aDropThatCannotBePlannedNeverCounts() {
    Panel panel({.operate = true, .live = true, .liveCountdownSeconds = 0});
    drop(panel, {{0, 1}, {0, 2}, {0, 3}}, false);
    QTRY_VERIFY(panel.window->planPanel()->problemText().contains(QStringLiteral("tp = 2")));
    test::settle();
    QCOMPARE(panel.commands.mutations(), 0);
    QVERIFY(!child<ui::CountdownBar>(panel)->isVisible());
  }

  void aMoveIsWatchedInLiveAndNothingCanBeEdited() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    QVERIFY(!panel.window->meshView()->scene().draft);
    QVERIFY(panel.window->meshView()->isReadOnly());
    const auto edits = panel.window->draft()->edits();
    drop(panel, {{0, 0}}, false);
    QVERIFY(panel.window->draft()->edits() == edits);
    QVERIFY(!action(panel, "view.draft")->isEnabled());
  }

  void closingDuringAMoveAsks() {
    Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    panel.window->close();
    QVERIFY(panel.window->isVisible());
    auto* box = child<QMessageBox>(panel);
    QVERIFY(box != nullptr);
    box->defaultButton()->click();  // keep window
    QTRY_VERIFY(child<QMessageBox>(panel) == nullptr);
    QCOMPARE(panel.commands.mutations(), 0);

    panel.window->close();
    answerQuitting(panel, "Roll back and quit");
    QTRY_COMPARE(panel.commands.cancelled.size(), std::size_t{1});
    QVERIFY(panel.window->isVisible());
    auto back = test::PanelCluster();
    back.transaction = test::PanelMove(TxnPhase::kRolledBack, {1, 1, 1, 1}).transaction;
    panel.setSnapshot(back);
    QVERIFY(!panel.window->isVisible());
  }

  void aChangeGoesOnWithoutThePanel() {
    Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    panel.window->close();
    answerQuitting(panel, "Quit, the change goes on");
    QVERIFY(!panel.window->isVisible());
    QCOMPARE(panel.commands.mutations(), 0);
  }

  // Its cluster is stopped with it.
  void aChangeOfAClusterThatEndsWithThePanelCannotGoOn() {
    Panel panel({.operate = true, .endsCluster = true},
                test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    panel.window->close();
    QCOMPARE(child<QMessageBox>(panel)->buttons().size(), 2);
  }

  // The change passes its commit point while the question is shown.
  void aRefusedRollbackDoesNotQuit() {
    Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    panel.commands.cancelAnswer = FailedPrecondition("transaction 3 is past its commit point");
    panel.window->close();
    answerQuitting(panel, "Roll back and quit");
    QTRY_VERIFY(notices(panel).join(QLatin1Char(' ')).contains(QLatin1String("commit point")));
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(panel.window->isVisible());
  }

  // History
  void theReverseOfAChangeIsADraft() {
    Panel panel({.operate = true});
    auto* history = child<ui::HistoryPage>(panel);
    QTRY_COMPARE(history->model()->rowCount(), 3);
    history->reverseButton()->click();
    QCOMPARE(panel.window->draft()->removed(), (Devices{{0, 2}, {0, 3}}));
    QCOMPARE(*panel.window->draft()->mesh(), test::Shape(1, 2, 1));
    QVERIFY(panel.window->meshView()->scene().draft);
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void theReverseOfTheLastMove() {
    Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    const int before = panel.commands.historyCalls;
    panel.setSnapshot(test::PanelGrown());
    QTRY_VERIFY(panel.commands.historyCalls > before);
    QVERIFY(panel.window->progressPanel()->headline().startsWith(QStringLiteral("Reconfigured")));
    panel.window->progressPanel()->followButton()->click();
    QCOMPARE(panel.window->draft()->removed(), Devices(kN1.begin(), kN1.end()));
  }

  // What is shown
  // In the smallest window of a simulated cluster, too, the palette has a button and no tab is
  // clipped.
  void theSmallestWindowHasSearchTabsAndLegend() {
    auto cluster = test::PanelCluster();
    cluster.simulation = engine::SimulationStatus{"h100", 20, 20, 7};
    Panel panel({}, cluster);
    panel.window->resize(1024, 640);
    panel.window->show();
    test::settle();
    QCOMPARE(panel.window->size(), QSize(1024, 640));
    const auto* header = child<ui::HeaderBar>(panel);
    QVERIFY(!header->badgeText().isEmpty());
    const QPushButton* search = header->goToButton();
    QVERIFY(search->isVisible() && header->rect().contains(search->geometry()));
    QVERIFY(!header->operateButton()->geometry().intersects(search->geometry()));
    const int narrow = search->width();
    const auto* tabs = panel.window->findChild<ui::TabbedPane*>(QStringLiteral("views"))->tabs();
    for (int i = 0; i < tabs->count(); ++i) QVERIFY(tabs->rect().contains(tabs->tabRect(i)));
    const auto* legend = child<ui::Legend>(panel);
    QVERIFY(legend->isVisible() && !legend->entryRect(0).isNull());
    // The plots are visible down to the clock below them.
    const auto* plots = child<ui::JobPlots>(panel);
    QTRY_VERIFY(plots->isVisible() && plots->height() >= 100);
    QVERIFY(plots->parentWidget()->rect().contains(plots->geometry()));
    panel.window->resize(1900, 1000);
    test::settle();
    QVERIFY(search->width() > narrow);
  }

  void theHeaderNamesJobAndNumbers() {
    Panel panel;
    auto* header = child<ui::HeaderBar>(panel);
    QCOMPARE(header->jobText(), QStringLiteral("local · gpt-mini"));
    QVERIFY(header->stateText().endsWith(QStringLiteral("epoch 3")));
    QCOMPARE(header->metric(QStringLiteral("step")), QStringLiteral("1,284"));
    QCOMPARE(header->metric(QStringLiteral("loss")), QStringLiteral("2.214"));
    QCOMPARE(header->metric(QStringLiteral("tokens/s")), QStringLiteral("5.8 k"));
    QCOMPARE(header->metric(QStringLiteral("dp × tp × pp")), QStringLiteral("2 × 2 × 1"));
    auto cluster = test::PanelCluster();
    cluster.jobs.front().loss.reset();
    panel.setSnapshot(cluster);
    QCOMPARE(header->metric(QStringLiteral("loss")), QStringLiteral("—"));
    panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {1, 1, 1, 1}));
    QCOMPARE(header->stateText(), QStringLiteral("paused after step 1,284"));
    QCOMPARE(header->metric(QStringLiteral("paused")), QStringLiteral("0.20 s"));
    // While its state is copied over several steps, a job waits shortly and trains on.
    panel.setSnapshot(test::PanelMove(TxnPhase::kPrecopying, {1, 1, 1, 1}));
    QCOMPARE(header->metric(QStringLiteral("tokens/s")), QStringLiteral("5.8 k"));
  }

  void nodesOfALargeClusterStayFolded() {
    ui::ClusterModel model;
    model.setSnapshot(test::IdleCluster(16, 8));
    ui::Navigator navigator(model);
    navigator.resize(200, 600);
    navigator.show();
    const QAbstractItemModel& rows = *navigator.tree()->model();
    const auto isUnfolded = [&](int node) {
      return navigator.tree()->isExpanded(rows.index(node, 0, rows.index(0, 0)));
    };
    QVERIFY(navigator.tree()->isExpanded(rows.index(0, 0)));
    QVERIFY(!isUnfolded(0) && !isUnfolded(15));
    // What the user unfolded stays so when a node joins.
    navigator.tree()->expand(rows.index(3, 0, rows.index(0, 0)));
    model.setSnapshot(test::IdleCluster(17, 8));
    navigator.refresh(model);
    QVERIFY(isUnfolded(3) && !isUnfolded(16));
    // Selecting a GPU elsewhere unfolds its node.
    navigator.setSelection({ptc::DeviceId{9, 1}});
    QVERIFY(isUnfolded(9));
    model.setSnapshot(test::IdleCluster(2, 4));
    navigator.refresh(model);
    QVERIFY(isUnfolded(0) && isUnfolded(1));
  }

  void aKeyLightsUpTheGroupsOfAnAxis() {
    Panel panel;
    ui::MeshView* mesh = panel.window->meshView();
    QAction* byTp = panel.window->actions()->find(QStringLiteral("view.groupTp"));
    QAction* byDp = panel.window->actions()->find(QStringLiteral("view.groupDp"));
    mesh->setCurrent({0, 0});
    QVERIFY(mesh->group().empty());
    QTest::keyClick(mesh, Qt::Key_T);
    QVERIFY(byTp->isChecked());
    QCOMPARE(mesh->group(), (Set{{0, 0}, {0, 1}}));
    QTest::mouseMove(mesh->viewport(), mesh->cellRect({0, 3}).center());
    QTRY_COMPARE(mesh->group(), (Set{{0, 2}, {0, 3}}));
    QTest::keyClick(mesh, Qt::Key_D);
    QVERIFY(byDp->isChecked() && !byTp->isChecked());
    QCOMPARE(mesh->group(), (Set{{0, 1}, {0, 3}}));
    QTest::keyClick(mesh, Qt::Key_P);  // not cut along it
    QVERIFY(mesh->group().empty());
    QTest::keyClick(mesh, Qt::Key_P);
    QVERIFY(!panel.window->actions()->find(QStringLiteral("view.groupPp"))->isChecked());
    // The menu does the same, and the keyboard alone finds the group of the current GPU.
    byDp->trigger();
    QTest::mouseMove(mesh->viewport(), QPoint(1, 1));
    QTRY_COMPARE(mesh->group(), (Set{{0, 0}, {0, 2}}));
    QTest::keyClick(mesh, Qt::Key_D, Qt::ControlModifier);  // another command
    QVERIFY(byDp->isChecked());
  }

  void theInspectorTellsWhatGroupsExchange() {
    Panel panel;
    auto* inspector = child<ui::Inspector>(panel);
    panel.window->meshView()->setSelection({{0, 2}});
    const QString unknown = QStringLiteral("n0g2–n0g3 · ") + ui::format::unknown();
    QCOMPARE(inspector->facts()->value(QStringLiteral("tp group")), unknown);
    QTRY_VERIFY(inspector->facts()->value(QStringLiteral("tp group")) != unknown);
    engine::JobSettings settings;
    settings.model = *engine::FindModel("gpt-mini");
    const auto bytes = [&](ptc::Axis axis) {
      const engine::JobStatus& job = *panel.model.job();
      return ui::format::bytes(engine::GroupBytes(settings, job.mesh, job.options, 2, axis));
    };
    QCOMPARE(inspector->facts()->value(QStringLiteral("tp group")),
             QStringLiteral("n0g2–n0g3 · %1 per step").arg(bytes(ptc::Axis::kTp)));
    QCOMPARE(inspector->facts()->value(QStringLiteral("dp group")),
             QStringLiteral("n0g0, n0g2 · %1 per step").arg(bytes(ptc::Axis::kDp)));
    QVERIFY(inspector->facts()->value(QStringLiteral("pp group")).isEmpty());
    // Ticks ask for nothing more.
    const int calls = panel.commands.stateCalls;
    auto cluster = test::PanelCluster();
    for (int tick = 0; tick < 3; ++tick) {
      ++cluster.jobs.front().step;
      panel.setSnapshot(cluster);
      test::settle();
    }
    QCOMPARE(panel.commands.stateCalls, calls);
    panel.window->meshView()->setSelection({{1, 0}});
    QVERIFY(inspector->facts()->value(QStringLiteral("tp group")).isEmpty());  // idle
  }

  void theInspectorShowsWhatTheMemoryOfAGpuHolds() {
    Panel panel;
    auto* inspector = child<ui::Inspector>(panel);
    QVERIFY(inspector->memoryParts()->isHidden());
    panel.window->meshView()->setSelection({{0, 2}});
    const auto names = [&] {
      QStringList all;
      for (const auto& segment : inspector->memoryParts()->segments()) all << segment.name;
      return all;
    };
    // Once the layout has come, gradients are a part of their own.
    QTRY_VERIFY(names().contains(QStringLiteral("gradients")));
    const auto facts = panel.commands.jobStates->at("gpt-mini");
    const engine::Holding held = engine::HoldingOf(facts->info.layout, 2);
    const auto& parts = inspector->memoryParts()->segments();
    QCOMPARE(parts.at(0).bytes, held.parameter_bytes);
    QCOMPARE(parts.at(1).bytes, held.gradient_bytes);
    std::int64_t sum = 0;
    for (const auto& part : parts) sum += part.bytes;
    QCOMPARE(sum, panel.model.findDevice({0, 2})->total_bytes);
    panel.window->meshView()->setSelection({{0, 2}, {1, 0}});
    QVERIFY(!inspector->memoryParts()->isHidden());
    QCOMPARE(names().last(), QStringLiteral("free"));
    panel.window->meshView()->setSelection({});
    QVERIFY(inspector->memoryParts()->isHidden());
  }

  void selectionIsSharedByMeshNavigatorAndInspector() {
    Panel panel;
    auto* inspector = child<ui::Inspector>(panel);
    auto* navigator = child<ui::Navigator>(panel);
    panel.window->meshView()->setSelection({{0, 2}});
    QCOMPARE(inspector->title(), QStringLiteral("n0g2"));
    QCOMPARE(inspector->facts()->value(QStringLiteral("job")), QStringLiteral("gpt-mini, rank 2"));
    QCOMPARE(inspector->facts()->value(QStringLiteral("coordinates")),
             QStringLiteral("dp 1 · tp 0 · pp 0"));
    QCOMPARE(inspector->facts()->value(QStringLiteral("memory")), QStringLiteral("118 of 512 MiB"));
    emit navigator->selectionChosen(kN1Set);
    QCOMPARE(panel.window->meshView()->selection(), kN1Set);
    QCOMPARE(inspector->title(), QStringLiteral("Node n1"));
    // A snapshot does not take the selection away.
    panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    QCOMPARE(panel.window->meshView()->selection(), kN1Set);
    panel.window->meshView()->setSelection({{1, 0}});
    QCOMPARE(inspector->facts()->value(QStringLiteral("receives")),
             QStringLiteral("9.4 MiB from n0g0"));
  }

  // Qt breaks a menu that is higher than the screen into columns.
  void everyMenuFitsIntoALowScreen() {
    Panel panel({.operate = true});
    QList<const QMenu*> menus;
    for (const QAction* action : panel.window->menuBar()->actions()) menus << action->menu();
    for (qsizetype i = 0; i < menus.size(); ++i) {
      QVERIFY2(menus[i]->sizeHint().height() <= 640, qPrintable(menus[i]->title()));
      for (const QAction* action : menus[i]->actions()) {
        if (action->menu() != nullptr) menus << action->menu();
      }
    }
    QVERIFY(menus.size() > 12);
  }

  void eventsAreFilteredAndFollowed() {
    Panel panel;
    for (auto& event : test::PanelEvents()) panel.model.addEvent(event);
    panel.model.flush();
    auto* events = child<ui::EventsPage>(panel);
    QCOMPARE(events->table()->model()->rowCount(), 7);
    events->filterEdit()->setText(QStringLiteral("COMMITTED"));
    QCOMPARE(events->table()->model()->rowCount(), 2);
    events->filterEdit()->clear();
    QVERIFY(events->isFollowing());
    // The newest stays visible when the list becomes lower.
    const QTableView* list = events->table();
    const auto showsNewest = [list] {
      const QRect newest = list->visualRect(list->model()->index(list->model()->rowCount() - 1, 0));
      return list->viewport()->rect().contains(newest);
    };
    for (const QSize size : {QSize(1440, 900), QSize(1024, 640)}) {
      panel.window->resize(size);
      test::settle();
      QTRY_VERIFY(showsNewest());
      QVERIFY(events->isFollowing());
    }
    emit events->sourceChosen(QStringLiteral("n1"));
    QCOMPARE(panel.window->meshView()->selection(), kN1Set);
  }

  void everyConditionIsSaid() {
    Panel panel;
    auto* state = child<ui::StatePage>(panel);
    QVERIFY(!state->isVisible());
    panel.model.setLink(ui::LinkState::Lost, QStringLiteral("Trying again in 4 s."));
    panel.model.flush();
    QVERIFY(notices(panel).join(QLatin1Char(' ')).contains(QStringLiteral("Connection lost")));
    for (auto* bar : panel.window->findChildren<ui::NoticeBar*>()) {
      if (bar->isVisible()) bar->actionButton()->click();
    }
    QCOMPARE(panel.commands.reconnects, 1);

    panel.model.setLink(ui::LinkState::Connected, {});
    auto failed = test::PanelCluster();
    failed.jobs.front().state = engine::JobState::kFailed;
    failed.jobs.front().reason = "rank 2 on n0g2 ended with signal 9";
    panel.setSnapshot(failed);
    QCOMPARE(notices(panel),
             QStringList{QStringLiteral("gpt-mini failed: rank 2 on n0g2 ended with signal 9")});
    auto starting = test::IdleCluster(2, 4);
    engine::JobStatus opened;  // before its data are open it has neither mesh nor devices
    opened.name = "gpt-mini";
    opened.reason = "opening data: n1 37.5 % of 8.4 GiB";
    starting.jobs = {opened};
    panel.setSnapshot(starting);
    QCOMPARE(
        notices(panel),
        QStringList{QStringLiteral("gpt-mini is starting: opening data: n1 37.5 % of 8.4 GiB")});
    panel.setSnapshot(test::IdleCluster(2, 4));
    QCOMPARE(notices(panel), QStringList{QStringLiteral("No job is running. Start one:")});
    QVERIFY(panel.window->meshView()->isReadOnly());
  }

  // Its card says more than a notice.
  void aLossHasACardAndNoNotice() {
    Panel panel({}, test::PanelLost());
    QVERIFY(child<ui::DecisionPanel>(panel)->isVisible());
    QCOMPARE(notices(panel), QStringList());
    panel.setSnapshot(test::PanelGrown());
    QVERIFY(!child<ui::DecisionPanel>(panel)->isVisible());
  }

  void theInspectorShowsWhatANodesLossWouldCost() {
    auto cluster = test::PanelCluster();
    Panel panel({}, cluster);
    const auto row = [&] {
      for (const auto* rows : child<ui::Inspector>(panel)->findChildren<ui::KeyValues*>()) {
        for (const ui::KeyValues::Row& found : rows->rows()) {
          if (found.key == QLatin1String("loss of any node")) return found;
        }
      }
      return ui::KeyValues::Row();
    };
    std::optional<engine::Survival>& survival = cluster.jobs.front().survival;
    survival.reset();  // it opens its data
    panel.setSnapshot(cluster);
    QVERIFY(row().key.isEmpty());
    survival = engine::Survival{1, 18LL << 20};
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("n1 would lose 18 MiB"));
    QCOMPARE(row().role, QStringLiteral("warn"));
    survival = engine::Survival{};
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("survived"));
    QCOMPARE(row().role, QString());
  }

  void theInspectorShowsTheNewestSnapshot() {
    auto cluster = test::PanelCluster();
    Panel panel({}, cluster);
    auto* inspector = child<ui::Inspector>(panel);
    const auto row = [&] {
      for (const auto* rows : inspector->findChildren<ui::KeyValues*>()) {
        for (const ui::KeyValues::Row& found : rows->rows()) {
          if (found.key == QLatin1String("snapshots")) return found;
        }
      }
      return ui::KeyValues::Row();
    };
    QCOMPARE(row().value, QStringLiteral("off"));
    engine::SnapshotStatus& snapshots = cluster.jobs.front().snapshots;
    snapshots.every.steps = 20;
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("none yet"));
    snapshots.step = 1200;
    snapshots.bytes = 26LL << 20;
    snapshots.num_nodes = 2;
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("step 1,200, 26 MiB on 2 nodes"));
    QCOMPARE(row().role, QString());
    QCOMPARE(row().toolTip, QStringLiteral("every 20 steps"));
    snapshots.every = {};  // a registrar has found it with the nodes
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("step 1,200, 26 MiB on 2 nodes"));
    QCOMPARE(row().toolTip, QStringLiteral("off"));
    snapshots.every.steps = 20;
    snapshots.forecast = {26LL << 20, 2, 28LL << 20, 1};
    snapshots.seconds = 0.12;
    panel.setSnapshot(cluster);
    QCOMPARE(row().role, QString());
    QCOMPARE(row().toolTip,
             QStringLiteral("every 20 steps · up to 28 MiB on n1 while the next is taken · "
                            "taken in 0.12 s"));
    snapshots.forecast = {};
    snapshots.seconds = 0;
    snapshots.num_nodes = 1;
    snapshots.problem = "n1 was silent for 10 s";
    panel.setSnapshot(cluster);
    QCOMPARE(row().role, QStringLiteral("warn"));
    QCOMPARE(row().toolTip, QStringLiteral("every 20 steps · lost with its node · the last was "
                                           "given up: n1 was silent for 10 s"));
  }

  void theMenuSetsTheIntervalOfSnapshots() {
    auto cluster = test::PanelCluster();
    Panel panel({}, cluster);
    const auto action = [&](const char* id) {
      return panel.window->actions()->find(QString::fromLatin1(id));
    };
    QVERIFY(action("job.snapshotsOff")->isChecked());
    QVERIFY(!action("job.snapshots100Steps")->isEnabled());  // before the panel operates
    action("cluster.operate")->trigger();
    action("job.snapshots100Steps")->trigger();
    QCOMPARE(panel.commands.snapshots, (std::vector<engine::SnapshotEvery>{{100, 0}}));
    QVERIFY(action("job.snapshotsOff")->isChecked());  // until the cluster says otherwise
    QVERIFY(!action("job.snapshots100Steps")->isChecked());
    cluster.jobs.front().snapshots.every.steps = 100;
    panel.setSnapshot(cluster);
    QVERIFY(action("job.snapshots100Steps")->isChecked());
    QVERIFY(!action("job.snapshotsOff")->isChecked());

    const auto answer = [&](const QString& text) {
      action("job.snapshotsOther")->trigger();
      auto* dialog = panel.window->findChild<QInputDialog*>();
      QVERIFY(dialog != nullptr);
      dialog->setTextValue(text);
      dialog->accept();
      QTRY_VERIFY(panel.window->findChild<QInputDialog*>() == nullptr);
    };
    answer(QStringLiteral("45s"));
    QCOMPARE(panel.commands.snapshots.back(), (engine::SnapshotEvery{0, 45}));
    answer(QStringLiteral("25h"));
    QCOMPARE(panel.commands.snapshots.size(), std::size_t{2});
    cluster.jobs.front().snapshots.every = {0, 45};
    panel.setSnapshot(cluster);
    QVERIFY(action("job.snapshotsOther")->isChecked());
  }

  void theMenuSavesACheckpoint() {
    auto cluster = test::PanelCluster();
    Panel panel({}, cluster);
    const auto* action = panel.window->actions()->find(QStringLiteral("job.saveCheckpoint"));
    QVERIFY(!action->isEnabled());  // before the panel operates
    panel.window->actions()->find(QStringLiteral("cluster.operate"))->trigger();
    const auto answer = [&](const QString& text) {
      panel.window->actions()->find(QStringLiteral("job.saveCheckpoint"))->trigger();
      auto* dialog = panel.window->findChild<ui::CheckpointDialog*>();
      QVERIFY(dialog != nullptr && dialog->browseButton()->isVisible());
      if (!text.isEmpty()) {
        dialog->folder()->edit()->clear();
        QTest::keyClicks(dialog->folder()->edit(), text);
      }
      if (dialog->saveButton()->isEnabled()) {
        dialog->saveButton()->click();
      } else {
        QVERIFY(!dialog->folder()->problem().isEmpty());
        dialog->reject();
      }
      QTRY_VERIFY(panel.window->findChild<ui::CheckpointDialog*>() == nullptr);
    };
    answer(QStringLiteral("checkpoints"));
    QVERIFY(panel.commands.checkpoints.empty());
    answer(QStringLiteral("/srv/checkpoints"));
    QCOMPARE(panel.commands.checkpoints, std::vector<QString>{QStringLiteral("/srv/checkpoints")});
    const auto row = [&] {
      for (const auto* rows : child<ui::Inspector>(panel)->findChildren<ui::KeyValues*>()) {
        for (const ui::KeyValues::Row& found : rows->rows()) {
          if (found.key == QLatin1String("checkpoints")) return found;
        }
      }
      return ui::KeyValues::Row();
    };
    QCOMPARE(row().value, QStringLiteral("none"));
    engine::CheckpointStatus& known = cluster.jobs.front().checkpoints;
    known.is_saving = true;
    known.done = 1 << 20;
    known.total = 4 << 20;
    panel.setSnapshot(cluster);
    QVERIFY(!action->isEnabled());
    QCOMPARE(row().value, QStringLiteral("saving, 1 MiB of 4 MiB"));
    known = {};
    known.step = 1200;
    known.path = "/srv/other/mini-step-1200";
    panel.setSnapshot(cluster);
    QCOMPARE(row().value, QStringLiteral("step 1,200"));
    QVERIFY(row().toolTip.contains(QStringLiteral("/srv/other/mini-step-1200")));
    answer({});  // the folder of the newest one is offered
    QCOMPARE(panel.commands.checkpoints.back(), QStringLiteral("/srv/other"));
  }

  void aSlowRankIsNamedWithTheDraftThatLeavesItOut() {
    auto cluster = test::PanelCluster();
    engine::DeviceStatus& slow = cluster.nodes[0].devices[1];
    slow.busy_seconds = 0.61;
    slow.peers_seconds = 0.3;
    Panel panel({}, cluster);
    QCOMPARE(notices(panel),
             QStringList{QStringLiteral("n0g1 is slow: it computes 0.61 s per step, its peers "
                                        "0.30 s. All GPUs of the job wait for it.")});
    for (auto* bar : panel.window->findChildren<ui::NoticeBar*>()) {
      if (bar->isVisible()) bar->actionButton()->click();
    }
    QCOMPARE(panel.window->draft()->removed(), (std::vector<ptc::DeviceId>{{0, 1}}));
  }

  // Racks are offered only while a node names its own.
  void framesAreRacksWhereNodesNameThem() {
    auto cluster = test::PanelCluster();
    Panel panel({}, cluster);
    QAction* action = panel.window->actions()->find(QStringLiteral("view.groupRack"));
    const QStandardItem* choice = nullptr;
    for (const auto* box : child<ui::ColourBar>(panel)->findChildren<QComboBox*>()) {
      const int rack = box->findText(QStringLiteral("rack"));
      if (rack >= 0) choice = qobject_cast<QStandardItemModel*>(box->model())->item(rack);
    }
    QVERIFY(choice != nullptr);
    QVERIFY(!action->isEnabled() && !choice->isEnabled());
    QCOMPARE(action->toolTip(), QStringLiteral("No node of this cluster names its rack."));
    QCOMPARE(choice->toolTip(), action->toolTip());
    cluster.nodes[0].rack = "r12";
    panel.setSnapshot(cluster);
    QVERIFY(action->isEnabled() && choice->isEnabled());
    action->trigger();
    QCOMPARE(panel.window->meshView()->scene().groups.front().name, QStringLiteral("r12"));
    panel.window->meshView()->setSelection({{0, 0}});
    QCOMPARE(child<ui::Inspector>(panel)->facts()->value(QStringLiteral("rack")),
             QStringLiteral("r12"));
  }

  void withoutAClusterThePanelSaysHowToStart() {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {});
    window.show();
    auto* state = window.findChild<ui::StatePage*>();
    QVERIFY(state->isVisible());
    QCOMPARE(state->title(), QStringLiteral("No cluster yet"));
    bool command = false;
    for (auto* label : state->findChildren<QLabel*>()) {
      command |= label->text() == QLatin1String("tesseractl up") && label->isVisible();
    }
    QVERIFY(command);
    model.setLink(ui::LinkState::Connecting, QStringLiteral("local"));
    model.flush();
    QCOMPARE(state->title(), QStringLiteral("Connecting…"));
    model.setLink(ui::LinkState::Refused, QStringLiteral("key is not known"));
    model.flush();
    QCOMPARE(state->title(), QStringLiteral("The cluster refused the connection"));
    model.setSnapshot(test::PanelCluster());
    model.setLink(ui::LinkState::Connected, {});
    model.flush();
    QVERIFY(!state->isVisible());
    QVERIFY(window.meshView()->isVisible());
  }

  void thePictureIsWritten() {
    Panel panel;
    QTemporaryDir directory;
    const QString file = directory.filePath(QStringLiteral("panel.png"));
    QVERIFY(panel.window->grabTo(file));
    QVERIFY(!QImage(file).isNull());
    QVERIFY(!panel.window->grabTo(directory.filePath(QStringLiteral("no/such/panel.png"))));
  }

  // Conventions
  void actionsAreComplete() {
    Panel panel;
    std::set<QString> shortcuts;
    const QList<QAction*> all = panel.window->actions()->all();
    QVERIFY(all.size() > 20);
    for (const QAction* each : all) {
      const QByteArray id = each->objectName().toUtf8();
      QVERIFY2(!each->text().isEmpty(), id);
      QVERIFY2(!each->statusTip().isEmpty(), id);
      for (const QKeySequence& key : each->shortcuts()) {
        QVERIFY2(shortcuts.insert(key.toString()).second, id);
      }
    }
    // The sheet lists them all.
    ui::ShortcutSheet sheet(*panel.window->actions(), nullptr);
    qsizetype listed = 0;
    for (int i = 0; i < sheet.list()->topLevelItemCount(); ++i) {
      listed += sheet.list()->topLevelItem(i)->childCount();
    }
    QCOMPARE(listed, all.size());
  }

  void interactiveWidgetsHaveNames() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    for (QWidget* widget : panel.window->findChildren<QWidget*>()) {
      const bool interactive =
          qobject_cast<QAbstractButton*>(widget) || qobject_cast<QAbstractItemView*>(widget) ||
          qobject_cast<QAbstractSpinBox*>(widget) || qobject_cast<QLineEdit*>(widget) ||
          qobject_cast<QComboBox*>(widget) || qobject_cast<ui::MeshView*>(widget);
      // Qt's own parts of a widget belong to it; ours, such as the lock in a spin box, have names.
      const QWidget* parent = widget->parentWidget();
      const bool part = widget->objectName().startsWith(QLatin1String("qt_")) ||
                        (qobject_cast<QLineEdit*>(widget) != nullptr &&
                         qobject_cast<const QAbstractSpinBox*>(parent) != nullptr) ||
                        qobject_cast<const QLineEdit*>(parent) != nullptr ||
                        qobject_cast<const QTableView*>(parent) != nullptr ||
                        qobject_cast<QHeaderView*>(widget) != nullptr;
      if (!interactive || part) continue;
      const auto* button = qobject_cast<QAbstractButton*>(widget);
      QVERIFY2(!widget->accessibleName().isEmpty(),
               qPrintable(QStringLiteral("%1 '%2' in %3")
                              .arg(QString::fromLatin1(widget->metaObject()->className()),
                                   button != nullptr ? button->text() : QString(),
                                   QString::fromLatin1(
                                       widget->parentWidget()->metaObject()->className()))));
    }
  }

  void nothingIsClippedAt1280x720_data() {
    QTest::addColumn<int>("scene");
    QTest::newRow("live") << 0;
    QTest::newRow("draft") << 1;
    QTest::newRow("moving") << 2;
    QTest::newRow("done") << 3;
  }
  void nothingIsClippedAt1280x720() {
    QFETCH(int, scene);
    Panel panel({.operate = true});
    if (scene == 1) {
      drop(panel, kN1, true);
      QVERIFY(panel.waitForPlan());
    }
    if (scene >= 2) panel.setSnapshot(test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    if (scene == 3) panel.setSnapshot(test::PanelGrown());
    panel.window->resize(1280, 720);
    test::settle();
    QCOMPARE(panel.window->size(), QSize(1280, 720));
    for (QAbstractButton* button : panel.window->findChildren<QAbstractButton*>()) {
      if (!button->isVisible() || button->text().isEmpty()) continue;
      QVERIFY2(button->width() >= button->sizeHint().width() &&
                   button->height() >= button->sizeHint().height(),
               qPrintable(QStringLiteral("%1: %2x%3 of %4x%5")
                              .arg(button->text())
                              .arg(button->width())
                              .arg(button->height())
                              .arg(button->sizeHint().width())
                              .arg(button->sizeHint().height())));
      const QRect inWindow(button->mapTo(panel.window.get(), QPoint()), button->size());
      QVERIFY2(panel.window->rect().contains(inWindow), qPrintable(button->text()));
    }
  }

  // What the inspector has to say, however much, takes no height from timeline and events.
  void aMoveLeavesThePanesAsTheyAre() {
    Panel panel({.operate = true});
    panel.window->resize(1440, 900);
    panel.window->meshView()->setSelection({{1, 3}});
    test::settle();
    const auto* records = panel.window->findChild<QDockWidget*>(QStringLiteral("records"));
    QVERIFY(records);
    const int height = records->height();
    for (const TxnPhase phase : {TxnPhase::kPreparing, TxnPhase::kTransferring,
                                 TxnPhase::kVerifying, TxnPhase::kResuming}) {
      auto cluster = test::PanelMove(phase, {62, 58, 64, 41});
      auto& txn = *cluster.transaction;
      for (std::size_t i = txn.flows.size(); i < 24; ++i) txn.flows.push_back(txn.flows[i % 4]);
      if (phase == TxnPhase::kResuming) {  // the GPU is in the job, and flows are still shown
        cluster.jobs.front().mesh = txn.to_mesh;
        cluster.jobs.front().devices = txn.to_devices;
      }
      panel.setSnapshot(cluster);
      test::settle();
      QCOMPARE(records->height(), height);
    }
    panel.setSnapshot(test::PanelGrown());
    test::settle();
    QCOMPARE(records->height(), height);
  }

  // Two cards at once take height from the timeline. It gets it back.
  void aLossAfterAMoveLeavesThePanesAsTheyAre() {
    Panel panel({.operate = true}, test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}));
    panel.window->resize(1440, 900);
    test::settle();
    const auto* records = panel.window->findChild<QDockWidget*>(QStringLiteral("records"));
    panel.window->progressPanel()->dismiss();
    test::settle();
    const int height = records->height();
    panel.setSnapshot(test::PanelGrown());
    test::settle();
    auto lost = test::PanelLost();
    lost.transaction = test::PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}).transaction;
    lost.transaction->id = 9;
    panel.setSnapshot(lost);
    test::settle();
    QVERIFY(records->height() < height);
    panel.setSnapshot(test::PanelGrown());
    panel.window->progressPanel()->dismiss();
    test::settle();
    QCOMPARE(records->height(), height);
  }

  void f6ReachesEveryPane() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    std::set<QWidget*> reached;
    for (int i = 0; i < 5; ++i) {
      QTest::keyClick(panel.window.get(), Qt::Key_F6);
      reached.insert(QApplication::focusWidget());
    }
    QCOMPARE(reached.size(), std::size_t{5});
    QVERIFY(reached.contains(panel.window->meshView()));
    QVERIFY(reached.contains(panel.window->planPanel()->axisBox(ptc::Axis::kDp)));
  }

  void aChangeOfThemeKeepsTheWindow() {
    Panel panel({.operate = true});
    drop(panel, kN1, true);
    QVERIFY(panel.waitForPlan());
    action(panel, "view.themeDark")->trigger();
    QVERIFY(ui::Theme::current().isDark);
    const QImage dark = panel.window->grab().toImage();
    action(panel, "view.themeLight")->trigger();
    QVERIFY(!ui::Theme::current().isDark);
    const QImage light = panel.window->grab().toImage();
    QVERIFY(dark.pixelColor(5, 300).lightness() < 100);
    QVERIFY(light.pixelColor(5, 300).lightness() > 200);
    QCOMPARE(panel.window->draft()->added().size(), std::size_t{4});
  }
};

TESSERA_THEMED_TEST(MainWindowTest)
#include "main_window_test.moc"
