// SPDX-License-Identifier: Apache-2.0
#include "agents/job/rank_environment.h"

namespace tessera::agents {

std::vector<std::string> RankEnvironment(const RankEnvironmentSpec& spec) {
  std::vector<std::string> environment;
  for (const std::string& entry : spec.base) {
    if (!entry.starts_with("TESSERA_")) environment.push_back(entry);
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
  add(rank_variable::kView, ToJson(spec.view));
  add(rank_variable::kLayoutFile, spec.layout_file);
  return environment;
}

}  // namespace tessera::agents
