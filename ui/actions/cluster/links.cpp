// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// The bandwidths of the links: what plans assume, and a measurement.

#include <algorithm>

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {

namespace {

AnswerDialog::Shown showLinks(const LinksAnswer& answer) {
  AnswerDialog::Shown shown;
  shown.words = ClusterMenu::tr("Plans assume %1 inside a host and %2 between hosts: %3.")
                    .arg(format::rate(answer.host_bytes_per_second),
                         format::rate(answer.network_bytes_per_second), localized(answer.source));
  const engine::LinkSpeeds& measured = answer.measured;
  if (measured.empty()) {
    shown.words += QLatin1Char(' ') + ClusterMenu::tr("No link of this cluster was measured yet.");
    shown.role = QStringLiteral("warn");
    return shown;
  }
  shown.words += QLatin1Char(' ') +
                 ClusterMenu::tr("Measured at %1 in %2.")
                     .arg(format::clock(measured.measured_at), format::seconds(measured.seconds));
  shown.table.titles = {{ClusterMenu::tr("Link"), false, true}, {ClusterMenu::tr("Median"), true},
                        {ClusterMenu::tr("Slowest"), true},     {ClusterMenu::tr("Fastest"), true},
                        {ClusterMenu::tr("Runs"), true},        {ClusterMenu::tr("Lanes"), true}};
  for (const engine::LinkSpeed& link : measured.links) {
    const auto [low, high] = std::ranges::minmax(link.bytes_per_second);
    shown.table.rows.push_back(
        {link.is_memory() ? ClusterMenu::tr("memory of %1").arg(format::node(link.from))
                          : format::node(link.from) + QStringLiteral(" → ") + format::node(link.to),
         format::rate(link.median()), format::rate(low), format::rate(high),
         format::count(static_cast<std::int64_t>(link.bytes_per_second.size())),
         link.is_memory() ? format::unknown() : format::count(link.use.lanes)});
  }
  return shown;
}

AnswerDialog::Ask askLinks(const CommandContext& with, bool measure) {
  return [&with, measure](const AnswerDialog::Done& done) {
    const auto take = [done](Result<LinksAnswer> answer) {
      done(answer ? Result<AnswerDialog::Shown>(showLinks(*answer)) : answer.error());
    };
    // Plans use what is measured, so that measuring is for those who operate.
    measure ? with.control.ask(LinksRequest{true}, take)
            : with.commands.ask(LinksRequest{false}, take);
  };
}

}  // namespace

ClusterCommand linksCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.links"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("Pro&be Links…"),
           .statusTip = ClusterMenu::tr("Show the bandwidths of the links, and measure them again"),
           .submenu = Menus::diagnosis(),
           .blocked = [&with] { return with.notConnected(); }},
          [&with](bool) {
            auto* dialog = new AnswerDialog(
                {.title = ClusterMenu::tr("Links of %1").arg(with.cluster()),
                 .waiting = ClusterMenu::tr("Measuring takes up to 10 s per host. Jobs continue…"),
                 .failed = ClusterMenu::tr("The links could not be measured: %1."),
                 .again = ClusterMenu::tr("Measure"),
                 .command =
                     with.commandLine({QStringLiteral("topology"), QStringLiteral("--measure")})},
                askLinks(with, false), with.window);
            dialog->setQuestion(askLinks(with, true), dialog->command());
            with.open(dialog);
          }};
}

}  // namespace tessera::ui
