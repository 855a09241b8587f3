// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The probe of a cluster's machines for the cost model.

#include "app/commands/session.h"
#include "engine/search/calibration.h"

namespace tessera::app {

/// Measures the cluster and keeps the result in the profile. Takes seconds on an idle machine,
/// minutes on a loaded one; `quiet` says nothing on a terminal.
Result<engine::Calibration> measureCluster(Session& session, bool quiet);
/// What was measured last. \error kNotFound where nothing was
Result<engine::Calibration> lastMeasured(const Session& session);

}  // namespace tessera::app
