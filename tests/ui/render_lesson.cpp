// SPDX-License-Identifier: Apache-2.0
// Draws the steps of the lesson into PNG files, for eyes:
//   render_lesson DIRECTORY [RESULT.json]
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QPushButton>
#include <QTest>
#include <cstdio>

#include "tests/ui/fake_runner.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/plots/curve_plot.h"
#include "ui/theme.h"

using namespace tessera;
using Lesson = ui::ConsistencyLesson;

namespace {

QString g_directory, g_suffix;

void save(QWidget& widget, const QString& name) {
  QTest::qWait(80);
  const QString file = g_directory + u'/' + name + g_suffix + QStringLiteral(".png");
  if (!widget.grab().save(file)) std::fprintf(stderr, "cannot write %s\n", qPrintable(file));
}

void renderSteps(const engine::ConsistencyResult& result) {
  test::FakeRunner runner;
  runner.kept = result;
  Lesson lesson(runner);
  lesson.show();
  for (int step = 0; step < Lesson::kNumSteps; ++step) {
    lesson.showStep(step);
    if (step == Lesson::Predict) lesson.predict(3);
    save(lesson, QStringLiteral("lesson-%1").arg(step + 1));
  }
  lesson.savePicture(g_directory + QStringLiteral("/lesson-picture") + g_suffix +
                     QStringLiteral(".png"));
}

void renderStates(const engine::ConsistencyResult& result) {
  test::FakeRunner runner;
  Lesson lesson(runner);
  lesson.show();
  lesson.predict(0);
  lesson.showStep(Lesson::Watch);
  save(lesson, QStringLiteral("lesson-empty"));
  lesson.runButton()->click();
  ui::LessonProgress now{.doing = ui::LessonProgress::Doing::Training, .runs = 3};
  for (int run = 0; run < 2; ++run) {
    const auto& whole = result.runs[static_cast<std::size_t>(run)];
    now.run = run;
    now.present = whole;
    now.present.points.clear();
    now.fresh = whole.points;
    if (run == 1) now.fresh.resize(now.fresh.size() * 2 / 3);
    now.step = now.fresh.back().step;
    now.steps = result.setup.steps;
    now.secondsLeft = 48;
    runner.progress(now);
  }
  save(lesson, QStringLiteral("lesson-running"));
  runner.done(NotFound("/usr/bin/tessera-agent is missing beside tesseractl"));
  save(lesson, QStringLiteral("lesson-failed"));
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: render_lesson DIRECTORY [RESULT.json]\n");
    return 2;
  }
  g_directory = QString::fromLocal8Bit(argv[1]);
  QDir().mkpath(g_directory);
  engine::ConsistencyResult result = test::FakeRunner::Result3(400);
  if (argc > 2) {
    QFile file(QString::fromLocal8Bit(argv[2]));
    if (!file.open(QIODevice::ReadOnly)) return 1;
    const auto parsed = engine::ParseConsistencyResult(file.readAll().toStdString());
    if (!parsed) {
      std::fprintf(stderr, "%s\n", parsed.error().message.c_str());
      return 1;
    }
    result = *parsed;
  }
  for (const auto mode : {ui::ThemeMode::Light, ui::ThemeMode::Dark}) {
    g_suffix = mode == ui::ThemeMode::Dark ? QStringLiteral("-dark") : QString();
    ui::applyTheme(app, mode);
    renderSteps(result);
    renderStates(result);
  }
  return 0;
}
