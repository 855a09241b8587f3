// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Stops the job, after its name was typed.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {

namespace {

/// What the GPUs hold of the job now; one copy of its state if they do not say.
std::int64_t heldBytes(const engine::ClusterSnapshot& snapshot, const engine::JobStatus& job) {
  std::int64_t bytes = 0;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (device.job == job.name) bytes += device.parameter_bytes + device.optimizer_bytes;
    }
  }
  return bytes > 0 ? bytes : job.state_bytes;
}

TypedNameDialog::Question stopJobQuestion(const CommandContext& with,
                                          const engine::JobStatus& job) {
  const QString name = with.job();
  const std::int64_t held = heldBytes(with.model.snapshot(), job);
  const engine::CheckpointStatus& saved = job.checkpoints;
  const QString checkpoint =
      saved.path.empty()
          ? ClusterMenu::tr("No checkpoint of this job was saved: all %1 steps are lost.")
                .arg(format::count(job.step))
          : ClusterMenu::tr("Its newest checkpoint, of step %1, stays: %2")
                .arg(format::count(saved.step.value_or(0)), QString::fromStdString(saved.path));
  return {.title = ClusterMenu::tr("Stop %1").arg(name),
          .says = {ClusterMenu::tr("Stopping %1 frees %2 on %3. Its state in memory is lost, "
                                   "snapshots too.")
                       .arg(name, format::bytes(held),
                            format::gpus(static_cast<std::int64_t>(job.devices.size()))),
                   checkpoint,
                   ClusterMenu::tr("To keep the state, pause the job or save a checkpoint.")},
          .name = name,
          .button = ClusterMenu::tr("Stop %1").arg(name),
          .keep = ClusterMenu::tr("Keep running"),
          .command = with.commandLine({QStringLiteral("job"), QStringLiteral("stop"), name})};
}

}  // namespace

ClusterCommand stopJobCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.stopJob"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Stop the Job…"),
           .statusTip = ClusterMenu::tr("Stop the job and free its state, after confirmation"),
           .icon = QStringLiteral("stop"),
           .blocked =
               [&with] {
                 using enum engine::JobState;
                 const engine::JobStatus* const job = with.model.job();
                 if (job != nullptr && job->state == kUnknown) return localized(job->reason);
                 return with.jobIsNot({kStarting, kRunning, kPausing, kPaused, kWaitingDecision,
                                       kSuspended, kFailed},
                                      ClusterMenu::tr("The job has ended."));
               }},
          [&with](bool) {
            const engine::JobStatus* job = with.model.job();
            if (job == nullptr) return;
            auto* dialog = new TypedNameDialog(stopJobQuestion(with, *job), with.window);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            with.closeWithCluster(dialog);
            // Another job may be shown by then.
            QObject::connect(dialog, &QDialog::accepted, dialog, [&with, name = with.job()] {
              if (with.job() == name) {
                with.control.act(JobAct::Stop);
              } else {
                with.showError(ClusterMenu::tr("Nothing was stopped: another job than %1 is shown "
                                               "now.")
                                   .arg(name));
              }
            });
            dialog->open();
          }};
}

}  // namespace tessera::ui
