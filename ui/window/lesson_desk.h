// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Opens lessons, and does what a step wants of the window: view, colours, selection and camera.

#include <QCoreApplication>
#include <QObject>
#include <functional>
#include <optional>
#include <vector>

#include "ui/canvas/mesh_scene.h"

class QWidget;

namespace tessera::ui {

class ColourBar;
class LessonRecords;
class LessonSession;
class MeshView;
class SelectionModel;
class TabbedPane;
class View;

class LessonDesk : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    LessonSession& lessons;
    LessonRecords& records;
    SelectionModel& selection;
    ColourBar& colours;
    MeshView& mesh;
    TabbedPane& tabs;  // of the views
    const std::vector<View*>& views;
  };
  struct Window {
    std::function<bool()> isShown;  // a lesson is the source
    std::function<void()> show;     // makes it the source
    std::function<void()> refresh;  // gives the state of the session to all parts
    std::function<void(const QString&)> showError;
  };

  /// All parts outlive it.
  LessonDesk(Parts parts, Window window);

  /// Opens a lesson of the program, or a file, and shows it.
  /// \return false: it has a mistake, which is shown
  bool open(const QString& nameOrFile, int step = 0);
  /// Opens the first lesson that is not finished, at its furthest step.
  /// \return false: there is none
  bool openUsual();
  void chooseFile(QWidget* window);
  /// The source has become Lesson: the user's colours are kept, and the step is shown.
  void enter();
  /// The source is about to be another one.
  void leave();

  /// What the lower dock shows in a lesson.
  static QWidget* makeNoRecords(QWidget* parent);

 private:
  void followStep();
  /// Opens the tensor of the step once the view of tensors has its layouts.
  void openTensor(int tries);

  Parts m_parts;
  Window m_window;
  std::optional<ColourBy> m_usualColouring;  // of the user, while a lesson is shown
};

}  // namespace tessera::ui
