// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lesson "why a change must keep its place in the data": a few steps of text, a question, and
/// three real runs whose losses are drawn while they train. In a window of its own.

#include <QWidget>
#include <array>
#include <optional>
#include <vector>

#include "ui/lessons/consistency_runner.h"

class QButtonGroup;
class QLabel;
class QProgressBar;
class QPushButton;
class QStackedLayout;

namespace tessera::ui {

class CurvePlot;
class KeyValues;

class ConsistencyLesson : public QWidget {
  Q_OBJECT

 public:
  enum Step { Job, Mistakes, Predict, Watch, Seen };
  static constexpr int kNumSteps = 5;
  enum class State { Empty, Running, Stopping, Shown, Failed };

  /// `runner` outlives the window.
  explicit ConsistencyLesson(ConsistencyRunner& runner, QWidget* parent = nullptr);
  ~ConsistencyLesson() override;

  int step() const { return m_step; }
  void showStep(int step);
  State state() const { return m_state; }
  /// The words of the step, of the right half where no curves are shown, and of the progress.
  QString words() const;
  QString placeholder() const;
  QString progressText() const;
  /// The answer of the question, once it is given.
  std::optional<int> prediction() const;
  void predict(int answer);
  const CurvePlot* plot() const { return m_plot; }
  const KeyValues* numbers() const { return m_numbers; }
  QPushButton* runButton() const { return m_run; }
  QPushButton* saveButton() const { return m_save; }
  QPushButton* nextButton() const { return m_next; }
  QPushButton* backButton() const { return m_back; }
  /// Writes the picture: SVG where the name ends so, else PNG. \return whether it was written
  bool savePicture(const QString& file);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* buildText();
  QWidget* buildPicture();
  void start();
  void onProgress(const LessonProgress& progress);
  void onDone(Result<engine::ConsistencyResult> result);
  /// Whether curves may be seen: the question is answered before.
  bool isRevealed() const;
  void refresh();
  void refreshCurves();
  QString textOf(int step) const;
  void choosePicture();

  ConsistencyRunner& m_runner;
  State m_state = State::Empty;
  int m_step = Job;
  std::optional<engine::ConsistencyResult> m_result;  // that is shown, perhaps half of it
  QString m_problem;
  LessonProgress m_progress;

  QLabel *m_number, *m_title, *m_text, *m_placeholder, *m_progressText, *m_note;
  QButtonGroup* m_answers;
  QWidget* m_question;
  QPushButton *m_back, *m_next, *m_run, *m_save;
  QProgressBar* m_bar;
  QStackedLayout* m_stack;
  CurvePlot* m_plot;
  KeyValues* m_numbers;
};

}  // namespace tessera::ui
