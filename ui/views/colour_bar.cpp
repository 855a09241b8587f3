// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/colour_bar.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include "ui/widgets/key_values.h"
#include "ui/widgets/legend.h"

namespace tessera::ui {

ColourBar::ColourBar(QWidget* parent)
    : QWidget(parent),
      m_groupCaption(new QLabel(tr("group by"), this)),
      m_groupBox(new QComboBox(this)),
      m_box(new QComboBox(this)),
      m_legend(new Legend(this)) {
  setRole(m_groupCaption, QStringLiteral("hint"));
  m_groupBox->setProperty("flat", true);
  for (int i = 0; i < kNumGroupings; ++i) {
    m_groupBox->addItem(text(static_cast<GroupBy>(i)), i);
  }
  m_groupBox->setAccessibleName(tr("Content of the frames"));
  m_groupBox->setStatusTip(tr("What a frame of the mesh contains"));
  m_groupBox->view()->setAccessibleName(m_groupBox->accessibleName());
  m_groupCaption->setBuddy(m_groupBox);
  auto* caption = new QLabel(tr("colour by"), this);
  setRole(caption, QStringLiteral("hint"));
  m_box->setProperty("flat", true);
  for (int i = 0; i < kNumColourings; ++i) m_box->addItem(text(static_cast<ColourBy>(i)), i);
  m_box->setAccessibleName(tr("Meaning of the colours"));
  m_box->setStatusTip(tr("Meaning of the colours in all views"));
  m_box->view()->setAccessibleName(m_box->accessibleName());
  caption->setBuddy(m_box);
  auto* row = new QHBoxLayout(this);
  row->setSizeConstraint(QLayout::SetNoConstraint);  // minimumSizeHint() says what is needed
  row->setContentsMargins(16, 0, 0, 0);
  row->addWidget(m_groupCaption);
  row->addWidget(m_groupBox);
  row->addWidget(caption);
  row->addWidget(m_box);
  row->addStretch();
  row->addWidget(m_legend);
  connect(m_box, &QComboBox::currentIndexChanged, this, [this] {
    m_isolated.reset();
    emit changed();
  });
  connect(m_groupBox, &QComboBox::currentIndexChanged, this, &ColourBar::changed);
  connect(m_legend, &Legend::isolateRequested, this, [this](std::optional<int> swatch) {
    m_isolated = swatch;
    emit changed();
  });
}

GroupBy ColourBar::grouping() const { return static_cast<GroupBy>(m_groupBox->currentIndex()); }

void ColourBar::setGrouping(GroupBy by) { m_groupBox->setCurrentIndex(static_cast<int>(by)); }

void ColourBar::setGroupingShown(bool shown) {
  m_groupingShown = shown;
  updateGeometry();
  fit();
}

void ColourBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

int ColourBar::groupingWidth() const {
  return m_groupCaption->sizeHint().width() + m_groupBox->sizeHint().width() +
         2 * layout()->spacing();
}

// Without the choice of frames.
int ColourBar::othersWidth(QSize (QWidget::*hint)() const) const {
  const QMargins margins = layout()->contentsMargins();
  int width = margins.left() + margins.right() - layout()->spacing();
  for (int i = 0; i < layout()->count(); ++i) {
    const QWidget* widget = layout()->itemAt(i)->widget();
    if (widget == nullptr || widget == m_groupCaption || widget == m_groupBox) continue;
    width += (widget->*hint)().width() + layout()->spacing();
  }
  return width;
}

// With the choice also while it is hidden, so that it comes back with the room for it.
QSize ColourBar::sizeHint() const {
  return {othersWidth(&QWidget::sizeHint) + (m_groupingShown ? groupingWidth() : 0),
          QWidget::sizeHint().height()};
}

// Without it, so that the bar can become too narrow for it.
QSize ColourBar::minimumSizeHint() const {
  return {othersWidth(&QWidget::minimumSizeHint), QWidget::minimumSizeHint().height()};
}

void ColourBar::fit() {
  const int least = othersWidth(&QWidget::sizeHint) - m_legend->sizeHint().width() +
                    m_legend->minimumSizeHint().width();
  const bool fits = m_groupingShown && width() >= least + groupingWidth();
  m_groupCaption->setVisible(fits);
  m_groupBox->setVisible(fits);
}

ColourBy ColourBar::colouring() const { return static_cast<ColourBy>(m_box->currentIndex()); }

void ColourBar::setColouring(ColourBy by) { m_box->setCurrentIndex(static_cast<int>(by)); }

void ColourBar::setScene(const MeshScene& scene) {
  m_isolated = scene.isolated;
  m_legend->setEntries(scene.legend, scene.colourBy == ColourBy::Memory);
  m_legend->setIsolated(m_isolated);
}

}  // namespace tessera::ui
