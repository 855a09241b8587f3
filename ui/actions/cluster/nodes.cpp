// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Acts on nodes and GPUs: giving a silent node up, and faults in emulated clusters.

#include <optional>

#include "ui/actions/cluster/choose_one.h"
#include "ui/actions/cluster_list.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

/// A menu entry that acts on a node the user chooses.
struct NodeAct {
  QString id, text, tip, title;
  NodeRequest::Act act;
  QString verb;                 // of tesseractl
  std::optional<QString> cost;  // asked with the node's name, if anything is lost
  QString done;                 // "%1 is killed."
};

/// Only a node that is there can be killed. The others are given up or started again.
bool isLikelyFor(NodeRequest::Act act, const engine::NodeStatus& node) {
  return (node.state == engine::NodeState::kAlive) == (act == NodeRequest::Act::Kill);
}

void actOnNode(const CommandContext& with, const NodeAct& act) {
  const auto isLikely = [act = act.act](const engine::NodeStatus& node) {
    return isLikelyFor(act, node);
  };
  const auto go = [&with, act](std::int32_t node) {
    const NodeRequest request{node, act.act};
    const QString name = format::node(node);
    if (!act.cost) return carryOutNow(with, request, act.done.arg(name));
    auto* ask =
        new TypedNameDialog({.title = act.title,
                             .says = {act.cost->arg(name)},
                             .name = name,
                             .button = act.title,
                             .keep = ClusterMenu::tr("Cancel"),
                             .command = with.commandLine({QStringLiteral("node"), act.verb, name})},
                            with.window);
    ask->setAttribute(Qt::WA_DeleteOnClose);
    with.closeWithCluster(ask);
    QObject::connect(ask, &QDialog::accepted, ask, [&with, request, done = act.done.arg(name)] {
      carryOutNow(with, request, done);
    });
    ask->open();
  };
  chooseNode(with, act.title, go, isLikely);
}

void failGpu(const CommandContext& with) {
  chooseGpu(with, ClusterMenu::tr("Let a GPU fail"),
            ClusterMenu::tr("What the GPU holds is lost. GPU:"), [&with](ptc::DeviceId device) {
              carryOutNow(with, FailDeviceRequest{device},
                          ClusterMenu::tr("%1 has failed.").arg(format::device(device)));
            });
}

}  // namespace

std::vector<ClusterCommand> nodeCommands(const CommandContext& with) {
  const auto blocked = [&with] { return with.cannotAct(); };
  const NodeAct acts[] = {
      {QStringLiteral("cluster.giveUpNode"), ClusterMenu::tr("&Give Up a Node…"),
       ClusterMenu::tr("Say that a silent node is lost, so that its jobs can go on"),
       ClusterMenu::tr("Give up a node"), NodeRequest::Act::GiveUp, QStringLiteral("give-up"),
       ClusterMenu::tr("What %1 holds counts as lost. Its jobs continue from replicas or a "
                       "snapshot, or wait. Do this only if you know that the node is gone."),
       ClusterMenu::tr("%1 is given up.")},
      {QStringLiteral("cluster.killNode"), ClusterMenu::tr("&Kill a Node…"),
       ClusterMenu::tr("Kill a node of an emulated cluster with everything on it"),
       ClusterMenu::tr("Kill a node"), NodeRequest::Act::Kill, QStringLiteral("kill"),
       ClusterMenu::tr("All processes of %1 end, and the state on it is lost."),
       ClusterMenu::tr("%1 is killed.")},
      {QStringLiteral("cluster.startNode"), ClusterMenu::tr("&Start a Node…"),
       ClusterMenu::tr("Start a killed node of an emulated cluster again, with empty GPUs"),
       ClusterMenu::tr("Start a node"), NodeRequest::Act::Start, QStringLiteral("start"),
       std::nullopt, ClusterMenu::tr("%1 is back, its GPUs are empty.")}};
  std::vector<ClusterCommand> commands;
  for (const NodeAct& act : acts) {
    commands.push_back({{.id = act.id,
                         .menu = Menus::cluster(),
                         .text = act.text,
                         .statusTip = act.tip,
                         .submenu = ClusterMenu::tr("Nod&es and GPUs"),
                         .blocked = blocked},
                        [&with, act](bool) { actOnNode(with, act); }});
  }
  commands.push_back(
      {{.id = QStringLiteral("cluster.failGpu"),
        .menu = Menus::cluster(),
        .text = ClusterMenu::tr("Let a GPU &Fail…"),
        .statusTip = ClusterMenu::tr("Let a GPU of an emulated cluster fail, to see what happens"),
        .submenu = ClusterMenu::tr("Nod&es and GPUs"),
        .blocked = blocked},
       [&with](bool) { failGpu(with); }});
  return commands;
}

}  // namespace tessera::ui
