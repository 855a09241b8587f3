// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/tabbed_pane.h"

#include <QHBoxLayout>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace tessera::ui {

TabbedPane::TabbedPane(Tone tone, const QString& name, int rowHeight, QWidget* parent)
    : Surface(tone, parent),
      m_tabs(new QTabBar(this)),
      m_row(new QHBoxLayout),
      m_corners(new QStackedWidget(this)),
      m_pages(new QStackedWidget(this)),
      m_notices(new QVBoxLayout) {
  m_tabs->setAccessibleName(name);
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setUsesScrollButtons(false);
  m_tabs->setFont(uiFont(12.5));
  m_tabs->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Fixed);  // no tab is ever clipped
  m_tabs->setFixedHeight(rowHeight);
  m_corners->setFixedHeight(rowHeight);
  m_corners->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  m_row->setContentsMargins(2, 0, 10, 0);
  m_row->setSpacing(0);
  m_row->addWidget(m_tabs);
  m_row->addWidget(m_corners, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(m_row);
  column->addLayout(m_notices);
  column->addWidget(m_pages, 1);
  connect(m_tabs, &QTabBar::currentChanged, m_corners, &QStackedWidget::setCurrentIndex);
  connect(m_tabs, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
  connect(m_tabs, &QTabBar::currentChanged, this, [this] { emit currentChanged(current()); });
}

void TabbedPane::addPage(const QString& title, QWidget* page, QWidget* corner) {
  m_pages->addWidget(page);
  m_corners->addWidget(corner == nullptr ? new QWidget(m_corners) : corner);
  m_tabs->addTab(title);
}

void TabbedPane::addCommonCorner(QWidget* widget) {
  m_row->insertWidget(1, widget, 1);
  m_row->setStretchFactor(m_corners, 0);
  m_corners->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
}

void TabbedPane::addNotice(QWidget* widget) { m_notices->addWidget(widget); }

QWidget* TabbedPane::current() const { return m_pages->currentWidget(); }

void TabbedPane::setCurrent(QWidget* page) { m_tabs->setCurrentIndex(m_pages->indexOf(page)); }

void TabbedPane::setTabVisible(QWidget* page, bool visible) {
  m_tabs->setTabVisible(m_pages->indexOf(page), visible);
}

}  // namespace tessera::ui
