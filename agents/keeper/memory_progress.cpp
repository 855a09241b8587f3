// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/memory_progress.h"

#include <sstream>
#include <utility>

#include "engine/files/whole_file.h"

namespace tessera::agents {
namespace {

std::string MemoryProgressPath(const std::string& directory) {
  return directory + "/keeper.memory";
}

}  // namespace

void WriteMemoryProgress(const std::string& directory, const MemoryProgress& progress) {
  static_cast<void>(engine::WriteWholeFile(
      MemoryProgressPath(directory),
      std::to_string(progress.made_bytes) + " " + std::to_string(progress.total_bytes) + "\n",
      0600));
}

std::optional<MemoryProgress> ReadMemoryProgress(const std::string& directory) {
  const auto text = engine::ReadWholeFile(MemoryProgressPath(directory));
  if (!text) return std::nullopt;
  std::istringstream in(*text);
  MemoryProgress progress;
  if (!(in >> progress.made_bytes >> progress.total_bytes)) return std::nullopt;
  if (progress.made_bytes < 0 || progress.made_bytes > progress.total_bytes) return std::nullopt;
  return progress;
}

MemoryWatch::MemoryWatch(std::vector<std::string> directories, Clock::duration patience,
                         Clock::time_point now)
    : directories_(std::move(directories)), patience_(patience), last_growth_(now) {}

bool MemoryWatch::IsOver(Clock::time_point now) {
  MemoryProgress sum;
  for (const std::string& directory : directories_) {
    const MemoryProgress node = ReadMemoryProgress(directory).value_or(MemoryProgress{});
    sum.made_bytes += node.made_bytes;
    sum.total_bytes += node.total_bytes;
  }
  if (sum.made_bytes > progress_.made_bytes) last_growth_ = now;
  progress_ = sum;
  return now - last_growth_ >= patience_;
}

}  // namespace tessera::agents
