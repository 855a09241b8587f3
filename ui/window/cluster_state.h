// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the state page says while there is no cluster to draw.

#include <QString>
#include <optional>

namespace tessera::ui {

class ClusterModel;
class StatePage;

/// Does nothing while a cluster is shown.
/// \param starting what a cluster of this machine does that starts; nothing: none starts
/// \param canConnect whether the panel has connections
void showClusterState(StatePage* page, const ClusterModel& model,
                      const std::optional<QString>& starting, bool canConnect);

}  // namespace tessera::ui
