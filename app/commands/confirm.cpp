// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace tessera::app {

bool canAsk(const Invocation& call) {
  return !call.json && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
}

bool confirmed(const std::string& question) {
  fmt::print("{}? [y/N] ", question);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace tessera::app
