// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/commands/errors_text.h"
#include "app/commands/json.h"
#include "ptc/base/check.h"

namespace tessera::app {
namespace {

constexpr std::string_view kAnything = "{}";
constexpr std::string_view kShownAnything = "…";

/// The texts of the page that are not of an entry.
struct PageText {
  std::string title = "Errors and what to do";
  std::string intro =
      "Every message is one line that names the thing, the value and the limit. `tesseractl "
      "explain \"MESSAGE\"` finds the entry here that fits.";
  std::string remedy = "What to do:";
  std::string shell = {};  // before the English message
};

struct Catalogue {
  std::vector<KnownError> errors;
  PageText page;
};

/// The parts of a pattern between its variable ones.
std::vector<std::string_view> literals(std::string_view pattern, std::string_view variable) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = pattern.find(variable);
    if (const auto part = pattern.substr(0, end); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    pattern.remove_prefix(end + variable.size());
  }
}

std::size_t weight(std::string_view pattern, std::string_view variable) {
  std::size_t characters = 0;
  for (const std::string_view part : literals(pattern, variable)) characters += part.size();
  return characters;
}

Catalogue englishCatalogue() {
  Catalogue out;
  std::string topic;
  for (const Json& entry : Json::parse(kErrorsText)) {
    if (entry.contains("topic")) {
      topic = entry["topic"].get<std::string>();
      continue;
    }
    out.errors.push_back({topic, entry["match"].get<std::string>(),
                          entry["means"].get<std::string>(), entry["do"].get<std::string>()});
  }
  return out;
}

Catalogue translated(Catalogue out, const char* text) {
  std::map<std::string, std::string> topics;
  std::map<std::string, Json> entries;
  for (const Json& entry : Json::parse(text)) {
    if (entry.contains("topic")) {
      topics[entry["topic"].get<std::string>()] = entry["text"].get<std::string>();
    } else if (entry.contains("match")) {
      entries[entry["match"].get<std::string>()] = entry;
    } else {
      out.page = {entry["title"].get<std::string>(), entry["intro"].get<std::string>(),
                  entry["remedy"].get<std::string>(), entry["shell"].get<std::string>()};
    }
  }
  for (KnownError& error : out.errors) {
    if (const auto topic = topics.find(error.topic); topic != topics.end())
      error.topic = topic->second;
    const auto entry = entries.find(error.match);
    if (entry == entries.end()) continue;
    error.means = entry->second["means"].get<std::string>();
    error.remedy = entry->second["do"].get<std::string>();
    error.says = entry->second.value("says", "");
  }
  return out;
}

const Catalogue& catalogueOf(std::string_view language) {
  static const Catalogue english = englishCatalogue();
  static const Catalogue german = translated(english, kGermanErrorsText);
  TESSERA_CHECK(std::ranges::count(errorLanguages(), language) == 1);
  return language == "de" ? german : english;
}

/// The literal characters of the message of an entry that the text has; 0 if it has another one.
std::size_t fit(const KnownError& error, std::string_view text) {
  std::size_t characters = 0;
  if (matches(error.match, text)) characters = weight(error.match, kAnything);
  if (!error.says.empty() && matches(error.says, text, kShownAnything))
    characters = std::max(characters, weight(error.says, kShownAnything));
  return characters;
}

}  // namespace

const std::vector<std::string>& errorLanguages() {
  static const std::vector<std::string> languages{"en", "de"};
  return languages;
}

const std::vector<KnownError>& knownErrors(std::string_view language) {
  return catalogueOf(language).errors;
}

bool matches(std::string_view pattern, std::string_view text, std::string_view variable) {
  for (const std::string_view part : literals(pattern, variable)) {
    const std::size_t at = text.find(part);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + part.size());
  }
  return true;
}

std::optional<KnownError> explain(std::string_view text, std::string_view language) {
  std::optional<KnownError> best;
  std::size_t most = 0;
  for (const KnownError& error : knownErrors(language)) {
    const std::size_t characters = fit(error, text);
    if (characters <= most) continue;
    most = characters;
    best = error;
  }
  return best;
}

std::string errorsPage(std::string_view language) {
  const PageText& texts = catalogueOf(language).page;
  std::string page = fmt::format("# {}\n\n{}\n", texts.title, texts.intro);
  std::string topic;
  for (const KnownError& error : knownErrors(language)) {
    if (error.topic != topic) {
      topic = error.topic;
      page += fmt::format("\n## {}\n", topic);
    }
    std::string message = error.match;
    for (std::size_t at; (at = message.find(kAnything)) != std::string::npos;)
      message.replace(at, kAnything.size(), kShownAnything);
    page += error.says.empty()
                ? fmt::format("\n**`{}`**\n", message)
                : fmt::format("\n**`{}`**\n\n{} `{}`\n", error.says, texts.shell, message);
    page += fmt::format("\n{}\n\n*{}* {}\n", error.means, texts.remedy, error.remedy);
  }
  return page;
}

}  // namespace tessera::app
