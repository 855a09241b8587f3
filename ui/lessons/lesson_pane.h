// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The pane of the open lesson, in place of the inspector: text, question, task, and the way
/// through the steps; or the list of lessons.

#include <functional>
#include <set>

#include "ptc/mesh.h"
#include "ui/widgets/surface.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QStackedWidget;

namespace tessera::ui {

class LessonList;
class LessonQuestionCard;
class LessonRecords;
class LessonSession;
class LessonSteps;
class LessonTaskCard;
class PipelineBox;

class LessonPane : public Surface {
  Q_OBJECT

 public:
  /// Both must outlive the pane.
  LessonPane(LessonSession& session, LessonRecords& records, QWidget* parent = nullptr);

  /// Shows the list of lessons instead of the open lesson.
  void showList();
  /// Why the experiment of a lesson cannot run here; empty if it can.
  void setExperimentBlocked(const QString& reason);
  /// Makes its texts larger, for the audience of a projector.
  void setEnlarged(bool enlarged);
  /// Checks the answer, or shows the next step.
  void goOn();

  // Parts, for tests and for the order of the focus.
  QString title() const;
  QString text() const;
  LessonQuestionCard* question() const { return m_question; }
  LessonTaskCard* task() const { return m_task; }
  PipelineBox* pipeline() const { return m_pipeline; }
  LessonList* list() const { return m_list; }
  QPushButton* nextButton() const { return m_next; }
  QPushButton* backButton() const { return m_back; }
  QPushButton* startOverButton() const { return m_startOver; }
  QPushButton* experimentButton() const { return m_experiment; }
  QString problem() const;

 signals:
  void lessonChosen(const QString& name);
  void experimentRequested(const QString& name);
  /// The pointer is over the names of these GPUs in a text; empty: over none.
  void devicesHovered(const std::set<tessera::ptc::DeviceId>& devices);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* buildLesson();
  QWidget* buildList();
  /// Runs `change`. If it takes the focus out of the pane, the pane itself gets it.
  void keepFocus(const std::function<void()>& change);
  /// The step is shown from its start.
  void restart();
  void showFirst();
  void refresh();
  /// \pre a lesson is open
  void showStep();
  void hoverLink(const QString& link);

  LessonSession& m_session;
  QString m_experimentReason;
  QStackedWidget* m_stack;
  QLabel *m_number, *m_title, *m_text, *m_problem, *m_notice;
  LessonSteps* m_steps;
  LessonQuestionCard* m_question;
  LessonTaskCard* m_task;
  PipelineBox* m_pipeline;
  LessonList* m_list;
  QScrollArea* m_scroll = nullptr;
  QPushButton *m_all, *m_return, *m_back, *m_startOver, *m_next, *m_experiment;
};

}  // namespace tessera::ui
