// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Measures a cluster's machines for the cost model.

#include "app/commands/session.h"
#include "engine/search/calibration.h"

namespace tessera::app {

/// Measures the cluster and keeps the result in the profile. Takes seconds on an idle machine,
/// minutes on a loaded one.
/// \param quiet print nothing on the terminal meanwhile
Result<engine::Calibration> measureCluster(Session& session, bool quiet);
/// The last result.
/// \error kNotFound if nothing was measured
Result<engine::Calibration> lastMeasured(const Session& session);

}  // namespace tessera::app
