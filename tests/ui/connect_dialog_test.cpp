// SPDX-License-Identifier: Apache-2.0
#include "ui/dialogs/connect_dialog.h"

#include <QApplication>
#include <QCheckBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/agent_tests.h"
#include "ui/dialogs/profile_fields.h"
#include "ui/dialogs/profile_form.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/lessons/lesson_session.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/state_page.h"
#include "ui/settings/settings.h"
#include "ui/theme.h"

using namespace tessera;
using test::FakeConnections;
using ui::AgentTest;
using ui::ConnectDialog;
using ui::ProfileFields;
using ui::ProfileForm;

class ConnectDialogTest : public QObject {
  Q_OBJECT

 private slots:
  void rowsOfATest() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("lab-a"))};
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    dialog.show();
    dialog.testButton()->click();
    QVERIFY(dialog.isTesting());
    QCOMPARE(dialog.testButton()->text(), QStringLiteral("Cancel"));
    using enum AgentTest::Verdict;
    for (const auto verdict :
         {Reached, VersionMismatch, KeyRefused, ClockSkew, Unreachable, Warning}) {
      connections.row({QStringLiteral("n0"), verdict, QStringLiteral("found"),
                       verdict == Reached ? QString() : QStringLiteral("mend it")});
    }
    QCOMPARE(dialog.tests()->tests().size(), std::size_t{6});
    std::set<QString> words;
    for (const AgentTest& row : dialog.tests()->tests()) {
      QVERIFY(words.insert(ui::AgentTests::text(row.verdict)).second);
    }
    std::exchange(connections.testDone, nullptr)(OkStatus());
    QVERIFY(!dialog.isTesting());
    QCOMPARE(dialog.testButton()->text(), QStringLiteral("Test"));
  }

  void aTestIsCancelled() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("lab-a"))};
    ui::Settings settings;
    std::function<void(AgentTest)> late;
    {
      ConnectDialog dialog(connections, settings);
      dialog.testButton()->click();
      late = connections.row;
      dialog.testButton()->click();
      QVERIFY(!dialog.isTesting());
      late({QStringLiteral("n0")});
      QVERIFY(dialog.tests()->tests().empty());
      dialog.testButton()->click();
      late = connections.row;
    }
    QVERIFY(!connections.testDone);  // the dialog that went away ended it
    late({QStringLiteral("n0")});    // and no result arrives afterwards
  }

  void forgetAndUndo() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("lab-a")),
                         FakeConnections::remote(QStringLiteral("lab-b"))};
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    dialog.list()->setCurrentRow(1);
    dialog.forgetButton()->click();
    QCOMPARE(connections.known.size(), 1);
    QCOMPARE(dialog.list()->count(), 1);
    QVERIFY(!dialog.toast()->isHidden());
    dialog.toast()->actionButton()->click();
    QCOMPARE(connections.known.size(), 2);
    QCOMPARE(dialog.list()->count(), 2);
    QVERIFY(dialog.toast()->isHidden());
  }

  void aRunningLocalClusterIsNotForgotten() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("local"))};
    connections.known[0].folder = QStringLiteral("/tmp");
    connections.known[0].isRunning = true;
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    QVERIFY(!dialog.forgetButton()->isEnabled());
    QVERIFY(dialog.forgetButton()->toolTip().contains(QStringLiteral("tesseractl down")));
  }

  void unreadableProfilesAreSaid() {
    FakeConnections connections;
    ui::ProfileInfo broken;
    broken.name = QStringLiteral("half");
    broken.problem = QStringLiteral("half.json:3: not JSON");
    connections.known = {broken};
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    QVERIFY(!dialog.connectButton()->isEnabled());
    QVERIFY(!dialog.testButton()->isEnabled());
    QVERIFY(dialog.forgetButton()->isEnabled());
  }

  void emptyStateStartsACluster() {
    FakeConnections connections;
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    QVERIFY(dialog.isEmpty());
    QSignalSpy start(&dialog, &ConnectDialog::startLocalRequested);
    dialog.startButton()->click();
    QCOMPARE(start.count(), 1);
  }

  void connects() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("lab-a"))};
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    QSignalSpy asked(&dialog, &ConnectDialog::connectRequested);
    dialog.connectButton()->click();
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked[0][0].toString(), QStringLiteral("lab-a"));
  }

  void fieldsAreChecked_data() {
    QTest::addColumn<QString>("problem");
    QTest::addColumn<bool>("good");
    const auto row = [](const char* name, const QString& problem, bool good) {
      QTest::newRow(name) << problem << good;
    };
    const QString key = FakeConnections::remote({}).serverKey;
    row("name", ProfileFields::nameProblem(QStringLiteral("lab-a"), {}), true);
    row("no name", ProfileFields::nameProblem({}, {}), false);
    row("capitals", ProfileFields::nameProblem(QStringLiteral("Lab"), {}), false);
    row("taken",
        ProfileFields::nameProblem(QStringLiteral("lab"),
                                   {FakeConnections::remote(QStringLiteral("lab"))}),
        false);
    row("endpoint", ProfileFields::endpointProblem(QStringLiteral("tcp://h.x:1")), true);
    row("IPv6", ProfileFields::endpointProblem(QStringLiteral("tcp://[fe80::1]:40001")), true);
    row("no scheme", ProfileFields::endpointProblem(QStringLiteral("10.0.0.5:40001")), false);
    row("no port", ProfileFields::endpointProblem(QStringLiteral("tcp://10.0.0.5")), false);
    row("port 0", ProfileFields::endpointProblem(QStringLiteral("tcp://h:0")), false);
    row("port 65536", ProfileFields::endpointProblem(QStringLiteral("tcp://h:65536")), false);
    row("same port",
        ProfileFields::eventsProblem(QStringLiteral("tcp://h:1"), QStringLiteral("tcp://h:1")),
        false);
    row("key", ProfileFields::keyProblem(key), true);
    row("short key", ProfileFields::keyProblem(key.left(39)), false);
    row("not Z85", ProfileFields::keyProblem(key.left(39) + QLatin1Char('"')), false);
    row("key file", ProfileFields::keyFileProblem(QStringLiteral("/proc/self/status")), true);
    row("relative", ProfileFields::keyFileProblem(QStringLiteral("keys/me")), false);
    row("no file", ProfileFields::keyFileProblem(QStringLiteral("/no/such/file")), false);
    row("folder", ProfileFields::keyFileProblem(QStringLiteral("/tmp")), false);
  }
  void fieldsAreChecked() {
    QFETCH(QString, problem);
    QTEST(problem.isEmpty(), "good");
    QVERIFY(!problem.contains(QLatin1Char('\n')));
  }

  void addByFieldsAndByPaste() {
    FakeConnections connections;
    ui::Settings settings;
    ConnectDialog dialog(connections, settings);
    dialog.addButton()->click();
    ProfileForm& form = *dialog.form();
    QVERIFY(!form.addButton()->isEnabled());
    for (int field = 0; field < ProfileForm::NUM_FIELDS; ++field) {
      QVERIFY(form.problem(static_cast<ProfileForm::Field>(field)).isEmpty());
    }
    QTest::keyClicks(form.edit(ProfileForm::Registrar), QStringLiteral("10.0.0.5"));
    QVERIFY(form.problem(ProfileForm::Registrar).contains(QStringLiteral("tcp://HOST:PORT")));

    form.pasteEdit()->setPlainText(QStringLiteral("registrar: nowhere"));
    QVERIFY(!form.addButton()->isEnabled());
    form.pasteEdit()->setPlainText(QStringLiteral("{}"));
    QCOMPARE(form.profile().name, QStringLiteral("pasted"));
    // /dev/null is no ordinary file.
    QVERIFY(!form.problem(ProfileForm::KeyFile).isEmpty());
    form.edit(ProfileForm::KeyFile)->clear();
    QTest::keyClicks(form.edit(ProfileForm::KeyFile), QStringLiteral("/proc/self/status"));
    QVERIFY(form.addButton()->isEnabled());
    form.addButton()->click();
    QCOMPARE(connections.known.size(), 1);
    QCOMPARE(dialog.chosen(), QStringLiteral("pasted"));
  }

  void readOnlyProfilesCannotBeArmed() {
    FakeConnections connections;
    connections.known = {FakeConnections::remote(QStringLiteral("lab-a")),
                         FakeConnections::remote(QStringLiteral("lab-b"))};
    connections.now = QStringLiteral("lab-b");
    ui::Settings settings;
    ui::ProfileTag{QStringLiteral("red"), true}.store(settings, QStringLiteral("lab-a"));
    test::Panel panel({.operate = true, .settings = &settings, .connections = &connections});
    QVERIFY(panel.window->isOperating());
    {
      ConnectDialog& dialog = open(panel);
      dialog.list()->setCurrentRow(0);
      dialog.connectButton()->click();
    }
    QCOMPARE(connections.connected, QStringList{QStringLiteral("lab-a")});
    QVERIFY(!panel.window->isOperating());
    QAction* operate = panel.window->actions()->find(QStringLiteral("cluster.operate"));
    panel.window->actions()->refresh();
    QVERIFY(!operate->isEnabled());
    {
      ConnectDialog& dialog = open(panel);
      dialog.list()->setCurrentRow(1);
      dialog.connectButton()->click();
    }
    panel.window->actions()->refresh();
    QVERIFY(operate->isEnabled());
  }

  void localClusterFromTheEmptyPage() {
    FakeConnections connections;
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {.connections = &connections});
    window.show();
    model.flush();
    auto* page = window.findChild<ui::StatePage*>();
    QVERIFY(page->startButton()->isVisible());
    QVERIFY(page->connectButton()->isVisible());
    QVERIFY(page->openButton()->isVisible());
    page->startButton()->click();
    QCOMPARE(connections.started, 1);
    QVERIFY(!page->startButton()->isVisible());
    connections.progress(QStringLiteral("1 of 2 agents started"));
    QVERIFY(page->title().contains(QStringLiteral("Starting")));
    connections.startDone(QStringLiteral("local"));
    QCOMPARE(connections.connected, QStringList{QStringLiteral("local")});
  }

  void slowLinksAreOfferedWithTheirCommand() {
    FakeConnections connections;
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {.connections = &connections});
    window.show();
    model.flush();
    auto* page = window.findChild<ui::StatePage*>();
    QVERIFY(page->slowLinksBox()->isVisible() && !page->slowLinksBox()->isChecked());
    QCOMPARE(page->command(), QStringLiteral("tesseractl up"));
    page->slowLinksBox()->click();
    QCOMPARE(page->command(), QStringLiteral("tesseractl up --link 100MB/s"));
    page->showEmpty(true);  // the page is refreshed
    QCOMPARE(page->command(), QStringLiteral("tesseractl up --link 100MB/s"));
    page->startButton()->click();
    QCOMPARE(connections.local, std::optional(ui::LocalChoice{2, 4, 100'000'000}));
    QVERIFY(!page->slowLinksBox()->isVisible());
  }

  void theEmptyPageOffersLessonsAndADemo() {
    FakeConnections connections;
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {.connections = &connections});
    window.show();
    model.flush();
    auto* page = window.findChild<ui::StatePage*>();
    QVERIFY(page->learnButton()->isVisible() && page->demoButton()->isVisible());
    page->learnButton()->click();
    test::settle();
    QVERIFY(window.lessonPane()->isVisible());
    QVERIFY(window.lessons().isOpen());
    QVERIFY(!page->isVisible());
    page->demoButton()->click();
    QVERIFY(connections.simulated.has_value() && connections.simulated->demo);
    connections.startDone(QStringLiteral("simulated"));
    QCOMPARE(connections.connected, QStringList{QStringLiteral("simulated")});
    // Lessons need no connections, a demo does.
    page->showEmpty(false);
    QVERIFY(!page->learnButton()->isHidden() && page->demoButton()->isHidden());
  }

  void aStartThatFailsIsSaid() {
    FakeConnections connections;
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    ui::MainWindow window(model, commands, {.connections = &connections});
    window.show();
    auto* page = window.findChild<ui::StatePage*>();
    page->startButton()->click();
    connections.startDone(Timeout("n1 did not come up"));
    QVERIFY(page->startButton()->isVisible());
    bool said = false;
    for (auto* notice : window.findChildren<ui::NoticeBar*>()) {
      said |= notice->isVisible() && notice->text().contains(QStringLiteral("n1 did not come up"));
    }
    QVERIFY(said);
  }

  void aStoppedClusterIsStartedAgain() {
    FakeConnections connections;
    connections.now = QStringLiteral("local");
    connections.afterStop = {QStringLiteral("local"), true, QStringLiteral("/c/history.db")};
    test::Panel panel({.operate = true, .connections = &connections});
    auto* page = panel.window->findChild<ui::StatePage*>();
    QVERIFY(!page->isVisible());
    panel.model.setStopped({1'750'000'000, QStringLiteral("lena: tesseractl, lena@lab3")});
    panel.model.flush();
    QVERIFY(page->isVisible());
    QVERIFY(page->title().startsWith(QStringLiteral("local was stopped at ")));
    QVERIFY(!panel.window->actions()->find(QStringLiteral("plan.apply"))->isEnabled());
    for (auto* bar : panel.window->findChildren<ui::NoticeBar*>())
      QVERIFY2(!bar->isVisible(), qPrintable(bar->text()));  // nothing is lost or tried again
    panel.model.setSnapshot(test::PanelCluster());
    panel.model.flush();
    QCOMPARE(connections.askedStopped, QStringList{QStringLiteral("local")});  // it reads files

    page->historyButton()->click();
    QCOMPARE(connections.opened, QStringLiteral("/c/history.db"));
    page->startAgainButton()->click();
    QCOMPARE(connections.startedAgain, QStringList{QStringLiteral("local")});
    QVERIFY(page->title().contains(QStringLiteral("Starting")));
    connections.startDone(QStringLiteral("local"));
    QCOMPARE(connections.connected, QStringList{QStringLiteral("local")});
    panel.model.setLink(ui::LinkState::Connected, {});
    panel.model.flush();
    QVERIFY(!page->isVisible());
  }

  void aHistoryFileIsNotLive() {
    FakeConnections connections;
    test::Panel panel({.operate = true, .connections = &connections});
    panel.model.clear(QStringLiteral("/tmp/lab-a.db"));
    panel.model.setLink(ui::LinkState::Connected, {});
    engine::ClusterSnapshot file;
    file.jobs = test::PanelCluster().jobs;
    panel.setSnapshot(file);
    auto* page = panel.window->findChild<ui::StatePage*>();
    QVERIFY(page->isVisible());
    QVERIFY(page->title().contains(QStringLiteral("not a live cluster")));
    QVERIFY(!panel.window->actions()->find(QStringLiteral("plan.apply"))->isEnabled());
    QVERIFY(panel.window->actions()
                ->find(QStringLiteral("view.draft"))
                ->toolTip()
                .contains(QStringLiteral("history file")));
    QCOMPARE(panel.commands.mutations(), 0);
  }

 private:
  static ConnectDialog& open(test::Panel& panel) {
    panel.window->actions()->find(QStringLiteral("file.connect"))->trigger();
    return *panel.window->findChildren<ConnectDialog*>().last();
  }
};

TESSERA_THEMED_TEST(ConnectDialogTest)
#include "connect_dialog_test.moc"
