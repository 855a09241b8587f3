// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// tesseractl: the command line.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/terminal.h"

namespace {

/// \return the exit status. A reader that has closed its pipe knows that it did.
int cannotWrite(int error) {
  if (error != EPIPE)
    std::fprintf(stderr, "tesseractl: the output cannot be written: %s\n", std::strerror(error));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe makes a write fail instead of killing the process
  try {
    const int status =
        tessera::app::runCommandLine(std::vector<std::string>(argv + 1, argv + argc));
    tessera::app::flushOutput();  // what is still buffered would be lost without a word
    if (const int error = tessera::app::outputError(); error != 0) {
      const int lost = cannotWrite(error);
      return status != 0 ? status : lost;
    }
    return status;
  } catch (const std::system_error& error) {  // of fmt::print
    return cannotWrite(error.code().value());
  }
}
