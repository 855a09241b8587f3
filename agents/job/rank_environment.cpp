// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tessera::agents {
namespace {

/// Whether a variable is one of those that the agent sets for each rank. They never come from the
/// agent's own environment. What is the same for all processes of a cluster comes from there.
bool IsOfTheRank(std::string_view entry) {
  constexpr std::array<std::string_view, 6> kTorchrun = {
      "RANK=", "WORLD_SIZE=", "LOCAL_RANK=", "LOCAL_WORLD_SIZE=", "MASTER_ADDR=", "MASTER_PORT="};
  constexpr std::array<std::string_view, 3> kOfAll = {
      "TESSERA_HOME=", "TESSERA_STEP_TIME=", "TESSERA_CUDA_EMULATION="};
  const auto begins = [&](std::string_view name) { return entry.starts_with(name); };
  if (std::ranges::any_of(kOfAll, begins)) return false;
  return entry.starts_with("TESSERA_") || std::ranges::any_of(kTorchrun, begins);
}

}  // namespace

std::vector<std::string> RankEnvironment(const RankEnvironmentSpec& spec) {
  std::vector<std::string> environment;
  for (const std::string& entry : spec.base) {
    if (!IsOfTheRank(entry)) environment.push_back(entry);
  }
  const auto add = [&](const char* name, const std::string& value) {
    environment.push_back(std::string(name) + "=" + value);
  };
  add(rank_variable::kSocket, spec.socket);
  add(rank_variable::kJob, spec.id.job);
  add(rank_variable::kDevice, ptc::ToString(spec.id.device));
  if (spec.settings_file.empty()) {
    add(rank_variable::kSettings, spec.settings);
  } else {
    add(rank_variable::kSettingsFile, spec.settings_file);
  }
  add(rank_variable::kInitialise, spec.initialise ? "1" : "0");
  if (spec.finish_update) add(rank_variable::kFinishUpdate, "1");
  if (spec.view_file.empty()) {
    add(rank_variable::kView, ToJson(spec.view));
  } else {
    add(rank_variable::kViewFile, spec.view_file);
  }
  add(rank_variable::kLayoutFile, spec.layout_file);
  if (spec.cuda_device >= 0) add(rank_variable::kCudaDevice, std::to_string(spec.cuda_device));
  add(rank_variable::kCollectiveTimeout, std::to_string(spec.collective_timeout));
  // Each Python process salts the hashes of strings, which order its sets: with list(set(labels))
  // each rank would number the classes of a data set differently.
  constexpr std::string_view kHashSeed = "PYTHONHASHSEED=";
  const bool is_given = std::ranges::any_of(
      environment, [&](const std::string& entry) { return entry.starts_with(kHashSeed); });
  if (!is_given) environment.push_back(std::string(kHashSeed) + "0");
  return environment;
}

std::vector<std::string> TorchrunEnvironment(const RankView& view,
                                             const std::string& master_address, int master_port) {
  if (view.rank < 0) return {};
  const auto& nodes = view.node_of_rank;
  const auto mine = nodes.begin() + view.rank;
  return {fmt::format("RANK={}", view.rank),
          fmt::format("WORLD_SIZE={}", view.world),
          fmt::format("LOCAL_RANK={}", std::count(nodes.begin(), mine, *mine)),
          fmt::format("LOCAL_WORLD_SIZE={}", std::count(nodes.begin(), nodes.end(), *mine)),
          fmt::format("MASTER_ADDR={}", master_address),
          fmt::format("MASTER_PORT={}", master_port)};
}

}  // namespace tessera::agents
