// SPDX-License-Identifier: Apache-2.0
// The card of a job that has lost GPUs, in each of its states.
#include <QAction>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/start_job_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/language.h"
#include "ui/pages/decision_panel.h"

using namespace tessera;
using engine::LossChoice;
using engine::RecoverySource;
using ui::LossDecision;

namespace {

/// A panel with the card of a loss.
struct Card {
  explicit Card(engine::ClusterSnapshot cluster, ui::WindowOptions options = {.operate = true})
      : panel(std::move(options), std::move(cluster)) {}
  ui::DecisionPanel& card() { return *panel.window->findChild<ui::DecisionPanel*>(); }
  ui::TypedNameDialog* question() { return panel.window->findChild<ui::TypedNameDialog*>(); }
  void choose(int row) { card().rows()[row]->click(); }
  test::Panel panel;
};

engine::DecisionStatus& decisionOf(engine::ClusterSnapshot& cluster) {
  return *cluster.jobs.front().decision;
}

}  // namespace

class DecisionCardTest : public QObject {
  Q_OBJECT

 private slots:
  void withReplicasItContinuesByItself() {
    Card shown(test::PanelLost());
    ui::DecisionPanel& card = shown.card();
    QVERIFY(card.isVisible());
    QCOMPARE(card.headline(), QStringLiteral("n1 was lost. No state of gpt-mini was lost: other "
                                             "GPUs hold a full copy."));
    QCOMPARE(card.countdown(), QStringLiteral("continues by itself in 48 s"));
    QCOMPARE(card.choices(),
             (QStringList{
                 QStringLiteral("Continue with 4 GPUs | 2 × 2 × 1 | 0 steps lost · moves 0 B · "
                                "replicas: n0 would lose 37 MiB · ≈ 6.2 s | ≈ 0.62 s per step, "
                                "was 0.34 s"),
                 QStringLiteral("Wait for n1 | 4 × 2 × 1 | 0 steps lost · continues when its GPUs "
                                "are back | the state stays in memory")}));
    QVERIFY(card.rows().front()->isChecked());  // what happens by itself
    QCOMPARE(card.actButton()->text(), QStringLiteral("Continue"));
    card.actButton()->click();
    shown.choose(1);
    QCOMPARE(card.actButton()->text(), QStringLiteral("Wait"));
    card.actButton()->click();
    QCOMPARE(shown.panel.commands.decided,
             (std::vector<LossDecision>{{LossChoice::kContinue, RecoverySource::kReplicas},
                                        {LossChoice::kWait, {}}}));
    QVERIFY(shown.question() == nullptr);  // no step is lost
  }

  // A mark of the user stays while the countdown goes on, and goes with its choice.
  void theMarkStays() {
    auto cluster = test::PanelLost();
    Card shown(cluster);
    shown.choose(1);
    decisionOf(cluster).seconds_left = 40.1;
    shown.panel.setSnapshot(cluster);
    QCOMPARE(shown.card().countdown(), QStringLiteral("continues by itself in 41 s"));
    QVERIFY(shown.card().rows()[1]->isChecked());
    decisionOf(cluster).awaited.clear();
    shown.panel.setSnapshot(cluster);
    QCOMPARE(shown.card().rows().size(), 1);
    QVERIFY(shown.card().rows().front()->isChecked());
  }

  void whatWasChosenIsSaid() {
    auto cluster = test::PanelLost();
    decisionOf(cluster).chosen = LossChoice::kWait;
    decisionOf(cluster).seconds_left.reset();
    Card shown(cluster);
    QCOMPARE(shown.card().countdown(), QStringLiteral("waits for the lost GPUs"));
    QVERIFY(shown.card().rows()[1]->isChecked() && !shown.card().actButton()->isEnabled());
    shown.choose(0);
    QVERIFY(shown.card().actButton()->isEnabled());

    decisionOf(cluster).chosen = LossChoice::kContinue;
    Card continues(cluster);
    QCOMPARE(continues.card().countdown(), QStringLiteral("continues"));
    QVERIFY(!continues.card().actButton()->isEnabled());
  }

  void aPanelThatMonitorsShowsAllAndChangesNothing() {
    Card shown(test::PanelLost(), {});
    ui::DecisionPanel& card = shown.card();
    QCOMPARE(card.choices().size(), 2);
    for (QPushButton* button : {card.actButton(), card.startOverButton(), card.stopButton()}) {
      QVERIFY(button->isVisible() && !button->isEnabled());
      QVERIFY(!button->toolTip().isEmpty());
    }
    card.actButton()->click();
    QCOMPARE(shown.panel.commands.mutations(), 0);
  }

  void missingLayersAreRanges() {
    Card shown(test::PanelLostState());
    QVERIFY(shown.card().headline().contains(
        QStringLiteral("18 MiB of gpt-mini have no other copy in memory")));
    QCOMPARE(shown.card().sentence(),
             QStringLiteral("Missing: layers 1–2, ln_f.weight. The rest stays in memory."));
    QCOMPARE(shown.card().countdown(), QStringLiteral("waits for your choice"));
    auto cluster = test::PanelLostState();
    decisionOf(cluster).missing_layers = {{3, 3}};
    decisionOf(cluster).missing_others.clear();
    shown.panel.setSnapshot(cluster);
    QVERIFY(shown.card().sentence().startsWith(QStringLiteral("Missing: layer 3. ")));
    // A program of the user may have no layers.
    decisionOf(cluster).missing_layers.clear();
    shown.panel.setSnapshot(cluster);
    QVERIFY(shown.card().sentence().startsWith(
        QStringLiteral("Missing: h.1.attn.qkv.weight [0:512,0:256], ")));
  }

  // What is not known is —, never 0.
  void everyWayBackHasItsCost() {
    const auto cluster = test::PanelLostState();
    Card shown(cluster);
    const std::int64_t step = cluster.jobs.front().step;
    const QStringList rows = shown.card().choices();
    QCOMPARE(rows.size(), 3);
    const auto name = [step](const char* kind, std::int64_t back) {
      return QStringLiteral("%1 of step %2 | 2 × 2 × 1 | ")
          .arg(QString::fromLatin1(kind), QLocale(QLocale::English).toString(step - back));
    };
    QVERIFY2(rows[0].startsWith(name("Snapshot", 7) +
                                QStringLiteral("7 steps lost · reads 26 MiB · replicas: n0 would "
                                               "lose 37 MiB · time: — | ")),
             qPrintable(rows[0]));
    QVERIFY2(rows[1].startsWith(name("Checkpoint", 207) +
                                QStringLiteral("207 steps lost · reads 26 MiB · replicas: — · "
                                               "time: — | ")),
             qPrintable(rows[1]));
    QVERIFY2(rows[2].endsWith(QStringLiteral("continues if its GPUs come back with their state | "
                                             "the rest stays in memory")),
             qPrintable(rows[2]));
    QVERIFY(shown.card().rows()[1]->toolTip().startsWith(
        QStringLiteral("/srv/checkpoints/gpt-mini-step-1000\n")));
  }

  void whatLosesStepsAsksForTheName_data() {
    QTest::addColumn<int>("row");
    QTest::addColumn<int>("source");
    QTest::newRow("snapshot") << 0 << static_cast<int>(RecoverySource::kSnapshot);
    QTest::newRow("checkpoint") << 1 << static_cast<int>(RecoverySource::kCheckpoint);
  }
  void whatLosesStepsAsksForTheName() {
    QFETCH(int, row);
    QFETCH(int, source);
    Card shown(test::PanelLostState());
    shown.choose(row);
    QCOMPARE(shown.card().actButton()->text(), QStringLiteral("Go back…"));
    shown.card().actButton()->click();
    QCOMPARE(shown.panel.commands.mutations(), 0);
    ui::TypedNameDialog* ask = shown.question();
    QVERIFY(ask != nullptr);
    QVERIFY(!ask->actButton()->isEnabled());
    for (const char* almost : {"gpt-min", "GPT-mini", "gpt-mini "}) {
      ask->nameEdit()->setText(QString::fromLatin1(almost));
      QVERIFY2(!ask->actButton()->isEnabled(), almost);
    }
    ask->nameEdit()->setText(QStringLiteral("gpt-mini"));
    ask->actButton()->click();
    QCOMPARE(
        shown.panel.commands.decided,
        (std::vector<LossDecision>{{LossChoice::kContinue, static_cast<RecoverySource>(source)}}));
  }

  // A user may doubt the newest state although nothing is missing.
  void goingBackFromAWholeStateAsksToo() {
    auto cluster = test::PanelLost();
    engine::RecoveryWay back = test::PanelLostState().jobs.front().decision->ways.front();
    decisionOf(cluster).ways.push_back(back);
    Card shown(cluster);
    shown.choose(1);
    shown.card().actButton()->click();
    QVERIFY(shown.question() != nullptr);
    QCOMPARE(shown.panel.commands.mutations(), 0);
  }

  // The state of a node that is back without its memory does not come back.
  void aNodeThatIsBackEmptyIsNotWaitedFor() {
    auto cluster = test::PanelLostState();
    cluster.nodes[1].state = engine::NodeState::kAlive;
    decisionOf(cluster).awaited.clear();
    Card shown(cluster);
    for (const QString& row : shown.card().choices())
      QVERIFY2(!row.contains(QStringLiteral("Wait")), qPrintable(row));
    QVERIFY(!shown.card().startNodesButton()->isVisible());
  }

  // Without any copy the card still has what can be done.
  void withoutAnyCopyItCanBeStoppedOrStartedOver() {
    auto cluster = test::PanelLostState();
    decisionOf(cluster).loss = engine::LossCase::kCheckpointOnly;
    decisionOf(cluster).ways.clear();
    decisionOf(cluster).awaited.clear();
    cluster.jobs.front().state = engine::JobState::kSuspended;
    Card shown(cluster);
    ui::DecisionPanel& card = shown.card();
    QVERIFY(card.isVisible());
    QCOMPARE(card.countdown(), QStringLiteral("cannot continue"));
    QVERIFY(card.choices().isEmpty() && !card.actButton()->isVisible());
    QVERIFY(card.startOverButton()->isEnabled() && card.stopButton()->isEnabled());
    card.stopButton()->click();
    QVERIFY(shown.question() != nullptr);
    shown.question()->nameEdit()->setText(QStringLiteral("gpt-mini"));
    shown.question()->actButton()->click();
    QCOMPARE(shown.panel.commands.acts, std::vector{ui::JobAct::Stop});
  }

  void startingOverStopsTheJobAndAsksHowToStartIt() {
    Card shown(test::PanelLostState());
    shown.card().startOverButton()->click();
    QVERIFY(shown.question() != nullptr);
    QCOMPARE(shown.panel.commands.mutations(), 0);
    shown.question()->nameEdit()->setText(QStringLiteral("gpt-mini"));
    shown.question()->actButton()->click();
    QCOMPARE(shown.panel.commands.acts, std::vector{ui::JobAct::Stop});
    auto* start = shown.panel.window->findChild<ui::StartJobDialog*>();
    QVERIFY(start != nullptr && start->isVisible());
    QCOMPARE(start->request().name, QStringLiteral("gpt-mini"));
    start->reject();
  }

  // Only a cluster on this machine has processes that this panel can start.
  void aNodeOfThisMachineIsStarted_data() {
    QTest::addColumn<QString>("folder");
    QTest::newRow("of this machine") << QStringLiteral("/home/lena/.tessera/clusters/local");
    QTest::newRow("of other machines") << QString();
  }
  void aNodeOfThisMachineIsStarted() {
    QFETCH(QString, folder);
    test::FakeConnections connections;
    connections.known = {test::FakeConnections::remote(QStringLiteral("local"))};
    connections.known.front().folder = folder;
    connections.now = QStringLiteral("local");
    Card shown(test::PanelLost(), {.operate = true, .connections = &connections});
    QPushButton* button = shown.card().startNodesButton();
    QCOMPARE(button->isVisible(), !folder.isEmpty());
    if (folder.isEmpty()) return;
    QCOMPARE(button->text(), QStringLiteral("Start n1"));
    button->click();
    QCOMPARE(shown.panel.commands.requestsOf<ui::NodeRequest>(),
             (std::vector<ui::NodeRequest>{{1, ui::NodeRequest::Act::Start}}));
  }

  void whatItDoesLaterIsSet() {
    Card shown(test::PanelLost());
    emit shown.card().laterBox()->activated(1);
    QCOMPARE(shown.panel.commands.onFailures, std::vector{engine::OnFailure::kShrink});
    shown.panel.setSnapshot(test::PanelGrown());
    QVERIFY(!shown.card().isVisible());
  }

  // A low window has no room for buttons below each other, nor for texts of many lines.
  void aNarrowCardIsLow() {
    Card shown(test::PanelLostState());
    shown.panel.window->resize(1024, 640);
    test::settle();
    ui::DecisionPanel& card = shown.card();
    const auto rows = card.rows();
    const int line = rows[0]->height();
    QVERIFY2(rows[2]->y() - rows[0]->y() < 6 * line,
             qPrintable(QString::number(rows[2]->y() - rows[0]->y())));
    const int y = card.actButton()->mapTo(&card, QPoint()).y();
    QCOMPARE(card.stopButton()->mapTo(&card, QPoint()).y(), y);
    QVERIFY(y + card.actButton()->height() <= card.height());
  }

  void theCardIsGerman() {
    const ui::Language german{QLocale(QLocale::German)};
    Card shown(test::PanelLostState());
    ui::DecisionPanel& card = shown.card();
    QVERIFY2(card.sentence().startsWith(QStringLiteral("Es fehlen: Schichten 1–2, ")),
             qPrintable(card.sentence()));
    QVERIFY2(card.choices()[0].startsWith(QStringLiteral("Snapshot von Schritt ")),
             qPrintable(card.choices()[0]));
    QVERIFY2(card.choices()[2].startsWith(QStringLiteral("Auf n1 warten")),
             qPrintable(card.choices()[2]));
    QCOMPARE(card.startOverButton()->text(), QStringLiteral("Neu anfangen…"));
    QCOMPARE(card.stopButton()->text(), QStringLiteral("Job beenden…"));
    card.actButton()->click();
    QVERIFY(shown.question() != nullptr);
    QVERIFY(shown.question()->windowTitle().startsWith(QStringLiteral("Zurück zu Schritt ")));
  }
};

TESSERA_THEMED_TEST(DecisionCardTest)
#include "decision_card_test.moc"
