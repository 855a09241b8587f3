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
  return {
      OverlapWords::tr("moves while training"),
      overlap.chosen
          ? OverlapWords::tr("all but %1 of gradients").arg(format::bytes(overlap.gradient_bytes))
          : OverlapWords::tr("nothing"),
      {},
      tip.trimmed()};
}

}  // namespace tessera::ui
