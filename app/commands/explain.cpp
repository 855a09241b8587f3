// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `explain`: the meaning of an error message and its remedy.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/command.h"
#include "app/commands/errors.h"
#include "app/commands/json.h"

namespace tessera::app {
namespace {

Json knownErrorToJson(const KnownError& error) {
  return {
      {"topic", error.topic}, {"match", error.match}, {"means", error.means}, {"do", error.remedy}};
}

int runAll(const Invocation& call) {
  const std::string language = call.arguments.valueOr("language", "en");
  if (call.json) {
    Json all = Json::array();
    for (const KnownError& error : knownErrors(language)) all.push_back(knownErrorToJson(error));
    printLine({{"errors", std::move(all)}});
  } else {
    fmt::print("{}", errorsPage(language));
  }
  return kDone;
}

int runExplain(const Invocation& call) {
  const std::string text = call.arguments.word(0);
  if (text.empty()) return runAll(call);
  const std::string language = call.arguments.valueOr("language", "");
  std::optional<KnownError> error;
  // A message of a German panel is explained in German.
  for (const std::string& each : errorLanguages())
    if (!error && (language.empty() || language == each)) error = explain(text, each);
  if (!error)
    return failed(
        NotFound(fmt::format("no known error matches '{}'; `tesseractl explain` lists all", text)));
  if (call.json) {
    printLine(knownErrorToJson(*error));
  } else {
    fmt::print("{}\n→ {}\n", error->means, error->remedy);
  }
  return kDone;
}

}  // namespace

Command explainCommand() {
  return {{.verb = "explain",
           .summary = "Explain an error message and what to do about it",
           .words = {{"MESSAGE",
                      "the message, in quotes; lists all known messages if it is missing", false}},
           .options = {{.name = "language",
                        .value = "CODE",
                        .help = "the language of the explanation",
                        .fallback = "that of the message",
                        .choices = errorLanguages()}},
           .examples = {"tesseractl explain \"port in use: tcp://127.0.0.1:40001\"",
                        "tesseractl explain"}},
          runExplain};
}

}  // namespace tessera::app
