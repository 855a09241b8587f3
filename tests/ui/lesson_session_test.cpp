// SPDX-License-Identifier: Apache-2.0
/// \file
/// Lessons in the panel: every step of every lesson forwards and back, questions, tasks, files that
/// are saved again, the progress of the student, and that nothing reaches a cluster.
#include "ui/lessons/lesson_session.h"

#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QButtonGroup>
#include <QCheckBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "engine/lesson/lessons.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_runner.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/widget_checks.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/language.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/lessons/lesson_question.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_task.h"
#include "ui/pages/events_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/theme.h"
#include "ui/views/tensors_view.h"
#include "ui/widgets/key_caster.h"

using namespace tessera;

namespace {

QString write(const QString& file, const QByteArray& bytes) {
  QFile out(file);
  if (!out.open(QIODevice::WriteOnly)) qFatal("cannot write %s", qPrintable(file));
  out.write(bytes);
  return file;
}

QByteArray shippedText(const char* name) {
  const auto text = engine::FindLessonText(name);
  if (!text) qFatal("%s", text.error().ToString().c_str());
  return QByteArray::fromStdString(text->text);
}

/// Answers the question of the step, rightly or wrongly.
void answerStep(ui::LessonSession& session, bool rightly) {
  const engine::LessonAnswer truth = session.answer();
  if (truth.choices.empty()) {
    session.enter(rightly ? truth.value.number : truth.value.number * 7 + 1);
    return;
  }
  const auto right = static_cast<int>(*truth.right);
  session.choose(rightly ? right : (right + 1) % static_cast<int>(truth.choices.size()));
}

/// Drafts the solution of the step's task, as a student would: GPUs first, then degrees.
void solveStep(ui::LessonSession& session) {
  const engine::LessonChange& change = session.script().task->solution;
  const engine::LessonState& state = session.state();
  std::vector<ptc::DeviceId> wanted = change.devices.value_or(std::vector<ptc::DeviceId>());
  if (wanted.empty()) {
    // The present ones and then idle ones, as the plan takes them.
    wanted = state.layout.mesh().devices();
    for (const ptc::DeviceId device : state.world->devices) {
      if (std::ranges::find(wanted, device) == wanted.end()) wanted.push_back(device);
    }
    wanted.resize(static_cast<std::size_t>(change.mesh->num_ranks()));
  }
  std::vector<ptc::DeviceId> in, out;
  for (const ptc::DeviceId device : wanted) {
    if (!session.draft().contains(device)) in.push_back(device);
  }
  for (const ptc::DeviceId device : session.draft().devices()) {
    if (std::ranges::find(wanted, device) == wanted.end()) out.push_back(device);
  }
  session.edit(in, true);
  session.edit(out, false);
  if (change.mesh) {
    for (const ptc::Axis axis : {ptc::Axis::kDp, ptc::Axis::kTp, ptc::Axis::kPp})
      session.draft().pin(axis, (*change.mesh)[axis]);
  }
  engine::StepOptions options = session.drawnOptions();
  options.zero = change.zero.value_or(options.zero);
  options.micro_batch = change.micro_batch.value_or(options.micro_batch);
  session.draft().setOptions(options);
}

}  // namespace

class LessonSessionTest : public QObject {
  Q_OBJECT

 private slots:
  // A German panel shows German lessons, and a file with the translation beside it; other texts
  // are those of the lesson.
  void lessonsAreInTheLanguageOfThePanel() {
    QTemporaryDir folder;
    const QString file =
        write(folder.filePath(QStringLiteral("mine.json")),
              R"({"title": "Mine", "summary": "One.", "job": {"model": "gpt-nano",)"
              R"( "mesh": "dp=2"}, "steps": [{"text": "There are {dp}."}]})");
    const QString translation =
        write(folder.filePath(QStringLiteral("mine.de.json")),
              R"({"title": "Meine", "summary": "Eins.", "steps": [{"text": "Es sind {dp}."}]})");
    ui::LessonRecords records;
    ui::LessonSession session(records);
    {
      const ui::Language german{QLocale(QLocale::German)};
      QCOMPARE(ui::lessonEntries().size(), std::size_t{14});
      QCOMPARE(ui::lessonEntries().front().title, QStringLiteral("Was ein Shard ist"));
      QVERIFY(session.open(QStringLiteral("shards")).has_value());
      QCOMPARE(session.name(), QStringLiteral("shards"));
      QVERIFY(session.filled(session.script().text).contains(QLatin1String("MiB")));
      QVERIFY(session.filled(session.script().text).contains(QLatin1String("Tensoren")));
      QVERIFY(session.open(file).has_value());
      QCOMPARE(session.filled(session.script().text), QStringLiteral("Es sind 2."));
      write(translation, R"({"title": "Meine", "summary": "Eins.", "steps": []})");
      QTRY_VERIFY(session.fileProblem().contains(QLatin1String("mine.de.json:1:")));
      QVERIFY(!session.open(file).has_value());
    }
    const ui::Language english{QLocale(QLocale::English)};
    QCOMPARE(ui::lessonEntries().front().title, QStringLiteral("What a shard is"));
    QVERIFY(session.open(file).has_value());
    QCOMPARE(session.filled(session.script().text), QStringLiteral("There are 2."));
  }

  void everyLessonRunsForwardsAndBack_data() {
    QTest::addColumn<QString>("name");
    for (const ui::LessonEntry& entry : ui::lessonEntries())
      QTest::newRow(qPrintable(entry.name)) << entry.name;
  }
  void everyLessonRunsForwardsAndBack() {
    QFETCH(QString, name);
    ui::LessonRecords records;
    ui::LessonSession session(records);
    session.setAnimated(false);
    QVERIFY(session.open(name).has_value());
    std::vector<engine::ClusterSnapshot> shown;
    for (int step = 0; step < session.numSteps(); ++step) {
      QCOMPARE(session.step(), step);
      shown.push_back(session.model().snapshot());
      QVERIFY(!session.filled(session.script().text).contains(u'{'));
      if (session.script().predict) {
        QVERIFY(!session.nextBlockedReason().isEmpty());
        session.next();
        QCOMPARE(session.step(), step);  // not before the answer
        answerStep(session, step % 2 == 0);
        QCOMPARE(session.given()->right, step % 2 == 0);
      }
      if (session.script().task) {
        QVERIFY(!session.isTaskDone());
        QVERIFY(!records.of(name).finished);  // to look at the last step is not enough
        solveStep(session);
        QVERIFY2(session.isTaskDone(), qPrintable(session.draftProblem()));
        QVERIFY(records.of(name).done.contains(step));
      }
      session.next();
    }
    QVERIFY(records.of(name).finished);
    session.showStep(session.numSteps() - 1);
    for (int step = session.numSteps() - 1; step >= 0; --step) {
      QCOMPARE(session.step(), step);
      QVERIFY(session.model().snapshot() == shown[static_cast<std::size_t>(step)]);
      QVERIFY(session.draft().isEmpty());
      session.back();
    }
    QCOMPARE(session.step(), 0);
  }

  void aLessonIsASourceOfTheWindow() {
    test::Panel panel({.operate = true});
    auto& window = *panel.window;
    const std::size_t planned = panel.commands.planned.size();
    QVERIFY(window.openLesson(QStringLiteral("what-moves")));
    test::settle();
    QCOMPARE(window.lessonPane()->title(), QStringLiteral("What moves when a GPU joins"));
    QVERIFY(window.lessonPane()->isVisible());
    const auto* cell = window.meshView()->scene().find({0, 0});
    QVERIFY(cell != nullptr && cell->inMesh);
    QCOMPARE(window.meshView()->scene().jobName, QStringLiteral("gpt-mini"));
    QVERIFY(!window.meshView()->isReadOnly());  // on the simulated cluster
    QCOMPARE(window.meshView()->selection(), (std::set<ptc::DeviceId>{{0, 0}, {0, 2}}));
    // Nothing of the cluster stands beside it.
    auto* noRecords = window.findChild<QWidget*>(QStringLiteral("noRecords"));
    auto* timeline = window.findChild<ui::TimelinePage*>();
    auto* events = window.findChild<ui::EventsPage*>();
    QVERIFY(noRecords->isVisible() && !timeline->isVisible() && !events->isVisible());
    // Commands to the cluster are blocked.
    window.actions()->refresh();
    QVERIFY(!window.actions()->find(QStringLiteral("plan.apply"))->isEnabled());
    QVERIFY(window.actions()
                ->find(QStringLiteral("plan.apply"))
                ->toolTip()
                .contains(QStringLiteral("lesson")));
    // Esc clears the selection, then returns to live.
    window.actions()->find(QStringLiteral("edit.back"))->trigger();
    window.actions()->find(QStringLiteral("edit.back"))->trigger();
    test::settle();
    QVERIFY(!window.lessonPane()->isVisible());
    QVERIFY(!noRecords->isVisible() && timeline->isVisible() && events->isVisible());
    QVERIFY(!window.meshView()->isReadOnly());
    QCOMPARE(window.meshView()->scene().jobName, QString::fromStdString(panel.model.job()->name));
    // Alt+4 shows the same step again.
    window.lessons().showStep(2);
    window.actions()->find(QStringLiteral("view.lesson"))->trigger();
    test::settle();
    QCOMPARE(window.lessons().step(), 2);
    QVERIFY(window.meshView()->scene().draft);  // the plan of the step
    QCOMPARE(panel.commands.planned.size(), planned);
    QCOMPARE(panel.commands.mutations(), 0);
  }

  void aQuestionIsAnsweredInThePane() {
    test::Panel panel;
    auto& window = *panel.window;
    QVERIFY(window.openLesson(QStringLiteral("what-moves"), 1));
    auto* pane = window.lessonPane();
    QCOMPARE(pane->nextButton()->text(), QStringLiteral("Check"));
    QVERIFY(!pane->nextButton()->isEnabled());
    QCOMPARE(pane->question()->choices()->buttons().size(), 4);
    QVERIFY(pane->question()->choices()->button(1)->accessibleName().startsWith(
        QStringLiteral("37.3 MiB")));
    pane->question()->choices()->button(1)->click();
    pane->nextButton()->click();
    QCOMPARE(pane->question()->verdict(), QStringLiteral("The answer is 75.5 MiB."));
    QVERIFY(!pane->question()->choices()->button(2)->isEnabled());
    QCOMPARE(pane->nextButton()->text(), QStringLiteral("Next"));
    QTest::keyClick(pane, Qt::Key_Space);
    QCOMPARE(window.lessons().step(), 2);
    QTest::keyClick(pane, Qt::Key_Left);
    QCOMPARE(window.lessons().step(), 1);
    pane->startOverButton()->click();
    QCOMPARE(pane->nextButton()->text(), QStringLiteral("Check"));
    QCOMPARE(pane->question()->verdict(), QString());
  }

  // The focus stays in the pane when what has it is disabled or taken away, so that the keys of the
  // lesson go on working.
  void theFocusStaysInThePane() {
    test::Panel panel;
    auto& window = *panel.window;
    QVERIFY(window.openLesson(QStringLiteral("shards")));
    test::settle();
    auto* pane = window.lessonPane();
    const auto isInside = [&] {
      const QWidget* focus = window.focusWidget();
      return focus == pane || pane->isAncestorOf(focus);
    };
    auto& session = window.lessons();
    int questions = 0;
    for (int step = 0; step + 1 < session.numSteps(); ++step) {
      if (session.script().predict) {
        ++questions;
        QVERIFY(!pane->nextButton()->isEnabled());  // Check, before an answer is chosen
        QVERIFY2(isInside(), qPrintable(QString::number(step)));
        // The answer is disabled once it is given.
        auto answers = pane->question()->findChildren<QRadioButton*>();
        QWidget* answer = pane->question()->findChild<QAbstractSpinBox*>();
        if (!answers.isEmpty()) answer = answers.front();
        answer->setFocus();
        answerStep(session, true);
        QVERIFY2(isInside(), qPrintable(QString::number(step)));
      }
      pane->nextButton()->setFocus();
      QTest::keyClick(pane->nextButton(), Qt::Key_Space);
      QVERIFY2(isInside(), qPrintable(QString::number(step)));
      QCOMPARE(session.step(), step + 1);
    }
    QVERIFY(questions > 0);
    while (session.step() > 0) {
      pane->backButton()->setFocus();
      QTest::keyClick(pane->backButton(), Qt::Key_Space);
      QVERIFY(isInside());
    }
    QVERIFY(!pane->backButton()->isEnabled());
  }

  void aTaskIsCheckedAfterEachEdit() {
    test::Panel panel;
    auto& window = *panel.window;
    QVERIFY(window.openLesson(QStringLiteral("what-moves"), 5));
    auto* task = window.lessonPane()->task();
    QVERIFY(!window.meshView()->isReadOnly());
    QVERIFY2(task->conditions().startsWith(QStringLiteral("○ tensor-parallel degree: exactly 4")),
             qPrintable(task->conditions()));
    // Dragging the idle GPUs in drafts on the simulated cluster.
    emit window.meshView()->devicesDropped({{1, 0}, {1, 1}, {1, 2}, {1, 3}}, true);
    test::settle();
    QVERIFY(window.meshView()->scene().draft);
    QVERIFY(window.meshView()->scene().find({1, 3})->inMesh);
    QVERIFY2(task->conditions().contains(QStringLiteral("✓ GPUs of the job: 8")),
             qPrintable(task->conditions()));
    QVERIFY(!window.lessons().isTaskDone());
    task->axisBox(ptc::Axis::kTp)->setValue(4);
    QVERIFY2(window.lessons().isTaskDone(), qPrintable(task->conditions()));
    QCOMPARE(task->conditions().count(u'✓'), 3);
    QCOMPARE(window.lessons().drawnMesh(), *ptc::ParseMeshShape("dp=2,tp=4"));
    task->axisBox(ptc::Axis::kTp)->setValue(3);
    QVERIFY(!window.lessons().isTaskDone());
    QVERIFY(window.lessons().draftProblem().contains(QStringLiteral("dp=2,tp=3,pp=1 has 6 ranks")));
    QVERIFY(panel.window->draft()->isEmpty());  // that of the cluster
  }

  void anyStepCanBeDraftedOn() {
    test::Panel panel;
    auto& window = *panel.window;
    QVERIFY(window.openLesson(QStringLiteral("what-moves"), 1));
    test::settle();
    QVERIFY(window.meshView()->isReadOnly());  // the plan would tell the answer
    emit window.meshView()->devicesDropped({{1, 0}}, true);
    QVERIFY(window.lessons().draft().isEmpty());
    window.lessons().choose(0);
    test::settle();
    QVERIFY(!window.meshView()->isReadOnly());
    QVERIFY(!window.lessonPane()->task()->isVisible());
    emit window.meshView()->devicesDropped({{1, 0}, {1, 1}, {1, 2}, {1, 3}}, true);
    test::settle();
    QVERIFY(window.lessonPane()->task()->isVisible());
    QVERIFY(window.lessons().planSummary() != nullptr);
    QCOMPARE(window.lessonPane()->task()->conditions(), QString());
    window.actions()->refresh();
    window.actions()->find(QStringLiteral("edit.undo"))->trigger();
    QVERIFY(window.lessons().draft().isEmpty());
    window.lessons().edit({{1, 0}}, true);
    window.lessons().startOver();
    QVERIFY(window.lessons().draft().isEmpty() && !window.lessons().given());
    QVERIFY(window.draft()->isEmpty());
  }

  // As in the draft of a cluster: by drag, and by Ctrl+X and Ctrl+V, without a cluster too.
  void gpusAreSwapped() {
    test::Panel panel;
    panel.setSnapshot({});  // no job runs
    auto& window = *panel.window;
    QVERIFY(window.openLesson(QStringLiteral("replicas"), 5));
    test::settle();
    const auto* mesh = window.meshView();
    const auto rankOf = [&](ptc::DeviceId device) { return mesh->scene().find(device)->rank; };
    QCOMPARE(rankOf({0, 1}), std::optional(2));
    emit window.meshView()->swapRequested({{0, 1}}, {{1, 0}});
    test::settle();
    QCOMPARE(rankOf({0, 1}), std::optional(1));
    QCOMPARE(rankOf({1, 0}), std::optional(2));
    const auto plan = window.lessons().planSummary();
    QVERIFY2(plan != nullptr, qPrintable(window.lessons().draftProblem()));
    const std::vector<ptc::DeviceId> wanted = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    QCOMPARE(plan->to_devices, wanted);
    window.actions()->refresh();
    window.actions()->find(QStringLiteral("edit.undo"))->trigger();
    QVERIFY(window.lessons().draft().isEmpty());
    // The next step shows the plan of this swap.
    window.lessons().next();
    test::settle();
    QCOMPARE(window.lessons().planSummary()->to_devices, wanted);
    QCOMPARE(window.lessons().planSummary()->moved(), plan->moved());
    window.meshView()->setSelection({{0, 0}});
    window.actions()->refresh();
    window.actions()->find(QStringLiteral("edit.cut"))->trigger();
    window.meshView()->setSelection({{2, 0}});  // idle: it takes the place
    window.actions()->refresh();
    window.actions()->find(QStringLiteral("edit.paste"))->trigger();
    test::settle();
    QCOMPARE(rankOf({2, 0}), std::optional(0));
    QVERIFY(!rankOf({0, 0}));
    QVERIFY(panel.window->draft()->isEmpty());  // that of the cluster
    // Nothing is edited while the answer is open.
    window.lessons().showStep(1);
    window.actions()->refresh();
    QAction* cut = window.actions()->find(QStringLiteral("edit.cut"));
    QVERIFY(!cut->isEnabled());
    QVERIFY(cut->toolTip().contains(QStringLiteral("Answer the question first.")));
  }

  void aTransferIsShownInMotion() {
    ui::LessonRecords records;
    ui::LessonSession session(records);
    QVERIFY(session.open(QStringLiteral("what-moves"), 3).has_value());
    QVERIFY(session.model().runningTxn() == nullptr);
    session.next();
    QVERIFY(session.model().runningTxn() != nullptr);
    QCOMPARE(session.model().job()->devices.size(), std::size_t{4});
    QTRY_VERIFY(session.model().runningTxn() == nullptr);
    QCOMPARE(session.model().job()->devices.size(), std::size_t{8});
    session.back();
    QCOMPARE(session.model().job()->devices.size(), std::size_t{4});
    session.showStep(4);  // again, and back in the middle of it
    session.back();
    QVERIFY(session.model().runningTxn() == nullptr);
    QCOMPARE(session.model().job()->devices.size(), std::size_t{4});
  }

  void aSavedFileIsReadAgain() {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("mine.json"));
    const QByteArray text = shippedText("what-moves");
    write(file, text);
    test::Panel panel;
    auto& window = *panel.window;
    QVERIFY(window.openLesson(file, 2));
    QVERIFY(window.lessonPane()->problem().isEmpty());
    QByteArray other = text;
    other.replace("This is the plan.", "Behold the plan.");
    write(file, other);
    QTRY_VERIFY(window.lessonPane()->text().startsWith(QStringLiteral("Behold")));
    QCOMPARE(window.lessons().step(), 2);
    QByteArray wrong = other;
    wrong.replace("\"kept_bytes", "\"kept");
    wrong.replace("{\"view\": \"links\"}", "{\"vieww\": \"links\"}");
    write(file, wrong);
    QTRY_VERIFY(window.lessonPane()->problem().contains(QStringLiteral("unknown key 'vieww'")));
    QVERIFY(window.lessonPane()->problem().contains(QStringLiteral("mine.json:")));
    QVERIFY(window.lessonPane()->text().startsWith(QStringLiteral("Behold")));
    write(file, text);
    QTRY_VERIFY(window.lessonPane()->problem().isEmpty());
  }

  void aWrongLessonIsRefused() {
    const QTemporaryDir folder;
    test::Panel panel;
    QVERIFY(!panel.window->openLesson(QStringLiteral("no-such-lesson")));
    QVERIFY(!panel.window->openLesson(
        write(folder.filePath(QStringLiteral("bad.json")), "{\"title\": 1}")));
    QVERIFY(!panel.window->lessons().isOpen());
    QVERIFY(!panel.window->lessonPane()->isVisible());
  }

  void progressIsKept() {
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("lessons.json"));
    {
      ui::LessonRecords records(file);
      records.reach(QStringLiteral("zero"), 2, 5);
      records.reach(QStringLiteral("zero"), 1, 5);
      records.answer(QStringLiteral("zero"), 1, false);
      records.answer(QStringLiteral("zero"), 1, true);  // the first answer counts
      records.finishTask(QStringLiteral("zero"), 4);
    }
    ui::LessonRecords records(file);
    const ui::LessonRecord record = records.of(QStringLiteral("zero"));
    QCOMPARE(record.furthest, 2);
    QVERIFY(record.wrong.contains(1) && record.right.empty() && record.done.contains(4));
    records.reach(QStringLiteral("zero"), 4, 5);
    QCOMPARE(records.numFinished(), 0);  // its task is not done
    records.finish(QStringLiteral("zero"));
    QCOMPARE(records.numFinished(), 1);
    QCOMPARE(ui::LessonRecords(file).numFinished(), 1);
    ui::LessonList list(records);
    QCOMPARE(list.textOf(4), QStringLiteral("✓ ZeRO"));
    QCOMPARE(list.textOf(0), QStringLiteral(" What a shard is"));
  }

  void damagedProgressIsPutAside_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("no json") << QByteArray("{\"version\": 1, \"lessons\": {");
    QTest::newRow("version") << QByteArray("{\"version\": 9, \"lessons\": {}}");
    QTest::newRow("negative step") << QByteArray(
        "{\"version\":1,\"lessons\":{\"zero\":{\"steps\":5,\"furthest\":1,\"right\":[-1],"
        "\"wrong\":[],\"done\":[]}}}");
    QTest::newRow("text") << QByteArray(
        "{\"version\":1,\"lessons\":{\"zero\":{\"steps\":5,\"furthest\":\"x\",\"right\":[],"
        "\"wrong\":[],\"done\":[]}}}");
  }
  void damagedProgressIsPutAside() {
    QFETCH(QByteArray, bytes);
    const QTemporaryDir folder;
    const QString file = write(folder.filePath(QStringLiteral("lessons.json")), bytes);
    ui::LessonRecords records(file);
    QVERIFY(records.notice().contains(file + QStringLiteral(".bad")));
    QVERIFY(QFile::exists(file + QStringLiteral(".bad")) && !QFile::exists(file));
    QCOMPARE(records.of(QStringLiteral("zero")).furthest, -1);
    records.reach(QStringLiteral("zero"), 0, 5);
    QVERIFY(ui::LessonRecords(file).notice().isEmpty());
  }

  void theMenuHasEveryLesson() {
    test::FakeRunner runner;
    test::Panel panel({.experiment = &runner});
    for (const ui::LessonEntry& entry : ui::lessonEntries()) {
      QAction* action = panel.window->actions()->find(QStringLiteral("learn.") + entry.name);
      QVERIFY2(action != nullptr, qPrintable(entry.name));
      QVERIFY(action->text().endsWith(entry.title));
    }
    QAction* next = panel.window->actions()->find(QStringLiteral("learn.next"));
    panel.window->actions()->refresh();
    QVERIFY(!next->isEnabled());  // Page Down belongs to the tables until a lesson is shown
    panel.window->actions()->find(QStringLiteral("learn.consistency"))->trigger();
    panel.window->actions()->refresh();
    QVERIFY(next->isEnabled());
    next->trigger();
    QCOMPARE(panel.window->lessons().step(), 1);
    panel.window->lessons().showStep(2);
    QVERIFY(panel.window->lessonPane()->experimentButton()->isVisible());
    panel.window->lessonPane()->experimentButton()->click();
    QVERIFY(panel.window->lesson() != nullptr);
  }

  void nothingIsClippedInANarrowPane_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QLocale>("locale");
    for (const ui::LessonEntry& entry : ui::lessonEntries()) {
      for (const QLocale::Language language : {QLocale::English, QLocale::German}) {
        QTest::addRow("%s, %s", qPrintable(entry.name),
                      qPrintable(QLocale::languageToString(language)))
            << entry.name << QLocale(language);
      }
    }
  }
  void nothingIsClippedInANarrowPane() {
    QFETCH(QString, name);
    QFETCH(QLocale, locale);
    const ui::Language language(locale);
    test::Panel panel;
    panel.window->resize(1280, 720);
    auto* pane = panel.window->lessonPane();
    QVERIFY(panel.window->openLesson(name));
    for (int step = 0; step < panel.window->lessons().numSteps(); ++step) {
      panel.window->lessons().showStep(step);
      if (panel.window->lessons().script().predict) answerStep(panel.window->lessons(), true);
      test::settle();
      const QStringList clipped = test::clippedTexts(*panel.window);
      QVERIFY2(clipped.isEmpty(), qPrintable(clipped.join(u'\n')));
      for (const QWidget* each : pane->findChildren<QWidget*>()) {
        const bool text = qobject_cast<const QLabel*>(each) != nullptr ||
                          qobject_cast<const QAbstractButton*>(each) != nullptr ||
                          qobject_cast<const QAbstractSpinBox*>(each) != nullptr;
        if (!text || !each->isVisible()) continue;
        const QRect area(each->mapTo(pane, QPoint()), each->size());
        QVERIFY2(area.left() >= 0 && area.right() < pane->width(),
                 qPrintable(QStringLiteral("step %1: %2 to %3 of %4")
                                .arg(step + 1)
                                .arg(area.left())
                                .arg(area.right())
                                .arg(pane->width())));
        QVERIFY2(each->width() >= each->minimumSizeHint().width(),
                 qPrintable(QStringLiteral("step %1: %2 %3, %4 of %5")
                                .arg(step + 1)
                                .arg(QLatin1String(each->metaObject()->className()),
                                     each->property("text").toString())
                                .arg(each->width())
                                .arg(each->minimumSizeHint().width())));
      }
    }
  }

  void namesOfGpusMarkThem() {
    test::Panel panel;
    QVERIFY(panel.window->openLesson(QStringLiteral("replicas")));
    const QString text = panel.window->lessonPane()->text();
    QVERIFY2(text.contains(QStringLiteral("[n0](node:n0)")), qPrintable(text));
    QSignalSpy hovered(panel.window->lessonPane(), &ui::LessonPane::devicesHovered);
    const auto labels = panel.window->lessonPane()->findChildren<QLabel*>();
    const auto label =
        std::ranges::find_if(labels, [&](const QLabel* each) { return each->text() == text; });
    QVERIFY(label != labels.end());
    emit(*label)->linkHovered(QStringLiteral("node:n1"));
    QCOMPARE(hovered.size(), 1);
    QCOMPARE(hovered[0][0].value<std::set<ptc::DeviceId>>(),
             (std::set<ptc::DeviceId>{{1, 0}, {1, 1}}));
  }

  void theTensorOfAStepIsOpened() {
    test::Panel panel;
    QVERIFY(panel.window->openLesson(QStringLiteral("shards"), 1));
    auto* tensors = panel.window->findChild<ui::TensorsView*>();
    QTRY_VERIFY2(tensors->heading().contains(QStringLiteral("mlp.fc1.weight")),
                 qPrintable(tensors->heading()));
  }

  // Texts and lines of the views grow with the projector mode, and shrink again.
  void aProjectorEnlargesTheViews() {
    test::Panel panel;
    QVERIFY(panel.window->openLesson(QStringLiteral("what-moves")));
    panel.window->lessons().showStep(2);  // with a plan, so that there are links
    QAction* projector = panel.window->actions()->find(QStringLiteral("view.projector"));
    const auto mode = qScopeGuard([] { ui::setCanvasEnlarged(false); });
    const auto labels = panel.window->lessonPane()->findChildren<QLabel*>();
    const auto words =
        std::ranges::find(labels, QStringLiteral("Text of the step"), &QLabel::accessibleName);
    QVERIFY(words != labels.end());
    const double usualWords = (*words)->font().pointSizeF();
    for (const char* view : {"view.mesh", "view.tensors", "view.links"}) {
      panel.window->actions()->find(QLatin1String(view))->trigger();
      QTest::qWait(300);  // layouts of tensors are made on a thread
      QWidget* central = panel.window->centralWidget();
      const QImage usual = central->grab().toImage();
      const double text = ui::canvasFont(11).pointSizeF(), line = ui::canvasLine(2);
      projector->trigger();
      test::settle();
      QVERIFY(ui::canvasFont(11).pointSizeF() > 1.2 * text);
      QVERIFY(ui::canvasLine(2) > 1.5 * line);
      QVERIFY((*words)->font().pointSizeF() > 1.2 * usualWords);
      QVERIFY2(central->grab().toImage() != usual, view);
      const QStringList clipped = test::clippedTexts(*panel.window);
      QVERIFY2(clipped.isEmpty(), qPrintable(clipped.join(u'\n')));
      projector->trigger();
      test::settle();
      QTRY_VERIFY2(central->grab().toImage() == usual, view);
      QCOMPARE((*words)->font().pointSizeF(), usualWords);
    }
  }

  // What the audience sees on the canvases: the ring and the keys stand out from each background.
  void theProjectorIsReadable() {
    for (const ui::ThemeMode mode : {ui::ThemeMode::Light, ui::ThemeMode::Dark}) {
      ui::applyTheme(*qApp, mode);
      const ui::Theme& theme = ui::Theme::current();
      QVERIFY(ui::contrast(theme.text, theme.cell) >= 7);
      for (const QColor& background : {theme.canvas, theme.cell, theme.panel})
        QVERIFY(ui::contrast(theme.accent, background) >= 3);
    }
    ui::applyTheme(*qApp, ui::ThemeMode::Light);
  }

  void thePressedKeysAreShown() {
    QWidget window;
    QLabel label(&window);
    QLineEdit field(&window);
    label.setFocusPolicy(Qt::StrongFocus);
    window.resize(600, 300);
    window.show();
    ui::KeyCaster caster(&window);
    const auto press = [](QWidget& focus, Qt::Key key, Qt::KeyboardModifiers modifiers) {
      focus.setFocus();
      QApplication::setActiveWindow(focus.window());
      QTRY_VERIFY(QApplication::focusWidget() == &focus);
      QKeyEvent event(QEvent::ShortcutOverride, key, modifiers);
      QApplication::sendEvent(&focus, &event);
    };
    press(label, Qt::Key_K, Qt::ControlModifier);
    QCOMPARE(caster.text(), QString());  // off
    caster.setActive(true);
    press(label, Qt::Key_K, Qt::ControlModifier);
    QCOMPARE(caster.text(), QStringLiteral("Ctrl+K"));
    press(field, Qt::Key_A, Qt::NoModifier);
    QCOMPARE(caster.text(), QStringLiteral("Ctrl+K"));  // what is typed is not shown
    press(label, Qt::Key_Control, Qt::ControlModifier);
    QCOMPARE(caster.text(), QStringLiteral("Ctrl+K"));
    press(label, Qt::Key_PageDown, Qt::NoModifier);
    QVERIFY(caster.text().startsWith(QStringLiteral("PgDown")));
    QVERIFY(caster.isVisible());
    caster.setActive(false);
    QVERIFY(!caster.isVisible());
  }
};

TESSERA_THEMED_TEST(LessonSessionTest)
#include "lesson_session_test.moc"
