// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Commands that act on a node or a GPU, which the user chooses first.

#include <QString>
#include <functional>

#include "ptc/mesh.h"
#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/format.h"

namespace tessera::ui {

/// Lets the user choose a node or a GPU of the cluster.
/// \param isLikely whether the command is meant for such a node: the first one is offered. Null: any
void chooseNode(const CommandContext& with, const QString& title,
                std::function<void(std::int32_t)> then,
                const std::function<bool(const engine::NodeStatus&)>& isLikely = {});
void chooseGpu(const CommandContext& with, const QString& title, const QString& label,
               std::function<void(ptc::DeviceId)> then);

/// Sends a request that only acts, and says `done` or why nothing was done.
template <typename R>
void carryOutNow(const CommandContext& with, const R& request, const QString& done) {
  with.control.ask(request, [&with, done, guard = with.guard()](Result<Carried> answer) {
    if (!guard) return;
    if (answer) {
      with.say(done);
    } else {
      with.showError(ClusterMenu::tr("Nothing was done: %1.").arg(format::error(answer.error())));
    }
  });
}

}  // namespace tessera::ui
