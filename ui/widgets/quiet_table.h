// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The common look of all tables in the panel.

class QTableView;

namespace tessera::ui {

/// Sets up rows of one line and `rowHeight` pixels that are selected as a whole and cannot be
/// edited; no grid, frame or row numbers. Tab leaves the table instead of moving between cells.
void makeQuiet(QTableView& table, int rowHeight);

}  // namespace tessera::ui
