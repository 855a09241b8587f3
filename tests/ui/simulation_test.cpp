// SPDX-License-Identifier: Apache-2.0
// Simulated clusters in the panel: how one is started, how the window says that it is simulated,
// and what can be done to it.
#include <QAction>
#include <QInputDialog>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/simulate_dialog.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/state_page.h"

using namespace tessera;
using Act = ui::SimulateRequest::Act;

namespace {

engine::ClusterSnapshot Simulated(double speed, double reached) {
  engine::ClusterSnapshot snapshot = test::PanelCluster();
  snapshot.simulation = engine::SimulationStatus{"h100", speed, reached, 7};
  return snapshot;
}

QAction* ActionOf(test::Panel& panel, const QString& id) {
  panel.window->actions()->refresh();
  return panel.window->actions()->find(id);
}

void Answer(test::Panel& panel, std::optional<Error> error = {}) {
  panel.commands.requestAnswer =
      [error](const ui::Request& request) -> std::optional<Result<ui::Answer>> {
    if (!std::holds_alternative<ui::SimulateRequest>(request)) return std::nullopt;
    if (error) return Result<ui::Answer>(*error);
    return Result<ui::Answer>(ui::Answer(ui::Carried{}));
  };
}

}  // namespace

class SimulationTest : public QObject {
  Q_OBJECT

 private slots:
  void theDialogKeepsTheLimits() {
    ui::SimulateDialog dialog({{QStringLiteral("demo"), QStringLiteral("small")},
                               {QStringLiteral("h100"), QStringLiteral("H100 SXM")}});
    QSignalSpy start(&dialog, &ui::SimulateDialog::startRequested);
    QCOMPARE(dialog.choice(), (ui::SimulationChoice{2, 4, QStringLiteral("demo")}));
    dialog.setChoice({513, 8, QStringLiteral("h100")});
    QVERIFY(!dialog.startButton()->isEnabled());
    QCOMPARE(dialog.problem(), QStringLiteral("4,104 GPUs: at most 4,096 are simulated."));
    dialog.setChoice({512, 8, QStringLiteral("h100")});
    QVERIFY(dialog.startButton()->isEnabled());
    dialog.startButton()->click();
    QCOMPARE(start.count(), 1);
    QCOMPARE(dialog.choice(), (ui::SimulationChoice{512, 8, QStringLiteral("h100")}));
  }

  void theStartPageOffersIt() {
    ui::StatePage page;
    page.showEmpty(true);
    QSignalSpy wanted(&page, &ui::StatePage::simulateRequested);
    page.simulateButton()->click();
    QCOMPARE(wanted.count(), 1);
    page.showEmpty(false);
    QVERIFY(page.simulateButton()->isHidden());
  }

  void theHeaderSaysThatNothingIsReal() {
    test::Panel panel({}, Simulated(20, 20));
    const auto* header = panel.window->findChild<ui::HeaderBar*>();
    QCOMPARE(header->badgeText(), QStringLiteral("SIMULATED 20 ×"));
    panel.setSnapshot(Simulated(0, 0));
    QTRY_COMPARE(header->badgeText(), QStringLiteral("SIMULATED, stopped"));
    panel.setSnapshot(test::PanelCluster());
    QTRY_COMPARE(header->badgeText(), QString());
  }

  void aRealClusterCannotBeSteered() {
    test::Panel panel;
    ActionOf(panel, QStringLiteral("cluster.operate"))->trigger();
    QAction* const action = ActionOf(panel, QStringLiteral("simulation.addNode"));
    QVERIFY(!action->isEnabled());
    QVERIFY(action->toolTip().contains(QStringLiteral("not simulated")));
  }

  void timeAndNodesAreRequested() {
    test::Panel panel({}, Simulated(1, 1));
    Answer(panel);
    QVERIFY(!ActionOf(panel, QStringLiteral("simulation.speed20"))->isEnabled());  // in Monitor
    ActionOf(panel, QStringLiteral("cluster.operate"))->trigger();
    QVERIFY(ActionOf(panel, QStringLiteral("simulation.speed1"))->isChecked());
    ActionOf(panel, QStringLiteral("simulation.speed20"))->trigger();
    ActionOf(panel, QStringLiteral("simulation.addNode"))->trigger();
    const std::vector<ui::SimulateRequest> wanted = {{Act::Speed, 20}, {Act::AddNodes, 1}};
    QCOMPARE(panel.commands.requestsOf<ui::SimulateRequest>(), wanted);
  }

  void aNodeOrGpuIsChosenFirst() {
    test::Panel panel({}, Simulated(1, 1));
    Answer(panel);
    ActionOf(panel, QStringLiteral("cluster.operate"))->trigger();
    const auto choose = [&](const char* id, const QString& name) {
      ActionOf(panel, QString::fromLatin1(id))->trigger();
      auto* const dialog = panel.window->findChild<QInputDialog*>();
      QVERIFY(dialog != nullptr);
      dialog->setTextValue(name);
      dialog->accept();
      QTRY_VERIFY(panel.window->findChild<QInputDialog*>() == nullptr);
    };
    choose("simulation.slowGpu", QStringLiteral("n1g2"));
    choose("simulation.cut", QStringLiteral("n1"));
    choose("simulation.slowPort", QStringLiteral("n0"));
    const std::vector<ui::SimulateRequest> wanted = {
        {Act::Slow, 3, {1, 2}}, {Act::Cut, 20, {1, 0}}, {Act::Port, 0.1, {0, 0}}};
    QCOMPARE(panel.commands.requestsOf<ui::SimulateRequest>(), wanted);
  }
};

TESSERA_THEMED_TEST(SimulationTest)
#include "simulation_test.moc"
