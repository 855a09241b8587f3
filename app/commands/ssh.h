// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Scripts for `sh` on other machines, over ssh. Nothing is installed there for that: the script
/// goes through stdin, and its answers come back as lines.

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::app {

/// What a script has said, by name.
using HostAnswers = std::map<std::string, std::string, std::less<>>;

class Ssh {
 public:
  /// \param command the program with its options, separated by spaces: "ssh -F FILE"
  explicit Ssh(std::string command = "ssh") : m_command(std::move(command)) {}

  const std::string& command() const { return m_command; }

  /// Runs `script` on `host` ("b", "lena@b") in the home folder of the user there. It answers with
  /// `say NAME VALUE`, a function that it may use. ssh asks for no password. Any thread.
  /// \error kUnavailable naming the host: ssh does not log in, the script fails, or `patience` ends;
  ///     kCancelled after Ctrl-C
  Result<HostAnswers> run(const std::string& host, std::string_view script,
                          std::chrono::milliseconds patience) const;

 private:
  std::string m_command;
};

}  // namespace tessera::app
