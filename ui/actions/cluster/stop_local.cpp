// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Stops a cluster that runs on this machine, after its name was typed.

#include <optional>

#include "ui/actions/cluster_list.h"
#include "ui/connections.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

std::optional<ProfileInfo> runningHere(const CommandContext& with) {
  if (with.connections == nullptr) return std::nullopt;
  for (const ProfileInfo& profile : with.connections->profiles()) {
    if (profile.name == with.connections->current() && profile.isRunning) return profile;
  }
  return std::nullopt;
}

TypedNameDialog::Question stopClusterQuestion(const CommandContext& with, const QString& name) {
  QStringList jobs;
  std::int64_t bytes = 0;
  for (const engine::JobStatus& job : with.model.snapshot().jobs) {
    if (job.state == engine::JobState::kStopped) continue;
    jobs << QString::fromStdString(job.name);
    bytes += job.state_bytes;
  }
  return {.title = ClusterMenu::tr("Stop cluster %1").arg(name),
          .says = {jobs.isEmpty()
                       ? ClusterMenu::tr("All processes of %1 end. It runs no job.").arg(name)
                       : ClusterMenu::tr("All processes of %1 end, and with them %2. Their state, "
                                         "%3, is lost.")
                             .arg(name, jobs.join(QStringLiteral(", ")), format::bytes(bytes)),
                   ClusterMenu::tr("History, logs and checkpoints stay on the disk.")},
          .name = name,
          .button = ClusterMenu::tr("Stop %1").arg(name),
          .keep = ClusterMenu::tr("Keep running"),
          .command = with.commandLine({QStringLiteral("down")})};
}

}  // namespace

ClusterCommand stopLocalCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.stopLocal"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Stop t&he Local Cluster…"),
           .statusTip =
               ClusterMenu::tr("End all processes of a cluster that was started on this machine"),
           .icon = QStringLiteral("quit"),
           .separatorBefore = true,
           .blocked =
               [&with] {
                 if (const QString reason = with.cannotAct(); !reason.isEmpty()) return reason;
                 return with.connections == nullptr ? ClusterMenu::tr("This panel has no profiles.")
                                                    : QString();
               }},
          [&with](bool) {
            const auto profile = runningHere(with);
            if (!profile) {
              with.showError(
                  ClusterMenu::tr("%1 was not started on this machine.").arg(with.cluster()));
              return;
            }
            const QString name = profile->name;
            auto* dialog = new TypedNameDialog(stopClusterQuestion(with, name), with.window);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            with.closeWithCluster(dialog);
            QObject::connect(dialog, &QDialog::accepted, dialog, [&with, name] {
              with.say(ClusterMenu::tr("Stopping %1…").arg(name));
              with.connections->stopLocal(name, [&with, name, guard = with.guard()](Status done) {
                if (!guard) return;
                if (done) {
                  with.say(ClusterMenu::tr("%1 is down.").arg(name));
                } else {
                  with.showError(ClusterMenu::tr("%1 was not stopped: %2.")
                                     .arg(name, format::error(done.error())));
                }
              });
            });
            dialog->open();
          }};
}

}  // namespace tessera::ui
