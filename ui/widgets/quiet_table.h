// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The look that all tables of the panel share.

class QTableView;

namespace tessera::ui {

/// Rows of one line and `rowHeight` pixels that are selected as a whole and never edited; no grid,
/// no frame, no row numbers. Tab leaves the table instead of walking its cells.
void makeQuiet(QTableView& table, int rowHeight);

}  // namespace tessera::ui
