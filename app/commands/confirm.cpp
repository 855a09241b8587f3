// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace tessera::app {

namespace {

bool canAsk(const Invocation& call) {
  return !call.json && isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
}

}  // namespace

std::optional<int> refuseIfUnasked(const Invocation& call, const std::string& question) {
  if (call.arguments.has("yes") || canAsk(call)) return std::nullopt;
  return wrongUsage(
      InvalidArgument(fmt::format("{}? Without a terminal, confirm with --yes", question)));
}

std::optional<int> askBefore(const Invocation& call, const std::string& question) {
  if (const auto refused = refuseIfUnasked(call, question)) return refused;
  if (call.arguments.has("yes")) return std::nullopt;
  fmt::print(stderr, "{}? [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return std::nullopt;
  fmt::print(stderr, "Nothing changed.\n");
  return kFailed;
}

std::optional<int> refuseIfUnnamed(const Invocation& call, const std::string& name) {
  if (const auto given = call.arguments.value("confirm")) {
    if (*given == name) return std::nullopt;
    return wrongUsage(
        InvalidArgument(fmt::format("--confirm is '{}', the job is '{}'", *given, name)));
  }
  if (canAsk(call)) return std::nullopt;
  return wrongUsage(InvalidArgument(fmt::format(
      "There is no rollback from the first round on. Without a terminal, confirm with --confirm {}",
      name)));
}

std::optional<int> askForName(const Invocation& call, const std::string& question,
                              const std::string& name) {
  if (const auto refused = refuseIfUnnamed(call, name)) return refused;
  if (call.arguments.has("confirm")) return std::nullopt;
  fmt::print(stderr,
             "{}. There is no rollback from the first round on: type the job's name: ", question);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == name) return std::nullopt;
  fmt::print(stderr, "Nothing changed.\n");
  return kFailed;
}

}  // namespace tessera::app
