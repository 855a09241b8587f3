// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Configurations that a tuning tries, as text.

#include <QString>

#include "ui/requests.h"

namespace tessera::ui {

/// "2 × 2 × 1, ZeRO on": mesh and options; without the options if they are the defaults.
QString configurationText(const ptc::MeshShape& mesh, const engine::StepOptions& options);
/// "2 × 2 × 1 on n0g0–n0g3, ZeRO on".
QString placeText(const TuneRow& row);
/// What a tuning does now, as one clause: "2 of 4: 2 × 2 × 1 on n0g0–n0g3".
QString doingText(const TuneStep& step);

}  // namespace tessera::ui
