// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/tuning_text.h"

#include <QCoreApplication>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

struct TuningWords {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::TuningText)
};

QString withOptions(const QString& text, const engine::StepOptions& options) {
  return options == engine::StepOptions{} ? text
                                          : text + QStringLiteral(", ") + optionsText(options);
}

}  // namespace

QString configurationText(const ptc::MeshShape& mesh, const engine::StepOptions& options) {
  return withOptions(format::shape(mesh), options);
}

QString placeText(const TuneRow& row) {
  return withOptions(TuningWords::tr("%1 on %2", "2 × 2 × 1 on n0g0–n0g3")
                         .arg(format::shape(row.mesh), deviceNames(row.devices)),
                     row.options);
}

QString doingText(const TuneStep& step) {
  const QString place = placeText(step.row);
  if (step.number == 0) return TuningWords::tr("returning to %1").arg(place);
  return TuningWords::tr("%1 of %2: %3", "2 of 4: 2 × 2 × 1 on n0g0–n0g3")
      .arg(format::count(step.number), format::count(step.of), place);
}

}  // namespace tessera::ui
