// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The checkpoints that the cluster has saved: load and delete them.

#include <memory>

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {

namespace {

using Checkpoints = std::vector<engine::CheckpointEntry>;

AnswerDialog::Shown showCheckpoints(const Checkpoints& list) {
  AnswerDialog::Shown shown;
  if (list.empty()) {
    shown.words = ClusterMenu::tr(
        "The cluster has saved no checkpoint. Cluster ▸ Save a Checkpoint saves one.");
    return shown;
  }
  std::int64_t bytes = 0;
  shown.table.titles = {{ClusterMenu::tr("Job")},
                        {ClusterMenu::tr("Step"), true},
                        {ClusterMenu::tr("Saved")},
                        {ClusterMenu::tr("Size"), true},
                        {ClusterMenu::tr("Mesh")},
                        {ClusterMenu::tr("Digest")},
                        {ClusterMenu::tr("Path"), false, true}};
  for (const engine::CheckpointEntry& each : list) {
    bytes += each.bytes;
    const auto text = [](const std::string& word) {
      return word.empty() ? format::unknown() : QString::fromStdString(word);
    };
    shown.table.rows.push_back({text(each.job), format::count(each.step),
                                each.created > 0 ? format::clock(each.created) : format::unknown(),
                                format::bytes(each.bytes), text(each.mesh),
                                each.problem.empty() ? text(each.digest) : localized(each.problem),
                                QString::fromStdString(each.path)});
  }
  shown.words = list.size() == 1 ? ClusterMenu::tr("1 checkpoint, %1.").arg(format::bytes(bytes))
                                 : ClusterMenu::tr("%1 checkpoints, %2.")
                                       .arg(format::count(static_cast<std::int64_t>(list.size())),
                                            format::bytes(bytes));
  return shown;
}

/// Asks for the name in the question and then sends `request`.
template <typename R>
void confirm(const CommandContext& with, AnswerDialog* list,
             const TypedNameDialog::Question& question, const R& request, const QString& failure) {
  auto* ask = new TypedNameDialog(question, list);
  ask->setAttribute(Qt::WA_DeleteOnClose);
  QObject::connect(ask, &QDialog::accepted, list, [&with, list, request, failure] {
    with.control.ask(request, [&with, list = QPointer<AnswerDialog>(list), guard = with.guard(),
                               failure](const auto& answer) {
      if (guard && !answer) with.showError(failure.arg(format::error(answer.error())));
      if (list) list->ask();
    });
  });
  ask->open();
}

void loadCheckpoint(const CommandContext& with, AnswerDialog* list,
                    const engine::CheckpointEntry& chosen) {
  const QString job = with.job();
  const QString path = QString::fromStdString(chosen.path);
  if (const QString reason = with.cannotAct(); !reason.isEmpty()) return with.showError(reason);
  if (job.isEmpty()) return with.showError(ClusterMenu::tr("There is no job to load it into."));
  confirm(with, list,
          {.title = ClusterMenu::tr("Load a checkpoint into %1").arg(job),
           .says = {ClusterMenu::tr("The parameters and the optimizer state of %1 are replaced by "
                                    "those of step %2. What the job has done since is lost.")
                        .arg(job, format::count(chosen.step)),
                    path},
           .name = job,
           .button = ClusterMenu::tr("Load step %1").arg(format::count(chosen.step)),
           .keep = ClusterMenu::tr("Keep the state"),
           .command =
               with.commandLine({QStringLiteral("checkpoint"), QStringLiteral("load"), job, path})},
          LoadCheckpointRequest{job.toStdString(), chosen.path, false},
          ClusterMenu::tr("The checkpoint was not loaded: %1."));
}

void deleteCheckpoint(const CommandContext& with, AnswerDialog* list,
                      const engine::CheckpointEntry& chosen) {
  const QString path = QString::fromStdString(chosen.path);
  const QString name = path.section(u'/', -1);
  if (const QString reason = with.cannotAct(); !reason.isEmpty()) return with.showError(reason);
  confirm(
      with, list,
      {.title = ClusterMenu::tr("Delete a checkpoint"),
       .says = {ClusterMenu::tr("Deleting this checkpoint frees %1. It cannot be restored.")
                    .arg(format::bytes(chosen.bytes)),
                path},
       .name = name,
       .button = ClusterMenu::tr("Delete %1").arg(name),
       .keep = ClusterMenu::tr("Keep it"),
       .command = with.commandLine({QStringLiteral("checkpoint"), QStringLiteral("delete"), path})},
      DeleteCheckpointRequest{chosen.path}, ClusterMenu::tr("The checkpoint was not deleted: %1."));
}

}  // namespace

ClusterCommand checkpointsCommand(const CommandContext& with) {
  return {
      {.id = QStringLiteral("cluster.checkpoints"),
       .menu = Menus::cluster(),
       .text = ClusterMenu::tr("Chec&kpoints…"),
       .statusTip = ClusterMenu::tr("List the checkpoints of the cluster, load or delete one"),
       .blocked = [&with] { return with.notConnected(); }},
      [&with](bool) {
        const auto known = std::make_shared<Checkpoints>();
        auto* dialog = new AnswerDialog(
            {.title = ClusterMenu::tr("Checkpoints of %1").arg(with.cluster()),
             .waiting = ClusterMenu::tr("Comparing their files…"),
             .failed = ClusterMenu::tr("The checkpoints could not be listed: %1."),
             .again = ClusterMenu::tr("Read again"),
             .command = with.commandLine({QStringLiteral("checkpoint"), QStringLiteral("list")})},
            [&with, known](const AnswerDialog::Done& done) {
              with.commands.ask(CheckpointsRequest{}, [done, known](Result<Checkpoints> answer) {
                if (!answer) return done(answer.error());
                *known = *answer;
                done(showCheckpoints(*known));
              });
            },
            with.window);
        dialog->resize(980, 420);
        dialog->addRowButton(ClusterMenu::tr("Load…"), [&with, dialog, known](int row) {
          loadCheckpoint(with, dialog, (*known)[static_cast<std::size_t>(row)]);
        });
        dialog->addRowButton(ClusterMenu::tr("Delete…"), [&with, dialog, known](int row) {
          deleteCheckpoint(with, dialog, (*known)[static_cast<std::size_t>(row)]);
        });
        with.open(dialog);
      }};
}

}  // namespace tessera::ui
