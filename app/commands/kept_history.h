// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the next cluster takes over from the folder of a stopped one: histories and measurements.

#include <optional>
#include <string>
#include <vector>

#include "engine/history/durable_store.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Removes what a stopped cluster has left, except for its histories, which its registrar goes on
/// with. The clock of a simulation is not that of the next one: its history becomes
/// `history.db.last`.
/// \param isSimulated whether the next cluster in this folder is a simulation
/// \error kFailedPrecondition if that is one and the history is that of a real cluster
Status clearClusterFolder(const std::string& directory, bool isSimulated);

/// The history of the stopped cluster in this folder: the one that was written last, since a
/// registrar that has moved leaves its own on its earlier node.
std::optional<std::string> keptHistory(const std::string& directory);

/// What a real cluster in this folder has measured of its machines and links: the rows for the
/// journal of the next registrar. Empty if the journal cannot be read.
std::vector<engine::RowChange> keptMeasurements(const std::string& directory);
/// Creates the journal of the first registrar of node folder `node` with these rows.
/// \pre the folder exists and has no journal
Status writeMeasurements(const std::string& node, const std::vector<engine::RowChange>& rows);

}  // namespace tessera::app
