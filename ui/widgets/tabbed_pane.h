// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Pages behind tabs, each with its own controls in the row of the tabs.

#include "ui/widgets/surface.h"

class QHBoxLayout;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace tessera::ui {

class TabbedPane : public Surface {
  Q_OBJECT

 public:
  /// `name` is what a screen reader calls the tabs.
  TabbedPane(Tone tone, const QString& name, int rowHeight, QWidget* parent = nullptr);
  /// `corner` is shown while the page is; without one the row stays empty. Takes both over.
  void addPage(const QString& title, QWidget* page, QWidget* corner = nullptr);
  /// Puts `widget` between the tabs and the pages, under those put there before.
  void addNotice(QWidget* widget);
  QTabBar* tabs() const { return m_tabs; }
  QWidget* current() const;
  void setCurrent(QWidget* page);

 signals:
  void currentChanged(QWidget* page);

 private:
  QTabBar* m_tabs;
  QStackedWidget* m_corners;
  QStackedWidget* m_pages;
  QVBoxLayout* m_notices;
};

}  // namespace tessera::ui
