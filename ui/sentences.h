// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What agents and engine write, in the language of the panel. Events, reasons and errors reach the
/// panel as English sentences; those that are known are translated where they are shown.

#include <QString>
#include <span>
#include <string_view>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Returns the sentence in the language of the panel. Names stay, numbers follow the language, and
/// a reason inside of the sentence is translated, too. A sentence that is not known stays.
QString localized(const QString& sentence);
QString localized(std::string_view sentence);

/// With a capital first letter, to stand alone. Names of axes, nodes and jobs keep their letters: a
/// first word such as "dp=2", "tp" or "n1" stays as it is.
QString capitalized(QString sentence);

/// The text of an event. Output of programs stays as it is.
QString localizedText(const engine::Event& event);

/// The name of what the doctor of a node checks, such as "key file".
QString localizedCheck(std::string_view name);

/// The known sentences in English. %1, %2, … stand for what differs.
std::span<const char* const> knownSentences();
/// The names of checks in English. They are whole texts only: a job may have the same name.
std::span<const char* const> knownChecks();

}  // namespace tessera::ui
