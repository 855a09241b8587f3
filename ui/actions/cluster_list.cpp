// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/actions/cluster_list.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::ui {
namespace {

using One = ClusterCommand (*)(const CommandContext&);
using Several = std::vector<ClusterCommand> (*)(const CommandContext&);

/// Makes a command, or the commands of a submenu.
struct Maker {
  Maker(One make) : one(make) {}          // NOLINT(google-explicit-constructor)
  Maker(Several make) : several(make) {}  // NOLINT(google-explicit-constructor)
  One one = nullptr;
  Several several = nullptr;
};

// clang-format off: a line for each command
const Maker kClusterCommands[] = {
    operateCommand,
    liveMovesCommand,
    startJobCommand,
    pauseJobCommand,
    resumeJobCommand,
    tuneJobCommand,
    onFailureCommands,
    snapshotCommands,
    saveCheckpointCommand,
    checkpointsCommand,
    digestCommand,
    logsCommand,
    mountCommands,
    stopJobCommand,
    reconnectCommand,
    disconnectCommand,
    doctorCommand,
    linksCommand,
    probeCommand,
    registrarCommand,
    nodeCommands,
    simulationCommands,
    keysCommand,
    stopLocalCommand,
};
// clang-format on

}  // namespace

std::vector<ClusterCommand> clusterMenu(const CommandContext& context) {
  std::vector<ClusterCommand> commands;
  for (const Maker& maker : kClusterCommands) {
    if (maker.one != nullptr) {
      commands.push_back(maker.one(context));
    } else {
      std::ranges::move(maker.several(context), std::back_inserter(commands));
    }
  }
  return commands;
}

}  // namespace tessera::ui
