// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What /proc/PID/stat says of a process.

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::test {

/// The fields from the state on; empty if there is no such process.
inline std::vector<std::string> StatOf(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  return {std::istream_iterator<std::string>(fields), {}};
}

inline bool IsStopped(std::int64_t pid) {
  const auto stat = StatOf(pid);
  return !stat.empty() && stat[0] == "T";
}

/// Whether the process is gone, or a zombie that nobody has waited for.
inline bool HasEnded(std::int64_t pid) {
  const auto stat = StatOf(pid);
  return stat.empty() || stat[0] == "Z";
}

/// In seconds; 0 if there is no such process.
inline double AgeOf(std::int64_t pid) {
  const auto stat = StatOf(pid);
  constexpr std::size_t kStartTime = 19;
  double up = 0;
  std::ifstream("/proc/uptime") >> up;
  if (stat.size() <= kStartTime) return 0;
  return up - std::stod(stat[kStartTime]) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace tessera::test
