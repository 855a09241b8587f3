// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// tesseractl: the command line.

#include <csignal>
#include <string>
#include <vector>

#include "app/commands/command.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe makes a write fail instead of killing the process
  return tessera::app::runCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
