// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The texts of the lesson on consistent data, and the evaluation of its question.

#include <QString>
#include <QStringList>

#include "engine/experiment/consistency.h"

namespace tessera::ui::consistency_words {

/// Title and text of a step; the text has at most 60 words.
/// \pre 0 <= step < ConsistencyLesson::kNumSteps
QString title(int step);
QString text(int step);

/// The question of the lesson and its possible answers.
QString question();
QStringList answers();
/// Returns the index of the true answer; nothing if a run is missing.
std::optional<int> truth(const engine::ConsistencyResult& result);
/// Compares the user's answer, if any, with the result.
QString comparison(std::optional<int> answer, const engine::ConsistencyResult& result);
/// Describes the measured results and their causes.
QString seen(const engine::ConsistencyResult& result);

QString nameOf(const engine::ConsistencyRun& run);

}  // namespace tessera::ui::consistency_words
