// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The constants of the cost model: the last ones, and a measurement.

#include <QLocale>

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"

namespace tessera::ui {

namespace {

constexpr std::int64_t kProbedMessage = std::int64_t{1} << 20;  // bytes, of the second half

AnswerDialog::Shown showCalibration(const engine::Calibration& c) {
  AnswerDialog::Shown shown;
  shown.words =
      ClusterMenu::tr(
          "Measured at %1 on %2, %3 cores. Estimates of step and pause times "
          "use these.")
          .arg(format::clock(c.measured_at), QString::fromStdString(c.cpu), format::count(c.cores));
  shown.table.titles = {{ClusterMenu::tr("What"), false, true},
                        {ClusterMenu::tr("Small messages"), true},
                        {ClusterMenu::tr("1 MiB"), true}};
  const auto row = [&](const QString& name, const engine::LinkCost& cost) {
    shown.table.rows.push_back(
        {name, format::seconds(cost.At(0)), format::seconds(cost.At(kProbedMessage))});
  };
  row(ClusterMenu::tr("all-reduce inside a host, 2 ranks"), c.shared_all_reduce.two);
  row(ClusterMenu::tr("all-reduce inside a host, 4 ranks"), c.shared_all_reduce.four);
  row(ClusterMenu::tr("all-reduce between hosts, 2 ranks"), c.network_all_reduce.two);
  row(ClusterMenu::tr("all-reduce between hosts, 4 ranks"), c.network_all_reduce.four);
  row(ClusterMenu::tr("gather between hosts, 4 ranks"), c.network_gather.four);
  row(ClusterMenu::tr("message between stages, inside a host"), c.shared_send);
  row(ClusterMenu::tr("message between stages, between hosts"), c.network_send);
  shown.table.rows.push_back(
      {ClusterMenu::tr("matrix products of one core"),
       ClusterMenu::tr("%1 GFLOP/s").arg(QLocale().toString(c.flops_per_second / 1e9, 'f', 1)),
       format::unknown()});
  return shown;
}

AnswerDialog::Ask askProbe(const CommandContext& with, bool measure) {
  return [&with, measure](const AnswerDialog::Done& done) {
    const auto take = [done](Result<engine::Calibration> answer) {
      done(answer ? Result<AnswerDialog::Shown>(showCalibration(*answer)) : answer.error());
    };
    // Estimates use what is measured, so that measuring is for those who operate.
    measure ? with.control.ask(ProbeRequest{true}, take)
            : with.commands.ask(ProbeRequest{false}, take);
  };
}

}  // namespace

ClusterCommand probeCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.probe"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Measure Speed…"),
           .statusTip = ClusterMenu::tr(
               "Show how fast the cluster computes and communicates, and measure it again"),
           .submenu = Menus::diagnosis(),
           .blocked = [&with] { return with.notConnected(); }},
          [&with](bool) {
            auto* dialog = new AnswerDialog(
                {.title = ClusterMenu::tr("Speed of %1").arg(with.cluster()),
                 .waiting = ClusterMenu::tr("Measuring uses all cores of every node for some "
                                            "seconds. Running jobs become slower…"),
                 .failed = ClusterMenu::tr("There is no measurement: %1."),
                 .again = ClusterMenu::tr("Measure"),
                 .command = with.commandLine({QStringLiteral("probe")})},
                askProbe(with, false), with.window);
            dialog->setQuestion(askProbe(with, true), dialog->command());
            with.open(dialog);
          }};
}

}  // namespace tessera::ui
