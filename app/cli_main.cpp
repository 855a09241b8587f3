// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// tesseractl: the cluster's commands without a window.

#include <csignal>
#include <string>
#include <vector>

#include "app/commands/command.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left ends us by a failed write, not by a signal
  return tessera::app::runCommandLine(std::vector<std::string>(argv + 1, argv + argc));
}
