// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/segmented_switch.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QStyleOptionFocusRect>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kMinSegmentWidth = 62;

class Segment : public QAbstractButton {
 public:
  explicit Segment(QWidget* parent) : QAbstractButton(parent) {
    setCheckable(true);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  }

  QSize sizeHint() const override {
    const QFontMetrics metrics(uiFont(12.5, QFont::DemiBold));
    return {qMax(kMinSegmentWidth, metrics.horizontalAdvance(text()) + 24), 24};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::current();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF area = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    if (isChecked()) {
      painter.setPen(theme.line);
      painter.setBrush(theme.cell);
      painter.drawRoundedRect(area, 5, 5);
    }
    if (hasFocus()) {
      painter.setPen(QPen(theme.accent, 1.5));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 4, 4);
    }
    painter.setFont(uiFont(12.5, isChecked() ? QFont::DemiBold : QFont::Normal));
    painter.setPen(!isEnabled() ? theme.faint : isChecked() || isDown() ? theme.text : theme.dim);
    painter.drawText(rect(), Qt::AlignCenter, text());
  }
};

}  // namespace

SegmentedSwitch::SegmentedSwitch(QWidget* parent) : QWidget(parent), m_group(this) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(2, 2, 2, 2);
  row->setSpacing(4);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  connect(&m_group, &QButtonGroup::idClicked, this, &SegmentedSwitch::chosen);
}

QAbstractButton* SegmentedSwitch::addSegment(int id, const QString& text,
                                             const QString& accessibleName) {
  auto* segment = new Segment(this);
  segment->setText(text);
  segment->setAccessibleName(accessibleName);
  m_group.addButton(segment, id);
  layout()->addWidget(segment);
  if (m_group.checkedId() < 0) segment->setChecked(true);
  return segment;
}

void SegmentedSwitch::setCurrent(int id) {
  if (QAbstractButton* button = m_group.button(id)) button->setChecked(true);
}

void SegmentedSwitch::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(Theme::current().soft);
  painter.drawRoundedRect(rect(), 7, 7);
}

}  // namespace tessera::ui
