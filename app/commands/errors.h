// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The catalogue of errors that people meet: what each means and what to do. One table,
/// resources/errors/catalogue.json, which `explain` and the guide's page are made from.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

struct KnownError {
  std::string topic;
  std::string match;  // the message, {} for what varies
  std::string means;
  std::string remedy;
};

const std::vector<KnownError>& knownErrors();

/// Whether `text` contains what `pattern` says: literal parts in their order.
bool matches(std::string_view pattern, std::string_view text);
/// The entry that says most about `text`: of those that match the one with the most literal
/// characters.
std::optional<KnownError> explain(std::string_view text);

/// The catalogue as a page of the guide (Markdown).
std::string errorsPage();

}  // namespace tessera::app
