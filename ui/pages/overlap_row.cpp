// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/overlap_row.h"

#include <QCoreApplication>

#include "ui/format.h"
#include "ui/sentences.h"

namespace tessera::ui {
namespace {

struct OverlapWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::OverlapWords)
};

}  // namespace

KeyValues::Row overlapRow(const engine::OverlapPlan& overlap) {
  QString tip = localized(overlap.why);
  if (overlap.pause > 0) {
    tip += QLatin1Char('\n') +
           OverlapWords::tr("Pause ≈ %1 if the state is copied while the job trains, ≈ %2 if not.")
               .arg(format::seconds(overlap.pause), format::seconds(overlap.plain_pause));
  }
  if (overlap.chosen && overlap.follow_bytes > 0) {
    tip += QLatin1Char('\n') +
           OverlapWords::tr("Before the pause, %1 of gradients keep the copies up to date.")
               .arg(format::bytes(overlap.follow_bytes));
  }
  QString value = OverlapWords::tr("nothing");
  if (overlap.chosen) {
    const QString gradients = format::bytes(overlap.gradient_bytes);
    value = overlap.steps > 1 ? OverlapWords::tr("all but %1 of gradients, over %2 steps")
                                    .arg(gradients, format::count(overlap.steps))
                              : OverlapWords::tr("all but %1 of gradients").arg(gradients);
  }
  return {OverlapWords::tr("moves while training"), value, {}, tip.trimmed()};
}

KeyValues::Row roundsRow(const engine::PlanSummary& plan) {
  const engine::MoveInRounds& rounds = plan.in_rounds;
  QStringList needs;
  for (const engine::ExtraMemory& extra : rounds.extra) {
    needs << OverlapWords::tr("%1: %2").arg(format::device(extra.device),
                                            format::bytes(extra.planned));
  }
  return {OverlapWords::tr("rounds"),
          OverlapWords::tr("%1, each with at most %2 beside the state of a GPU")
              .arg(format::count(rounds.rounds), format::bytes(rounds.move_memory)),
          {},
          needs.join(QLatin1Char('\n'))};
}

KeyValues::Row rollbackRow(const engine::PlanSummary& plan, const QString& tone) {
  const QString name = OverlapWords::tr("can be rolled back");
  if (plan.in_rounds.rounds > 0) {
    return {name, OverlapWords::tr("only until the first round"), tone};
  }
  if (!plan.rollback) return {name, OverlapWords::tr("no"), tone};
  return {name, OverlapWords::tr("yes, until the commit")};
}

}  // namespace tessera::ui
