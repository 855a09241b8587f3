// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/records_pane.h"

#include <QHBoxLayout>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kRowHeight = 34;

}  // namespace

RecordsPane::RecordsPane(QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_tabs(new QTabBar(this)),
      m_corners(new QStackedWidget(this)),
      m_pages(new QStackedWidget(this)) {
  m_tabs->setAccessibleName(tr("Timeline and history"));
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setUsesScrollButtons(false);
  m_tabs->setFont(uiFont(12.5));
  m_tabs->setFixedHeight(kRowHeight);
  m_corners->setFixedHeight(kRowHeight);
  m_corners->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(2, 0, 10, 0);
  row->addWidget(m_tabs);
  row->addStretch();
  row->addWidget(m_corners);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 4);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(m_pages, 1);
  connect(m_tabs, &QTabBar::currentChanged, m_corners, &QStackedWidget::setCurrentIndex);
  connect(m_tabs, &QTabBar::currentChanged, m_pages, &QStackedWidget::setCurrentIndex);
}

void RecordsPane::addPage(const QString& title, QWidget* page, QWidget* corner) {
  m_pages->addWidget(page);
  m_corners->addWidget(corner);
  m_tabs->addTab(title);
}

QWidget* RecordsPane::current() const { return m_pages->currentWidget(); }

void RecordsPane::setCurrent(QWidget* page) { m_tabs->setCurrentIndex(m_pages->indexOf(page)); }

}  // namespace tessera::ui
