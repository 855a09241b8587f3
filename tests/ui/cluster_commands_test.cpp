// SPDX-License-Identifier: Apache-2.0
// The commands of the Cluster menu: what they send, what they show, and what must be typed first.
#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QInputDialog>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/dialogs/log_dialog.h"
#include "ui/dialogs/mount_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/models/log_lines.h"
#include "ui/models/shell_words.h"
#include "ui/pages/notice_bar.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/labelled_field.h"

using namespace tessera;

namespace {

QAction* action(test::Panel& panel, const char* id) {
  panel.window->actions()->refresh();
  return panel.window->actions()->find(QString::fromLatin1(id));
}

template <typename Dialog>
Dialog* opened(test::Panel& panel, const char* id) {
  action(panel, id)->trigger();
  return panel.window->findChild<Dialog*>();
}

/// Lets the spy answer one kind of request.
template <typename R>
void answerWith(test::Panel& panel, std::function<Result<typename R::Answer>(const R&)> make) {
  panel.commands.requestAnswer =
      [make = std::move(make)](const ui::Request& request) -> std::optional<Result<ui::Answer>> {
    const R* one = std::get_if<R>(&request);
    if (one == nullptr) return std::nullopt;
    auto answer = make(*one);
    if (!answer) return Result<ui::Answer>(answer.error());
    return Result<ui::Answer>(ui::Answer(std::move(*answer)));
  };
}

void operate(test::Panel& panel) { action(panel, "cluster.operate")->trigger(); }

QString cell(const ui::AnswerDialog* dialog, int row, int column) {
  return dialog->model().index(row, column).data().toString();
}

}  // namespace

class ClusterCommandsTest : public QObject {
  Q_OBJECT

 private slots:
  void wordsAreQuotedForAShell_data() {
    QTest::addColumn<QString>("cluster");
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("line");
    QTest::newRow("plain") << QStringLiteral("lab")
                           << QStringList{QStringLiteral("digest"), QStringLiteral("gpt-mini")}
                           << QStringLiteral("tesseractl --cluster lab digest gpt-mini");
    QTest::newRow("without a name")
        << QString() << QStringList{QStringLiteral("down")} << QStringLiteral("tesseractl down");
    QTest::newRow("blanks and quotes")
        << QStringLiteral("my lab") << QStringList{QStringLiteral("it's")}
        << QStringLiteral("tesseractl --cluster 'my lab' 'it'\\''s'");
  }
  void wordsAreQuotedForAShell() {
    QFETCH(QString, cluster);
    QFETCH(QStringList, words);
    QFETCH(QString, line);
    QCOMPARE(ui::commandLine(cluster, words), line);
  }

  void theJobStopsOnlyAfterItsExactNameWasTyped() {
    test::Panel panel;
    QVERIFY(!action(panel, "cluster.stopJob")->isEnabled());  // before the panel operates
    operate(panel);
    auto* dialog = opened<ui::TypedNameDialog>(panel, "cluster.stopJob");
    QVERIFY(dialog != nullptr);
    for (const char* text : {"", "gpt", "gpt-mini ", "GPT-mini", "gpt-minis"}) {
      dialog->nameEdit()->setText(QString::fromLatin1(text));
      QVERIFY2(!dialog->actButton()->isEnabled(), text);
    }
    QTest::keyClick(dialog->nameEdit(), Qt::Key_Return);  // presses Keep running
    QTRY_VERIFY(panel.window->findChild<ui::TypedNameDialog*>() == nullptr);
    QVERIFY(panel.commands.acts.empty());

    dialog = opened<ui::TypedNameDialog>(panel, "cluster.stopJob");
    QTest::keyClicks(dialog->nameEdit(), QStringLiteral("gpt-mini"));
    QVERIFY(dialog->actButton()->isEnabled());
    dialog->actButton()->click();
    QCOMPARE(panel.commands.acts, std::vector{ui::JobAct::Stop});
  }

  void theDigestIsShownAndCopied() {
    test::Panel panel;
    answerWith<ui::DigestRequest>(panel, [](const ui::DigestRequest& request) {
      return ui::DigestAnswer{request.job, "8f3109c277aa41de", 1284, 3, 1, {{"wte", "00ab"}}};
    });
    QVERIFY(!action(panel, "cluster.digest")->isEnabled());  // the job would pause for it
    operate(panel);
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.digest");
    QVERIFY(dialog != nullptr);
    QVERIFY(dialog->isAsking());
    QVERIFY(dialog->words().contains(QStringLiteral("Waiting")));
    QTRY_VERIFY(!dialog->isAsking());
    QVERIFY2(dialog->words().startsWith(QStringLiteral("8f3109c277aa41de at step 1,284")),
             qPrintable(dialog->words()));
    QCOMPARE(cell(dialog, 0, 1), QStringLiteral("00ab"));
    dialog->copyButton()->click();
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("8f3109c277aa41de"));
    QVERIFY2(dialog->command().startsWith(QStringLiteral("tesseractl --cluster ")),
             qPrintable(dialog->command()));
    QVERIFY(dialog->command().endsWith(QStringLiteral(" digest gpt-mini --tensors")));

    answerWith<ui::DigestRequest>(
        panel, [](const auto&) -> Result<ui::DigestAnswer> { return Unavailable("n1 is silent"); });
    dialog->againButton()->click();
    QTRY_VERIFY(!dialog->isAsking());
    QVERIFY(dialog->words().startsWith(QStringLiteral("The digest could not be computed: ")));
    QVERIFY(dialog->words().contains(QStringLiteral("n1 is silent")));
  }

  void linksAreReadFirstAndMeasuredOnRequest() {
    test::Panel panel;
    answerWith<ui::LinksRequest>(panel, [](const ui::LinksRequest& request) {
      ui::LinksAnswer answer;
      answer.host_bytes_per_second = 12e9;
      answer.network_bytes_per_second = 1e9;
      answer.source = request.measure ? "measured" : "assumed";
      if (request.measure) {
        answer.measured.measured_at = 1'750'000'000;
        answer.measured.links = {{0, 1, {90e6, 110e6, 100e6}, {2, 1 << 20}}};
      }
      return answer;
    });
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.links");
    QTRY_VERIFY(!dialog->isAsking());
    QVERIFY(dialog->words().contains(QStringLiteral("No link of this cluster was measured yet.")));
    QVERIFY(!dialog->copyButton()->isEnabled());
    dialog->againButton()->click();  // in Monitor nothing is measured, because plans would use it
    QVERIFY(dialog->words().startsWith(QStringLiteral("The links could not be measured: ")));
    QCOMPARE(panel.commands.mutations(), 0);
    operate(panel);
    dialog->againButton()->click();
    QTRY_VERIFY(!dialog->isAsking());
    QCOMPARE(panel.commands.requestsOf<ui::LinksRequest>(),
             (std::vector<ui::LinksRequest>{{false}, {true}}));
    QCOMPARE(dialog->model().rowCount(), 1);
    QCOMPARE(cell(dialog, 0, 0), QStringLiteral("n0 → n1"));
    QCOMPARE(cell(dialog, 0, 1), QStringLiteral("100 MB/s"));
    QCOMPARE(cell(dialog, 0, 2), QStringLiteral("90 MB/s"));
    QCOMPARE(cell(dialog, 0, 3), QStringLiteral("110 MB/s"));
  }

  void tuningNeedsOperateAndCanBeStopped() {
    test::Panel panel;
    QVERIFY(!action(panel, "cluster.tuneJob")->isEnabled());
    operate(panel);
    answerWith<ui::TuneRequest>(panel, [](const ui::TuneRequest& request) {
      ui::TuneAnswer answer;
      ui::TuneRow slow{{}, {}, {{0, 0}}, 0.4, 0.5, ""}, fast = slow, broken = slow;
      fast.measured = 0.25;
      broken.measured = 0;
      broken.failure = "no step for 120 s";
      answer.rows = {slow, fast, broken};
      answer.kept = fast;
      answer.stopped = request.steps == 20;
      return answer;
    });
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.tuneJob");
    QVERIFY(!dialog->isAsking());  // it starts on a button
    QVERIFY(panel.commands.requests.empty());
    QVERIFY(dialog->command().contains(QStringLiteral("job tune gpt-mini --limit 4 --steps 12")));
    dialog->againButton()->click();
    QCOMPARE(panel.commands.requestsOf<ui::TuneRequest>(),
             (std::vector<ui::TuneRequest>{{"gpt-mini", 4, 12, true}}));
    for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
      if (button->text() == QStringLiteral("Stop and go back")) button->click();
    }
    QCOMPARE(panel.commands.stops, 1);
    QTRY_VERIFY(!dialog->isAsking());
    QCOMPARE(dialog->words(), QStringLiteral("gpt-mini runs 1 × 1 × 1 on n0g0."));
    QCOMPARE(dialog->model().rowCount(), 3);
    QCOMPARE(dialog->model().marked(), 1);  // the fastest
    QCOMPARE(cell(dialog, 1, 3), QStringLiteral("0.25 s"));
    QCOMPARE(cell(dialog, 2, 3), QStringLiteral("failed"));
    QVERIFY(cell(dialog, 2, 0).contains(QStringLiteral("no step for 120 s")));
  }

  // Its dialog is closed: the window shows it, with a button to stop it.
  void aTuningIsStoppedWithoutItsDialog() {
    test::Panel panel;
    operate(panel);
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.tuneJob");
    dialog->againButton()->click();
    QVERIFY(!action(panel, "cluster.tuneJob")->isEnabled());
    QCOMPARE(action(panel, "cluster.tuneJob")->toolTip(),
             QStringLiteral("gpt-mini is being tuned."));
    dialog->reject();
    QTRY_VERIFY(panel.window->findChild<ui::AnswerDialog*>() == nullptr);
    ui::TuneAnswer part;
    part.doing = {2, 4, {test::Shape(2, 2, 1), {}, {{0, 0}, {0, 1}, {0, 2}, {0, 3}}}};
    panel.commands.heldProgress(part);
    const auto notice = [&]() -> ui::NoticeBar* {
      for (ui::NoticeBar* each : panel.window->findChildren<ui::NoticeBar*>())
        if (each->isVisible() && each->text().startsWith(QStringLiteral("gpt-mini"))) return each;
      return nullptr;
    };
    QTRY_VERIFY(notice() != nullptr);
    QVERIFY2(notice()->text().contains(QStringLiteral("2 of 4: 2 × 2 × 1 on n0g0–n0g3")),
             qPrintable(notice()->text()));
    notice()->actionButton()->click();
    notice()->actionButton()->click();
    QCOMPARE(panel.commands.stops, 1);
    QVERIFY(notice()->text().contains(QStringLiteral("returns to the configuration")));
    ui::TuneAnswer end;
    end.kept = part.doing->row;
    end.stopped = true;
    panel.commands.heldRequest(ui::Answer(end));
    QTRY_VERIFY(notice() == nullptr);
    QVERIFY(action(panel, "cluster.tuneJob")->isEnabled());
  }

  void theFilesAreMountedAndUnmounted() {
    const QTemporaryDir empty, full;
    QVERIFY(QDir(full.path()).mkdir(QStringLiteral("x")));
    test::FakeConnections connections;
    connections.now = QStringLiteral("lab");
    test::Panel panel({.connections = &connections});
    QVERIFY(action(panel, "cluster.mount")->isEnabled());  // a look needs no right to operate
    auto* dialog = opened<ui::MountDialog>(panel, "cluster.mount");
    QVERIFY(dialog != nullptr);
    const auto enter = [&](const QString& path) {
      dialog->folder()->setValue(path);
      emit dialog->folder()->edited();
    };
    QVERIFY(!dialog->mountButton()->isEnabled());
    enter(QStringLiteral("state"));
    QVERIFY(dialog->problem().contains(QStringLiteral("full path")));
    enter(full.path());
    QVERIFY(dialog->problem().contains(QStringLiteral("not empty")));
    enter(empty.path());
    dialog->readOnly()->setChecked(true);
    QCOMPARE(dialog->command()->text(),
             QStringLiteral("tesseractl --cluster lab mount %1 --read-only").arg(empty.path()));
    connections.mountAnswer = Unavailable("fusermount3 is not installed");
    dialog->mountButton()->click();
    QVERIFY(dialog->folder()->problem().contains(QStringLiteral("fusermount3")));
    QVERIFY(dialog->isVisible());
    connections.mountAnswer = OkStatus();
    enter(empty.path());
    dialog->mountButton()->click();
    QTRY_VERIFY(panel.window->findChild<ui::MountDialog*>() == nullptr);
    QCOMPARE(connections.mounts.back(), std::pair(empty.path(), true));
    action(panel, "cluster.mount")->trigger();  // it is mounted already
    QVERIFY(panel.window->findChild<ui::MountDialog*>() == nullptr);
    action(panel, "cluster.unmount")->trigger();
    QVERIFY(!connections.mounted);
  }

  void aCheckpointIsDeletedOnlyAfterItsNameWasTyped() {
    test::Panel panel;
    operate(panel);
    answerWith<ui::CheckpointsRequest>(panel, [](const auto&) {
      engine::CheckpointEntry one;
      one.path = "/srv/gpt-mini-step-1200";
      one.job = "gpt-mini";
      one.step = 1200;
      one.bytes = 1 << 20;
      return std::vector{one};
    });
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.checkpoints");
    QTRY_COMPARE(dialog->model().rowCount(), 1);
    QPushButton *load = nullptr, *remove = nullptr;
    for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
      if (button->text() == QStringLiteral("Delete…")) remove = button;
      if (button->text() == QStringLiteral("Load…")) load = button;
    }
    QVERIFY(load != nullptr && remove != nullptr);
    QVERIFY(!remove->isEnabled());  // no row is chosen
    dialog->table()->selectRow(0);
    QVERIFY(remove->isEnabled());
    remove->click();
    auto* ask = dialog->findChild<ui::TypedNameDialog*>();
    QVERIFY(ask != nullptr);
    QVERIFY(!ask->actButton()->isEnabled());
    ask->nameEdit()->setText(QStringLiteral("gpt-mini-step-1200"));
    ask->actButton()->click();
    QCOMPARE(panel.commands.requestsOf<ui::DeleteCheckpointRequest>(),
             (std::vector<ui::DeleteCheckpointRequest>{{"/srv/gpt-mini-step-1200"}}));
    QTRY_VERIFY(dialog->findChild<ui::TypedNameDialog*>() == nullptr);
    load->click();
    ask = dialog->findChild<ui::TypedNameDialog*>();
    QVERIFY(ask != nullptr);
    ask->nameEdit()->setText(QStringLiteral("gpt-mini"));  // the job, whose state is replaced
    ask->actButton()->click();
    QCOMPARE(
        panel.commands.requestsOf<ui::LoadCheckpointRequest>(),
        (std::vector<ui::LoadCheckpointRequest>{{"gpt-mini", "/srv/gpt-mini-step-1200", false}}));
  }

  void inMonitorNothingOfItChangesTheCluster() {
    test::Panel panel;
    for (const char* id : {"cluster.stopJob", "cluster.tuneJob", "cluster.digest",
                           "cluster.giveUpNode", "cluster.killNode", "cluster.startNode",
                           "cluster.failGpu", "job.onFailureShrink", "plan.throttle"}) {
      QVERIFY2(!action(panel, id)->isEnabled(), id);
      action(panel, id)->trigger();
    }
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void aNodeIsGivenUpAfterItsNameWasTyped() {
    test::Panel panel;
    operate(panel);
    auto* choice = opened<QInputDialog>(panel, "cluster.giveUpNode");
    QVERIFY(choice != nullptr);
    choice->setTextValue(QStringLiteral("n1"));
    choice->accept();
    auto* ask = panel.window->findChild<ui::TypedNameDialog*>();
    QVERIFY(ask != nullptr);
    QVERIFY(panel.commands.requests.empty());
    ask->nameEdit()->setText(QStringLiteral("n1"));
    ask->actButton()->click();
    QCOMPARE(panel.commands.requestsOf<ui::NodeRequest>(),
             (std::vector<ui::NodeRequest>{{1, ui::NodeRequest::Act::GiveUp}}));
  }

  // A node that runs cannot be started, and one that is down cannot be killed.
  void theNodeThatACommandIsForIsOffered() {
    auto cluster = test::PanelCluster();
    cluster.nodes.back().state = engine::NodeState::kDead;
    test::Panel panel({}, cluster);
    operate(panel);
    const std::pair<const char*, const char*> offered[] = {
        {"cluster.startNode", "n1"}, {"cluster.giveUpNode", "n1"}, {"cluster.killNode", "n0"}};
    for (const auto& [id, name] : offered) {
      auto* choice = opened<QInputDialog>(panel, id);
      QVERIFY(choice != nullptr);
      QCOMPARE(choice->textValue(), QLatin1String(name));
      choice->reject();
      QTRY_VERIFY(panel.window->findChild<QInputDialog*>() == nullptr);
    }
  }

  void theMenuSetsWhatHappensAfterALoss() {
    auto cluster = test::PanelCluster();
    test::Panel panel({}, cluster);
    operate(panel);
    QVERIFY(action(panel, "job.onFailureAsk")->isChecked());
    action(panel, "job.onFailureWait")->trigger();
    QCOMPARE(panel.commands.onFailures, std::vector{engine::OnFailure::kWait});
    QVERIFY(action(panel, "job.onFailureAsk")->isChecked());  // until the cluster says otherwise
    QVERIFY(!action(panel, "job.onFailureWait")->isChecked());
    cluster.jobs.front().on_failure = engine::OnFailure::kWait;
    panel.setSnapshot(cluster);
    QVERIFY(action(panel, "job.onFailureWait")->isChecked());
  }

  void newLinesOfALogAreFoundByTheirOverlap() {
    ui::LogLines lines;
    QVERIFY(lines.merge({"info a", "info b"}));
    QVERIFY(!lines.merge({"info a", "info b"}));
    QVERIFY(lines.merge({"info b", "warning c"}));
    QVERIFY(lines.merge({"error: d", "error: d"}));  // nothing of the known lines: all are new
    QCOMPARE(lines.size(), std::size_t{5});
    QCOMPARE(lines.shown(engine::Severity::kWarning, {}),
             (QStringList{QStringLiteral("warning c"), QStringLiteral("error: d"),
                          QStringLiteral("error: d")}));
    QCOMPARE(lines.shown(engine::Severity::kDebug, QStringLiteral("INFO B")),
             QStringList{QStringLiteral("info b")});
    lines.append(std::vector<std::string>(ui::LogLines::kMost, "x"));
    QCOMPARE(lines.size(), ui::LogLines::kMost);
  }

  void severityIsTheFirstWord_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("severity");
    using enum engine::Severity;
    QTest::newRow("agent") << QStringLiteral("warning n1: silent") << static_cast<int>(kWarning);
    QTest::newRow("python") << QStringLiteral("WARNING:root:slow") << static_cast<int>(kWarning);
    QTest::newRow("brackets") << QStringLiteral("[ERROR] x") << static_cast<int>(kError);
    QTest::newRow("trace") << QStringLiteral("Traceback (most recent") << static_cast<int>(kError);
    QTest::newRow("no word") << QStringLiteral("12:00 42") << static_cast<int>(kInfo);
    QTest::newRow("a word with the same begin")
        << QStringLiteral("errorless") << static_cast<int>(kInfo);
  }
  void severityIsTheFirstWord() {
    QFETCH(QString, line);
    QFETCH(int, severity);
    QCOMPARE(static_cast<int>(ui::LogLines::severityOf(line.toStdString())), severity);
  }

  void logsAreFilteredAndFollowed() {
    test::Panel panel;
    answerWith<ui::LogRequest>(panel, [](const ui::LogRequest& request) {
      if (request.job.empty())
        return ui::LogAnswer{{"info joined", "warning slow disk", "error lost"}, 0};
      return ui::LogAnswer{request.from == 0 ? std::vector<std::string>{"step 1", "step 2"}
                                             : std::vector<std::string>{"step 3"},
                           request.from + 2};
    });
    auto* dialog = opened<ui::LogDialog>(panel, "cluster.logs");
    QVERIFY(dialog != nullptr);
    QVERIFY(dialog->words().startsWith(QStringLiteral("Reading")));
    QTRY_COMPARE(dialog->words(), QStringLiteral("3 lines"));
    dialog->severityBox()->setCurrentIndex(1);
    QCOMPARE(dialog->text()->toPlainText(), QStringLiteral("warning slow disk\nerror lost"));
    QCOMPARE(dialog->words(), QStringLiteral("2 of 3 lines"));
    dialog->filterEdit()->setText(QStringLiteral("LOST"));
    QCOMPARE(dialog->text()->toPlainText(), QStringLiteral("error lost"));
    QVERIFY(dialog->command().endsWith(QStringLiteral(" logs n0")));

    dialog->filterEdit()->clear();
    dialog->severityBox()->setCurrentIndex(0);
    dialog->showDevice({0, 1});
    QVERIFY(dialog->command().endsWith(QStringLiteral(" job logs gpt-mini --rank 1")));
    QTRY_COMPARE(dialog->text()->toPlainText(), QStringLiteral("step 1\nstep 2"));
    QTRY_VERIFY_WITH_TIMEOUT(dialog->text()->toPlainText().endsWith(QStringLiteral("step 3")),
                             3 * ui::LogDialog::kFollowMs);
    dialog->followBox()->setChecked(false);
    const auto asked = panel.commands.requests.size();
    QTest::qWait(ui::LogDialog::kFollowMs + 200);
    QCOMPARE(panel.commands.requests.size(), asked);
  }

  void keysAreListedMadeAndRefused() {
    test::FakeConnections connections;
    test::Panel panel({.connections = &connections});
    auto* dialog = opened<ui::AnswerDialog>(panel, "cluster.keys");
    QVERIFY(dialog != nullptr);
    QVERIFY2(dialog->words().startsWith(QStringLiteral("There are no keys in /home/lena/keys")),
             qPrintable(dialog->words()));
    auto* name = dialog->findChild<QLineEdit*>();
    auto* role = dialog->findChild<QComboBox*>();
    QPushButton* make = nullptr;
    for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
      if (button->text() == QStringLiteral("New key")) make = button;
    }
    QVERIFY(name != nullptr && role != nullptr && make != nullptr);
    QVERIFY(!make->isEnabled());
    name->setText(QStringLiteral("lecture"));
    role->setCurrentIndex(0);
    make->click();
    QCOMPARE(connections.ownKeys.size(), 1);
    QCOMPARE(connections.ownKeys.front().role, QStringLiteral("viewer"));
    QCOMPARE(cell(dialog, 0, 0), QStringLiteral("lecture.pub"));
    name->setText(QStringLiteral("lecture"));
    make->click();  // exists
    QCOMPARE(connections.ownKeys.size(), 1);
    QCOMPARE(name->text(), QStringLiteral("lecture"));
  }

  void onlyAClusterOfThisMachineCanBeStopped() {
    test::FakeConnections connections;
    connections.now = QStringLiteral("lab");
    connections.known = {test::FakeConnections::remote(QStringLiteral("lab"))};
    test::Panel panel({.connections = &connections});
    QVERIFY(!action(panel, "cluster.stopLocal")->isEnabled());  // before the panel operates
    operate(panel);
    action(panel, "cluster.stopLocal")->trigger();
    QVERIFY(panel.window->findChild<ui::TypedNameDialog*>() == nullptr);
    connections.known.front().folder = QStringLiteral("/tmp/lab");
    connections.known.front().isRunning = true;
    auto* dialog = opened<ui::TypedNameDialog>(panel, "cluster.stopLocal");
    QVERIFY(dialog != nullptr);
    emit panel.model.cleared();  // another cluster is chosen
    QTRY_VERIFY(panel.window->findChild<ui::TypedNameDialog*>() == nullptr);
    QVERIFY(connections.stopped.isEmpty());
    dialog = opened<ui::TypedNameDialog>(panel, "cluster.stopLocal");
    QVERIFY(dialog != nullptr);
    dialog->nameEdit()->setText(QStringLiteral("lab"));
    dialog->actButton()->click();
    QCOMPARE(connections.stopped, QStringList{QStringLiteral("lab")});
  }

  void theRateOfARunningChangeIsLimited() {
    test::Panel panel({}, test::PanelMove(engine::TxnPhase::kTransferring, {10, 20, 30, 40}));
    operate(panel);
    auto* dialog = opened<QInputDialog>(panel, "plan.throttle");
    QVERIFY(dialog != nullptr);
    dialog->setIntValue(200);
    dialog->accept();
    QCOMPARE(panel.commands.requestsOf<ui::ThrottleRequest>(),
             (std::vector<ui::ThrottleRequest>{{200'000'000}}));
  }
};

TESSERA_THEMED_TEST(ClusterCommandsTest)
#include "cluster_commands_test.moc"
