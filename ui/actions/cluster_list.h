// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// One function for each command of the Cluster menu, in the file of actions/cluster/ named after
/// it. The list in cluster_list.cpp gives the order.

#include <QCoreApplication>

#include "ui/actions/cluster_command.h"
#include "ui/actions/menus.h"

namespace tessera::ui {

/// The context of the texts of all commands.
class ClusterMenu {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::ClusterMenu)
};

ClusterCommand operateCommand(const CommandContext& with);
ClusterCommand liveMovesCommand(const CommandContext& with);
ClusterCommand startJobCommand(const CommandContext& with);
ClusterCommand pauseJobCommand(const CommandContext& with);
ClusterCommand resumeJobCommand(const CommandContext& with);
ClusterCommand tuneJobCommand(const CommandContext& with);
std::vector<ClusterCommand> onFailureCommands(const CommandContext& with);
std::vector<ClusterCommand> snapshotCommands(const CommandContext& with);
ClusterCommand saveCheckpointCommand(const CommandContext& with);
ClusterCommand checkpointsCommand(const CommandContext& with);
ClusterCommand digestCommand(const CommandContext& with);
ClusterCommand logsCommand(const CommandContext& with);
std::vector<ClusterCommand> mountCommands(const CommandContext& with);
ClusterCommand stopJobCommand(const CommandContext& with);
ClusterCommand reconnectCommand(const CommandContext& with);
ClusterCommand disconnectCommand(const CommandContext& with);
ClusterCommand doctorCommand(const CommandContext& with);
ClusterCommand linksCommand(const CommandContext& with);
ClusterCommand probeCommand(const CommandContext& with);
ClusterCommand registrarCommand(const CommandContext& with);
std::vector<ClusterCommand> nodeCommands(const CommandContext& with);
std::vector<ClusterCommand> simulationCommands(const CommandContext& with);
ClusterCommand keysCommand(const CommandContext& with);
ClusterCommand stopLocalCommand(const CommandContext& with);

}  // namespace tessera::ui
