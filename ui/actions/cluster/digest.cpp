// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The digest of the job's state.

#include "ui/actions/cluster_list.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

AnswerDialog::Shown showDigest(const DigestAnswer& answer) {
  const QString digest = QString::fromStdString(answer.digest);
  AnswerDialog::Shown shown;
  shown.words = ClusterMenu::tr(
                    "%1 at step %2, epoch %3, timeline %4. Every mesh has this digest "
                    "for the same state.")
                    .arg(digest, format::count(answer.step), format::count(answer.epoch),
                         format::count(answer.timeline));
  shown.copied = digest;
  shown.table.titles = {{ClusterMenu::tr("Tensor"), false, true}, {ClusterMenu::tr("Digest")}};
  for (const auto& [name, value] : answer.tensors) {
    shown.table.rows.push_back({QString::fromStdString(name), QString::fromStdString(value)});
  }
  return shown;
}

}  // namespace

ClusterCommand digestCommand(const CommandContext& with) {
  return {
      {.id = QStringLiteral("cluster.digest"),
       .menu = Menus::cluster(),
       .text = ClusterMenu::tr("Digest No&w…"),
       .statusTip = ClusterMenu::tr(
           "Compute the digest of the state. A running job pauses for it after its current step"),
       .submenu = Menus::diagnosis(),
       .blocked =
           [&with] {
             const QString reason = with.cannotAct();  // the job pauses for it
             return reason.isEmpty() ? with.noJob() : reason;
           }},
      [&with](bool) {
        const QString job = with.job();
        with.open(new AnswerDialog(
            {.title = ClusterMenu::tr("Digest of %1").arg(job),
             .waiting = ClusterMenu::tr("Waiting for the end of the step…"),
             .failed = ClusterMenu::tr("The digest could not be computed: %1."),
             .again = ClusterMenu::tr("Compute again"),
             .command =
                 with.commandLine({QStringLiteral("digest"), job, QStringLiteral("--tensors")})},
            [&with, job](const AnswerDialog::Done& done) {
              with.control.ask(DigestRequest{job.toStdString()}, [done](
                                                                     Result<DigestAnswer> answer) {
                done(answer ? Result<AnswerDialog::Shown>(showDigest(*answer)) : answer.error());
              });
            },
            with.window));
      }};
}

}  // namespace tessera::ui
