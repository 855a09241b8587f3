// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The catalogue of error messages with meaning and remedy. `explain` and the page of the guide are
/// made from one table, resources/errors/catalogue.json.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

struct KnownError {
  std::string topic;
  std::string match;  // the message, with {} for the variable parts
  std::string means;
  std::string remedy;
};

const std::vector<KnownError>& knownErrors();

/// Whether `text` contains the literal parts of `pattern` in their order.
bool matches(std::string_view pattern, std::string_view text);
/// The matching entry with the most literal characters.
std::optional<KnownError> explain(std::string_view text);

/// The catalogue as a page of the guide (Markdown).
std::string errorsPage();

}  // namespace tessera::app
