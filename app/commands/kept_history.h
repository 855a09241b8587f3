// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The histories in the folder of a stopped cluster.

#include <optional>
#include <string>

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

}  // namespace tessera::app
