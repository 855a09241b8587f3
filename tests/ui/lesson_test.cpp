// SPDX-License-Identifier: Apache-2.0 The lesson on consistent data: steps, question, runs, and the
// texts between them.
#include <QAction>
#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_runner.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/lessons/consistency_words.h"
#include "ui/palette/command_palette.h"
#include "ui/plots/curve_plot.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"

using namespace tessera;
using Lesson = ui::ConsistencyLesson;

class LessonTest : public QObject {
  Q_OBJECT

 private slots:
  void stepsAreShort() {
    for (int step = 0; step < Lesson::kNumSteps; ++step) {
      QVERIFY(!ui::consistency_words::title(step).isEmpty());
      const auto words = ui::consistency_words::text(step).split(u' ', Qt::SkipEmptyParts);
      QVERIFY2(words.size() <= 60, qPrintable(QString::number(words.size())));
    }
  }

  void nothingIsSeenBeforeTheAnswer() {
    test::FakeRunner runner;
    runner.kept = test::FakeRunner::Result3(80);
    Lesson lesson(runner);
    lesson.show();
    QVERIFY(!lesson.placeholder().isEmpty());
    QVERIFY(!lesson.runButton()->isEnabled());
    for (int i = 0; i < 5; ++i) lesson.nextButton()->click();
    QCOMPARE(lesson.step(), int{Lesson::Predict});
    QVERIFY(!lesson.nextButton()->isEnabled());
    lesson.showStep(Lesson::Seen);  // nor by another way
    QCOMPARE(lesson.step(), int{Lesson::Predict});
    lesson.predict(0);
    QVERIFY(lesson.nextButton()->isEnabled());
    QVERIFY(!lesson.placeholder().isEmpty());  // until the next step
    lesson.nextButton()->click();
    QCOMPARE(lesson.placeholder(), QString());
    QCOMPARE(lesson.plot()->curves().size(), std::size_t{3});
    QVERIFY(lesson.saveButton()->isEnabled());
    lesson.backButton()->click();
    QVERIFY(!lesson.placeholder().isEmpty());
  }

  void theAnswerIsComparedWithTheRuns_data() {
    QTest::addColumn<int>("answer");
    QTest::addColumn<QString>("begin");
    QTest::newRow("right") << 0 << "As you expected";
    QTest::newRow("wrong") << 1 << "You expected: GPU batch kept. Lower loss than the right job";
  }
  void theAnswerIsComparedWithTheRuns() {
    QFETCH(int, answer);
    QFETCH(QString, begin);
    test::FakeRunner runner;
    runner.kept = test::FakeRunner::Result3(80);
    QCOMPARE(ui::consistency_words::truth(*runner.kept).value_or(9), 0);
    Lesson lesson(runner);
    lesson.predict(answer);
    lesson.showStep(Lesson::Seen);
    QVERIFY2(lesson.words().startsWith(begin), qPrintable(lesson.words()));
    QVERIFY(lesson.words().contains(QStringLiteral("160 samples were read twice")));
    const QString never = QStringLiteral("on the samples never read it is 0.050 ± 0.001 above");
    QVERIFY2(lesson.words().contains(never), qPrintable(lesson.words()));
    QCOMPARE(lesson.numbers()->rows().size(), std::size_t{3});
    QVERIFY(lesson.numbers()->value(QStringLiteral("position lost")).contains(u'2'));
  }

  void runsAreDrawnWhileTheyTrain() {
    test::FakeRunner runner;
    Lesson lesson(runner);
    lesson.show();
    lesson.predict(3);
    lesson.showStep(Lesson::Watch);
    QVERIFY(lesson.placeholder().contains(QStringLiteral("Press Run")));
    QCOMPARE(lesson.runButton()->text(), QStringLiteral("Run"));
    lesson.runButton()->click();
    QCOMPARE(runner.starts, 1);
    QCOMPARE(lesson.state(), Lesson::State::Running);
    QCOMPARE(lesson.progressText(), QStringLiteral("starting a cluster"));

    const auto whole = test::FakeRunner::Result3(80);
    ui::LessonProgress now{.doing = ui::LessonProgress::Doing::Training, .run = 0, .runs = 3};
    now.present = whole.runs[0];
    now.present.points.clear();
    now.steps = 80;
    const auto tell = [&](std::size_t from, std::size_t to) {
      now.fresh.assign(whole.runs[0].points.begin() + static_cast<std::ptrdiff_t>(from),
                       whole.runs[0].points.begin() + static_cast<std::ptrdiff_t>(to));
      now.step = static_cast<std::int64_t>(to);
      now.secondsLeft = 41;
      runner.progress(now);
    };
    tell(0, 20);
    tell(20, 50);
    QCOMPARE(lesson.placeholder(), QString());
    QCOMPARE(lesson.plot()->curves().size(), std::size_t{1});
    QCOMPARE(lesson.plot()->curves()[0].points.size(), std::size_t{50});
    QVERIFY2(lesson.progressText().contains(QStringLiteral("1 of 3: right, step 50 of 80")),
             qPrintable(lesson.progressText()));
    QVERIFY(!lesson.saveButton()->isEnabled());  // half a picture is none
    runner.kept = whole;
    runner.done(whole);
    QCOMPARE(lesson.state(), Lesson::State::Shown);
    QCOMPARE(lesson.plot()->curves().size(), std::size_t{3});
    QCOMPARE(lesson.runButton()->text(), QStringLiteral("Run again"));
  }

  void aStopGoesBackToWhatWasThere() {
    test::FakeRunner runner;
    Lesson lesson(runner);
    lesson.predict(0);
    lesson.showStep(Lesson::Watch);
    lesson.runButton()->click();
    QCOMPARE(lesson.runButton()->text(), QStringLiteral("Stop"));
    lesson.runButton()->click();
    QCOMPARE(runner.cancels, 1);
    QCOMPARE(lesson.state(), Lesson::State::Stopping);
    QVERIFY(!lesson.runButton()->isEnabled());
    runner.done(Cancelled("the experiment was stopped"));
    QCOMPARE(lesson.state(), Lesson::State::Empty);
    QVERIFY(lesson.runButton()->isEnabled());
  }

  void aFailureIsTold() {
    test::FakeRunner runner;
    Lesson lesson(runner);
    lesson.predict(0);
    lesson.showStep(Lesson::Watch);
    lesson.runButton()->click();
    runner.done(NotFound("/x/tessera-agent is missing beside tesseractl"));
    QCOMPARE(lesson.state(), Lesson::State::Failed);
    QVERIFY(lesson.progressText().contains(QStringLiteral("/x/tessera-agent is missing")));
    QVERIFY(!lesson.placeholder().isEmpty());
    lesson.runButton()->click();  // again
    QCOMPARE(runner.starts, 2);
  }

  void picturesAreSaved() {
    test::FakeRunner runner;
    runner.kept = test::FakeRunner::Result3(80);
    Lesson lesson(runner);
    lesson.predict(0);
    lesson.showStep(Lesson::Seen);
    const QTemporaryDir folder;
    const QString png = folder.filePath("a.png"), svg = folder.filePath("a.svg");
    QVERIFY(lesson.savePicture(png));
    QVERIFY(lesson.savePicture(svg));
    const QImage image(png);
    QVERIFY(image.width() == 2 * 920 && image.height() == 2 * 520);
    QVERIFY(QSvgRenderer(svg).isValid());
    QVERIFY(!lesson.savePicture(folder.filePath("none/a.png")));
    QVERIFY(lesson.progressText().startsWith(QStringLiteral("The picture was not saved")));
  }

  void aClosedWindowEndsTheRuns() {
    test::FakeRunner runner;
    auto lesson = std::make_unique<Lesson>(runner);
    lesson->predict(0);
    lesson->showStep(Lesson::Watch);
    lesson->runButton()->click();
    lesson.reset();
    QCOMPARE(runner.cancels, 1);
    runner.progress({});  // nobody listens any more
    runner.done(Cancelled("x"));
  }

  void itIsInMenuAndPalette() {
    test::FakeRunner runner;
    {
      test::Panel panel;
      panel.window->actions()->refresh();
      QAction* action = panel.window->actions()->find(QStringLiteral("help.lesson"));
      QVERIFY(action != nullptr && !action->isEnabled());
    }
    test::Panel panel({.experiment = &runner});
    panel.window->actions()->refresh();
    QAction* action = panel.window->actions()->find(QStringLiteral("help.lesson"));
    QVERIFY(action->isEnabled());
    action->trigger();
    QVERIFY(panel.window->lesson() != nullptr && panel.window->lesson()->isVisible());
    action->trigger();  // the same one
    QTest::keyClick(panel.window->lesson(), Qt::Key_Right);
    QCOMPARE(panel.window->lesson()->step(), int{Lesson::Mistakes});
    QTest::keyClick(panel.window->lesson(), Qt::Key_Left);
    QCOMPARE(panel.window->lesson()->step(), int{Lesson::Job});
    QTest::keyClick(panel.window->lesson(), Qt::Key_Escape);
    QTRY_VERIFY(panel.window->lesson() == nullptr);
  }
};

TESSERA_THEMED_TEST(LessonTest)
#include "lesson_test.moc"
