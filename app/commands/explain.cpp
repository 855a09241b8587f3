// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `explain`: what an error message means and what to do.

#include <fmt/format.h>

#include "app/commands/command.h"
#include "app/commands/errors.h"
#include "app/commands/json.h"

namespace tessera::app {
namespace {

Json toJson(const KnownError& error) {
  return {
      {"topic", error.topic}, {"match", error.match}, {"means", error.means}, {"do", error.remedy}};
}

int runAll(const Invocation& call) {
  if (call.json) {
    Json all = Json::array();
    for (const KnownError& error : knownErrors()) all.push_back(toJson(error));
    printLine(all);
  } else {
    fmt::print("{}", errorsPage());
  }
  return kDone;
}

int run(const Invocation& call) {
  const std::string text = call.arguments.word(0);
  if (text.empty()) return runAll(call);
  const auto error = explain(text);
  if (!error)
    return failed(NotFound(
        fmt::format("nothing more is known about '{}'; `tesseractl explain` lists what is", text)));
  if (call.json) {
    printLine(toJson(*error));
  } else {
    fmt::print("{}\nWhat to do: {}\n", error->means, error->remedy);
  }
  return kDone;
}

}  // namespace

Command explainCommand() {
  return {{"explain",
           "says what an error message means and what to do",
           {{"MESSAGE", "as it was printed, in quotes (default: lists all that are known)", false}},
           {},
           {}},
          run};
}

}  // namespace tessera::app
