// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The lesson "a change must keep its position in the data": a window with a few steps of text, a
/// question, and three real runs whose losses are drawn while they train.

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

  /// `runner` must outlive the window.
  explicit ConsistencyLesson(ConsistencyRunner& runner, QWidget* parent = nullptr);
  ~ConsistencyLesson() override;

  int step() const { return m_step; }
  void showStep(int step);
  State state() const { return m_state; }
  /// The texts of the step, of the placeholder for the curves, and of the progress.
  QString words() const;
  QString placeholder() const;
  QString progressText() const;
  /// The answer that the user chose, if any.
  std::optional<int> prediction() const;
  void predict(int answer);
  const CurvePlot* plot() const { return m_plot; }
  const KeyValues* numbers() const { return m_numbers; }
  QPushButton* runButton() const { return m_run; }
  QPushButton* saveButton() const { return m_save; }
  QPushButton* nextButton() const { return m_next; }
  QPushButton* backButton() const { return m_back; }
  /// Writes the picture as SVG if the name ends with .svg, else as PNG.
  /// \return whether the file was written
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
  /// Returns whether the curves may be shown: the question must be answered first.
  bool isRevealed() const;
  void refresh();
  void refreshCurves();
  QString textOf(int step) const;
  void choosePicture();

  ConsistencyRunner& m_runner;
  State m_state = State::Empty;
  int m_step = Job;
  std::optional<engine::ConsistencyResult> m_result;  // the result shown, possibly incomplete
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
