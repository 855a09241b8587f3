// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Pauses and resumes the job.

#include "ui/actions/cluster_list.h"

namespace tessera::ui {

ClusterCommand pauseJobCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.pauseJob"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Pause the Job"),
           .statusTip =
               ClusterMenu::tr("Pause the job after its current step. Its state stays in memory"),
           .icon = QStringLiteral("pause"),
           .blocked =
               [&with] {
                 return with.jobIsNot({engine::JobState::kRunning},
                                      ClusterMenu::tr("The job is not running."));
               }},
          [&with](bool) { with.control.act(JobAct::Pause); }};
}

ClusterCommand resumeJobCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.resumeJob"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Resume the Job"),
           .statusTip = ClusterMenu::tr("Resume the paused or suspended job"),
           .icon = QStringLiteral("play"),
           .blocked =
               [&with] {
                 using enum engine::JobState;
                 return with.jobIsNot({kPaused, kSuspended},
                                      ClusterMenu::tr("The job is neither paused nor suspended."));
               }},
          [&with](bool) { with.control.act(JobAct::Resume); }};
}

}  // namespace tessera::ui
