// SPDX-License-Identifier: Apache-2.0
#include "agents/node/log_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tessera::agents {
namespace {

constexpr std::streamoff kMostBytes = 1 << 20;

}  // namespace

Result<std::vector<std::string>> LogTail(const AgentConfig& config, std::int64_t lines) {
  if (config.log_file.empty()) {
    return FailedPrecondition(fmt::format(
        "the agent of n{} writes no log file of its own (key log_file); a systemd unit's output is "
        "in `journalctl -u tessera-agent`",
        config.node));
  }
  std::ifstream file(config.log_file, std::ios::binary);
  if (!file) {
    return NotFound(fmt::format("log file '{}': {}", config.log_file, std::strerror(errno)));
  }
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  const bool cut = size > kMostBytes;
  file.seekg(std::max<std::streamoff>(0, size - kMostBytes));
  std::vector<std::string> tail;
  std::string line;
  if (cut) std::getline(file, line);  // the first line is incomplete
  while (std::getline(file, line)) tail.push_back(line);
  if (std::ssize(tail) > lines) tail.erase(tail.begin(), tail.end() - lines);
  return tail;
}

}  // namespace tessera::agents
