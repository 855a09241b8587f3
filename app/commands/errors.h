// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The catalogue of error messages with meaning and remedy. `explain` and the page of the guide are
/// made from one table, resources/errors/catalogue.json, and its translation, catalogue.de.json.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

struct KnownError {
  std::string topic;
  std::string match;  // the English message, with {} for the variable parts
  std::string means;
  std::string remedy;
  std::string says = {};  // the message in a panel of another language, with …; empty: in English
};

/// The languages of the catalogue, English first: "en", "de".
const std::vector<std::string>& errorLanguages();

/// The entries in their order. An entry without a translation is in English.
/// \pre `language` is one of errorLanguages()
const std::vector<KnownError>& knownErrors(std::string_view language = "en");

/// Whether `text` contains the parts of `pattern` between its `variable` in their order.
bool matches(std::string_view pattern, std::string_view text, std::string_view variable = "{}");
/// The matching entry with the most literal characters.
std::optional<KnownError> explain(std::string_view text, std::string_view language = "en");

/// The catalogue as a page of the guide (Markdown).
std::string errorsPage(std::string_view language = "en");

}  // namespace tessera::app
