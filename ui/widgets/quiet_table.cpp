// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/quiet_table.h"

#include <QHeaderView>
#include <QTableView>

namespace tessera::ui {

void makeQuiet(QTableView& table, int rowHeight) {
  table.setShowGrid(false);
  table.setFrameShape(QFrame::NoFrame);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setTabKeyNavigation(false);
  table.setWordWrap(false);
  table.verticalHeader()->hide();
  table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table.verticalHeader()->setDefaultSectionSize(rowHeight);
}

}  // namespace tessera::ui
