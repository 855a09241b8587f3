// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The bottom left pane: pages behind tabs, each with its own controls at the right end of the row.

#include "ui/widgets/surface.h"

class QHBoxLayout;
class QStackedWidget;
class QTabBar;

namespace tessera::ui {

class RecordsPane : public Surface {
  Q_OBJECT

 public:
  explicit RecordsPane(QWidget* parent = nullptr);
  /// `corner` is shown while the page is. Takes both over.
  void addPage(const QString& title, QWidget* page, QWidget* corner);
  QTabBar* tabs() const { return m_tabs; }
  QWidget* current() const;
  void setCurrent(QWidget* page);

 private:
  QTabBar* m_tabs;
  QStackedWidget* m_corners;
  QStackedWidget* m_pages;
};

}  // namespace tessera::ui
