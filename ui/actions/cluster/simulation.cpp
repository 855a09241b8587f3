// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// What happens to a simulated cluster: the submenu that lets time pass faster, slows a GPU, cuts a
/// node off, or lets nodes join.

#include <QLocale>
#include <cmath>
#include <utility>

#include "ui/actions/cluster/choose_one.h"

namespace tessera::ui {
namespace {

constexpr double kSlowFactor = 3, kCutSeconds = 20, kPortShare = 0.1;

QString notSimulated(const CommandContext& with) {
  if (const QString reason = with.cannotAct(); !reason.isEmpty()) return reason;
  return with.model.snapshot().simulation ? QString()
                                          : ClusterMenu::tr("This cluster is not simulated.");
}

ClusterCommand entry(const CommandContext& with, const char* id, const QString& text,
                     const QString& tip, std::function<void()> run) {
  return {{.id = QString::fromLatin1(id),
           .menu = Menus::cluster(),
           .text = text,
           .statusTip = tip,
           .submenu = ClusterMenu::tr("Sim&ulation"),
           .blocked = [&with] { return notSimulated(with); }},
          [run = std::move(run)](bool) { run(); }};
}

void send(const CommandContext& with, const SimulateRequest& request, const QString& done) {
  carryOutNow(with, request, done);
}

ClusterCommand speedCommand(const CommandContext& with, double speed) {
  const QString number = QLocale().toString(speed);
  const bool stands = speed == 0;
  ClusterCommand command =
      entry(with, "",
            stands ? ClusterMenu::tr("&Stop the Time") : ClusterMenu::tr("Speed: %1 ×").arg(number),
            stands ? ClusterMenu::tr("No simulated time passes until you choose a speed")
                   : ClusterMenu::tr("Let %1 simulated seconds pass in a second").arg(number),
            [&with, speed, number, stands] {
              send(with, {SimulateRequest::Act::Speed, speed},
                   stands ? ClusterMenu::tr("The simulated clock is stopped.")
                          : ClusterMenu::tr("%1 simulated seconds pass in a second.").arg(number));
            });
  command.spec.id = QStringLiteral("simulation.speed%1").arg(speed);
  command.spec.checkable = true;
  command.spec.checked = [&with, speed] {
    const auto& simulation = with.model.snapshot().simulation;
    return simulation && std::abs(simulation->speed - speed) < 1e-9;
  };
  return command;
}

}  // namespace

std::vector<ClusterCommand> simulationCommands(const CommandContext& with) {
  using Act = SimulateRequest::Act;
  std::vector<ClusterCommand> commands;
  for (const double speed : {0.0, 1.0, 5.0, 20.0, 100.0}) {
    commands.push_back(speedCommand(with, speed));
  }
  commands.push_back(entry(
      with, "simulation.slowGpu", ClusterMenu::tr("Make a &GPU Slow…"),
      ClusterMenu::tr("Let a GPU compute three times as long"), [&with] {
        chooseGpu(
            with, ClusterMenu::tr("Make a GPU slow"),
            ClusterMenu::tr("It computes three times as long. GPU:"),
            [&with](ptc::DeviceId device) {
              send(with, {Act::Slow, kSlowFactor, device},
                   ClusterMenu::tr("%1 computes three times as long.").arg(format::device(device)));
            });
      }));
  commands.push_back(entry(
      with, "simulation.fastGpu", ClusterMenu::tr("Make a GPU &Fast Again…"),
      ClusterMenu::tr("Let a slow GPU compute as its hardware does"), [&with] {
        chooseGpu(
            with, ClusterMenu::tr("Make a GPU fast again"), ClusterMenu::tr("GPU:"),
            [&with](ptc::DeviceId device) {
              send(
                  with, {Act::Slow, 1, device},
                  ClusterMenu::tr("%1 computes as its hardware does.").arg(format::device(device)));
            });
      }));
  commands.push_back(entry(
      with, "simulation.slowPort", ClusterMenu::tr("Make a &Port Slow…"),
      ClusterMenu::tr("Give the network port of a node a tenth of its speed"), [&with] {
        chooseNode(with, ClusterMenu::tr("Make a port slow"), [&with](std::int32_t node) {
          send(with, {Act::Port, kPortShare, {node, 0}},
               ClusterMenu::tr("The port of %1 has a tenth of its speed. Plans do not know that.")
                   .arg(format::node(node)));
        });
      }));
  commands.push_back(entry(
      with, "simulation.fastPort", ClusterMenu::tr("Make a Port Fast Agai&n…"),
      ClusterMenu::tr("Give the network port of a node the speed of its hardware"), [&with] {
        chooseNode(with, ClusterMenu::tr("Make a port fast again"), [&with](std::int32_t node) {
          send(with, {Act::Port, 1, {node, 0}},
               ClusterMenu::tr("The port of %1 is as fast as its hardware.")
                   .arg(format::node(node)));
        });
      }));
  commands.push_back(
      entry(with, "simulation.cut", ClusterMenu::tr("&Cut a Node Off…"),
            ClusterMenu::tr("Let nothing reach the agent of a node for 20 s. Its ranks train on"),
            [&with] {
              chooseNode(with, ClusterMenu::tr("Cut a node off"), [&with](std::int32_t node) {
                send(with, {Act::Cut, kCutSeconds, {node, 0}},
                     ClusterMenu::tr("%1 is cut off for 20 s.").arg(format::node(node)));
              });
            }));
  commands.push_back(
      entry(with, "simulation.restart", ClusterMenu::tr("&Restart an Agent…"),
            ClusterMenu::tr("Kill the agent of a node. Its keeper starts the next one"), [&with] {
              chooseNode(with, ClusterMenu::tr("Restart an agent"), [&with](std::int32_t node) {
                send(with, {Act::Restart, 1, {node, 0}},
                     ClusterMenu::tr("The agent of %1 restarts. Its ranks train on.")
                         .arg(format::node(node)));
              });
            }));
  commands.push_back(
      entry(with, "simulation.addNode", ClusterMenu::tr("&Add a Node"),
            ClusterMenu::tr("Let a node join the simulated cluster"), [&with] {
              send(with, {Act::AddNodes, 1}, ClusterMenu::tr("A node joins the cluster."));
            }));
  return commands;
}

}  // namespace tessera::ui
