// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Measures a cluster's machines for the cost model.

#include <chrono>

#include "app/commands/session.h"
#include "engine/search/calibration.h"

namespace tessera::app {

/// Measures the cluster and keeps the result in the profile. Takes seconds on an idle machine,
/// minutes on a loaded one.
/// \param quiet print nothing on the terminal meanwhile
Result<engine::Calibration> measureCluster(Session& session, bool quiet);
/// How long the registrar may measure.
inline constexpr std::chrono::seconds kProbeTimeout{180};
/// Keeps the answer to a probe in the profile.
Result<engine::Calibration> keepMeasured(agents::Profile& profile, const wire::Reply& reply);
/// The last result.
/// \error kNotFound if nothing was measured
Result<engine::Calibration> lastMeasured(const agents::Profile& profile);

}  // namespace tessera::app
