// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace tessera::app {

std::optional<int> refuseIfUnasked(const Invocation& call, const std::string& question) {
  if (call.arguments.has("yes") ||
      (!call.json && isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0))
    return std::nullopt;
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

}  // namespace tessera::app
