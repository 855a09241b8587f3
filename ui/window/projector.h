// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The projector mode: larger texts and lines in the views, larger texts in the lesson, a ring
/// around the pointer, and the keys that are pressed.

#include <vector>

class QWidget;

namespace tessera::ui {

class KeyCaster;
class LessonPane;
class PointerRing;
class View;

class Projector {
 public:
  /// All outlive it.
  Projector(QWidget* window, const std::vector<View*>& views, LessonPane& lesson)
      : m_window(window), m_views(views), m_lesson(lesson) {}
  void setOn(bool on);

 private:
  QWidget* m_window;
  const std::vector<View*>& m_views;
  LessonPane& m_lesson;
  KeyCaster* m_keys = nullptr;    // null until the mode is on first
  PointerRing* m_ring = nullptr;  // likewise
};

}  // namespace tessera::ui
