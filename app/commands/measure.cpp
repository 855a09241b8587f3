// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::app {
namespace {

constexpr std::chrono::seconds kProbeTimeout{180};

}  // namespace

Result<engine::Calibration> measureCluster(Session& session, bool quiet) {
  if (!quiet && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "measuring: a few seconds, on all cores of every node\n");
  wire::Request request;
  request.mutable_probe();
  TESSERA_TRY(const auto reply, session.ask(std::move(request), kProbeTimeout));
  session.profile.calibration = reply.probe().calibration();
  TESSERA_TRY(const auto calibration, lastMeasured(session));
  TESSERA_RETURN_IF_ERROR(agents::SaveProfile(session.profile));
  return calibration;
}

Result<engine::Calibration> lastMeasured(const Session& session) {
  if (session.profile.calibration.empty())
    return NotFound(fmt::format("profile '{}' has no calibration; `tesseractl probe` measures one",
                                session.profile.name));
  return engine::ParseCalibration(session.profile.calibration);
}

}  // namespace tessera::app
