// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The projector mode: larger texts and lines in the views, a ring around the pointer, and the keys
/// that are pressed.

#include <vector>

class QWidget;

namespace tessera::ui {

class KeyCaster;
class PointerRing;
class View;

class Projector {
 public:
  /// Both outlive it.
  Projector(QWidget* window, const std::vector<View*>& views) : m_window(window), m_views(views) {}
  void setOn(bool on);

 private:
  QWidget* m_window;
  const std::vector<View*>& m_views;
  KeyCaster* m_keys = nullptr;    // null until the mode is on first
  PointerRing* m_ring = nullptr;  // likewise
};

}  // namespace tessera::ui
