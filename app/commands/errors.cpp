// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/errors_text.h"
#include "ptc/base/check.h"

namespace tessera::app {
namespace {

constexpr std::string_view kAnything = "{}";

/// The parts of a pattern between its {}.
std::vector<std::string_view> literals(std::string_view pattern) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = pattern.find(kAnything);
    if (const auto part = pattern.substr(0, end); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    pattern.remove_prefix(end + kAnything.size());
  }
}

std::size_t weight(std::string_view pattern) {
  std::size_t characters = 0;
  for (const std::string_view part : literals(pattern)) characters += part.size();
  return characters;
}

}  // namespace

const std::vector<KnownError>& knownErrors() {
  static const std::vector<KnownError> all = [] {
    std::vector<KnownError> errors;
    std::string topic;
    for (const auto& entry : nlohmann::json::parse(kErrorsText)) {
      if (entry.contains("topic")) {
        topic = entry["topic"].get<std::string>();
        continue;
      }
      errors.push_back({topic, entry["match"].get<std::string>(), entry["means"].get<std::string>(),
                        entry["do"].get<std::string>()});
    }
    return errors;
  }();
  return all;
}

bool matches(std::string_view pattern, std::string_view text) {
  for (const std::string_view part : literals(pattern)) {
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
  }
  return true;
}

std::optional<KnownError> explain(std::string_view text) {
  std::optional<KnownError> best;
  for (const KnownError& error : knownErrors())
    if (matches(error.match, text) && (!best || weight(error.match) > weight(best->match)))
      best = error;
  return best;
}

std::string errorsPage() {
  std::string page =
      "# Errors and what to do\n\nEvery message is one line that names the thing, the value and "
      "the "
      "limit. `tesseractl explain \"MESSAGE\"` finds the entry here that fits.\n";
  std::string topic;
  for (const KnownError& error : knownErrors()) {
    if (error.topic != topic) {
      topic = error.topic;
      page += fmt::format("\n## {}\n", topic);
    }
    std::string message = error.match;
    for (std::size_t at; (at = message.find(kAnything)) != std::string::npos;)
      message.replace(at, kAnything.size(), "…");
    page +=
        fmt::format("\n**`{}`**\n\n{}\n\n*What to do:* {}\n", message, error.means, error.remedy);
  }
  return page;
}

}  // namespace tessera::app
