// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/outcome.h"

#include <fmt/format.h>

#include "agents/wire/tessera/wire/control.pb.h"

namespace tessera::app {
namespace {

/// Lists the changes of the job, also the one that runs.
std::string changesOf(const std::string& job) {
  return fmt::format("tesseractl history --job {}", job);
}

std::string transactionOf(std::int64_t id) {
  return id > 0 ? fmt::format("tesseractl txn show {}", id) : "tesseractl history --limit 1";
}

}  // namespace

// Without a default, so that the compiler names a new request that is not here.
std::optional<std::string> whatShows(const wire::Request& request) {
  switch (request.body_case()) {
    case wire::Request::kStartJob:
    case wire::Request::kJob:
    case wire::Request::kFailDevice:
    case wire::Request::kKillNode:
    case wire::Request::kSimulate:
    case wire::Request::kShutdown:
    case wire::Request::kDecision:
    case wire::Request::kRebuild:
      return "tesseractl status";
    case wire::Request::kApply:
      return changesOf(request.apply().plan().job());
    case wire::Request::kLoadCheckpoint:
      return changesOf(request.load_checkpoint().job());
    case wire::Request::kHandIn:
      return changesOf(request.hand_in().job());
    case wire::Request::kCancel:
      return transactionOf(request.cancel().transaction());
    case wire::Request::kThrottle:
      return "tesseractl txn show";
    case wire::Request::kSaveCheckpoint:
    case wire::Request::kDeleteCheckpoint:
      return "tesseractl checkpoint list";
    case wire::Request::kTopology:
      if (request.topology().measure()) return "tesseractl topology";
      return std::nullopt;
    case wire::Request::kHello:
    case wire::Request::kStatus:
    case wire::Request::kOperate:
    case wire::Request::kPlan:
    case wire::Request::kTxn:
    case wire::Request::kDigest:
    case wire::Request::kHistory:
    case wire::Request::kSamples:
    case wire::Request::kEvents:
    case wire::Request::kChanges:
    case wire::Request::kPropose:
    case wire::Request::kProposeStart:
    case wire::Request::kProbe:  // measures again
    case wire::Request::kDoctor:
    case wire::Request::kRegistrar:
    case wire::Request::kLog:
    case wire::Request::kProgram:
    case wire::Request::kCheckMesh:
    case wire::Request::kJobs:
    case wire::Request::kView:
    case wire::Request::kListCheckpoints:
    case wire::Request::kKeepViews:
    case wire::Request::kReleaseViews:
    case wire::Request::BODY_NOT_SET:
      return std::nullopt;
  }
  return std::nullopt;
}

Error lostOutcome(const Error& lost, const std::string& shows) {
  return OutcomeUnknown(
      fmt::format("{}; `{}` shows whether it was carried out", lost.ToString(), shows));
}

}  // namespace tessera::app
