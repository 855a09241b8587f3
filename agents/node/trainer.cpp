// SPDX-License-Identifier: Apache-2.0
#include "agents/node/trainer.h"

#include <unistd.h>

#include <filesystem>

#include "agents/train/blas_environment.h"

namespace tessera::agents {

std::string TrainerPath() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "tessera-train").string();
}

std::vector<std::string> TrainerEnvironment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) out.emplace_back(*entry);
  for (const std::string& entry : train::BlasEnvironment()) out.push_back(entry);
  return out;
}

}  // namespace tessera::agents
