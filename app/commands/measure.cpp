// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::app {
Result<engine::Calibration> measureCluster(Session& session, bool quiet) {
  if (!quiet && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "measuring: a few seconds, on all cores of every node\n");
  wire::Request request;
  request.mutable_probe();
  TESSERA_TRY(const auto reply, session.ask(std::move(request), kProbeTimeout));
  return keepMeasured(session.profile, reply);
}

Result<engine::Calibration> keepMeasured(agents::Profile& profile, const wire::Reply& reply) {
  profile.calibration = reply.probe().calibration();
  TESSERA_TRY(const auto calibration, lastMeasured(profile));
  TESSERA_RETURN_IF_ERROR(agents::SaveProfile(profile));
  return calibration;
}

Result<engine::Calibration> lastMeasured(const agents::Profile& profile) {
  if (profile.calibration.empty())
    return NotFound(fmt::format("profile '{}' has no calibration; `tesseractl probe` measures one",
                                profile.name));
  return engine::ParseCalibration(profile.calibration);
}

}  // namespace tessera::app
