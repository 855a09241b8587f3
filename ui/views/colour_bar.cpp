// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/colour_bar.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QStandardItemModel>
#include <QStyleOptionComboBox>

#include "ui/widgets/key_values.h"
#include "ui/widgets/legend.h"

namespace tessera::ui {
namespace {

/// A list that is as wide as its current text, not as its longest one.
class SnugBox : public QComboBox {
 public:
  using QComboBox::QComboBox;
  QSize sizeHint() const override {
    QStyleOptionComboBox option;
    initStyleOption(&option);
    const QSize text(fontMetrics().horizontalAdvance(currentText()) + kBesideText,
                     fontMetrics().height());
    const QSize box = style()->sizeFromContents(QStyle::CT_ComboBox, &option, text, this);
    return {box.width(), QComboBox::sizeHint().height()};
  }
  QSize minimumSizeHint() const override { return sizeHint(); }
  void showPopup() override {
    // Its texts may be longer than the current one.
    view()->setMinimumWidth(view()->sizeHintForColumn(0) + kBesideItems);
    QComboBox::showPopup();
  }

 private:
  static constexpr int kBesideText = 4, kBesideItems = 24;
};

}  // namespace

ColourBar::ColourBar(QWidget* parent)
    : QWidget(parent),
      m_groupCaption(new QLabel(tr("group by"), this)),
      m_groupBox(new SnugBox(this)),
      m_caption(new QLabel(tr("colour by"), this)),
      m_box(new SnugBox(this)),
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
  setRole(m_caption, QStringLiteral("hint"));
  m_box->setProperty("flat", true);
  for (int i = 0; i < kNumColourings; ++i) m_box->addItem(text(static_cast<ColourBy>(i)), i);
  m_box->setAccessibleName(tr("Meaning of the colours"));
  m_box->setStatusTip(tr("Meaning of the colours in all views"));
  m_box->view()->setAccessibleName(m_box->accessibleName());
  m_caption->setBuddy(m_box);
  offerRacks(false);
  auto* row = new QHBoxLayout(this);
  row->setSizeConstraint(QLayout::SetNoConstraint);  // minimumSizeHint() says what is needed
  row->setContentsMargins(16, 0, 0, 0);
  row->addWidget(m_groupCaption);
  row->addWidget(m_groupBox);
  row->addWidget(m_caption);
  row->addWidget(m_box);
  row->addStretch();
  row->addWidget(m_legend);
  for (QComboBox* box : {m_box, m_groupBox}) {
    connect(box, &QComboBox::currentIndexChanged, this, [this, box] {
      box->updateGeometry();
      updateGeometry();
      fit();
    });
  }
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

QString ColourBar::groupingBlockedReason(GroupBy by) const {
  if (by != GroupBy::Rack || m_hasRacks) return {};
  return tr("No node of this cluster names its rack.");
}

void ColourBar::offerRacks(bool offered) {
  if (m_hasRacks == offered) return;
  m_hasRacks = offered;
  auto* items = qobject_cast<QStandardItemModel*>(m_groupBox->model());
  QStandardItem* item = items->item(static_cast<int>(GroupBy::Rack));
  item->setEnabled(offered);
  item->setToolTip(groupingBlockedReason(GroupBy::Rack));
}

void ColourBar::setGroupingShown(bool shown) {
  m_groupingShown = shown;
  updateGeometry();
  fit();
}

void ColourBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fit();
}

// What the choice of frames, or the caption of the colours, takes.
int ColourBar::widthOf(std::initializer_list<const QWidget*> widgets) const {
  int width = 0;
  for (const QWidget* widget : widgets) {
    width += widget->sizeHint().width() + layout()->spacing();
  }
  return width;
}

// Without captions and choices.
int ColourBar::leastWidth() const {
  const QMargins margins = layout()->contentsMargins();
  return margins.left() + margins.right() + m_legend->minimumSizeHint().width();
}

// With all of them also while they are hidden, so that they come back with the room for them.
QSize ColourBar::sizeHint() const {
  const int legend = m_legend->sizeHint().width() - m_legend->minimumSizeHint().width();
  const int grouping = m_groupingShown ? widthOf({m_groupCaption, m_groupBox}) : 0;
  return {leastWidth() + widthOf({m_caption, m_box}) + grouping + legend,
          QWidget::sizeHint().height()};
}

// Without them, so that the bar can become too narrow for them.
QSize ColourBar::minimumSizeHint() const {
  return {leastWidth(), QWidget::minimumSizeHint().height()};
}

void ColourBar::fit() {
  const int withBox = leastWidth() + widthOf({m_box});
  m_box->setVisible(width() >= withBox);
  const int withCaption = withBox + widthOf({m_caption});
  m_caption->setVisible(width() >= withCaption);
  const bool fits =
      m_groupingShown && width() >= withCaption + widthOf({m_groupCaption, m_groupBox});
  m_groupCaption->setVisible(fits);
  m_groupBox->setVisible(fits);
}

ColourBy ColourBar::colouring() const { return static_cast<ColourBy>(m_box->currentIndex()); }

void ColourBar::setColouring(ColourBy by) { m_box->setCurrentIndex(static_cast<int>(by)); }

void ColourBar::setScene(const MeshScene& scene) {
  m_isolated = scene.isolated;
  offerRacks(scene.hasRacks());
  m_legend->setEntries(scene.legend, scene.colourBy == ColourBy::Memory);
  m_legend->setIsolated(m_isolated);
  fit();
}

}  // namespace tessera::ui
