// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A finished change as one HTML file without references to other files: what moved, for how long
/// the job paused, whether the state stayed the same, and pictures of the mesh before and after.

#include <QByteArray>
#include <QString>
#include <optional>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

struct ReportPictures {
  QByteArray before, after;  // of the mesh, as PNG files; empty: none
  int width = 0;             // of each, in logical pixels
};

/// The whole report. The bar of phases is drawn in it.
/// \param simulation of a simulated cluster: the report says so
QByteArray reportHtml(const engine::HistoryEntry& entry, const QString& cluster,
                      const ReportPictures& pictures,
                      const std::optional<engine::SimulationStatus>& simulation = {});

/// The cluster at the begin or the end of a change, as far as the change tells it: the nodes of
/// `now` and those that the change names, with the job in the mesh that it had then. Nothing if the
/// change does not name its meshes.
std::optional<engine::ClusterSnapshot> clusterOfChange(const engine::HistoryEntry& entry,
                                                       const engine::ClusterSnapshot& now,
                                                       bool isAfter);

}  // namespace tessera::ui
