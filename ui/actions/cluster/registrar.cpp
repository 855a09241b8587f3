// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Where the cluster is coordinated.

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {

namespace {

AnswerDialog::Shown showRegistrar(const RegistrarAnswer& answer) {
  AnswerDialog::Shown shown;
  shown.words = ClusterMenu::tr("%1 coordinates the cluster, at %2. Changes are decided in %3.")
                    .arg(format::node(answer.node), QString::fromStdString(answer.endpoint),
                         answer.store == "etcd" ? ClusterMenu::tr("etcd")
                                                : ClusterMenu::tr("a file of this node"));
  if (answer.generation > 1)
    shown.words += QLatin1Char(' ') + ClusterMenu::tr("The registrar has moved %1 times.")
                                          .arg(format::count(answer.generation - 1));
  if (!answer.problem.empty()) {
    shown.words = ClusterMenu::tr("Nothing can be decided now: %1. Changes wait; nothing is lost.")
                      .arg(localized(answer.problem));
    shown.role = QStringLiteral("bad");
  }
  shown.table.titles = {{ClusterMenu::tr("Register"), false, true},
                        {ClusterMenu::tr("Version")},
                        {ClusterMenu::tr("State")},
                        {ClusterMenu::tr("Answered in"), true}};
  for (const RegistrarAnswer::Member& member : answer.members) {
    shown.table.rows.push_back(
        {QString::fromStdString(member.place),
         member.version.empty() ? format::unknown() : QString::fromStdString(member.version),
         !member.problem.empty() ? localized(member.problem)
         : member.leads          ? ClusterMenu::tr("leads")
                                 : ClusterMenu::tr("answers"),
         member.problem.empty() ? format::seconds(member.seconds) : format::unknown()});
  }
  return shown;
}

}  // namespace

ClusterCommand registrarCommand(const CommandContext& with) {
  return {
      {.id = QStringLiteral("cluster.registrar"),
       .menu = Menus::cluster(),
       .text = ClusterMenu::tr("Registr&ar…"),
       .statusTip =
           ClusterMenu::tr("Show where the cluster is coordinated and changes are decided"),
       .submenu = Menus::diagnosis(),
       .blocked = [&with] { return with.notConnected(); }},
      [&with](bool) {
        with.open(new AnswerDialog(
            {.title = ClusterMenu::tr("Registrar of %1").arg(with.cluster()),
             .waiting = ClusterMenu::tr("Asking the registrar…"),
             .failed = ClusterMenu::tr("The registrar did not answer: %1."),
             .again = ClusterMenu::tr("Ask again"),
             .command = with.commandLine({QStringLiteral("registrar"), QStringLiteral("show")})},
            [&with](const AnswerDialog::Done& done) {
              with.commands.ask(RegistrarRequest{}, [done](Result<RegistrarAnswer> answer) {
                done(answer ? Result<AnswerDialog::Shown>(showRegistrar(*answer)) : answer.error());
              });
            },
            with.window));
      }};
}

}  // namespace tessera::ui
