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
    : QWidget(parent), m_box(new QComboBox(this)), m_legend(new Legend(this)) {
  auto* caption = new QLabel(tr("colour by"), this);
  setRole(caption, QStringLiteral("hint"));
  m_box->setProperty("flat", true);
  for (int i = 0; i < kNumColourings; ++i) m_box->addItem(text(static_cast<ColourBy>(i)), i);
  m_box->setAccessibleName(tr("Meaning of the colours"));
  m_box->setStatusTip(tr("Meaning of the colours in all views"));
  m_box->view()->setAccessibleName(m_box->accessibleName());
  caption->setBuddy(m_box);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 0, 0, 0);
  row->addWidget(caption);
  row->addWidget(m_box);
  row->addStretch();
  row->addWidget(m_legend);
  connect(m_box, &QComboBox::currentIndexChanged, this, [this] {
    m_isolated.reset();
    emit changed();
  });
  connect(m_legend, &Legend::isolateRequested, this, [this](std::optional<int> swatch) {
    m_isolated = swatch;
    emit changed();
  });
}

ColourBy ColourBar::colouring() const { return static_cast<ColourBy>(m_box->currentIndex()); }

void ColourBar::setColouring(ColourBy by) { m_box->setCurrentIndex(static_cast<int>(by)); }

void ColourBar::setScene(const MeshScene& scene) {
  m_isolated = scene.isolated;
  m_legend->setEntries(scene.legend, scene.colourBy == ColourBy::Memory);
  m_legend->setIsolated(m_isolated);
}

}  // namespace tessera::ui
