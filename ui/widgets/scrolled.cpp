// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/scrolled.h"

#include <QScrollArea>

namespace tessera::ui {

QScrollArea* scrolled(QWidget* content, QWidget* parent) {
  auto* scroll = new QScrollArea(parent);
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->viewport()->setAutoFillBackground(false);
  content->setAutoFillBackground(false);
  return scroll;
}

}  // namespace tessera::ui
