// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The commands of the Learn menu. There is one for each lesson of the program.

#include "ui/actions/menus.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/presenter.h"
#include "ui/window/side_pane.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

void MainWindow::Impl::addLearnActions() {
  const QString learn = Menus::learn();
  using Keys = QList<QKeySequence>;
  const auto keys = [](const char* text) { return QKeySequence(QLatin1String(text)); };
  const auto id = [](const char* text) { return QString::fromLatin1(text); };
  const auto noLesson = [this] {
    return presenter->isLesson() ? QString() : tr("No lesson is shown.");
  };
  int number = 1;
  for (const LessonEntry& entry : lessonEntries()) {
    const QString name = entry.name;
    QAction* action = actions->add({.id = QStringLiteral("learn.") + name,
                                    .menu = learn,
                                    .text = tr("%1  %2").arg(number++).arg(entry.title),
                                    .statusTip = entry.summary},
                                   [this, name] { lessonDesk->open(name); });
    action->setData(name);  // its texts are those of the lesson
  }
  actions->add({.id = id("learn.list"),
                .menu = learn,
                .text = tr("&All Lessons"),
                .statusTip = tr("Show the list of lessons and what you have finished"),
                .separatorBefore = true},
               [this] {
                 setSource(LayoutSource::Lesson);
                 side->lesson()->showList();
               });
  actions->add({.id = id("learn.open"),
                .menu = learn,
                .text = tr("&Open Lesson File…"),
                .statusTip = tr("Open a lesson that you wrote; it is read again when you save it")},
               [this] { lessonDesk->chooseFile(&window); });
  actions->add({.id = id("learn.next"),
                .menu = learn,
                .text = tr("&Next Step"),
                .statusTip = tr("Check the answer, or show the next step of the lesson"),
                .icon = id("next"),
                .shortcuts = Keys{keys("PgDown")},
                .separatorBefore = true,
                .blocked = noLesson},
               [this] { side->lesson()->goOn(); });
  actions->add({.id = id("learn.back"),
                .menu = learn,
                .text = tr("Step &Back"),
                .statusTip = tr("Show the step before, exactly as it was"),
                .icon = id("previous"),
                .shortcuts = Keys{keys("PgUp")},
                .blocked = noLesson},
               [this] { lessons.back(); });
  actions->add({.id = id("learn.startOver"),
                .menu = learn,
                .text = tr("&Start the Step Over"),
                .statusTip = tr("Show this step again, without your draft and your answer"),
                .icon = id("refresh"),
                .blocked = noLesson},
               [this] { lessons.startOver(); });
  actions->add({.id = id("help.lesson"),
                .menu = learn,
                .text = tr("&Experiment: Keeping the Position in the Data…"),
                .statusTip = tr("Train a job three times on this machine, right and wrong, and see "
                                "what a change of GPUs can cost"),
                .icon = id("play"),
                .separatorBefore = true,
                .blocked =
                    [this] {
                      return start.experiment == nullptr
                                 ? tr("This panel cannot start programs on this machine.")
                                 : QString();
                    }},
               [this] { dialogs->openExperiment(); });
}

}  // namespace tessera::ui
