// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The words of the lesson on consistent data, and what a result says of its question.

#include <QString>
#include <QStringList>

#include "engine/experiment/consistency.h"

namespace tessera::ui::consistency_words {

/// Of at most 60 words. \pre 0 <= step < ConsistencyLesson::kNumSteps
QString title(int step);
QString text(int step);

/// "Which curve will fall below the right one?"
QString question();
QStringList answers();
/// Index of the answer that the runs gave; none where one of them is missing.
std::optional<int> truth(const engine::ConsistencyResult& result);
/// What was expected, and what was seen. `answer` may be none.
QString comparison(std::optional<int> answer, const engine::ConsistencyResult& result);
/// What the curves show and why, only what was measured.
QString seen(const engine::ConsistencyResult& result);

QString nameOf(const engine::ConsistencyRun& run);

}  // namespace tessera::ui::consistency_words
