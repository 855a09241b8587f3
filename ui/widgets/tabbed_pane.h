// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Pages with tabs; each page can have controls in the row of the tabs.

#include "ui/widgets/surface.h"

class QHBoxLayout;
class QStackedWidget;
class QTabBar;
class QVBoxLayout;

namespace tessera::ui {

class TabbedPane : public Surface {
  Q_OBJECT

 public:
  /// \param name accessible name of the tabs
  TabbedPane(Tone tone, const QString& name, int rowHeight, QWidget* parent = nullptr);
  /// Adds a page and takes ownership. `corner` is shown in the row of the tabs while the page is
  /// shown.
  void addPage(const QString& title, QWidget* page, QWidget* corner = nullptr);
  /// Adds `widget` to the row of the tabs, beside the controls of the page; the owner shows and
  /// hides it.
  void addCommonCorner(QWidget* widget);
  /// Adds `widget` between the tabs and the pages, below earlier ones.
  void addNotice(QWidget* widget);
  QTabBar* tabs() const { return m_tabs; }
  QWidget* current() const;
  void setCurrent(QWidget* page);
  /// Shows or hides the tab of a page. While the page is shown, another one takes its place.
  void setTabVisible(QWidget* page, bool visible);

 signals:
  void currentChanged(QWidget* page);

 private:
  QTabBar* m_tabs;
  QHBoxLayout* m_row;
  QStackedWidget* m_corners;
  QStackedWidget* m_pages;
  QVBoxLayout* m_notices;
};

}  // namespace tessera::ui
