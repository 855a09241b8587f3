// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// What the job does when it loses GPUs: the submenu that shows and sets it.

#include <utility>

#include "ui/actions/cluster_list.h"

namespace tessera::ui {

std::vector<ClusterCommand> onFailureCommands(const CommandContext& with) {
  using engine::OnFailure;
  struct Choice {
    QString id, text, tip;
    OnFailure value;
  };
  const Choice choices[] = {
      {QStringLiteral("job.onFailureAsk"), ClusterMenu::tr("&Ask"),
       ClusterMenu::tr("Ask, and continue after a countdown if no step is lost by that"),
       OnFailure::kAsk},
      {QStringLiteral("job.onFailureShrink"), ClusterMenu::tr("&Continue with What Is Left"),
       ClusterMenu::tr("Continue at once with the GPUs that are left, spare ones first"),
       OnFailure::kShrink},
      {QStringLiteral("job.onFailureWait"), ClusterMenu::tr("&Wait for the GPUs"),
       ClusterMenu::tr("Wait until the lost GPUs are back"), OnFailure::kWait}};
  std::vector<ClusterCommand> commands;
  for (const Choice& choice : choices) {
    commands.push_back({{.id = choice.id,
                         .menu = Menus::cluster(),
                         .text = choice.text,
                         .statusTip = choice.tip,
                         .submenu = ClusterMenu::tr("&If GPUs Are Lost"),
                         .checkable = true,
                         .blocked =
                             [&with] {
                               const QString reason = with.cannotAct();
                               return reason.isEmpty() ? with.noJob() : reason;
                             },
                         .checked =
                             [&with, value = choice.value] {
                               return with.model.job() != nullptr &&
                                      with.model.job()->on_failure == value;
                             }},
                        [&with, value = choice.value](bool) { with.control.setOnFailure(value); }});
  }
  return commands;
}

}  // namespace tessera::ui
